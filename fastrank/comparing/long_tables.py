"""The pairs and the values per query of a comparison, as tables for people."""

from __future__ import annotations

from functools import partial
from textwrap import fill

import numpy as np

from fastrank.comparing.chosen_pair import chosen_pair
from fastrank.comparing.display import (
    DIGITS,
    Layout,
    difference_of,
    interval_name,
    layout_of,
    notes_of,
)
from fastrank.comparing.text import ASCII_SYMBOLS, SYMBOLS, WIDTH
from fastrank.messages import visible
from fastrank.scores.table_formats import (
    Number,
    latex,
    markdown,
    markdown_text,
    tabulated,
)
from fastrank.scores.tables import Table, distinct
from fastrank.scores.text import rounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from fastrank.comparing.comparison import Comparison
    from fastrank.comparing.paired import Floats

FORMATS: dict[str, Callable[[list[str], list[list[Any]]], str]] = {
    "table": partial(tabulated, form="simple"),
    "markdown": markdown,
    "latex": latex,
    "html": partial(tabulated, form="html"),
}


def pairs_table(
    comparison: Comparison,
    form: str,
    *,
    digits: int | None = None,
    percent: bool = False,
    ascii: bool = False,
) -> str:
    """A row for each pair and measure: difference, interval, p-value and counts."""
    layout = layout_of(comparison, digits=digits, percent=percent)
    symbols = ASCII_SYMBOLS if ascii or form == "latex" else SYMBOLS
    interval = interval_name(comparison)
    header = [
        "measure", "a", "b", "mean a", "mean b", f"diff [{interval}]" if interval else "diff", "p",
        "+/=/-", "", "d_z",
    ]  # fmt: skip
    rows = list(_pair_rows(comparison, layout, symbols))
    if any(row[-1] for row in rows):
        header.append("note")
    else:
        rows = [row[:-1] for row in rows]
    table = FORMATS[form](header, rows)
    count = len(comparison.queries)
    tested = comparison.description().replace("<=", symbols[2])
    explained = (
        f"{count:,} {'queries' if count != 1 else 'query'}. diff: mean a - mean b."
        f" {symbols[0]} {symbols[1]}: a is significantly better, worse"
        f" ({tested}). +/=/-: queries on which a is better, equal, worse."
    )
    return _with_paragraphs(table, [explained, *notes_of(comparison)], form)


def _pair_rows(
    comparison: Comparison, layout: Layout, symbols: tuple[str, str, str]
) -> Iterator[list[Any]]:
    for measure in comparison.measures:
        for pair in comparison._pairs_of(measure):
            one = difference_of(comparison, pair, layout)
            means = (layout.number(pair.mean_a), layout.number(pair.mean_b))
            yield [
                measure, pair.a, pair.b, *map(Number, means),
                Number(f"{one.difference} {one.interval}".rstrip()), Number(one.p),
                Number(one.counts), ("", symbols[0], symbols[1])[one.sign],
                Number(f"{pair.effect:.4f}"), pair.note,
            ]  # fmt: skip


def query_table(
    comparison: Comparison, form: str, *, digits: int | None = None, pair: Sequence[str] | None
) -> str:
    """A row for each measure and query: the values of the systems, and the difference of a pair.

    pair: two systems, by default those that `default_pair` chooses by the first measure.
    """
    digits = DIGITS if digits is None else digits
    header, places = ["measure", "query", *comparison.names], list[int]()
    if len(comparison) > 1:
        a, b = chosen_pair(comparison, comparison.measures[0], pair)
        header.append(f"{a} - {b}")
        places = [comparison.names.index(a), comparison.names.index(b)]
    rows = [
        [measure, query, *(Number(rounded(value, digits)) for value in values)]
        for measure in comparison.measures
        for query, values in zip(
            comparison.queries, _with_difference(comparison.values(measure), places), strict=True
        )
    ]
    return FORMATS[form](header, rows)


def _with_difference(values: Floats, places: list[int]) -> list[list[float]]:
    """The values of each query, followed by the difference of the systems at two places."""
    if places:
        first, second = places
        values = np.vstack([values, values[first] - values[second]])
    rows: list[list[float]] = values.T.tolist()
    return rows


def largest_table(
    comparison: Comparison, n: int, *, pair: Sequence[str] | None, digits: int | None = None
) -> Table:
    """For each measure the n queries on which two systems differ most; pair: see `query_table`."""
    pair = chosen_pair(comparison, comparison.measures[0], pair)
    columns: dict[str, list[Any]] = {}
    for measure in comparison.measures:
        found = comparison.largest(measure, n, pair=pair)
        names = distinct(["measure", *found.names])
        cells = [[measure] * len(found), *found.columns.values()]
        for name, column in zip(names, cells, strict=True):
            columns.setdefault(name, []).extend(column)
    return Table(columns=columns, digits=DIGITS if digits is None else digits)


def _with_paragraphs(table: str, paragraphs: list[str], form: str) -> str:
    """The table with text in the syntax of the format."""
    if form == "latex":
        return "\n".join([*(f"% {visible(text)}" for text in paragraphs), table])
    if form == "html":
        # Imported here because only HTML needs it.
        from fastrank.comparing.html import safe

        return "\n".join([table, *(f"<p>{safe(text)}</p>" for text in paragraphs)])
    if form == "markdown":
        return "\n\n".join([table, *map(markdown_text, paragraphs)])
    wrapped = (fill(visible(text), WIDTH, break_on_hyphens=False) for text in paragraphs)
    return "\n".join([table, "", *wrapped])
