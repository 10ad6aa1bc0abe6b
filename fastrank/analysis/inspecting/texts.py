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


def texts_of(given: Any, option: str, wanted: Collection[str]) -> dict[str, Text]:
    """The titles and texts of some documents (`option` is "texts") or queries.

    given: None; a Dataset; {id: text} or {id: {"title": ..., "text": ...}}; a file, or a list or a
    folder of files, in the formats of `Dataset.from_files`. Raises OptionError for other objects,
    InputError for an id with two texts, ReadError and FormatError.
    """
    if given is None:
        return {}
    role = "corpus" if option == "texts" else "queries"
    found: dict[str, Text] = {}
    if isinstance(given, (list, tuple)) or is_file(given):
        for source in sources_of(given):
            for own, parts in read_texts(source, wanted).items():
                text = (parts["title"].strip(), parts["text"].strip())
                if found.setdefault(own, text) != text:
                    reason = f"the id {own!r:.60} has a different text in a file before it"
                    raise InputError(name_of(source), reason)
        return found
    ids = getattr(given, "corpus_ids" if role == "corpus" else "query_ids", None)
    if ids is None and not isinstance(given, Mapping):
        kind = type(given).__name__
        expected = "expected a file, files, a folder, a dict or a Dataset"
        raise OptionError(option, f"{expected}, not {kind}")
    known, find = {*map(str, given if ids is None else ids)}, lookup(given, role)
    return {own: find(own) for own in wanted if own in known}


def missing_note(
    lacks: str, given: Any, what: str, wanted: Collection[str], found: Collection[str]
) -> list[str]:
    """A note on the documents or queries (`what`) that lack a text or a group, if some do."""
    lacking = [one for one in wanted if one not in found]
    if given is None or not lacking:
        return []
    source = f" in {name_of(given)}" if isinstance(given, (str, os.PathLike)) else ""
    of = counted(len(wanted), what, "queries" if what == "query" else f"{what}s")
    return [f"no {lacks}{source} for {len(lacking)} of {of}: {first_few(lacking, NAMED)}"]
