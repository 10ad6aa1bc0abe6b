"""Systems compared over several data sets, each of which counts the same."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fastrank.arguments import check_choice, flag
from fastrank.comparing.alignment import Aligned, align
from fastrank.comparing.compare import compare_aligned
from fastrank.comparing.inputs import systems_from
from fastrank.comparing.options import COMPARISON, ComparisonOptions, settings
from fastrank.comparing.paired import moments
from fastrank.errors import GroupError, MeasureError, OptionError
from fastrank.keywords import takes, with_defaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.choices import SameOrCommon
    from fastrank.comparing.comparison import Comparison
    from fastrank.comparing.options import Settings
    from fastrank.comparing.paired import Floats


@takes(ComparisonOptions, COMPARISON)
def compare_datasets(
    scores: Mapping[str, Any],
    *,
    queries: SameOrCommon = "same",
    resample_queries: bool = False,
    **options: Unpack[ComparisonOptions],
) -> Comparison:
    """Compare systems by their means on several data sets: macro averages.

    scores: {data set: scores of systems}, the latter as `compare_scores` takes them, such as
        {system: Scores}. All data sets need the same systems and measures.
    queries: within each data set, as for `compare_scores`.
    resample_queries: whether the resamples of intervals and `ranks` draw data sets and then, anew
        for each of them, its queries, instead of data sets only. Needs interval="percentile".
    **options: see `ComparisonOptions`; clusters are of data sets.

    In the result, data sets take the place of queries: `queries` are their names, `values` the
    means on them, and the tests, intervals and `ranks` are about other data sets of the same kind.
    Few data sets can show only large differences, however many queries they have; compare the
    systems on each of them, too. The means of data sets already vary with their queries, so that
    intervals that resample both are on the safe side: a little too wide.

    The mean of a data set is over the queries with values of all systems. Raises TypeError for
    other objects, GroupError if the systems differ or there is no data set, MeasureError if the
    measures differ, and what `compare_scores` raises.

    >>> news = {"a": {"q1": 0.25, "q2": 0.5}, "b": {"q1": 0.25, "q2": 0.25}}
    >>> found = fr.compare_datasets({"news": news, "wiki": {"a": {"q1": 0.75}, "b": {"q1": 0.5}}})
    >>> found.mean
    {'value': {'a': 0.5625, 'b': 0.375}}
    """
    check_choice("queries", queries, ("same", "common"))
    chosen = settings(with_defaults(compare_datasets, options))
    if flag("resample_queries", resample_queries):
        _check_resampled(chosen)
    if not isinstance(scores, Mapping):
        raise TypeError(
            f"scores: expected {{data set: scores of systems}}, found {type(scores).__name__}"
        )
    if not scores:
        raise GroupError("compare_datasets: expected at least one data set, found none")
    datasets = {}
    for name, given in scores.items():
        names, systems, notes = systems_from(given, chosen.names)
        caller = f"compare_datasets: data set {str(name)!r}"
        own = align(names, systems, common=queries == "common", caller=caller, pairwise=False)
        datasets[str(name)] = own._replace(notes=[*notes, *own.notes])
    _check_the_same(datasets)
    first = next(iter(datasets.values()))
    means = {
        measure: np.stack([_means(own, first.names, measure) for own in datasets.values()], axis=1)
        for measure in first.measures
    }
    notes = ["each data set counts as one query, with the mean of its queries"]
    if resample_queries:
        notes.append("intervals and ranks resample data sets, and the queries of each")
    notes += [f"{name}: {note}" for name, own in datasets.items() for note in own.notes]
    within = {
        measure: [_common(own, first.names, measure) for own in datasets.values()]
        for measure in (first.measures if resample_queries else ())
    }
    measures = {
        name: own._replace(values=means[name], within=within.get(name))
        for name, own in first.measures.items()
    }
    return compare_aligned(Aligned(first.names, list(datasets), measures, notes), chosen)


def _check_the_same(datasets: dict[str, Aligned]) -> None:
    """Raise GroupError if the systems differ, MeasureError if the measures do."""
    (first_name, first), *others = datasets.items()
    for name, own in others:
        both = f"data sets {first_name!r} and {name!r} have different"
        systems = sorted(set(first.names) ^ set(own.names))
        if systems:
            raise GroupError(f"compare_datasets: {both} systems: only one has {systems[0]!r}")
        measures = sorted(first.measures.keys() ^ own.measures.keys())
        if measures:
            raise MeasureError(measures[0], f"{both} measures: only one has {measures[0]}")


def _check_resampled(chosen: Settings) -> None:
    if chosen.interval != "percentile":
        raise OptionError(
            "resample_queries", f"needs interval='percentile', found {chosen.interval!r}"
        )
    if chosen.clusters is not None:
        raise OptionError("resample_queries", "cannot be combined with clusters of data sets")


def _common(dataset: Aligned, names: list[str], measure: str) -> Floats:
    """The values of the queries of a data set with values of all systems."""
    values = dataset.measures[measure].values[[dataset.names.index(name) for name in names]]
    return values[:, ~np.isnan(values).any(axis=0)]


def _means(dataset: Aligned, names: list[str], measure: str) -> Floats:
    """The means of systems on a data set, float64[systems]; NaN without common queries."""
    return moments(_common(dataset, names, measure)).mean
