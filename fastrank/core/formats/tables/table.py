"""Tables of queries, documents and numbers, converted to judgments and runs."""

from __future__ import annotations

from array import array

from fastrank.common.faces import by_face
from fastrank.common.messages import counted, python_warning
from fastrank.core.data.qrels import Qrels
from fastrank.core.data.run import Run
from fastrank.core.data.texts import NO_ITERATION, Groups, Texts, constant, interning, take
from fastrank.core.formats.tables.dicts import LISTED_GRADE, qrels_from_dict, run_from_dict
from fastrank.core.formats.tables.forms import is_missing
from fastrank.core.formats.tables.lists import lists_by_query
from fastrank.core.formats.tables.roles import (
    QRELS_ROLES,
    ROLES,
    RUN_ROLES,
    UNSURE_TAGS,
    asked_columns,
    find_columns,
    kind_of_names,
    may_lack_grades,
    normalized_name,
)
from fastrank.core.formats.tables.values import (
    grades_of,
    scores_of,
    scores_of_ranks,
    texts_of,
)
from fastrank.core.formats.tables.values import tag_of as tag_of
from fastrank.core.formats.tools.question_files import as_rows
from fastrank.core.formats.trec.runs import rank_as_given, with_distinct_ranks
from fastrank.core.formats.trec.strict import no_number
from fastrank.core.native import kernels
from fastrank.core.native.buffers import filled, zeros
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, NoReturn

    from fastrank.common.messages import Warn
    from fastrank.core.data.qrels import Scale
    from fastrank.core.formats.tables.roles import Name
    from fastrank.core.formats.tables.values import Fail


# Rows that show whether a column names systems.
SOME = 1000


class Table:
    """Named columns of equal length; `source` is the table's name in messages.

    columns: lists, or what `to_texts`, `to_numbers` and `to_stretches` convert. unit, rows: as in
    TextColumn.
    may_have_lists: whether a cell may be a list of documents.
    method: the method of Qrels and Run that takes such a table with `columns=`; None for files,
    whose readers do; empty if there is none.
    """

    def __init__(
        self,
        source: str,
        names: Iterable[Any],
        columns: Sequence[Any],
        *,
        rows: Any = None,
        unit: str = "row",
        method: str | None = None,
        to_texts: Callable[[Any, Fail], Texts] = texts_of,
        to_numbers: Callable[[Any, Fail], Any] | None = None,
        to_stretches: Callable[[Any, Fail], tuple[Texts, Any]] | None = None,
    ) -> None:
        self.source, self.names, self.columns = source, list(names), columns
        self.rows, self.unit, self.method = rows, unit, method
        self._to_texts, self.to_numbers, self._to_stretches = to_texts, to_numbers, to_stretches
        self.may_have_lists = True
        # Whether an empty id is a missing one.
        self.is_file = rows is not None

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.columns[0])

    @property
    def has_cells(self) -> bool:
        """Whether all values are the text of cells, of which numbers are read."""
        return self.to_numbers is numbers_of_cells

    def call(self, kind: str) -> str:
        """What reads such a table as Qrels or Run with `columns=`, for messages, or empty."""
        if self.method is None:
            return f"read_{kind.lower()}"
        return self.method and f"{kind}.{self.method}"

    def values(self, name: str) -> Any:
        """A column as a list of Python objects, None for a null of Arrow and polars."""
        column = self.columns[self.names.index(name)]
        for method in ("to_pylist", "to_list", "tolist"):
            if hasattr(column, method):
                return getattr(column, method)()
        return column

    def records(self) -> Iterator[dict[Any, Any]]:
        """The rows as dicts of Python objects by name."""
        columns = [self.values(name) for name in self.names]
        return (dict(zip(self.names, cells, strict=True)) for cells in zip(*columns, strict=True))

    def texts(self, place: int) -> Texts:
        """A column of ids. Raises InputError or FormatError."""
        return self._to_texts(self.columns[place], self.failing(place))

    def stretches(self, place: int) -> tuple[Texts, Any]:
        """As `stretches_of` the texts of a column."""
        if self._to_stretches is None:
            return stretches_of(self.texts(place))
        return self._to_stretches(self.columns[place], self.failing(place))

    def numbers(self, place: int) -> Any:
        """A column of numbers, as a list or a numpy array."""
        column = self.columns[place]
        return self.to_numbers(column, self.failing(place)) if self.to_numbers else column

    def failing(self, place: int) -> Fail:
        """A function that raises the error about a row of a column."""

        def fail(row: int, reason: str) -> NoReturn:
            self.refuse(row, f"column {self.names[place]!r}: {reason}")

        return fail

    def exploded(self, names: Sequence[str], items: Iterable[tuple[int, Sequence[Any]]]) -> Table:
        """A table of the cells of items, each with the row of this table that it stands in."""
        columns: tuple[list[Any], ...] = tuple([] for _ in names)
        rows = array("q")
        for row, cells in items:
            rows.append(row if self.rows is None else self.rows[row])
            for column, cell in zip(columns, cells, strict=True):
                column.append(cell)
        made = Table(self.source, names, columns, rows=memoryview(rows), unit=self.unit)
        made.is_file = self.is_file
        return made

    def refuse(self, row: int, reason: str) -> NoReturn:
        """Raise the error about a row."""
        if self.rows is None:
            raise InputError(self.source, f"row {row} (from 0), {reason}")
        if self.unit == "line":
            raise FormatError(self.source, int(self.rows[row]), reason)
        raise InputError(self.source, f"{self.unit} {self.rows[row]}, {reason}")


