"""The beginnings of files: what they show of the format of the rest."""

from __future__ import annotations

import sys

from fastrank.core.formats.files.source import BYTE_ORDER_MARK, HEAD, SourceFile, open_source
from fastrank.core.formats.tables.roles import asked_columns, is_header
from fastrank.errors import FormatError, ReadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from fastrank.core.formats.files.source import Source

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
# The marks of other encodings; that of UTF-32 begins with one of UTF-16.
FOREIGN = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
ZIP = b"PK\x03\x04"
# The beginnings of archives and of files in compressions that are not read.
PACKED = {
    ZIP: "a zip archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a RAR archive",
    b"\x04\x22\x4d\x18": "compressed with lz4",
    b"\xff\x06\0\0sNaPpY": "compressed with snappy",
    b"\x1f\x9d": "compressed with compress (.Z)",
}
# The magic of tar, behind the name of the first file, and its position.
TAR, AT_TAR = b"ustar", 257
# Marks of archives that are spreadsheets, and the beginning of older ones of Excel.
XLSX, ODS = (b"[Content_Types].xml", b"docProps/"), b"opendocument.spreadsheet"
XLS = b"\xd0\xcf\x11\xe0"
PARQUET = (b"PAR1",)
# The beginning of Arrow's files, and of its streams, which Hugging Face writes.
ARROW = (b"ARROW1", b"\xff\xff\xff\xff")
# Lines that show whether a file is in the format sample.
SAMPLED_LINES = 10
# Fields in a line of TREC's formats: exactly four, or at least six.
TREC_FIELDS = {"qrels": range(4, 5), "run": range(6, sys.maxsize)}
DELIMITERS = {"csv": ",", "tsv": "\t"}
# What Excel writes before the header of CSV, with the delimiter.
SEPARATOR = (b"sep=", b'"sep=')
# Lines in which a header is found, for the error about titles above it.
HEADER_WITHIN = 4
# How sure it is that a file is in a format: what is unsure for each gives way to what is sure.
NO, LIKELY, SURE = range(3)


# The key of the list of records in an object with other keys, such as of metadata.
DATA = "data"


class Head:
    """The beginning of a file of judgments or a run (`kind`), decompressed, without a mark."""

    def __init__(self, head: bytes, kind: str) -> None:
        self.content, self.kind = head.removeprefix(BYTE_ORDER_MARK), kind
        line = first_line(self.content)
        # Neither blank nor a comment; None if all lines are.
        self.line = None if line is None else line.decode("utf-8", "replace")
        self.fields = [] if line is None else line.split()


def foreign_encoding(head: bytes) -> str:
    """The name of the encoding if the first bytes show that it is UTF-16 or UTF-32, else ""."""
    without_mark = {b"\1\0\1\0": "UTF-16LE", b"\0\1\0\1": "UTF-16BE"}
    zeros = bytes(map(bool, head[:4]))
    marked = FOREIGN.get(next(filter(head.startswith, FOREIGN), b""), "")
    return marked or without_mark.get(zeros, "")


def why_unreadable(head: bytes) -> str:
    """Why a file with this beginning is not read: another encoding, an archive, a compression of
    none of `COMPRESSED`; else "".
    """
    if encoding := foreign_encoding(head):
        return f"expected UTF-8, found {encoding}; convert it with `iconv -f {encoding} -t UTF-8`"
    if head.startswith(XLS) or (head.startswith(ZIP) and any(name in head for name in XLSX)):
        return "this is an Excel workbook: save it as CSV UTF-8"
    if head.startswith(ZIP) and ODS in head:
        return "this is a spreadsheet: save it as CSV UTF-8"
    kind = PACKED.get(next(filter(head.startswith, PACKED), b""), "")
    if head.startswith(TAR, AT_TAR) and b"\0" in head[:AT_TAR]:
        kind = "a tar archive"
    return kind and f"this is {kind}; unpack it first"


