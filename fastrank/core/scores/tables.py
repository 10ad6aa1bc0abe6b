"""Scores as tables: of one or several, of means or per query."""

from __future__ import annotations

import os
from collections.abc import Mapping

from fastrank.common.arguments import at_least, flag
from fastrank.core.results.table import Table, best_rows, distinct
from fastrank.core.scores.columns import Evaluated, columns_by_name, presented_means, walk
from fastrank.core.scores.text import named_notes, notes
from fastrank.errors import GroupError, MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, TypeAlias

    from fastrank.core.results.table import Table

    Scored: TypeAlias = "Evaluated | Iterable[Evaluated] | Mapping[Any, Evaluated]"
    """One or several Scores, in a list or as {name: Scores}."""

# The columns of `long_rows`.
LONG = ("query", "measure", "value")


def table_of(scores: Evaluated, *, per_query: bool, digits: int = 4) -> Table:
    """The means, one row per measure; or one row per query, followed by `all`."""
    told = tuple(notes(scores))
    if per_query:
        return wide_table(scores, summary=True, digits=digits).changed(notes=told)
    means = presented_means(scores)
    value = scores.name or "value"
    if value == "measure":
        value = "value"
    columns = {"measure": list(means), value: list(means.values())}
    return Table(columns=columns, digits=digits, notes=told)


def wide_table(scores: Evaluated, *, summary: bool, digits: int = 4) -> Table:
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
    scores: Evaluated, *, per_query: bool = True, summary: bool = True
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


def table(
    scores: Scored,
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

    `Table.transpose` turns measures into rows. Below the means are the notes that printed Scores
    have. Raises MeasureError if the measures differ,
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
            better = kinds[name].better if kinds[name].kind == "real" else ""
            best.update((row, column) for row in best_rows(values, better, digits))
    told = notes(rows[0]) if len(rows) == 1 else named_notes(columns[label], rows)
    return Table(columns=columns, digits=digits, bold=frozenset(best), notes=tuple(told))


def query_table(
    rows: Sequence[Evaluated], names: Iterable[str], *, digits: int = 4, summary: bool = False
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


def as_list(scores: Scored) -> list[Evaluated]:
    """One or more Scores as a list; the values of a mapping."""
    if isinstance(scores, Evaluated):
        return [scores]
    return list(scores.values() if isinstance(scores, Mapping) else scores)


def common_names(scores: Sequence[Evaluated]) -> list[str]:
    """The names of the means, which must be the same in all. Raises MeasureError, TypeError."""
    for item in scores:
        if not isinstance(item, Evaluated):
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
