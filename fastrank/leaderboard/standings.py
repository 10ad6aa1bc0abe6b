"""Who is first, and how surely: systems ranked on one data set, and on all of them."""

from __future__ import annotations

import math
from string import ascii_lowercase
from typing import NamedTuple

from fastrank.comparing.compare import compare_datasets, compare_scores
from fastrank.comparing.pairs import need_common_queries
from fastrank.comparing.power import queries_for
from fastrank.errors import OptionError
from fastrank.leaderboard.results import MEAN, mean_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from fastrank.comparing.comparison import Comparison
    from fastrank.comparing.pairs import Pair
    from fastrank.leaderboard.results import Dataset

# The power with which the first system would be found better than the second.
POWER = 0.8
# As many as there are letters; more groups help nobody.
MOST_GROUPS = len(ascii_lowercase)


class Row(NamedTuple):
    """A ranked system.

    rank: from 1; equal means share it. low, high: the bounds of the rank, None if they are not
    known. group: the letters of the groups it is in. alike: the systems that it cannot be told
    apart from, best first.
    """

    system: str
    mean: float
    rank: int
    low: int | None = None
    high: int | None = None
    group: str = ""
    alike: tuple[str, ...] = ()


class Standing(NamedTuple):
    """Systems ranked by their means, best first.

    comparison: None if only one value of each is known. units: what the comparison resamples and
    counts, "query" or "data set". pair: the first against the second; None without comparison or
    second. needed: how many queries or data sets the paired t-test needs to find this difference,
    without correction; None if that is not known, or more than 10**9.
    """

    rows: list[Row]
    units: str
    comparison: Comparison | None = None
    pair: Pair | None = None
    needed: int | None = None
    notes: Sequence[str] = ()

    @property
    def size(self) -> int | None:
        """The number of queries or data sets, None if it is not known."""
        return None if self.comparison is None else len(self.comparison.queries)


def standing_on(dataset: Dataset, options: Mapping[str, Any]) -> Standing:
    """The standing on one data set. Raises GroupError if systems have no common query."""
    if not dataset.has_queries:
        means = {system: mean_of(own) for system, own in dataset.values.items()}
        return Standing(_by_means(means, dataset.better), "query", notes=dataset.notes)
    comparison = compare_scores(
        _named(dataset.values, dataset.measure), queries="common", **options
    )
    return _compared(comparison, "query", dataset.notes)


def overall_standing(
    datasets: Sequence[Dataset], standings: Sequence[Standing], options: Mapping[str, Any]
) -> Standing:
    """The standing of the systems with results on all data sets: by the mean of their means."""
    if len(datasets) == 1:
        return standings[0]
    complete = set.intersection(*(set(own.values) for own in datasets))
    if not complete:
        return Standing([], "data set", notes=["no system has results on all data sets"])
    measures = {own.measure for own in datasets}
    # The name decides which values are better, which are the same of all.
    measure = datasets[0].measure
    values = {
        own.name: _named({name: own.values[name] for name in sorted(complete)}, measure)
        for own in datasets
    }
    if any(own.has_queries for own in datasets):
        comparison = compare_datasets(
            values, queries="common", resample_queries=True, interval="percentile", **options
        )
    else:
        means = {
            name: {own.name: {measure: own.values[name][MEAN]} for own in datasets}
            for name in sorted(complete)
        }
        comparison = compare_scores(means, **options)
    several = [f"values are {', '.join(sorted(measures))}"] if len(measures) > 1 else []
    return _compared(comparison, "data set", several)


def _named(values: Mapping[str, Mapping[str, float]], measure: str) -> dict[str, Any]:
    return {
        system: {query: {measure: value} for query, value in own.items()}
        for system, own in values.items()
    }


def _by_means(means: Mapping[str, float], better: str) -> list[Row]:
    sign = 1 if better == "lower" else -1
    ordered = sorted(means, key=lambda system: (sign * means[system], system))
    rows: list[Row] = []
    for place, system in enumerate(ordered, 1):
        is_equal = rows and rows[-1].mean == means[system]
        rows.append(Row(system, means[system], rows[-1].rank if is_equal else place))
    return rows


def _compared(comparison: Comparison, units: str, notes: Sequence[str]) -> Standing:
    measure = comparison.measures[0]
    mean = comparison.mean[measure]
    if any(math.isnan(own) for own in mean.values()):
        need_common_queries(comparison, measure)
    ranked = comparison.ranked(measure)
    beaten = {system: set(comparison.beaten(measure, system)) for system in ranked}
    try:
        letters = comparison.letters(measure)
    except OptionError:
        # Thousands of groups.
        letters = {}
    if not letters or any("," in own for own in letters.values()):
        letters = {}
        notes = [
            *notes,
            f"more than {MOST_GROUPS} groups overlap; the page of a system lists those"
            " that it cannot be told apart from",
        ]
    resamples = {"resamples": comparison.resamples} if comparison.resamples else {}
    ranks = {row[0]: row[2:5] for row in comparison.ranks(measure, **resamples).rows()}
    # Resamples of one query or data set are all the same.
    known = len(comparison.queries) > 1 and len(comparison) > 1
    rows = []
    for system in ranked:
        rank, low, high = ranks[system]
        row = Row(system, mean[system], rank)
        if known:
            others = beaten[system] | {own for own in ranked if system in beaten[own]} | {system}
            alike = tuple(own for own in ranked if own not in others)
            row = row._replace(low=low, high=high, group=letters.get(system, ""), alike=alike)
        rows.append(row)
    pair = comparison.pair(measure, ranked[0], ranked[1]) if len(ranked) > 1 else None
    effect = pair.effect if pair is not None and not math.isnan(pair.effect) else 0.0
    needed = queries_for(effect, comparison.alpha, POWER) if math.isfinite(effect) else None
    return Standing(rows, units, comparison, pair, needed, [*notes, *comparison.notes])
