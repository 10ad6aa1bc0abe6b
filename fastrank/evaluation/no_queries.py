"""The error for judgments and a run without common queries."""

from __future__ import annotations

from fastrank.data.texts import decoded
from fastrank.errors import NoQueriesError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# How many ids of each side are shown.
SHOWN = 3


def no_queries_error(
    judged: Iterable[bytes], found: Iterable[bytes] | None, *, left_out: int = 0
) -> NoQueriesError:
    """The error, with some ids of both sides.

    judged: the ids of the judged queries. found: those of the run, None if they are not known.
    left_out: the number of judged queries skipped because they have no relevant document.
    """
    judged, found = list(judged), found if found is None else sorted(found)
    skipped = f"{left_out} judged {'queries' if left_out != 1 else 'query'}"
    dropped = f"; skipped {skipped} without a relevant document" if left_out else ""
    if not judged:
        return NoQueriesError(f"there are no judged queries{dropped}")
    sides = f"qrels: {_some(judged)}"
    if found is None:
        return NoQueriesError(f"the run has no results for any judged query ({sides}){dropped}")
    if not found:
        return NoQueriesError(f"the run has no queries{dropped}")
    message = f"the run and the qrels share no query ids (run: {_some(found)}; {sides})"
    for what, normal in (("in case", _folded), ("as 1 and 1.0 do", _number)):
        if not {*map(normal, judged)}.isdisjoint(map(normal, found)):
            message += f"; do the ids differ only {what}?"
            break
    return NoQueriesError(message + dropped)


def _some(queries: list[bytes]) -> str:
    shown = ", ".join(repr(decoded(query)) for query in queries[:SHOWN])
    return f"{shown}, ..." if len(queries) > SHOWN else shown


def _folded(query: bytes) -> str:
    return decoded(query).strip().casefold()


def _number(query: bytes) -> str:
    """A number as a string without leading zeros and without a fraction of zero."""
    text = decoded(query).strip().removesuffix(".0")
    return text.lstrip("0") or "0" if text.isdigit() else decoded(query)
