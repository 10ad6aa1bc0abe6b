"""The message for judgments of which no document is in the corpus."""

from __future__ import annotations

from fastrank.data.texts import decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrank.data.texts import Texts

# How many ids of each side are shown.
SHOWN = 2


def not_in_corpus(judged: Sequence[bytes] | Texts, corpus: Sequence[bytes] | Texts) -> str:
    """The message, with some ids of both sides."""
    return f"no judged document is in the corpus ({both_sides(judged, 'corpus', corpus)})"


def both_sides(judged: Sequence[bytes] | Texts, other: str, ids: Sequence[bytes] | Texts) -> str:
    """The first judged ids, and the first ids of the other side under its name."""
    return f"judged: {_first(judged)}; {other}: {_first(ids)}"


def _first(ids: Sequence[bytes] | Texts) -> str:
    shown = [f"{decoded(ids[i])!r:.60}" for i in range(min(SHOWN, len(ids)))]
    return ", ".join(shown + ["..."] * (len(ids) > SHOWN))