def stretches_of(texts: Texts) -> tuple[Texts, Any]:
    """The texts that differ from the one before, and their rows."""
    firsts = zeros("q", len(texts))
    firsts = firsts[: kernels.find_stretches(texts.columns, firsts)]
    text, starts, lengths = texts.columns
    return Texts(text, take(starts, firsts), take(lengths, firsts)), firsts


def numbers_of_cells(cells: Sequence[str], fail: Fail) -> list[int | float]:
    """The decimal numbers that cells of a text file are."""
    # Python also accepts `1_0` and digits of other scripts.
    joined = "".join(cells)
    if "_" not in joined and joined.isascii():
        for convert in (int, float):
            try:
                return list(map(convert, cells))
            except ValueError:
                pass
    return [_number(cell, row, fail) for row, cell in enumerate(cells)]


def _number(cell: str, row: int, fail: Fail) -> int | float:
    if "_" not in cell and cell.isascii():
        for convert in (int, float):
            try:
                return convert(cell)
            except ValueError:
                pass
    return fail(row, no_number(cell, "number") if cell.strip() else "the cell is empty")


def columns_of(
    table: Table, roles: Sequence[str], columns: Mapping[str, Name] | None
) -> Mapping[str, Name] | None:
    """The columns of the roles in `columns=`, or if it is not given on the command line."""
    return asked_columns().of(roles, table.names) if columns is None else columns


def qrels_of(
    table: Table, columns: Mapping[str, Any] | None = None, *, warn: Warn = python_warning
) -> Qrels:
    """The judgments of a table; `columns`: as in Qrels.from_pandas. warn: of what has no grade."""
    columns = columns_of(table, QRELS_ROLES, columns)
    table = as_rows(table, "qrels", columns)
    by_query = lists_by_query(table, "qrels", columns)
    if by_query is not None:
        return qrels_from_dict(by_query, source=table.source, warn=warn)
    optional = ("grade",) if may_lack_grades(table.names, columns) else ()
    found = find_columns(
        table.names,
        QRELS_ROLES,
        columns,
        table.source,
        optional=optional,
        call=table.call("Qrels"),
    )
    index = found.get("grade", -1)
    scale: Scale | None = None
    try:
        grouped, fields = _group_by_query(table, found)
        if index >= 0:
            grades, scale = grades_of(table.numbers(index), table.failing(index))
        else:
            grades = filled("q", [LISTED_GRADE] * len(fields["docs"]))
    except (FormatError, InputError):
        graded = table if index < 0 else without_ungraded(table, index, warn)
        if graded is table:
            raise
        return qrels_of(graded, columns, warn=warn)
    if scale is not None and columns is None and kind_of_names(table.names) == "run":
        reason = "grades with fractions beside a rank or a tag: this looks like a run"
        raise InputError(table.source, f"{reason}; are judgments and run swapped?")
    fields["groups"] = constant(NO_ITERATION, len(fields["docs"]))
    for name, role in (("groups", "iteration"), ("strata", "stratum")):
        if role in found:
            fields[name] = grouped.reorder(table.texts(found[role]))
    return Qrels(**fields, grade_column=grouped.reorder(grades), scale=scale)