def in_memory(content: bytes, name: str) -> SourceFile:
    """A source with this content."""
    import io

    return SourceFile(name, io.BytesIO(content), may_be_empty=True)


def head_of(source: Source | SourceFile) -> tuple[SourceFile, bytes]:
    """The first decompressed bytes of a source, and a source that still contains them.

    Raises ReadError, and FormatError for an archive and for text in another encoding.
    """
    file = open_source(source)
    try:
        # A source that can be read only once is read completely.
        content = file.beginning() if file.rereadable else file.read()
        if not content.startswith(ARROW) and (reason := why_unreadable(content[:HEAD])):
            raise FormatError(file.name, 1, reason)
    except (ReadError, FormatError):
        file.close()
        raise
    if file.rereadable:
        return file, content
    file.close()
    return in_memory(content, file.name), content[:HEAD]


def read_text(source: Source | SourceFile) -> bytes:
    """The whole content of a text file. Raises what `head_of` raises."""
    file, _ = head_of(source)
    with file:
        return file.read()


def is_parquet(head: bytes) -> bool:
    """Whether a file with this beginning is parquet."""
    return head.startswith(PARQUET)


def format_of_table(head: bytes) -> str:
    """The format of a table other than judgments and runs that begins with `head`."""
    if head.startswith((*PARQUET, *ARROW)):
        return "parquet" if is_parquet(head) else "arrow"
    content = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if looks_like_json(content):
        return json_form(content)
    return "tsv" if b"\t" in content.partition(b"\n")[0] else "csv"


def looks_like_json(content: bytes) -> bool:
    """Whether text that begins so, without blanks, may be JSON."""
    return content[:1] in (b"{", b"[") and content[1:].lstrip()[:1] in (b'"', b"}", b"{", b"]")


def trec_certainty(head: Head, _form: str) -> int:
    """How sure a file is in TREC's format."""
    return LIKELY if len(head.fields) in TREC_FIELDS[head.kind] else NO


def sample_certainty(head: Head, _form: str) -> int:
    """How sure a file has judgments of a sample."""
    return LIKELY if len(head.fields) == 5 and is_sample(head.content) else NO


def ltr_certainty(head: Head, _form: str) -> int:
    """How sure the first line is one of learning to rank: a grade, `qid:` and a query."""
    fields = head.fields
    is_ltr = len(fields) > 1 and fields[1].startswith(b"qid:") and is_number(fields[0])
    return SURE if is_ltr else NO


def json_certainty(head: Head, form: str) -> int:
    """How sure a file is JSON or JSON lines (`form`)."""
    content = head.content.lstrip()
    if content[:1] not in (b"{", b"[") or not looks_like_json(content):
        return NO
    if is_trec_line(content.partition(b"\n")[0], head.kind):
        return NO
    return SURE if json_form(content) == form else NO


def delimited_certainty(head: Head, form: str) -> int:
    """How sure a file is CSV or TSV (`form`): a known header, or a known number of cells."""
    if head.line is None:
        return NO
    delimiter = DELIMITERS[form]
    above, *lines = head.content.split(b"\n", HEADER_WITHIN)[:HEADER_WITHIN]
    if form == "csv" and above.startswith(SEPARATOR):
        return SURE
    if delimiter in head.line:
        cells = cells_of(head.line, form)
        if is_header(cells) or asked_columns().are_in(cells):
            return SURE
        if len(cells) in WITHOUT_HEADER[head.kind]:
            return LIKELY
    if delimiter.encode() not in b"".join(lines):
        return NO
    below = [line.decode("utf-8", "replace") for line in lines if delimiter.encode() in line]
    is_trec = len(head.fields) in TREC_FIELDS[head.kind]
    names = [] if is_trec else [cells_of(line, form) for line in below]
    if below and 1 < len(head.fields) == below[0].count(delimiter) + 1:
        # Some separate names by blanks, and the cells below them by tabs.
        names.append(head.line.split())
    return SURE if any(map(is_header, names)) else NO


