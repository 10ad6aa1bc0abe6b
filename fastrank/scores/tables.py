"""Scores as tables: columns of values with names, and what can be made of them."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.data.columns import Frozen
from fastrank.data.texts import decoded
from fastrank.errors import GroupError, MeasureError
from fastrank.scores import layouts
from fastrank.scores.scores import Scores
from fastrank.scores.text import as_count, notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    import pandas
    import polars


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
        return layouts.plain(self.names, self.rows())

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self) -> str:
        """A table element, escaped.

        >>> print(fr.table(scores).to_html()[:14])
        <table>
        <thead
        """
        return layouts.html(self.names, self.rows())

    def to_markdown(self) -> str:
        """A table in the pipe syntax of GitHub's markdown, escaped.

        >>> print(fr.table(scores).to_markdown())
        | run    |    map |
        |:-------|-------:|
        | pixels | 0.4348 |
        """
        return layouts.markdown(self.names, self.rows())

    def to_latex(self) -> str:
        """A LaTeX tabular with the rules of booktabs, escaped.

        >>> print(fr.table(scores).to_latex().splitlines()[4])
         pixels & 0.4348 \\\\
        """
        return layouts.latex(self.names, self.rows())

    def to_csv(self) -> str:
        """Comma-separated lines, header first.

        >>> print(fr.table(scores).to_csv(), end="")
        run,map
        pixels,0.43476959975458557
        """
        return "".join(layouts.csv_lines(self.names, self.rows()))

    def to_json(self, *, indent: int | None = None) -> str:
        """A JSON list with an object per row; null for what is no finite number.

        >>> fr.table(scores).to_json()
        '[{"run": "pixels", "map": 0.43476959975458557}]'
        """
        from fastrank.scores.records import dumped

        return dumped([dict(zip(self.names, row, strict=True)) for row in self.rows()], indent)

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
    rows = listed(scores)
    measures = common_names(rows)
    if names is None:
        names = scores if isinstance(scores, Mapping) else [decoded(own.tag) for own in rows]
    labels = [str(name) for name in names]
    if len(labels) != len(rows):
        raise GroupError(f"names: expected {len(rows)}, one for each row, found {len(labels)}")
    if label in measures:
        raise GroupError(f"label: {label!r} is the name of a measure")
    means = [_mean(own) for own in rows]
    return Table(
        columns={label: labels, **{name: [mean[name] for mean in means] for name in measures}}
    )


def listed(scores: Scores | Iterable[Scores] | Mapping[Any, Scores]) -> list[Scores]:
    """One or more scores as a list; of a mapping its values."""
    if isinstance(scores, Scores):
        return [scores]
    return list(scores.values() if isinstance(scores, Mapping) else scores)


def common_names(scores: Sequence[Scores]) -> list[str]:
    """The names of the means, which must be the same in all. Raises MeasureError, TypeError."""
    for own in scores:
        if not isinstance(own, Scores):
            raise TypeError(f"scores: expected Scores, found {type(own).__name__}")
    if not scores:
        return []
    first = list(scores[0].mean)
    for number, own in enumerate(scores[1:], 2):
        different = sorted(set(first) ^ set(own.mean))
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
        return queries_of(scores, summary=True)
    mean = _mean(scores)
    value = decoded(scores.tag) or "value"
    if value == "measure":
        value = "value"
    return Table(columns={"measure": list(mean), value: list(mean.values())})


def queries_of(scores: Scores, *, per_query: bool = True, summary: bool) -> Table:
    """One row a query, if wanted, with a column for each measure; then the row `all`, if wanted."""
    mean = _mean(scores) if summary else {}
    values = _values(scores) if per_query else {}
    columns = {"query": [*(scores.queries if per_query else ()), *(["all"] if summary else ())]}
    printed = (decoded(name) for bound in scores.bound for name in bound.names)
    for name in dict.fromkeys(printed):
        if name not in values and name not in mean:
            continue
        absent = [None] * len(scores.query_ids) if per_query else []
        columns[name] = values.get(name, absent) + ([mean.get(name)] if summary else [])
    return Table(columns=columns)


def lines_of(scores: Scores, *, per_query: bool = True, summary: bool = True) -> Table:
    """One row a value: query, measure and value; those of the summary have no query."""
    queries: list[str | None] = []
    measures: list[str] = []
    numbers: list[Any] = []
    if per_query:
        values = _values(scores)
        queries = [query for query in scores.queries for _ in values]
        measures = list(values) * len(scores.query_ids)
        numbers = [value for row in zip(*values.values(), strict=True) for value in row]
    if summary:
        mean = _mean(scores)
        queries += [None] * len(mean)
        measures += mean
        numbers += mean.values()
    return Table(columns={"query": queries, "measure": measures, "value": numbers})


def to_notebook(scores: Scores) -> str:
    """The means as an HTML table, and what is not part of them."""
    from html import escape

    said = "".join(f"<p>{escape(note)}</p>" for note in notes(scores))
    made = table_of(scores, per_query=False).to_html() + said
    return made.encode("utf-8", "replace").decode()


def _mean(scores: Scores) -> dict[str, Any]:
    """The means, counts as integers."""
    whole = scores.whole
    return {name: as_count(v) if name in whole else v for name, v in scores.mean.items()}


def _values(scores: Scores) -> dict[str, list[Any]]:
    """The values per query, counts as integers."""
    whole = scores.whole
    return {
        name: [as_count(value) for value in values] if name in whole else values
        for name, values in scores.lists().items()
    }
