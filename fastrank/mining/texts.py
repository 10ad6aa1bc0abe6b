"""Texts of documents and queries by id: from mappings, data sets, and files of collections."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from typing import Any

    from fastrank.files import Source

    Lookup = Callable[[str], tuple[str, str]]

_READ = 1 << 20
# What a record calls its id and its text: BEIR's names, then those of Anserini and others.
IDS = ("_id", "id", "docno", "doc_id", "query_id", "qid", "docid", "pid")
TEXTS = ("text", "contents", "question", "query")


def lookup(given: Any, role: str) -> Lookup:
    """What gives title and text of an id; role: corpus or queries, of which a data set has both.

    Keys may be str, bytes or integers, all of one type. Raises InputError for an id without text,
    TypeError for what holds no texts.
    """
    ids = getattr(given, "corpus_ids" if role == "corpus" else "query_ids", None)
    if ids is not None:
        given = _OfDataset(ids, getattr(given, role), role)
    if not isinstance(given, Mapping):
        found = type(given).__name__
        raise TypeError(f"{role}: expected a mapping from id to text, or a data set, found {found}")
    first = next(iter(given), "")

    def find(own: str) -> tuple[str, str]:
        key: Any = own
        if isinstance(first, bytes):
            key = own.encode("utf-8", "surrogateescape")
        elif hasattr(first, "__index__"):
            key = int(own) if own.removeprefix("-").isdecimal() else own
        if key not in given:
            raise InputError(role, f"there is no text for {own!r}")
        return _parts(given[key], role, own)

    return find


class _OfDataset(Mapping[str, str]):
    """The texts of a data set by id. They may be in a file, and are read when asked for."""

    def __init__(self, ids: Sequence[str], texts: Sequence[str], role: str) -> None:
        if len(texts) != len(ids):
            reason = f"the data set has {len(ids)} ids and {len(texts)} texts"
            raise InputError(role, reason)
        self._rows = {own: row for row, own in enumerate(ids)}
        self._texts = texts

    def __getitem__(self, own: str) -> str:
        row = self._rows[own]
        return self._texts[row : row + 1][0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def joined(parts: tuple[str, str]) -> str:
    """Title and text as one, as BEIR joins them."""
    return " ".join(part for part in parts if part)


def _parts(value: Any, role: str, own: str) -> tuple[str, str]:
    title = ""
    if isinstance(value, Mapping):
        title, value = value.get("title") or "", value.get("text")
    if not isinstance(value, str) or not isinstance(title, str):
        found = type(value).__name__
        raise InputError(role, f"{own!r}: expected a text or a title and a text, found {found}")
    return title, value


def read_texts(source: Source, wanted: Collection[str]) -> dict[str, dict[str, str]]:
    """Title and text of the ids that are wanted, from a file of JSON lines or of TSV.

    JSON lines: objects with `_id` (BEIR) or `id`, `text` or `contents`, and `title` if there is
    one. TSV: id, text and title, the last one if there is one. The file is not kept in memory.
    Raises ReadError, and FormatError for a line that is neither and for an id that stands twice
    with different texts.
    """
    from fastrank.pieces import open_pieces

    found: dict[str, dict[str, str]] = {}
    with open_pieces(source) as pieces:
        for number, line in enumerate(_lines(pieces.whole()), 1):
            if not line.strip():
                continue
            own, title, text = _record(line, pieces.name, number)
            if own not in wanted:
                continue
            content = {"title": title, "text": text}
            if found.setdefault(own, content) != content:
                raise FormatError(pieces.name, number, f"{own!r} stands twice, with another text")
    return found


def _lines(reader: Any) -> Iterator[bytes]:
    buffer = memoryview(bytearray(_READ))
    rest = b""
    while count := reader.readinto(buffer):
        *lines, rest = (rest + bytes(buffer[:count])).split(b"\n")
        yield from lines
    if rest:
        yield rest


def _record(line: bytes, name: str, number: int) -> tuple[str, str, str]:
    """Id, title and text."""
    try:
        content = line.removeprefix(b"\xef\xbb\xbf").decode().rstrip("\r")
    except UnicodeDecodeError as error:
        raise FormatError(name, number, f"not UTF-8: {error.reason}") from None
    if content.lstrip()[:1] != "{":
        cells = content.split("\t")
        if len(cells) not in (2, 3):
            reason = "expected an object, or id, text and perhaps title between tabs, found"
            raise FormatError(name, number, f"{reason} {len(cells)} cells")
        return cells[0], cells[2] if len(cells) == 3 else "", cells[1]
    import json

    try:
        record = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FormatError(name, number, str(error)) from None
    own, text = (
        next((record[key] for key in keys if key in record), None) for keys in (IDS, TEXTS)
    )
    title = record.get("title") or ""
    if isinstance(own, int):
        own = str(own)
    if not isinstance(own, str) or not isinstance(text, str) or not isinstance(title, str):
        reason = f"expected an id ({', '.join(IDS)}) and a text ({', '.join(TEXTS)})"
        raise FormatError(name, number, f"{reason}, found {', '.join(record) or 'nothing'}")
    return own, title, text
