"""A comparison as tables, CSV and JSON; further analyses as tables."""

from __future__ import annotations

import math
from importlib import import_module

import numpy as np

from fastrank.comparing.bootstrap import two_level_means
from fastrank.comparing.pairs import chosen_pair, pairs_of
from fastrank.comparing.power import detectable, queries_for
from fastrank.comparing.randomization import resampled_sums
from fastrank.comparing.tukey import two_way
from fastrank.document.numbers import DIGITS
from fastrank.formats.table_files import csv_lines
from fastrank.scores.records import json_text
from fastrank.scores.tables import Table, distinct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from fastrank.comparing.comparison import Comparison
    from fastrank.comparing.options import Settings
    from fastrank.comparing.paired import Floats, Paired
    from fastrank.comparing.pairs import Pair

# Of `Comparison.to_json`, and its fields that are settings there; the header of values per query.
SCHEMA = "fastrank.comparison/1"
SETTINGS = ("test", "correction", "alpha", "interval", "level", "seed", "resamples")
LONG = ("query", "measure", "system", "value")


def _table(header: str, rows: Sequence[Sequence[Any]]) -> Table:
    """A table of rows; without any, it has no columns."""
    return Table(
        columns=dict(zip(header.split(), map(list, zip(*rows, strict=True)), strict=False))
    )


def effects_table(pairs: Iterable[Pair], paired: Paired) -> Table:
    """Effect sizes of the pairs of a measure."""
    rows = []
    for place, pair in enumerate(pairs):
        higher, equal = paired.higher[place], paired.equal[place]
        hedges = pair.effect * (1 - 3 / (4 * (pair.n - 1) - 1)) if pair.n > 1 else math.nan
        superiority = float((higher + equal / 2) / pair.n) if pair.n else math.nan
        unpaired = cliffs_delta(*map(paired.rounded, paired.both(place)))
        rows.append((pair.a, pair.b, pair.effect, hedges, superiority, unpaired, pair.sd))
    return _table("a b d_z hedges superiority cliff_unpaired sd", rows)


def cliffs_delta(first: Floats, second: Floats) -> float:
    """The share of all combinations in which the first is higher, less those where it is lower.

    Source: Cliff, 'Dominance statistics', Psychological Bulletin 114(3), 1993.
    """
    if not len(first) or not len(second):
        return math.nan
    ordered = np.sort(second)
    below = np.searchsorted(ordered, first, side="left")
    above = len(ordered) - np.searchsorted(ordered, first, side="right")
    return float((below - above).sum() / (len(first) * len(second)))


def power_table(
    pairs: Iterable[Pair], alpha: float, power: float, differences: Sequence[float]
) -> Table:
    """What each pair's number of queries can show."""
    # A difference that is given twice has one column.
    wanted = {f"queries_{difference:g}": difference for difference in differences}
    rows = []
    for pair in pairs:
        needed = [
            _queries(own, pair.sd, alpha, power) for own in (pair.difference, *wanted.values())
        ]
        least = detectable(pair.n, alpha, power) * pair.sd
        rows.append((pair.a, pair.b, pair.n, pair.sd, least, *needed))
    return _table(f"a b n sd detectable queries {' '.join(wanted)}", rows)


def _queries(difference: float, sd: float, alpha: float, power: float) -> int | None:
    return queries_for(difference / sd, alpha, power) if sd > 0 else None


def equivalence_table(pairs: Iterable[Pair], margin: float, alpha: float) -> Table:
    """Two one-sided t-tests against a margin."""
    from scipy.special import stdtr, stdtrit

    rows = []
    for pair in pairs:
        p, half, df = math.nan, math.nan, pair.n - 1.0
        if pair.n > 1:
            error = pair.sd / math.sqrt(pair.n)
            inside = margin - abs(pair.difference)
            p = float(stdtr(df, -inside / error)) if error > 0 else float(inside <= 0)
            half = stdtrit(df, 1 - alpha) * error
        low, high = pair.difference - half, pair.difference + half
        rows.append((pair.a, pair.b, pair.difference, low, high, p, p <= alpha))
    return _table("a b difference low high p equivalent", rows)


