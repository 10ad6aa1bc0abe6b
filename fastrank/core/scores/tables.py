"""Scores as tables: named columns of values, one or several Scores, and their conversions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial

from fastrank.common.arguments import at_least, flag
from fastrank.common.lazy import optional
from fastrank.common.messages import counted
from fastrank.common.rendering.document import Cell, Document, Grid, Paragraph
from fastrank.common.rendering.numbers import interval, number
from fastrank.core.data.columns import Frozen
from fastrank.core.scores.columns import columns_by_name, presented_means, walk
from fastrank.core.scores.scores import Scores
from fastrank.core.scores.text import notes, rounded
from fastrank.errors import GroupError, MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    import pandas
    import polars

    from fastrank.core.scores.columns import Column


# The columns of `long_rows`.
LONG = ("query", "measure", "value")


class Estimate(float):
    """A mean with the bounds of its interval, which tables show: `0.4348 [0.4113, 0.4583]`."""

    __slots__ = ("high", "low")

    low: float
    high: float

    def __new__(cls, mean: float, low: float, high: float) -> Estimate:
        """The mean with its bounds."""
        estimate = super().__new__(cls, mean)
        estimate.low, estimate.high = low, high
        return estimate


class Table(Frozen):
    """Rows of labels and values.

    columns: {name: list of values}, with one value per row: str for labels, int for counts, else
    float. digits: decimals of floats in text; frames, CSV and JSON have full precision. bold: the
    cells (row, column) to set in bold in Markdown and LaTeX.

    >>> table = fr.table(scores)
    >>> table
    <Table: 1 row, 2 columns>
    >>> table.names, table.columns["run"]
    (['run', 'map'], ['pixels'])
    >>> print(table)
    run        map
    ------  ------
    pixels  0.4348
    """

    made_by = "fastrank.table"

    columns: dict[str, list[Any]]
    digits: int = 4
    bold: frozenset[tuple[int, int]] = frozenset()

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Iterate over the rows as tuples with one value per column.

        >>> list(fr.table(scores).rows())
        [('pixels', 0.43476959975458557)]
        """
        return zip(*self.columns.values(), strict=True)

    def transpose(self, label: str = "measure") -> Table:
        """The table with a column for each row: the first column becomes the header.

        label: the header of the new first column, which holds the names of the old columns.

        >>> print(fr.table(scores).transpose())
        measure      pixels
        ---------  --------
        map          0.4348
        """
        first, *names = self.names
        header = distinct([label, *map(str, self.columns[first])])
        cells = zip(*(self.columns[name] for name in names), strict=True)
        return Table(
            columns=dict(zip(header, [names, *map(list, cells)], strict=True)),
            digits=self.digits,
            bold=frozenset((column - 1, row + 1) for row, column in self.bold),
        )

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __repr__(self) -> str:
        return f"<Table: {counted(len(self), 'row')}, {counted(len(self.columns), 'column')}>"

    def __str__(self) -> str:
        from fastrank.common.rendering.text import text

        return text(Document([grid_of(self)]))

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self, *, page: str | None = None) -> str:
        """An HTML table element, escaped; with a title as `page`, a whole page.

        >>> print(fr.table(scores).to_html()[:32])
        <table class="fastrank numbers">
        """
        from fastrank.common.rendering.html import html

        return html(Document([grid_of(self)]), page=page)

    def to_markdown(self) -> str:
        """A table in the pipe syntax of GitHub's Markdown, escaped.

        >>> print(fr.table(scores).to_markdown())
        | run    |    map |
        |:-------|-------:|
        | pixels | 0.4348 |
        """
        from fastrank.common.rendering.markdown import markdown

        return markdown(Document([grid_of(self)]))

    def to_latex(self) -> str:
        """A LaTeX tabular with booktabs rules, escaped.

        >>> print(fr.table(scores).to_latex().splitlines()[4])
        pixels & 0.4348 \\\\
        """
        from fastrank.common.rendering.latex import latex

        return latex(Document([grid_of(self)]))

    def to_csv(self) -> str:
        """Comma-separated lines, header first.

        >>> print(fr.table(scores).to_csv(), end="")
        run,map
        pixels,0.43476959975458557
        """
        from fastrank.core.formats.tables.table_files import csv_lines

        return "".join(csv_lines(self.names, self.rows()))

    def to_json(self, *, indent: int | None = None) -> str:
        """A JSON list with an object per row, and null for NaN and infinity.

        >>> fr.table(scores).to_json()
        '[{"run": "pixels", "map": 0.43476959975458557}]'
        """
        from fastrank.core.scores.records import json_text

        return json_text(records(self), indent)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas frame with these columns.

        >>> fr.table(scores).to_pandas()
              run      map
        0  pixels  0.43477
        """
        pandas = optional("pandas", "to_pandas")
        return pandas.DataFrame(self.columns)

    def to_polars(self) -> polars.DataFrame:
        """A polars frame with these columns.

        >>> fr.table(scores).to_polars().columns
        ['run', 'map']
        """
        polars = optional("polars", "to_polars")
        # A transposed table has counts and other values in one column.
        return polars.DataFrame(self.columns, strict=False)


def table_of_rows(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """A table of the rows, if any."""
    columns = list(map(list, zip(*rows, strict=True))) or [[] for _ in names]
    return Table(columns=dict(zip(names, columns, strict=True)))


def records(table: Table) -> list[dict[str, Any]]:
    """Each row as {column: value}."""
    return [dict(zip(table.names, row, strict=True)) for row in table.rows()]


def grid_of(table: Table, formats: Mapping[str, Callable[[float], str]] | None = None) -> Grid:
    """A table as it is shown. formats: {column: how to show its numbers}, if not rounded."""

    def rounded(value: float) -> str:
        text = number(value, table.digits)
        if isinstance(value, Estimate):
            bounds = interval(value.low, value.high, partial(number, digits=table.digits))
            return f"{text} {bounds}"
        return text

    def cell(value: Any, row: int, column: int) -> Cell:
        if isinstance(value, float):
            return Cell(shown[column](value), True, place=int((row, column) in table.bold))
        text = "" if value is None else str(value)
        return Cell(text, number=isinstance(value, int), heads_row=not column)

    shown = [(formats or {}).get(name, rounded) for name in table.names]
    rows = [
        [cell(value, row, column) for column, value in enumerate(values)]
        for row, values in enumerate(table.rows())
    ]
    return Grid(table.names, rows)


def distinct(names: Iterable[str]) -> list[str]:
    """Make names unique: a repeated name becomes `name (2)` and so on."""
    taken: set[str] = set()
    return [distinct_from(taken, name) for name in names]


def distinct_from(taken: set[str], name: str) -> str:
    """The name, with a number if it is taken; the result is added to `taken`."""
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        candidate = f"{name} ({number})"
    taken.add(candidate)
    return candidate


def table_of(scores: Scores, *, per_query: bool, digits: int = 4) -> Table:
    """The means, one row per measure; or one row per query, followed by `all`."""
    if per_query:
        return wide_table(scores, summary=True, digits=digits)
    means = presented_means(scores)
    value = scores.name or "value"
    if value == "measure":
        value = "value"
    return Table(columns={"measure": list(means), value: list(means.values())}, digits=digits)


def wide_table(scores: Scores, *, summary: bool, digits: int = 4) -> Table:
    """A row for each query, and optionally a row `all`; a column for each measure."""
    queries = scores.queries
    columns: dict[str, list[Any]] = {"query": [*queries, *(["all"] if summary else ())]}
    for name, column in columns_by_name(scores).items():
        has_values = column.values is not None
        if not has_values and not (summary and column.mean is not None):
            continue
        values = map(column.presented, column.to_list()) if has_values else [None] * len(queries)
        columns[name] = [*values, *([column.presented(column.mean)] if summary else ())]
    return Table(columns=columns, digits=digits)


def long_rows(
    scores: Scores, *, per_query: bool = True, summary: bool = True
) -> Iterator[tuple[str | None, str, Any]]:
    """Rows of query, measure and value; the query of the summary is None."""
    columns, queries = columns_by_name(scores).values(), scores.queries if per_query else []
    for column, row, value in walk(columns, len(queries), summary=summary):
        if row is not None:
            # Hundreds of thousands of rows: most values need no call.
            shown = value if column.kind == "real" else column.presented(value)
            yield queries[row], column.name, shown
        elif column.kind != "text":
            yield None, column.name, column.presented(value)


def to_notebook(scores: Scores) -> str:
    """The means as an HTML table, followed by the notes."""
    from fastrank.common.rendering.html import html

    paragraphs = [Paragraph(note, "note") for note in notes(scores)]
    return html(Document([grid_of(table_of(scores, per_query=False)), *paragraphs]))


def table(
    scores: Scores | Iterable[Scores] | Mapping[Any, Scores],
    names: Iterable[object] | None = None,
    *,
    label: str = "run",
    per_query: bool = False,
    digits: int = 4,
    bold: bool = True,
) -> Table:
    """Compare several Scores: a table with a row for each, and a column for each measure's mean.

    scores: one or more Scores, or a mapping of names to Scores, such as the result of
        `Scores.by_group`.
    names: the names of the rows, by default the keys of the mapping or the names of the runs. A
        repeated name becomes `name (2)`.
    label: the header of the column of names.
    per_query: a row for each query and measure instead, with the columns `query`, `measure`, and
        one for each of the Scores, which is None for queries it lacks.
    digits: decimals in text; CSV, JSON and frames have full precision.
    bold: set the best mean of each measure in bold, in Markdown and LaTeX. The lowest is the best
        of ranks and of shares of unjudged documents (see `Measure.better`); counts have no best.

    `Table.transpose` turns measures into rows. Raises MeasureError if the measures differ,
    GroupError if the number of names does not match, OptionError for invalid digits.

    >>> qrels = fr.read_qrels("data/digits.qrels")
    >>> several = fr.evaluate(qrels, ["data/pixels.run", "data/pca.run"], "map P.10")
    >>> print(fr.table(several))
    run        map    P_10
    ------  ------  ------
    pixels  0.4348  0.9510
    pca     0.3493  0.8050
    >>> print(fr.table(several, ["raw", "PCA"], digits=3).transpose().to_markdown())
    | measure   |       raw |   PCA |
    |:----------|----------:|------:|
    | map       | **0.435** | 0.349 |
    | P_10      | **0.951** | 0.805 |
    >>> fr.table(several, per_query=True).to_pandas().head(2)
       query measure    pixels       pca
    0  q0000     map  0.632911  0.625706
    1  q0000    P_10  1.000000  1.000000
    """
    rows = as_list(scores)
    measures = common_names(rows)
    if names is None and isinstance(scores, Mapping):
        names = scores
    labels = [row.name or "run" for row in rows] if names is None else list(map(str, names))
    if len(labels) != len(rows):
        raise GroupError(f"names: expected {len(rows)}, one per row, found {len(labels)}")
    digits = at_least("digits", digits, 0)
    if per_query:
        return query_table(rows, labels, digits=digits)
    if label in measures:
        raise GroupError(f"label: {label!r} is the name of a measure")
    columns: dict[str, list[Any]] = {label: distinct(labels)}
    best: set[tuple[int, int]] = set()
    means = [presented_means(scores) for scores in rows]
    kinds = columns_by_name(rows[0]) if rows else {}
    for column, name in enumerate(measures, 1):
        columns[name] = values = [mean[name] for mean in means]
        if flag("bold", bold):
            best.update((row, column) for row in best_places(kinds[name], values, digits))
    return Table(columns=columns, digits=digits, bold=frozenset(best))


def query_table(
    rows: Sequence[Scores], names: Iterable[str], *, digits: int = 4, summary: bool = False
) -> Table:
    """A row for each query and measure, then optionally the means; a column for each Scores."""
    header = distinct(["query", "measure", *names])
    # The values by query (None for the summary) and measure.
    tables = [
        {(query, name): value for query, name, value in long_rows(scores, summary=summary)}
        for scores in rows
    ]
    queries = {query: None for cells in tables for query, _ in cells if query is not None}
    # Only Scores of arrays may not be in the order of ids.
    if any(scores.queries != list(queries) for scores in rows):
        queries = dict.fromkeys(sorted(queries, key=os.fsencode))
    measures = {name: None for scores in rows for name in columns_by_name(scores)}
    keys = [
        (query, name)
        for query in [*queries, *([None] if summary else [])]
        for name in measures
        if any((query, name) in cells for cells in tables)
    ]
    columns: list[list[Any]] = [
        ["all" if query is None else query for query, _ in keys],
        [name for _, name in keys],
        *([cells.get(key) for key in keys] for cells in tables),
    ]
    return Table(columns=dict(zip(header, columns, strict=True)), digits=digits)


def as_list(scores: Scores | Iterable[Scores] | Mapping[Any, Scores]) -> list[Scores]:
    """One or more Scores as a list; the values of a mapping."""
    if isinstance(scores, Scores):
        return [scores]
    return list(scores.values() if isinstance(scores, Mapping) else scores)


def common_names(scores: Sequence[Scores]) -> list[str]:
    """The names of the means, which must be the same in all. Raises MeasureError, TypeError."""
    for item in scores:
        if not isinstance(item, Scores):
            raise TypeError(f"scores: expected Scores, found {type(item).__name__}")
    if not scores:
        return []
    first = list(scores[0].mean)
    for position, item in enumerate(scores[1:], 2):
        different = sorted(set(first) ^ set(item.mean))
        if different:
            raise MeasureError(
                different[0],
                f"Scores 1 and {position} have different measures: only one has"
                f" {', '.join(different)}",
            )
    return first


def best_places(column: Column, values: list[float], digits: int) -> list[int]:
    """The indexes of the best values, including those equal to it when rounded to `digits`.

    Empty for counts, and for fewer than two values.
    """
    numbers = [value for value in values if value == value]
    if column.kind != "real" or not column.better or len(values) < 2 or not numbers:
        return []
    best = min(numbers) if column.better == "lower" else max(numbers)
    shown = rounded(best, digits)
    return [row for row, value in enumerate(values) if rounded(value, digits) == shown]
