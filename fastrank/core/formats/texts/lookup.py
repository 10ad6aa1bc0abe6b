"""Texts of documents and queries by id, from mappings, data sets, tables, files and folders."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.common.messages import closest, did_you_mean
from fastrank.core.formats.tables.forms import is_file
from fastrank.core.formats.tables.records import are_columns
from fastrank.core.formats.texts.text_files import NEEDED, titled_records
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from fastrank.core.formats.files.files import Source

    TextsLike = Source | list[Source] | Mapping[Any, Any] | Any
    """Texts by id: {id: text} or {id: {"title": ..., "text": ...}}, a Dataset, a file or a list of
    files in a format of `Dataset.from_files`, or a folder of these or with a file for each text."""

# The ids of each side of a data set.
IDS = {"corpus": "corpus_ids", "queries": "query_ids"}
KINDS = "a file, files, a folder, a table, a mapping from id to text, or a data set"


class Lookup:
    """Title and text by id; a title may be empty.

    texts: a mapping or a Dataset. side: corpus or queries. name: for messages. Keys may be str
    and integers, or bytes. Raises InputError, TypeError for objects without texts.
    """

    def __init__(self, texts: Any, side: str, name: str) -> None:
        ids = getattr(texts, IDS[side], None)
        self._name, self._rows = name, None
        self._texts: Any = texts
        if ids is not None:
            self._texts = getattr(texts, side)
            if len(self._texts) != len(ids):
                reason = f"the data set has {len(ids)} ids and {len(self._texts)} texts"
                raise InputError(name, reason)
            self._rows = {text_id: row for row, text_id in enumerate(ids)}
        elif not isinstance(texts, Mapping):
            raise TypeError(f"{name}: expected {KINDS}, found {type(texts).__name__}")
        self._keys: Mapping[Any, Any] = self._texts if self._rows is None else self._rows
        self._first = next(iter(self._keys), "")

    def __contains__(self, text_id: str) -> bool:
        return self._key(text_id) in self._keys

    def __call__(self, text_id: str) -> tuple[str, str]:
        """The title and the text. Raises InputError for an id without a text."""
        key = self._key(text_id)
        if key not in self._keys:
            hint = did_you_mean(map(repr, closest(text_id, map(str, self._keys))))
            raise InputError(self._name, f"no text for {text_id!r:.60}{hint}")
        title, value = "", self._keys[key]
        if self._rows is not None:
            # The texts may be in a file, of which a slice is read.
            value = self._texts[value : value + 1][0]
        if isinstance(value, Mapping):
            title, value = value.get("title") or "", value.get("text")
        if not isinstance(value, str) or not isinstance(title, str):
            reason = f"expected a str, or a title and a text, found {type(value).__name__}"
            raise InputError(self._name, f"{text_id!r:.60}: {reason}")
        return title, value

    def _key(self, text_id: str) -> Any:
        if text_id in self._keys:
            return text_id
        if isinstance(self._first, bytes):
            return text_id.encode("utf-8", "surrogateescape")
        number = int(text_id) if text_id.removeprefix("-").isdecimal() else None
        # 1 and "01" are different ids.
        return number if str(number) == text_id else text_id


def lookup(
    texts: TextsLike,
    side: str,
    needed: Collection[str] | None = None,
    *,
    name: str | None = None,
    strip: bool = True,
) -> Lookup:
    """Texts by id, from all that has texts.

    side: corpus or queries. needed: the ids to keep of a file, by default all. name: for messages.
    strip: whether to strip the texts of files. Raises what `read_texts` and `Lookup` raise.
    """
    is_mapping = isinstance(texts, Mapping) and not are_columns(texts, NEEDED)
    is_iterable = is_file(texts) or hasattr(texts, "__iter__")
    if is_iterable and not is_mapping and not hasattr(texts, IDS[side]):
        texts = read_texts(texts, needed, strip=strip)
    return Lookup(texts, side, name or side)


def read_texts(
    corpus: Any,
    needed: Collection[str] | None,
    answers: dict[str, list[str]] | None = None,
    *,
    strip: bool = True,
) -> dict[str, dict[str, str]]:
    """Title and text, by id, of documents or queries in a file, in files, or in a folder.

    They have formats of `Dataset.from_files`. needed: the ids to keep, None for all. answers: gets
    the answers of queries that have some. Raises ReadError, and FormatError for an invalid file and
    for duplicate ids with different texts.
    """
    texts: dict[str, dict[str, str]] = {}
    for name, line, text_id, title, text, listed in titled_records(corpus):
        if needed is not None and text_id not in needed:
            continue
        content = {"title": title, "text": text.strip() if strip else text}
        if listed is not None and answers is not None:
            answers[text_id] = listed
        if texts.setdefault(text_id, content) != content:
            raise FormatError(name, line, f"duplicate id {text_id!r:.60} with a different text")
    return texts
