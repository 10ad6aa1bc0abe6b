"""The content of files of judgments and runs in other formats than TREC's."""

from __future__ import annotations

from array import array
from typing import NamedTuple

from fastrank.common.faces import by_face
from fastrank.common.messages import malformed
from fastrank.core.data.texts import decoded, encoded
from fastrank.core.formats.files.source import BYTE_ORDER_MARK
from fastrank.core.formats.tables.dicts import INNER, part_of
from fastrank.core.formats.tables.reading import binary_table
from fastrank.core.formats.tables.records import json_content, table_of_json
from fastrank.core.formats.tables.roles import kind_of_names
from fastrank.core.formats.tables.sniff import DATA, WITHOUT_HEADER, first_other_than_ranks
from fastrank.core.formats.tables.table import Table
from fastrank.core.formats.tables.table_files import table_of_cells, table_of_delimited
from fastrank.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from fastrank.common.messages import Warn
    from fastrank.core.formats.tables.roles import Name

    # A table, or {query: {document: number}} and {query: [document, ...]}.
    Found = Table | dict[Any, Any]


class Content(NamedTuple):
    """The input of readers: the content of a file, or in binary formats the path of a local one.

    name: of the file. form: the name of its format. kind: qrels or run. columns: as in
    `read_qrels`. rank_by: may determine the role of the third column of a run.
    """

    content: bytes | str
    name: str
    form: str
    kind: str
    columns: Mapping[str, Name] | None
    rank_by: str
    warn: Warn

    @property
    def bytes(self) -> bytes:
        """The content of a file of text."""
        assert isinstance(self.content, bytes)
        return self.content


def read_json(given: Content) -> Found:
    """JSON and JSON lines, also of search engines."""
    from fastrank.core.formats.tools.search_engines import numbers_by_query

    loaded, lines = json_content(given.bytes, given.name, given.form)
    whole = _whole(loaded, given.form)
    numbers = numbers_by_query(whole, given.name, given.kind)
    if numbers is not None:
        return numbers
    if isinstance(whole, dict):
        part = part_of(whole, given.kind, given.name)
        if part is not whole:
            return dict(part)
        listed = whole.get(INNER[given.kind])
        if isinstance(listed, list) and sum(isinstance(own, list) for own in whole.values()) == 1:
            loaded = {DATA: listed}
    table = table_of_json(loaded, lines, given.name, given.form)
    return loaded if table is None else table


def read_delimited(given: Content) -> Found:
    """CSV and TSV, with a header or without one."""

    def names_of(cells: Sequence[Sequence[str]], lines: Sequence[int]) -> Sequence[str]:
        return _roles_of(given, cells, lines)

    return table_of_delimited(given.bytes, given.name, given.form, given.columns, names_of)


def read_binary(given: Content) -> Found:
    """Parquet and Arrow's format."""
    return binary_table(given.content, given.name, given.form)


SAMPLE_FIELDS = ("query", "iteration", "doc", "stratum", "grade")
SAMPLE_LINE = "5 fields (query iter doc stratum grade)"