def bayes_table(pairs: Iterable[Pair], rope: float, better: str) -> Table:
    """The posterior of the mean difference under a flat prior."""
    from scipy.special import stdtr

    rows = []
    for pair in pairs:
        difference = -pair.difference if better == "lower" else pair.difference
        worse = above = math.nan
        if pair.n > 1:
            error = pair.sd / math.sqrt(pair.n)
            if error > 0:
                worse = float(stdtr(pair.n - 1.0, (-rope - difference) / error))
                above = float(stdtr(pair.n - 1.0, (difference - rope) / error))
            else:
                worse, above = float(difference < -rope), float(difference > rope)
        alike = max(0.0, 1 - worse - above) if worse == worse else math.nan
        rows.append((pair.a, pair.b, worse, alike, above))
    return _table("a b p_b_better p_rope p_a_better", rows)


def anova_table(paired: Paired) -> Table:
    """The two-way analysis of variance of the queries with values of all systems."""
    from scipy.special import fdtrc

    values = paired.complete()
    residual = two_way(values)[-1]
    rows = []
    for source in two_way(values):
        f = p = omega = math.nan
        if source.name != residual.name and residual.mean_square > 0:
            f = source.mean_square / residual.mean_square
            p = float(fdtrc(source.df, residual.df, f))
            omega = source.df * (f - 1) / (source.df * (f - 1) + values.size)
        rows.append((source.name, source.squares, source.df, source.mean_square, f, p, omega))
    return _table("source squares df mean_square F p partial_omega_squared", rows)


def rank_table(
    comparison: Comparison, measure: str, paired: Paired, settings: Settings, resamples: int
) -> Table:
    """Bootstrap intervals of the ranks of systems."""
    values = paired.complete()
    sign = {"higher": -1.0, "lower": 1.0}[comparison.better(measure)]
    grid = sign * paired.grid(values)
    # Sums on the grid are exact: equal ones are ties.
    if paired.within is not None:
        sums = sign * paired.rounded(two_level_means(paired, settings, resamples))
    else:
        sums = resampled_sums(
            grid, "draw_with_replacement", resamples, settings.seed, settings.threads
        )
    ordered = np.sort(sums, axis=0)
    ranks = np.empty(sums.shape)
    for b in range(resamples):
        ranks[:, b] = np.searchsorted(ordered[:, b], sums[:, b]) + 1
    best = ranks == 1
    chances = (best / best.sum(axis=0)).mean(axis=1)
    tail = (1 - settings.level) / 2
    low, high = np.quantile(ranks, [tail, 1 - tail], axis=1, method="nearest")
    totals = grid.sum(axis=1)
    own = np.searchsorted(np.sort(totals), totals) + 1
    tied = None if comparison.baseline else set(comparison.tied_with_best(measure))
    rows = []
    for place in np.argsort(own, kind="stable"):
        name, mean = comparison.names[place], comparison.mean[measure][comparison.names[place]]
        interval = int(own[place]), int(low[place]), int(high[place])
        is_tied = None if tied is None else name in tied
        rows.append((name, mean, *interval, float(chances[place]), is_tied))
    return _table("system mean rank low high p_best tied_with_best", rows)


def query_table(
    comparison: Comparison, *, pair: Sequence[str] | None, digits: int | None = None
) -> Table:
    """A row for each measure and query: the values of the systems, and the difference of a pair.

    pair: two systems, by default those that `default_pair` chooses by the first measure.
    """
    header, shown = ["measure", "query", *comparison.names], []
    if len(comparison) > 1:
        a, b = chosen_pair(comparison, comparison.measures[0], pair)
        header.append(f"{a} - {b}")
        shown = [comparison.names.index(a), comparison.names.index(b)]
    columns: list[list[Any]] = [[] for _ in header]
    for measure in comparison.measures:
        values = comparison.values(measure)
        if shown:
            values = np.vstack([values, values[shown[0]] - values[shown[1]]])
        count = len(comparison.queries)
        for column, more in zip(
            columns, ([measure] * count, comparison.queries, *values.tolist()), strict=True
        ):
            column.extend(more)
    return _by_columns(header, columns, digits)


