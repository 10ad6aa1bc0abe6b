"""Scores as tables: columns of values with names, and what can be made of them."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.data.columns import Frozen
from fastrank.data.texts import decoded
from fastrank.errors import GroupError, MeasureError
from fastrank.scores import table_formats
from fastrank.scores.columns import columns_by_name, presented_means, walk
from fastrank.scores.scores import Scores
from fastrank.scores.text import notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    import pandas
    import polars


# The columns of `long_rows`.
LONG = ("query", "measure", "value")


class Table(Frozen):
    """Rows of labels and values; `columns` is {name: list of values}, each one value per row.

    A text is a label, an int a count, a float any other value. In text for people floats get four
    decimals; frames, CSV and JSON have full precision.

    >>> own = fr.table(scores)
    >>> own
    <Table: 1 rows, 2 columns>
    >>> own.names, own.columns["run"]
    (['run', 'map'], ['pixels'])
    >>> print(own)
    run        map
    ------  ------
    pixels  0.4348
    """

    __slots__ = ("columns",)

    columns: dict[str, list[Any]]

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The rows, each a tuple with one value per column.

        >>> list(fr.table(scores).rows())
        [('pixels', 0.43476959975458557)]
        """
        return zip(*self.columns.values(), strict=True)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __repr__(self) -> str:
        return f"<Table: {len(self)} rows, {len(self.columns)} columns>"

    def __str__(self) -> str:
        return table_formats.plain(self.names, self.rows())

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self) -> str:
        """A table element, escaped.

        >>> print(fr.table(scores).to_html()[:14])
        <table>
        <thead
        """
        return table_formats.html(self.names, self.rows())

    def to_markdown(self) -> str:
        """A table in the pipe syntax of GitHub's markdown, escaped.

        >>> print(fr.table(scores).to_markdown())
        | run    |    map |
        |:-------|-------:|
        | pixels | 0.4348 |
        """
        return table_formats.markdown(self.names, self.rows())

    def to_latex(self) -> str:
        """A LaTeX tabular with the rules of booktabs, escaped.

        >>> print(fr.table(scores).to_latex().splitlines()[4])
         pixels & 0.4348 \\\\
        """
        return table_formats.latex(self.names, self.rows())

    def to_csv(self) -> str:
        """Comma-separated lines, header first.

        >>> print(fr.table(scores).to_csv(), end="")
        run,map
        pixels,0.43476959975458557
        """
        return "".join(table_formats.csv_lines(self.names, self.rows()))

    def to_json(self, *, indent: int | None = None) -> str:
        """A JSON list with an object per row; null for what is no finite number.

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
        import pandas

        return pandas.DataFrame(self.columns)

    def to_polars(self) -> polars.DataFrame:
        """A polars frame with these columns.

        >>> fr.table(scores).to_polars().columns
        ['run', 'map']
        """
        import polars

        return polars.DataFrame(self.columns)


def table(
    scores: Scores | Iterable[Scores] | Mapping[Any, Scores],
    names: Iterable[object] | None = None,
    *,
    label: str = "run",
) -> Table:
    """Several scores side by side: a row for each, a column for each measure's mean.

    names: the rows' names, by default the runs' tags; of a mapping its keys are the names, so that
        the groups of `Scores.by_group` can be given. label: what stands above the names.

    Raises MeasureError if they do not have the same measures, and GroupError if the names do not
    fit.

    >>> qrels = fr.read_qrels("data/digits.qrels")
    >>> print(fr.table(fr.evaluate(qrels, ["data/pixels.run", "data/pca.run"], "map P.10")))
    run        map    P_10
    ------  ------  ------
    pixels  0.4348  0.9510
    pca     0.3493  0.8050
    """
    rows = as_list(scores)
    measures = common_names(rows)
    if names is None:
        names = scores if isinstance(scores, Mapping) else [decoded(row.tag) for row in rows]
    labels = [str(name) for name in names]
    if len(labels) != len(rows):
        raise GroupError(f"names: expected {len(rows)}, one for each row, found {len(labels)}")
    if label in measures:
        raise GroupError(f"label: {label!r} is the name of a measure")
    means = [presented_means(scores) for scores in rows]
    return Table(
        columns={label: labels, **{name: [mean[name] for mean in means] for name in measures}}
    )


def as_list(scores: Scores | Iterable[Scores] | Mapping[Any, Scores]) -> list[Scores]:
    """One or more scores as a list; of a mapping its values."""
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
    for number, item in enumerate(scores[1:], 2):
        different = sorted(set(first) ^ set(item.mean))
        if different:
            raise MeasureError(
                different[0],
                f"scores 1 and {number} have different measures: only one of them has"
                f" {', '.join(different)}",
            )
    return first


def table_of(scores: Scores, *, per_query: bool) -> Table:
    """The means, one row a measure; or one row a query, and `all` below."""
    if per_query:
        return wide_table(scores, summary=True)
    means = presented_means(scores)
    value = decoded(scores.tag) or "value"
    if value == "measure":
        value = "value"
    return Table(columns={"measure": list(means), value: list(means.values())})


def wide_table(scores: Scores, *, per_query: bool = True, summary: bool) -> Table:
    """One row a query, if wanted, with a column for each measure; then the row `all`, if wanted."""
    queries = scores.queries if per_query else []
    table: dict[str, list[Any]] = {"query": [*queries, *(["all"] if summary else ())]}
    for name, column in columns_by_name(scores).items():
        has_values = per_query and column.values is not None
        if not has_values and not (summary and column.mean is not None):
            continue
        values = map(column.presented, column.to_list()) if has_values else [None] * len(queries)
        table[name] = [*values, *([column.presented(column.mean)] if summary else ())]
    return Table(columns=table)


def long_rows(
    scores: Scores, *, per_query: bool = True, summary: bool = True
) -> Iterator[tuple[str | None, str, Any]]:
    """Query, measure and value, one row a value; those of the summary have no query."""
    columns, queries = columns_by_name(scores).values(), scores.queries if per_query else []
    for column, row, value in walk(columns, len(queries), summary=summary):
        if row is not None:
            # Hundreds of thousands of rows: most values need no call.
            shown = value if column.kind == "real" else column.presented(value)
            yield queries[row], column.name, shown
        elif column.kind != "text":
            yield None, column.name, column.presented(value)


def to_notebook(scores: Scores) -> str:
    """The means as an HTML table, and what is not part of them."""
    from html import escape

    paragraphs = "".join(f"<p>{escape(note)}</p>" for note in notes(scores))
    page = table_of(scores, per_query=False).to_html() + paragraphs
    return page.encode("utf-8", "replace").decode()