def read_sample(given: Content) -> Found:
    """Judgments of a stratified sample. Raises FormatError, and InputError for a run."""
    rows: list[list[str]] = []
    lines = array("q")
    for number, line in enumerate(given.bytes.removeprefix(BYTE_ORDER_MARK).split(b"\n"), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != len(SAMPLE_FIELDS):
            raise FormatError(given.name, number, malformed(SAMPLE_LINE, len(fields), line))
        rows.append([decoded(field) for field in fields])
        lines.append(number)
    return _table_of_lines(given, SAMPLE_FIELDS, SAMPLE_LINE, rows, lines)


LTR_FIELDS = ("query", "doc", "grade")
LTR_LINE = "grade qid:QUERY 1:FEATURE ... # DOCUMENT"


def read_ltr(given: Content) -> Found:
    """Judgments of learning to rank; documents without a name are numbered from 0 in their query.

    A document is named by the comment: its first word, or what follows `docid =`.
    """
    rows: list[list[str]] = []
    lines = array("q")
    counts: dict[str, int] = {}
    for number, line in enumerate(decoded(given.bytes).removeprefix("\ufeff").split("\n"), 1):
        fields, _, comment = line.partition("#")
        words = fields.split()
        if not words:
            continue
        if len(words) < 2 or not words[1].startswith("qid:"):
            reason = malformed(LTR_LINE, len(words), encoded(line))
            raise FormatError(given.name, number, reason)
        query = words[1].removeprefix("qid:")
        count = counts[query] = counts.get(query, -1) + 1
        named = comment.replace("=", " ").split() or [f"{query}-{count}"]
        doc = named[1] if named[0].lower() in ("docid", "doc_id") and named[1:] else named[0]
        rows.append([query, doc, words[0]])
        lines.append(number)
    return _table_of_lines(given, LTR_FIELDS, LTR_LINE, rows, lines)


def _table_of_lines(
    given: Content, names: Sequence[str], expected: str, rows: list[list[str]], lines: array[int]
) -> Table:
    if not rows:
        raise FormatError(given.name, 1, f"expected lines of {expected}, found an empty file")
    return table_of_cells(given.name, names, list(zip(*rows, strict=True)), lines)


def _whole(loaded: Any, form: str) -> Any:
    """The object of a file of one line, which could be both, JSON and JSON lines."""
    return loaded[0] if form == "jsonl" and len(loaded) == 1 else loaded


def kind_of_json(content: bytes, name: str, form: str) -> str | None:
    """The kind (qrels or run) of a JSON or JSONL file, or None if it is unclear."""
    from fastrank.core.formats.tools.question_files import kinds_of_record
    from fastrank.core.formats.tools.search_engines import kinds_of

    loaded, lines = json_content(content, name, form)
    first = loaded[0] if isinstance(loaded, list) and loaded else None
    record = first if isinstance(first, dict) else {}
    whole = _whole(loaded, form)
    kinds = kinds_of(whole, name) | kinds_of_record(record)
    if kinds:
        return kinds.pop() if len(kinds) == 1 else None
    if isinstance(whole, dict) and (inner := [kind for kind in INNER if INNER[kind] in whole]):
        return inner[0] if len(inner) == 1 else None
    if isinstance(loaded, dict):
        table = table_of_json(loaded, lines, name, form)
        return None if table is None else kind_of_names(table.names)
    return kind_of_names(record)


def _roles_of(given: Content, cells: Any, lines: Sequence[int]) -> list[str]:
    """The names of the columns of a file without a header."""
    widths = WITHOUT_HEADER[given.kind]
    names = list(widths.get(len(cells), ()))
    if not names:
        expected = f"a header with names for query and document, or {' or '.join(map(str, widths))}"
        shown = ", ".join(f"{column[0]!r:.60}" for column in cells)
        raise FormatError(given.name, lines[0], f"expected {expected} cells, found {shown}")
    if "" in names:
        third = _rank_or_score(given, cells, lines) if given.rank_by == "score" else "rank"
        names[names.index("")] = third
    return names


def _rank_or_score(given: Content, cells: Any, lines: Sequence[int]) -> str:
    """The role of the third column of a run without a header: rank (MS MARCO) or score.

    Ranks that pandas has written as floats could be scores as well.
    """
    queries, _, texts = cells
    try:
        odd = first_other_than_ranks(queries, map(float, texts))
    except ValueError:
        return "score"
    are_integers = all(text.strip().isdecimal() for text in texts)
    if are_integers and odd is not None:
        row, expected = odd
        reason = f"expected rank {expected} in query {queries[row]!r}, found {texts[row]}"
        raise _ambiguous(given, lines[row], reason)
    if are_integers:
        return "rank"
    if odd is not None and first_other_than_ranks(queries, map(float, texts), 0) is not None:
        return "score"
    raise _ambiguous(given, lines[0], f"found {texts[0]}, and each is one more than the one before")


def _ambiguous(given: Content, line: int, reason: str) -> FormatError:
    advice = by_face(
        "set columns={'query': 0, 'doc': 1, 'score': 2} (or 'rank': 2)",
        "set --columns query=0,doc=1,score=2 (or rank=2)",
    )
    reason = f"the third column could be ranks or scores: {reason}; add a header, or {advice}"
    return FormatError(given.name, line, reason)
