"""The texts of the documents and queries that a page shows."""

from __future__ import annotations

import os
from collections.abc import Mapping

from fastrank.common.messages import counted, first_few
from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.inputs import is_file
from fastrank.core.formats.texts.lookup import lookup, read_texts
from fastrank.core.formats.texts.text_files import sources_of
from fastrank.errors import InputError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    # A title, which may be empty, and a text.
    Text = tuple[str, str]

NAMED = 3


def texts_of(texts: Any, option: str, needed: Collection[str]) -> dict[str, Text]:
    """The titles and texts of some documents (`option` is "texts") or queries.

    texts: None; a Dataset; {id: text} or {id: {"title": ..., "text": ...}}; a file, or a list or a
    folder of files, in the formats of `Dataset.from_files`. Raises OptionError for other objects,
    InputError for an id with two texts, ReadError and FormatError.
    """
    if texts is None:
        return {}
    role = "corpus" if option == "texts" else "queries"
    by_id: dict[str, Text] = {}
    if isinstance(texts, (list, tuple)) or is_file(texts):
        for source in sources_of(texts):
            for text_id, parts in read_texts(source, needed).items():
                text = (parts["title"].strip(), parts["text"].strip())
                if by_id.setdefault(text_id, text) != text:
                    reason = f"the id {text_id!r:.60} has a different text in a file before it"
                    raise InputError(name_of(source), reason)
        return by_id
    ids = getattr(texts, "corpus_ids" if role == "corpus" else "query_ids", None)
    if ids is None and not isinstance(texts, Mapping):
        kind = type(texts).__name__
        expected = "expected a file, files, a folder, a dict or a Dataset"
        raise OptionError(option, f"{expected}, not {kind}")
    available, find = {*map(str, texts if ids is None else ids)}, lookup(texts, role)
    return {text_id: find(text_id) for text_id in needed if text_id in available}


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
