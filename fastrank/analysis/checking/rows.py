"""Read the lines of a file as rows grouped by query, despite errors, and collect odd lines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastrank.analysis.checking.findings import quoted
from fastrank.common.c_numbers import atof, number_of_entire_text
from fastrank.core.data.texts import interning, spans
from fastrank.core.formats.trec.strict import IS_HEADER, has_names_only
from fastrank.core.native import codes, kernels, records
from fastrank.core.native.buffers import zeros
from fastrank.core.native.records.runs import CheckedLines, Checking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from fastrank.common.arrays import Integers

# The columns of rows with numbers.
NUMBERS = ("lines", "integers", "classes", "scores", "rank_classes")


class Rows(NamedTuple):
    """Judgments or results, grouped by query, otherwise in file order.

    Query i is `queries[i]` and has the rows offsets[i] : offsets[i + 1]. `classes` and
    `rank_classes` classify the texts of numbers (A_NUMBER and so on in core/native/codes.py),
    `integers` are grades or ranks. For each kind of odd lines (TOO_FEW_FIELDS and so on there)
    `odd` has their number, and line, start and number of fields of the first ones,
    int64[listed, 3].

    In formats other than TREC's, `lines` counts what `unit` names, `numbers` contains the texts of
    grades, or of ranks and scores, and `empty` the queries that are there without results.
    """

    text: bytes
    line_count: int
    queries: list[bytes]
    query_texts: records.Spans
    offsets: Integers
    lines: Integers
    doc_starts: Integers
    doc_lengths: Integers
    integers: Integers
    classes: npt.NDArray[np.uint8]
    scores: npt.NDArray[np.float64]
    rank_classes: npt.NDArray[np.uint8]
    scattered: list[tuple[int, int, int]]
    tags: list[tuple[bytes, int]]
    odd: list[tuple[int, Integers]]
    unit: str = "line"
    has_ranks: bool = True
    numbers: tuple[list[bytes], ...] | None = None
    empty: frozenset[bytes] = frozenset()

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def docs(self) -> records.Texts:
        """The documents, for kernels."""
        return records.Texts(self.text, self.doc_starts, self.doc_lengths)

    @property
    def columns(self) -> records.TextsByQuery:
        """The documents of each query, for kernels."""
        return records.TextsByQuery(texts=self.docs, offsets=self.offsets)

    @property
    def query_of(self) -> Integers:
        """The number of the query of each row."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.offsets))

    @property
    def first_lines(self) -> Integers:
        """The line on which each query begins."""
        if not len(self):
            return self.lines
        return np.minimum.reduceat(self.lines, self.offsets[:-1])

    def doc(self, row: int) -> bytes:
        """The document of a row."""
        start = int(self.doc_starts[row])
        return self.text[start : start + int(self.doc_lengths[row])]

    def query(self, row: int) -> bytes:
        """The query of a row."""
        return self.queries[int(np.searchsorted(self.offsets, row, side="right")) - 1]

    def fields(self, row: int) -> list[bytes]:
        """The fields of the line of a row, as in a TREC file."""
        if self.numbers is not None:
            return [self.query(row), b"", self.doc(row), *(column[row] for column in self.numbers)]
        start = int(self.doc_starts[row])
        return line_at(self.text, self.text.rfind(b"\n", 0, start) + 1).split()

    def named(self, row: int) -> str:
        """The document of a row, for messages."""
        return f"document {quoted(self.doc(row))}"

    def described(self, row: int, noun: str, number: bytes, words: str) -> str:
        """The fault of a row's number, a grade or a score."""
        if not number:
            return f"{noun} of {self.named(row)} is missing"
        message = self.for_format(f"{noun} {quoted(number)} of {self.named(row)} {words}")
        if self.is_trec and self.lines[row] == 1 and has_names_only(b" ".join(self.fields(row))):
            return f"{message}; {IS_HEADER}"
        return message

    def for_format(self, message: str) -> str:
        """A message, which ends before what trec_eval does if it cannot read the format."""
        return message if self.is_trec else message.partition("; trec_eval")[0]

    def where(self, line: Any) -> str:
        """A line, for messages."""
        return f"{self.unit} {int(line)}"

    @property
    def is_trec(self) -> bool:
        """Whether the file is in TREC format."""
        return self.numbers is None

    def adjacent(self) -> npt.NDArray[np.bool_]:
        """Whether rows i and i + 1 belong to the same query, bool[rows - 1]."""
        same = np.ones(max(len(self) - 1, 0), dtype=bool)
        same[self.offsets[1:-1] - 1] = False
        return same

    def count_documents(self) -> int:
        """The number of distinct documents."""
        count: int = kernels.intern_texts(self.docs, interning(len(self)))
        return count


def line_at(text: bytes, start: int) -> bytes:
    """The line that begins at `start`, without its newline."""
    stop = text.find(b"\n", start)
    return text[start : stop if stop >= 0 else len(text)]