def cells_of(line: str, form: str) -> list[str]:
    """The cells of a line of CSV or TSV, which may be names."""
    return [cell.strip(' "\r') for cell in line.split(DELIMITERS[form])]


def is_sample(head: bytes) -> bool:
    """Whether the complete lines of the beginning have five fields, the last of them a number."""
    lines = [line.split() for line in head.split(b"\n")[:SAMPLED_LINES] if line.strip()]
    if len(lines) > 1 and len(head) >= HEAD:
        del lines[-1]
    if not lines or any(len(fields) != 5 for fields in lines):
        return False
    return is_number(lines[0][4])


def is_number(text: bytes) -> bool:
    """Whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def names_in(head: bytes, form: str) -> list[str]:
    """The names of the columns in the first line of a CSV or TSV file, if any."""
    line = (first_line(head.removeprefix(BYTE_ORDER_MARK)) or b"").decode("utf-8", "replace")
    cells = cells_of(line, form) if form in DELIMITERS else []
    return cells if is_header(cells) or asked_columns().are_in(cells) else []


def first_line(head: bytes) -> bytes | None:
    """The first line that is neither blank nor a comment."""
    lines = head.split(b"\n")
    for line in lines:
        if line.strip() and not line.startswith(b"#"):
            return line
    return next((line for line in lines if line.strip()), None)


def is_trec_line(line: bytes, kind: str) -> bool:
    """Whether a line that begins like JSON is one of a TREC file: an id may begin so, too."""
    import json

    fields = line.split()
    if len(fields) not in TREC_FIELDS[kind]:
        return False
    try:
        float(fields[3 if kind == "qrels" else 4])
        json.loads(line)
    except json.JSONDecodeError as error:
        # An object that goes on behind this line is not wrong before its end.
        return error.pos < len(line.decode("utf-8", "replace").rstrip())
    except (ValueError, RecursionError):
        return False
    return False


def json_form(text: bytes) -> str:
    """`jsonl` if the first line is a complete object other than a dict of dicts, else `json`."""
    import json

    line, _, rest = text.partition(b"\n")
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return "json"
    if not isinstance(first, dict):
        return "json"
    values = list(first.values())
    if values and all(isinstance(value, dict) for value in values):
        return "json"
    # {query: [document, ...]}, columns, or records beside other keys are an object, too.
    is_listed = bool(values) and all(isinstance(value, (dict, list)) for value in values)
    is_object = not first or is_listed or has_records(first)
    return "json" if is_object and not rest.strip() else "jsonl"


def has_records(loaded: Mapping[str, object]) -> bool:
    """Whether an object has a list of records, which are dicts or lists, under the key `DATA`."""
    data = loaded.get(DATA)
    return isinstance(data, list) and (not data or isinstance(data[0], (dict, list)))


# The columns of a file without a header, by kind and number of columns: three as in BEIR, four and
# six as in TREC's formats. In a run with three, the values of the third show its role.
WITHOUT_HEADER: dict[str, dict[int, tuple[str, ...]]] = {
    "qrels": {3: ("query", "doc", "grade"), 4: ("query", "iteration", "doc", "grade")},
    "run": {3: ("query", "doc", ""), 6: ("query", "iteration", "doc", "rank", "score", "tag")},
}


def first_other_than_ranks(
    queries: Iterable[Any], numbers: Iterable[float], first: int = 1
) -> tuple[int, int] | None:
    """The first row whose number is not the rank that is next in its query, and this rank.

    None if the numbers of all queries are first, first + 1, ...
    """
    following: dict[Any, int] = {}
    for row, (query, number) in enumerate(zip(queries, numbers, strict=False)):
        expected = following.get(query, first)
        if number != expected:
            return row, expected
        following[query] = expected + 1
    return None
