"""Detect the format of a file from its beginning."""

from __future__ import annotations

from fastrank.core.formats.files.source import BYTE_ORDER_MARK, HEAD, SourceFile, open_source
from fastrank.core.formats.tables.roles import is_header
from fastrank.errors import FastrankError, FormatError, ReadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from fastrank.common.choices import Format
    from fastrank.core.formats.files.source import Source

FORMATS = ("trec", "csv", "tsv", "json", "jsonl", "parquet", "arrow", "sample")
SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".parq": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".trec": "trec",
    ".qrels": "trec",
    ".qrel": "trec",
    ".run": "trec",
    ".res": "trec",
    ".txt": "trec",
}
# The marks of other encodings; that of UTF-32 begins with one of UTF-16.
FOREIGN = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
# Lines that show whether a file is in the format sample.
SAMPLED_LINES = 10
# Fields in a line of TREC's formats: exactly four, or at least six.
TREC_FIELDS: dict[str, Callable[[int], bool]] = {
    "qrels": lambda count: count == 4,
    "run": lambda count: count >= 6,
}


def check_format(name: str, *others: str) -> str:
    """Return the name if it is a format, or one of others, else raise FastrankError."""
    if name not in (known := (*FORMATS, *others)):
        raise FastrankError(f"format: expected one of {', '.join(known)}, found {name!r}")
    return name


def format_by_name(path: str) -> Format | None:
    """The format by the suffix of a file's name, ignoring suffixes of compression."""
    name = path.lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return next((kind for suffix, kind in SUFFIXES.items() if name.endswith(suffix)), None)


def in_memory(content: bytes, name: str) -> SourceFile:
    """A source with this content."""
    import io

    return SourceFile(name, io.BytesIO(content), may_be_empty=True)


def is_parquet(head: bytes) -> bool:
    """Whether a file with this beginning is parquet."""
    return head.startswith(b"PAR1")


def is_arrow(head: bytes) -> bool:
    """Whether a file with this beginning is in Arrow's format of files or of streams."""
    return head.startswith((b"ARROW1", b"\xff\xff\xff\xff"))


def refuse_foreign(head: bytes, name: str) -> None:
    """Raise FormatError for the beginning of a file that is no text in UTF-8, and an archive."""
    encoding = next((name for mark, name in FOREIGN.items() if head.startswith(mark)), "")
    if encoding:
        advice = f"convert it with `iconv -f {encoding} -t UTF-8`"
        raise FormatError(name, 1, f"expected UTF-8, found {encoding}; {advice}")
    if head.startswith(b"PK\x03\x04"):
        reason = "this is a zip archive, which may have several files"
        raise FormatError(name, 1, f"{reason}; unpack it with `unzip`")


def head_of(source: Source | SourceFile) -> tuple[SourceFile, bytes]:
    """The first decompressed bytes of a source, and a source that still contains them."""
    file = open_source(source)
    if not file.rereadable:
        # A source that can be read only once is read completely.
        with file:
            content = file.read()
        refuse_foreign(content[:HEAD], file.name)
        return in_memory(content, file.name), content[:HEAD]
    try:
        head = file.beginning()
        refuse_foreign(head, file.name)
    except (ReadError, FormatError):
        file.close()
        raise
    return file, head


def format_of(head: bytes, name: str, kind: str) -> str:
    """The format of a file that begins with `head`; kind: qrels or run.

    Detected from the content, or from the name if the content is ambiguous.
    """
    if is_parquet(head):
        return "parquet"
    if is_arrow(head):
        return "arrow"
    head = head.removeprefix(BYTE_ORDER_MARK)
    content = head.lstrip()
    looks_like_json = content[:1] in (b"{", b"[")
    looks_like_json &= content[1:].lstrip()[:1] in (b'"', b"}", b"{", b"]")
    if looks_like_json and not _is_trec_line(content.partition(b"\n")[0], kind):
        return _kind_of_json(content)
    line = first_line(head)
    if line is None:
        return format_by_name(name) or "trec"
    text = line.decode("utf-8", "replace")
    cells_by_form = {form: _cells(text, form) for form in ("tsv", "csv")}
    for form, cells in cells_by_form.items():
        if len(cells) > 1 and is_header(cells):
            return form
    if TREC_FIELDS[kind](len(line.split())):
        return "trec"
    if kind == "qrels" and is_sample(head):
        return "sample"
    for form, cells in cells_by_form.items():
        if len(cells) in WITHOUT_HEADER[kind]:
            return form
    return format_by_name(name) or "trec"


def format_of_table(head: bytes, name: str) -> str:
    """The format of a file that begins with `head`, of a table other than judgments and runs."""
    form = format_of(head, name, "qrels")
    if form in ("parquet", "arrow", "json", "jsonl"):
        return form
    line = head.removeprefix(BYTE_ORDER_MARK).lstrip().partition(b"\n")[0]
    return "tsv" if b"\t" in line else "csv"


def _cells(line: str, form: str) -> list[str]:
    """The cells of a line of CSV or TSV, which may be names."""
    return [cell.strip(' "\r') for cell in line.split("," if form == "csv" else "\t")]


def is_sample(head: bytes) -> bool:
    """Whether the complete lines of the beginning have five fields, the last of them a number."""
    lines = [line.split() for line in head.split(b"\n")[:SAMPLED_LINES] if line.strip()]
    if len(lines) > 1 and len(head) >= HEAD:
        del lines[-1]
    if not lines or any(len(fields) != 5 for fields in lines):
        return False
    try:
        float(lines[0][4])
    except ValueError:
        return False
    return True


def names_in(head: bytes, form: str) -> list[str]:
    """The names of the columns in the first line of a CSV or TSV file, if any."""
    line = (first_line(head.removeprefix(BYTE_ORDER_MARK)) or b"").decode("utf-8", "replace")
    cells = _cells(line, form) if form in ("csv", "tsv") else []
    return cells if is_header(cells) else []


def first_line(head: bytes) -> bytes | None:
    """The first line that is neither blank nor a comment."""
    lines = head.split(b"\n")
    for line in lines:
        if line.strip() and not line.startswith(b"#"):
            return line
    return next((line for line in lines if line.strip()), None)


def _is_trec_line(line: bytes, kind: str) -> bool:
    """Whether a line that begins like JSON is one of a TREC file: an id may begin so, too."""
    import json

    fields = line.split()
    if not TREC_FIELDS[kind](len(fields)):
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


def _kind_of_json(text: bytes) -> str:
    """jsonl if the first line is a complete object other than a dict of dicts, else json."""
    import json

    line, _, rest = text.partition(b"\n")
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return "json"
    if not isinstance(first, dict):
        return "json"
    # {query: [document, ...]}, or columns, of one line are an object, too.
    for kind in (dict, list):
        if first and all(isinstance(value, kind) for value in first.values()):
            return "json" if kind is dict or not rest.strip() else "jsonl"
    return "jsonl" if rest.strip() or first else "json"


# The columns of a file without a header, by kind and number of columns: three as in BEIR, four and
# six as in TREC's formats. In a run with three, the values of the third show its role.
WITHOUT_HEADER: dict[str, dict[int, tuple[str, ...]]] = {
    "qrels": {3: ("query", "doc", "grade"), 4: ("query", "iteration", "doc", "grade")},
    "run": {3: ("query", "doc", ""), 6: ("query", "iteration", "doc", "rank", "score", "tag")},
}
