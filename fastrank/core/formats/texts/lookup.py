"""Texts of documents and queries by id, from mappings, data sets and files."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.texts.text_files import titled_records
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any

    from fastrank.core.formats.files.files import Source

    Lookup = Callable[[str], tuple[str, str]]


def lookup(given: Any, role: str) -> Lookup:
    """A function from an id to title and text; role: the side of a data set, corpus or queries.

    Keys may be str, bytes or integers, all of one type. Raises InputError for an id without a text,
    TypeError for an object without texts.
    """
    ids = getattr(given, "corpus_ids" if role == "corpus" else "query_ids", None)
    texts: Any = None
    if ids is not None:
        texts = getattr(given, role)
        if len(texts) != len(ids):
            reason = f"the data set has {len(ids)} ids and {len(texts)} texts"
            raise InputError(role, reason)
        given = {text_id: row for row, text_id in enumerate(ids)}
    if not isinstance(given, Mapping):
        found = type(given).__name__
        raise TypeError(f"{role}: expected a mapping from id to text, or a data set, found {found}")
    first = next(iter(given), "")

    def find(text_id: str) -> tuple[str, str]:
        key: Any = text_id
        if isinstance(first, bytes):
            key = text_id.encode("utf-8", "surrogateescape")
        elif hasattr(first, "__index__"):
            number = int(text_id) if text_id.removeprefix("-").isdecimal() else None
            # 1 and "01" are different ids.
            key = number if str(number) == text_id else text_id
        if key not in given:
            raise InputError(role, f"no text for {text_id!r}")
        value = given[key]
        # The texts may be in a file, of which a slice is read.
        return _parts(value if ids is None else texts[value : value + 1][0], role, text_id)

    return find


def _parts(value: Any, role: str, text_id: str) -> tuple[str, str]:
    title = ""
    if isinstance(value, Mapping):
        title, value = value.get("title") or "", value.get("text")
    if not isinstance(value, str) or not isinstance(title, str):
        found = type(value).__name__
        raise InputError(role, f"{text_id!r}: expected a str, or a title and a text, found {found}")
    return title, value


def read_texts(
    source: Source, wanted: Collection[str], answers: dict[str, list[str]] | None = None
) -> dict[str, dict[str, str]]:
    """Read title and text of the wanted ids from a file of documents or queries.

    The file has a format of `Dataset.from_files` and is not kept in memory. answers: gets the
    answers of queries that have some. Raises ReadError, and FormatError for an invalid file and for
    duplicate ids with different texts.
    """
    found: dict[str, dict[str, str]] = {}
    for line, text_id, title, text, own in titled_records(source):
        if text_id in wanted:
            content = {"title": title, "text": text.strip()}
            if own is not None and answers is not None:
                answers[text_id] = own
            if found.setdefault(text_id, content) != content:
                reason = f"duplicate id {text_id!r:.60} with a different text"
                raise FormatError(name_of(source), line, reason)
    return found
