"""Tables of a comparison that need more than its arrays, and its record in JSON."""

from __future__ import annotations

import math
from importlib import import_module
from itertools import repeat
from string import ascii_lowercase

import numpy as np

from fastrank.analysis.comparing.bootstrap import two_level_means
from fastrank.analysis.comparing.groups import letter_display
from fastrank.analysis.comparing.pairs import chosen_pair, need_all_pairs, pairs_of
from fastrank.analysis.comparing.power import queries_for
from fastrank.analysis.comparing.randomization import resampled_sums
from fastrank.common.rendering.numbers import DIGITS
from fastrank.core.results.table import Table, distinct, table_of_rows
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.common.arrays import Floats, Integers

# The schema of `Comparison.to_json`, and the fields that are settings there.
SCHEMA = "fastrank.comparison/1"
SETTINGS = ("test", "correction", "alpha", "interval", "level", "seed", "resamples")
# The columns of standings.
HEADER = ("system", "mean", "rank", "low", "high", "group", "needed")
# One for each letter; more groups help nobody.
MOST_GROUPS = len(ascii_lowercase)


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


def rank_table(comparison: Comparison, measure: str, resamples: int) -> Table:
    """Bootstrap intervals of the ranks of systems."""
    analysis, settings = comparison.analysis(measure), comparison.settings
    paired = analysis.paired
    p = np.full((len(comparison),) * 2, np.nan)
    p[paired.firsts, paired.seconds] = p[paired.seconds, paired.firsts] = analysis.tested.p
    sign = {"higher": -1.0, "lower": 1.0}[comparison.better(measure)]
    if paired.clusters is None:
        units = sign * paired.grid(paired.complete())
    else:
        units = sign * paired.by_cluster(np.nan_to_num(paired.grid(paired.common)))
    # Sums on the grid are exact: equal ones are ties.
    if paired.within is not None:
        sums = sign * paired.rounded(two_level_means(paired, settings, resamples))
    else:
        sums = resampled_sums(
            units, "draw_with_replacement", resamples, settings.seed, settings.threads
        )
    ordered = np.sort(sums, axis=0)
    ranks = np.empty(sums.shape)
    for b in range(resamples):
        ranks[:, b] = np.searchsorted(ordered[:, b], sums[:, b]) + 1
    best = ranks == 1
    chances = (best / best.sum(axis=0)).mean(axis=1).tolist()
    lowest, highest = ranks, ranks
    for system, rivals, differ in _open_orders(units, sums, p, settings.level):
        lowest, highest = (ranks.copy(), ranks.copy()) if lowest is ranks else (lowest, highest)
        wins = sums[rivals] < sums[system]
        lowest[system] -= wins.sum(axis=0)
        highest[system] += (~wins).sum(axis=0)
        if differ and (lowest[system] == 1).any():
            chances[system] = None
    tail = (1 - settings.level) / 2
    low = np.quantile(lowest, tail, axis=1, method="nearest")
    high = np.quantile(highest, 1 - tail, axis=1, method="nearest")
    totals = units.sum(axis=1)
    observed = np.searchsorted(np.sort(totals), totals) + 1
    tied = None if comparison.baseline else set(comparison.tied_with_best(measure))
    rows = []
    for system in np.argsort(observed, kind="stable"):
        name, mean = comparison.names[system], comparison.mean[measure][comparison.names[system]]
        interval = int(observed[system]), int(low[system]), int(high[system])
        is_tied = None if tied is None else name in tied
        rows.append((name, mean, *interval, chances[system], is_tied))
    header = ("system", "mean", "rank", "low", "high", "p_best", "tied_with_best")
    return table_of_rows(header, rows)


def _open_orders(
    units: Floats, sums: Floats, p: Floats, level: float
) -> Iterator[tuple[int, Integers, bool]]:
    """The systems whose order with others is open, and these others.

    Either so few units (queries, clusters, data sets) differ that even if all favored one of two
    systems, a test by signs could not find it: p would be above 1 - level, 2**(1 - k). Or the
    resamples order them surely, but their p (of the test, float64[systems, systems]) is above
    1 - level: resamples of few units vary too little. Yields whether any unit differs, too.
    """
    tail = (1.0 - level) / 2
    for system, row in enumerate(units):
        differing = (units != row).sum(axis=1)
        is_open = 2.0 ** (1.0 - differing) > 1.0 - level
        is_open[system] = False
        rivals = np.flatnonzero((p[system] > 1.0 - level) & ~is_open)
        better, worse = sums[rivals] < sums[system], sums[rivals] > sums[system]
        is_open[rivals] = np.minimum(better.mean(axis=1), worse.mean(axis=1)) <= tail
        if is_open.any():
            yield system, np.flatnonzero(is_open), bool(differing[is_open].any())


def query_table(
    comparison: Comparison, *, pair: Sequence[str] | None, digits: int | None = None
) -> Table:
    """A row for each measure and query: the values of the systems, and the difference of a pair.

    pair: two systems, by default those that `default_pair` chooses by the first measure.
    """
    header, shown = ["measure", comparison.settings.unit.one, *comparison.names], []
    if len(comparison) > 1:
        a, b = chosen_pair(comparison, comparison.measures[0], pair)
        header.append(f"{a} - {b}")
        shown = [comparison.names.index(a), comparison.names.index(b)]
    rows: list[tuple[object, ...]] = []
    for measure in comparison.measures:
        values = comparison.values(measure)
        if shown:
            values = np.vstack([values, values[shown[0]] - values[shown[1]]])
        rows += zip(repeat(measure), comparison.queries, *values.tolist(), strict=False)
    return _rounded(header, rows, digits)