def run_of(
    table: Table,
    columns: Mapping[str, Any] | None = None,
    *,
    tag: str | bytes | None = None,
    higher_is_better: bool = True,
    rank_by: str = "score",
) -> Run:
    """The run of a table; `columns`: as in Run.from_pandas.

    With rank_by="rank", or with ranks but no scores, a document's score is minus its rank.
    """
    columns = columns_of(table, RUN_ROLES["score"], columns)
    table = as_rows(table, "run", columns)
    by_query = lists_by_query(table, "run", columns, rank_by)
    if by_query is not None:
        return run_from_dict(
            by_query,
            tag=tag,
            higher_is_better=higher_is_better,
            rank_by=rank_by,
            source=table.source,
        )
    # `columns` may name the scores even if the ranks are to be used.
    ignored = [role for role in RUN_ROLES["score"] if role not in RUN_ROLES[rank_by]]
    found = find_columns(
        table.names,
        RUN_ROLES[rank_by],
        columns,
        table.source,
        ignored=ignored,
        call=table.call("Run"),
    )
    grouped, fields = _group_by_query(table, found)
    if "score" in found:
        numbers, fail = table.numbers(found["score"]), table.failing(found["score"])
        scores = scores_of(numbers, fail, higher_is_better=higher_is_better)
    elif "rank" in found:
        scores = scores_of_ranks(table.numbers(found["rank"]), table.failing(found["rank"]))
    else:
        scores = zeros("d", len(fields["docs"]))
    own_tag = tag_of(tag, table.source)
    if tag is None and "tag" in found:
        own_tag = _single_tag(table, found["tag"], found["query"])
    run = Run(**fields, tag_bytes=own_tag, score_column=grouped.reorder(scores))
    if rank_by == "given":
        return rank_as_given(run)
    return run if "score" in found else with_distinct_ranks(run)


def without_ungraded(table: Table, index: int, warn: Warn) -> Table:
    """The rows that have a grade in this column, with a warning if others have not.

    An empty cell is no judgment, as in exports of Quepid.
    """
    columns = [table.values(name) for name in table.names]
    missing = [
        row
        for row, cell in enumerate(columns[index])
        if is_missing(cell) or (isinstance(cell, str) and not cell.strip())
    ]
    if not 0 < len(missing) < table.size:
        return table
    first = missing[0]
    where = f"row {first} (from 0)" if table.rows is None else f"{table.unit} {table.rows[first]}"
    left = counted(len(missing), "row")
    warn(f"{table.source}: {left} without a rating left out, the first is {where}")
    rows = sorted({*range(table.size)} - {*missing})
    graded = table.exploded(table.names, ((row, [own[row] for own in columns]) for row in rows))
    graded.method, graded.to_numbers = table.method, numbers_of_cells if table.has_cells else None
    return graded


def _group_by_query(table: Table, found: dict[str, int]) -> tuple[Groups, dict[str, Any]]:
    """The rows of each query, and fields of the noun."""
    queries, firsts = table.stretches(found["query"])
    _refuse_empty(table, found["query"], queries, firsts)
    docs = table.texts(found["doc"])
    _refuse_empty(table, found["doc"], docs)
    grouped = Groups(queries, firsts, len(docs))
    rows = grouped.order if table.rows is None else grouped.reorder(table.rows)
    docs = grouped.reorder(docs).placed(rows, table.unit)
    return grouped, {
        "queries": grouped.queries,
        "docs": docs,
        "offset_column": grouped.offsets,
        "source": table.source,
    }


def _refuse_empty(table: Table, place: int, texts: Texts, rows: Any = None) -> None:
    """Raise the error about an empty id, which is a missing one, if the table is a text file.

    rows: of the texts, None if there is one in each row of the table.
    """
    if table.is_file and (first := first_empty(texts)) >= 0:
        row = first if rows is None else rows[first]
        table.failing(place)(row, "expected an id, found an empty text")


def first_empty(texts: Texts) -> int:
    """The first text that is empty, or -1."""
    import numpy

    lengths = numpy.asarray(texts.lengths)
    return -1 if lengths.all() else int(lengths.argmin())


def _single_tag(table: Table, index: int, query_index: int) -> bytes:
    """The tag of all rows. Raises InputError if there are several."""
    name = normalized_name(table.names[index])
    is_sure = name in ROLES["tag"][0]
    try:
        tags, _ = table.stretches(index)
    except (FormatError, InputError):
        if is_sure:
            raise
        # Other columns may be called so.
        return b""
    if name in UNSURE_TAGS and not _are_systems(table, index, query_index):
        return b""
    count = len(tags)
    numbered = interning(count)
    distinct = kernels.intern_texts(tags.columns, numbered)
    if distinct > 1:
        first, second = (tags[numbered.firsts[i]].decode("utf-8", "replace") for i in range(2))
        column, call = table.names[index], table.call("Run")
        reason = f"expected one run, found {distinct} tags"
        advice = f"select the rows of one {column!r}"
        if call:
            advice += f", or give all rows one new tag: fr.{call}(..., tag=NAME)"
        advice = by_face(advice, f"write the rows of each {column!r} to a file of their own")
        reason = f"{reason}, such as {first!r} and {second!r}"
        raise InputError(table.source, f"{reason}; {advice}")
    return tags[0] if count else b""


def _are_systems(table: Table, index: int, query_index: int) -> bool:
    """Whether a column names systems, not documents: several rows of a query have the same name."""
    tags, queries = table.texts(index), table.texts(query_index)
    count = min(len(tags), SOME)
    pairs = {(queries[row], tags[row]) for row in range(count)}
    return 2 * len(pairs) <= count
