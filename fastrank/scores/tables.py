"""Scores as tables: named columns of values, and their conversions."""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.lazy import optional
from fastrank.plurals import counted
from fastrank.scores import table_formats
from fastrank.scores.columns import columns_by_name, presented_means, walk
from fastrank.scores.text import notes, rounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, ClassVar

    import pandas
    import polars

    from fastrank.scores.scores import Scores


# The columns of `long_rows`.
LONG = ("query", "measure", "value")


class Table(Frozen):
    """Rows of labels and values.

    columns: {name: list of values}, with one value per row: str for labels, int for counts, else
    float. digits: decimals of floats in text; frames, CSV and JSON have full precision. bold: the
    cells (row, column) to set in bold in Markdown and LaTeX.

    >>> own = fr.table(scores)
    >>> own
    <Table: 1 row, 2 columns>
    >>> own.names, own.columns["run"]
    (['run', 'map'], ['pixels'])
    >>> print(own)
    run        map
    ------  ------
    pixels  0.4348
    """

    __slots__ = ("bold", "columns", "digits")
    made_by = "fastrank.table"
    defaults: ClassVar[dict[str, Any]] = {"bold": frozenset(), "digits": 4}

    columns: dict[str, list[Any]]
    digits: int
    bold: frozenset[tuple[int, int]]

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

    def _shown(self) -> Iterator[list[Any]]:
        """The rows for people, floats as rounded texts."""
        for i, row in enumerate(self.rows()):
            yield [
                (table_formats.Bold if (i, j) in self.bold else table_formats.Number)(
                    rounded(value, self.digits)
                )
                if isinstance(value, float)
                else value
                for j, value in enumerate(row)
            ]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __repr__(self) -> str:
        return f"<Table: {counted(len(self), 'row')}, {counted(len(self.columns), 'column')}>"

    def __str__(self) -> str:
        return table_formats.plain(self.names, self._shown())

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self) -> str:
        """An HTML table element, escaped.

        >>> print(fr.table(scores).to_html()[:14])
        <table>
        <thead
        """
        return table_formats.html(self.names, self._shown())

    def to_markdown(self) -> str:
        """A table in the pipe syntax of GitHub's Markdown, escaped.

        >>> print(fr.table(scores).to_markdown())
        | run    |    map |
        |:-------|-------:|
        | pixels | 0.4348 |
        """
        return table_formats.markdown(self.names, self._shown())

    def to_latex(self) -> str:
        """A LaTeX tabular with booktabs rules, escaped.

        >>> print(fr.table(scores).to_latex().splitlines()[4])
        pixels & 0.4348 \\\\
        """
        return table_formats.latex(self.names, self._shown())

    def to_csv(self) -> str:
        """Comma-separated lines, header first.

        >>> print(fr.table(scores).to_csv(), end="")
        run,map
        pixels,0.43476959975458557
        """
        return "".join(table_formats.csv_lines(self.names, self.rows()))

    def to_json(self, *, indent: int | None = None) -> str:
        """A JSON list with an object per row, and null for NaN and infinity.

        >>> fr.table(scores).to_json()
        '[{"run": "pixels", "map": 0.43476959975458557}]'
        """
        from fastrank.scores.records import json_text

        return json_text([dict(zip(self.names, row, strict=True)) for row in self.rows()], indent)

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


def distinct(names: Iterable[str]) -> list[str]:
    """Make names unique: a repeated name becomes `name (2)` and so on."""
    taken: set[str] = set()
    return [distinct_from(taken, name) for name in names]


def distinct_from(taken: set[str], name: str) -> str:
    """The name, with a number if it is taken; the result is added to `taken`."""
    number, other = 1, name
    while other in taken:
        number += 1
        other = f"{name} ({number})"
    taken.add(other)
    return other


def table_of(scores: Scores, *, per_query: bool, digits: int = 4) -> Table:
    """The means, one row per measure; or one row per query, followed by `all`."""
    if per_query:
        return wide_table(scores, summary=True, digits=digits)
    means = presented_means(scores)
    value = scores.name or "value"
    if value == "measure":
        value = "value"
    return Table(columns={"measure": list(means), value: list(means.values())}, digits=digits)


def wide_table(scores: Scores, *, per_query: bool = True, summary: bool, digits: int = 4) -> Table:
    """A column for each measure; optionally a row for each query and a row `all`."""
    queries = scores.queries if per_query else []
    table: dict[str, list[Any]] = {"query": [*queries, *(["all"] if summary else ())]}
    for name, column in columns_by_name(scores).items():
        has_values = per_query and column.values is not None
        if not has_values and not (summary and column.mean is not None):
            continue
        values = map(column.presented, column.to_list()) if has_values else [None] * len(queries)
        table[name] = [*values, *([column.presented(column.mean)] if summary else ())]
    return Table(columns=table, digits=digits)


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
    from html import escape

    paragraphs = "".join(f"<p>{escape(note)}</p>" for note in notes(scores))
    page = table_of(scores, per_query=False).to_html() + paragraphs
    return page.encode("utf-8", "replace").decode()