def largest_table(
    comparison: Comparison, n: int, *, pair: Sequence[str] | None, digits: int | None = None
) -> Table:
    """For each measure the n queries on which two systems differ most; pair: see `query_table`."""
    pair = chosen_pair(comparison, comparison.measures[0], pair)
    tables = {measure: comparison.largest(measure, n, pair=pair) for measure in comparison.measures}
    header = ["measure", *next(iter(tables.values())).names]
    rows = [(measure, *row) for measure, table in tables.items() for row in table.rows()]
    return _rounded(header, rows, digits)


def _rounded(header: list[str], rows: Sequence[tuple[object, ...]], digits: int | None) -> Table:
    table = table_of_rows(distinct(header), rows)
    return Table(columns=table.columns, digits=DIGITS if digits is None else digits)


def long_rows(comparison: Comparison) -> Iterator[tuple[str, str, str, float]]:
    """(query, measure, system, value), measure by measure."""
    for measure in comparison.measures:
        columns = comparison.values(measure).T.tolist()
        for query, row in zip(comparison.queries, columns, strict=True):
            for system, value in zip(comparison.names, row, strict=True):
                yield query, measure, system, value


def record_of(comparison: Comparison, *, per_query: bool = False) -> dict[str, Any]:
    """The object that `Comparison.to_json` writes."""
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
        by_query: dict[str, dict[str, dict[str, float]]] = {}
        for query, measure, system, value in long_rows(comparison):
            by_query.setdefault(query, {}).setdefault(measure, {})[system] = value
        record["per_query"] = by_query
    return record


def _mean_of(comparison: Comparison, measure: str, name: str) -> dict[str, float]:
    low, high = comparison.interval_of(measure, name)
    return {"mean": comparison.mean[measure][name], "low": low, "high": high}


def standing_table(comparison: Comparison, measure: str, power: float, resamples: int) -> Table:
    """The table of `Comparison.standings`."""
    need_all_pairs(comparison, "standings")
    ranks = rank_table(comparison, measure, resamples)
    # Resamples of one query or data set are all the same.
    is_known = len(comparison.queries) > 1 and len(comparison) > 1
    groups = _groups(comparison, measure) if is_known else {}
    first = ranks.columns["system"][0]
    rows = []
    for system, mean, rank, low, high, *_ in ranks.rows():
        effect = math.nan
        if system != first and comparison.settings.clusters is None:
            effect = comparison.pair(measure, first, system).effect
        needed = queries_for(effect, comparison.alpha, power) if math.isfinite(effect) else None
        bounds = (low, high) if is_known else (None, None)
        rows.append((system, mean, rank, *bounds, groups.get(system), needed))
    return table_of_rows(HEADER, rows)


def all_standings(comparison: Comparison, *, digits: int | None = None) -> Table:
    """The standings in each measure that has a best value, under each other."""
    measures = [measure for measure in comparison.measures if comparison.better(measure)]
    if not measures:
        raise OptionError("--standings", "needs a measure of which higher or lower is better")
    tables = [comparison.standings(measure) for measure in measures]
    rows = [
        (measure, *row)
        for measure, table in zip(measures, tables, strict=True)
        for row in table.rows()
    ]
    return _rounded(["measure", *HEADER], rows, digits)


def separations(comparison: Comparison, power: float = 0.8) -> list[str]:
    """For each measure how much it takes to tell the first two systems apart, if they are not.

    Of data sets with queries, also how many of these in all; the variance of the difference is then
    that within these data sets.
    """
    words, unit = [], comparison.settings.unit
    for measure in comparison.measures:
        analysis = comparison.analysis(measure)
        if not analysis.has_best or comparison.settings.clusters is not None:
            continue
        first, second = comparison.ranked(measure)[:2]
        pair = comparison.pair(measure, first, second)
        if comparison.significant(measure, first, second) or not math.isfinite(pair.effect):
            continue
        needed = queries_for(pair.effect, comparison.alpha, power)
        if needed is None:
            continue
        within = analysis.paired.within
        units = unit.many if within is None else "such data sets"
        text = f"{measure}: telling {first} from {second} takes {needed:,} {units}"
        if within is not None:
            rows = [comparison.names.index(name) for name in (first, second)]
            parts = [values[rows[0]] - values[rows[1]] for values in within]
            items = sum(map(len, parts))
            variance = sum(float(part.var(ddof=1)) / len(part) for part in parts if len(part) > 1)
            sd = math.sqrt(items * variance) / len(parts)
            if sd > 0 and (more := queries_for(pair.difference / sd, comparison.alpha, power)):
                text += (
                    f", or {more:,} {unit.parts} of these {len(parts)} alone, which have {items:,}"
                )
        words.append(f"{text} ({100 * power:g}% power, paired t-test, not corrected)")
    return words


def _groups(comparison: Comparison, measure: str) -> dict[str, str]:
    """The letters of each system; empty if there are too many groups."""
    try:
        groups = comparison.analysis(measure).alike()
    except OptionError:
        return {}
    if len(groups) > MOST_GROUPS:
        return {}
    return {comparison.names[system]: letters for system, letters in letter_display(groups).items()}