def largest_table(
    comparison: Comparison, n: int, *, pair: Sequence[str] | None, digits: int | None = None
) -> Table:
    """For each measure the n queries on which two systems differ most; pair: see `query_table`."""
    pair = chosen_pair(comparison, comparison.measures[0], pair)
    found = {own: comparison.largest(own, n, pair=pair) for own in comparison.measures}
    header = ["measure", *next(iter(found.values())).names]
    columns: list[list[Any]] = [[] for _ in header]
    for measure, table in found.items():
        cells = ([measure] * len(table), *table.columns.values())
        for column, more in zip(columns, cells, strict=True):
            column.extend(more)
    return _by_columns(header, columns, digits)


def _by_columns(header: list[str], columns: list[list[Any]], digits: int | None) -> Table:
    by_name = dict(zip(distinct(header), columns, strict=True))
    return Table(columns=by_name, digits=DIGITS if digits is None else digits)


def csv_of(comparison: Comparison, *, per_query: bool = False) -> str:
    """The pairs, or the values per query in long form, as CSV."""
    if not per_query:
        return comparison.pairs().to_csv()
    return "".join(csv_lines(LONG, _long_rows(comparison)))


def _long_rows(comparison: Comparison) -> Iterator[tuple[Any, ...]]:
    for measure in comparison.measures:
        columns = comparison.values(measure).T.tolist()
        for query, row in zip(comparison.queries, columns, strict=True):
            for system, value in zip(comparison.names, row, strict=True):
                yield query, measure, system, value


def json_of(comparison: Comparison, *, per_query: bool = False, indent: int | None = None) -> str:
    """The means, pairs, settings and notes as a JSON object."""
    return json_text(record_of(comparison, per_query=per_query), indent)


def record_of(comparison: Comparison, *, per_query: bool = False) -> dict[str, Any]:
    """What `Comparison.to_json` writes."""
    pairs = [*pairs_of(comparison)]
    settings = {name: getattr(comparison, name) for name in SETTINGS}
    settings["family"] = comparison.settings.family
    clusters = comparison.settings.clusters
    settings["clusters"] = None if clusters is None else len({*clusters.values()})
    settings["exact"] = all(pair.exact for pair in pairs)
    # Imported by name, because the package is above its parts.
    version = import_module("fastrank").__version__
    settings |= {**dict(sorted(comparison.evaluation.items())), "version": version}
    if "exclude" in settings:
        settings["exclude"] = bool(settings["exclude"])
    record: dict[str, Any] = {
        "schema": SCHEMA,
        "measures": comparison.measures,
        "baseline": comparison.baseline,
        "queries": len(comparison.queries),
        "systems": {
            name: {measure: _mean_of(comparison, measure, name) for measure in comparison.measures}
            for name in comparison.names
        },
        "pairs": [pair._asdict() for pair in pairs],
        "settings": settings,
        "notes": comparison.notes,
    }
    if per_query:
        record["per_query"] = {
            query: dict(zip(comparison.measures, rows, strict=True))
            for query, *rows in zip(
                comparison.queries,
                *(_by_query(comparison, measure) for measure in comparison.measures),
                strict=True,
            )
        }
    return record


def _mean_of(comparison: Comparison, measure: str, name: str) -> dict[str, float]:
    low, high = comparison.interval_of(measure, name)
    return {"mean": comparison.mean[measure][name], "low": low, "high": high}


def _by_query(comparison: Comparison, measure: str) -> list[dict[str, float]]:
    """{system: value} for each query."""
    rows = comparison.values(measure).T.tolist()
    return [dict(zip(comparison.names, row, strict=True)) for row in rows]
