"""The texts of the documents and queries that a page shows."""

from __future__ import annotations

import os
from collections.abc import Mapping

from fastrank.datasets.text_files import sources_of, titled_records
from fastrank.errors import FormatError, OptionError
from fastrank.formats.inputs import is_file
from fastrank.formats.source import name_of
from fastrank.messages import counted, first_few

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    # A title, which may be empty, and a text.
    Text = tuple[str, str]

NAMED = 3


def texts_of(given: Any, option: str, wanted: Collection[str]) -> dict[str, Text]:
    """The titles and texts of some documents (`option` is "texts") or queries.

    given: None; a Dataset; {id: text} or {id: {"title": ..., "text": ...}}; a file, or a list or a
    folder of files, in the formats of `Dataset.from_files`. Raises OptionError for other objects,
    ReadError, and FormatError, also for an id that occurs twice.
    """
    if given is None:
        return {}
    if hasattr(given, "corpus_ids"):
        ids, texts = (
            (given.corpus_ids, given.corpus)
            if option == "texts"
            else (given.query_ids, given.queries)
        )
        return {one: ("", texts[row : row + 1][0]) for row, one in enumerate(ids) if one in wanted}
    if isinstance(given, Mapping):
        return {one: _parts(given[one]) for one in wanted if one in given}
    if isinstance(given, (list, tuple)) or is_file(given):
        return _read(sources_of(given), wanted)
    found = type(given).__name__
    raise OptionError(option, f"expected a file, files, a folder, a dict or a Dataset, not {found}")


def _read(sources: Sequence[Any], wanted: Collection[str]) -> dict[str, Text]:
    found: dict[str, Text] = {}
    for source in sources:
        for line, own, title, text, _ in titled_records(source):
            if own not in wanted:
                continue
            if own in found:
                raise FormatError(name_of(source), line, f"the id {own!r:.60} occurs twice")
            found[own] = (title.strip(), text.strip())
    return found


def _parts(given: Any) -> Text:
    if isinstance(given, Mapping):
        return str(given.get("title") or ""), str(given.get("text") or "")
    return "", str(given)


def missing_note(given: Any, what: str, wanted: Collection[str], found: Collection[str]) -> str:
    """A note on the documents or queries without a text; empty if all have one."""
    lacking = [one for one in wanted if one not in found]
    if not lacking:
        return ""
    source = f" in {name_of(given)}" if isinstance(given, (str, os.PathLike)) else ""
    several = "queries" if what == "query" else f"{what}s"
    of = counted(len(wanted), what, several)
    return (
        f"no text{source} for {len(lacking)} of {of} ({first_few(lacking, NAMED)}): ids are shown"
    )
