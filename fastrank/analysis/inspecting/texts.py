"""The texts of the documents and queries that a page shows."""

from __future__ import annotations

import os

from fastrank.common.messages import counted, first_few
from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.texts.lookup import lookup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from fastrank.core.formats.texts.lookup import TextsLike

    # A title, which may be empty, and a text.
    Text = tuple[str, str]

NAMED = 3


def texts_of(texts: TextsLike | None, option: str, needed: Collection[str]) -> dict[str, Text]:
    """The titles and texts of some documents (`option` is "texts") or queries.

    texts: None, or as for `lookup`. Raises what that raises.
    """
    if texts is None:
        return {}
    find = lookup(texts, "corpus" if option == "texts" else "queries", needed, name=option)
    parts = {text_id: find(text_id) for text_id in needed if text_id in find}
    return {text_id: (title.strip(), text.strip()) for text_id, (title, text) in parts.items()}


def missing_note(
    lacks: str, origin: object, noun: str, needed: Collection[str], available: Collection[str]
) -> list[str]:
    """A note on the documents or queries (`noun`) that lack a text or a group, if some do."""
    lacking = [text_id for text_id in needed if text_id not in available]
    if origin is None or not lacking:
        return []
    source = f" in {name_of(origin)}" if isinstance(origin, (str, os.PathLike)) else ""
    of = counted(len(needed), noun, "queries" if noun == "query" else f"{noun}s")
    return [f"no {lacks}{source} for {len(lacking)} of {of}: {first_few(lacking, NAMED)}"]