def scan(text: bytes, start: int, *, judgments: bool, listed: int = 0) -> Rows:
    """Read the lines of judgments or of a run, starting at `start`.

    listed: how many odd lines of each kind to describe; all are counted.
    """
    # One more than the number of lines, because a row is written before it is checked.
    room = kernels.count_lines(text) + 1
    listed = min(listed, room)
    state = Checking()
    of_run = 0 if judgments else room
    lines = CheckedLines(
        lines=zeros("q", room),
        docs=spans(room),
        scores=zeros("d", of_run),
        integers=zeros("q", room),
        classes=zeros("B", room),
        rank_classes=zeros("B", of_run),
        queries=records.Stretches(*spans(room), rows=zeros("q", room)),
        tags=records.Stretches(*spans(of_run), rows=zeros("q", of_run)),
        odd=zeros("q", 3 * codes.ODD_KINDS * listed),
        odd_counts=zeros("q", codes.ODD_KINDS),
        fallbacks=zeros("q", of_run),
    )
    kernels.check_lines(text, start, int(judgments), lines, zeros("q", 12), state)
    rows = state.rows
    odd = np.asarray(lines.odd).reshape(codes.ODD_KINDS, listed, 3)
    columns = {name: np.asarray(getattr(lines, name))[:rows] for name in NUMBERS}
    docs = records.Spans(*(np.asarray(column)[:rows] for column in lines.docs))
    grouped, order = rows_by_query(
        text,
        [column[: state.queries] for column in lines.queries],
        docs,
        columns,
        line_count=text.count(b"\n") + (not text.endswith(b"\n")),
        tags=distinct_texts(text, [column[: state.tags] for column in lines.tags], lines.lines),
        odd=[(count, odd[kind, :count]) for kind, count in enumerate(lines.odd_counts)],
    )
    row_numbers = np.asarray(lines.fallbacks)[: state.fallbacks]
    _read_fallbacks(grouped, row_numbers if order is None else np.argsort(order)[row_numbers])
    return grouped


def rows_by_query(
    text: bytes, stretches: Any, docs: records.Spans, columns: dict[str, Any], **others: Any
) -> tuple[Rows, Integers | None]:
    """The rows of a file grouped by query, and their order, None if it is that of the file.

    stretches: starts, lengths and first rows of stretches of rows with the same query. columns: the
    NUMBERS of each row; and `others`, as Rows has them.
    """
    starts, lengths, first_rows = stretches
    rows, numbered = len(columns["lines"]), interning(len(starts))
    count = kernels.intern_texts(records.Texts(text, starts, lengths), numbered)
    order: Integers | None = None
    scattered = []
    if count == len(starts):
        offsets = np.append(np.asarray(first_rows), rows)
    else:
        memory, ordered = zeros("q", count + 1), zeros("q", rows)
        kernels.gather_rows(numbered.ids, first_rows, rows, memory, ordered)
        offsets, order = np.asarray(memory), np.asarray(ordered)
        scattered = _scattered(np.asarray(numbered.ids), first_rows, columns["lines"])
        firsts = np.asarray(numbered.firsts)[:count]
        starts, lengths = (np.take(np.asarray(column), firsts) for column in (starts, lengths))

    def reorder(column: Any) -> Any:
        return column if order is None or not len(column) else np.take(column, order)

    others |= {name: reorder(column) for name, column in columns.items()}
    grouped = Rows(
        text=text,
        queries=[text[start : start + size] for start, size in zip(starts, lengths, strict=True)],
        query_texts=records.Spans(starts, lengths),
        offsets=offsets,
        doc_starts=reorder(docs.starts),
        doc_lengths=reorder(docs.lengths),
        scattered=scattered,
        **others,
    )
    return grouped, order


def _scattered(ids: Integers, rows: Any, lines: Integers) -> list[tuple[int, int, int]]:
    """(query, first line of its second block, number of blocks) of scattered queries."""
    order = np.argsort(ids, kind="stable")
    queries, starts, counts = np.unique(ids[order], return_index=True, return_counts=True)
    several = counts > 1
    again = order[starts[several] + 1]
    second_lines = [lines[rows[stretch]] for stretch in again.tolist()]
    return list(zip(queries[several].tolist(), second_lines, counts[several].tolist(), strict=True))


def distinct_texts(text: bytes, stretches: Any, lines: Any) -> list[tuple[bytes, int]]:
    """The distinct texts of stretches, each with the first line it appears on."""
    starts, lengths, rows = stretches
    numbered = interning(len(starts))
    count = kernels.intern_texts(records.Texts(text, starts, lengths), numbered)
    return [
        (text[starts[first] : starts[first] + lengths[first]], lines[rows[first]])
        for first in numbered.firsts[:count]
    ]


def _read_fallbacks(rows: Rows, row_numbers: Integers) -> None:
    """Read and classify the scores that the kernel could not read."""
    for row in row_numbers.tolist():
        score = rows.fields(row)[4]
        value = atof(score)
        rows.scores[row] = value
        whole = number_of_entire_text(score) is not None
        if rows.classes[row] == codes.FALLBACK_NUMBER and not whole:
            rows.classes[row] = codes.A_PREFIX
        elif whole:
            rows.classes[row] = codes.INFINITE if abs(value) == float("inf") else codes.A_NUMBER
