"""The analysis of one measure: test, correction, intervals and effect sizes of every pair."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastrank.analysis.comparing.bootstrap import (
    all_the_same,
    bootstrap_intervals,
    bootstrap_test,
    t_interval,
)
from fastrank.analysis.comparing.groups import alike
from fastrank.analysis.comparing.inputs import may_be_shares
from fastrank.analysis.comparing.pair_tests import (
    SIGNS,
    Tested,
    adjust,
    constant_differences,
    gains,
    sign_test,
    t_test,
    user_test,
    wilcoxon_test,
)
from fastrank.analysis.comparing.paired import CONSTANT, Moments, Paired, common_values, moments
from fastrank.analysis.comparing.randomization import (
    max_t,
    randomization_test,
    randomized_tukey,
    unequal_units,
)
from fastrank.common.messages import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from fastrank.analysis.comparing.alignment import Measured
    from fastrank.analysis.comparing.options import Settings, Unit
    from fastrank.common.arrays import Floats, Integers

TESTS: dict[str, Callable[[Paired, Settings], Tested]] = {
    "t": t_test,
    "randomization": randomization_test,
    "wilcoxon": wilcoxon_test,
    "sign": sign_test,
    "tukey": randomized_tukey,
    "bootstrap": bootstrap_test,
}
# Tests whose p-value is at least 2**(1 - k) for k differences that are not 0.
BY_SIGNS = ("randomization", "wilcoxon", "sign")
FEW_QUERIES = 10
MANY_QUERIES = 1000
FEW_CLUSTERS = 10
NO_INTERVAL = "all differences are equal: no interval"
ENDLESS = "too many resamples have no variance: no interval"
WITHOUT_SPREAD = "all values are equal, or those of too many resamples are"
OF_EQUALS = (
    "all differences of a pair are equal: its p is that of the {}, and its interval allows for"
    " other values, from 0 to 1, on other {}"
)


class Analysis(NamedTuple):
    """The results for one measure. All arrays but those of `means` have one item for each pair.

    values: as given, float64[systems, queries]. better: which ones are: "higher", "lower", or "".
    settings: the checked options. paired: the pairs, as indices of systems. means: the moments of
    each system, over the queries with values of all systems; low_means, high_means: the bounds of
    their means. mean_a, mean_b: the means of the systems of pairs, over the queries with values of
    both. p_adjusted: NaN where p is NaN. effect: d_z, the mean difference divided by its
    standard deviation. notes: {pair: note}. general: notes on all pairs.
    """

    values: Floats
    better: str
    settings: Settings
    paired: Paired
    tested: Tested
    p_adjusted: Floats
    means: Moments
    mean_a: Floats
    mean_b: Floats
    low_means: Floats
    high_means: Floats
    low: Floats
    high: Floats
    relative: Floats
    effect: Floats
    smallest_p: Floats
    notes: dict[int, str]
    general: list[str]

    @property
    def has_best(self) -> bool:
        """Whether one of several systems can be the best."""
        return len(self.values) > 1 and bool(self.better) and self.paired.ordered

    def ranked(self) -> list[int]:
        """The systems from best to worst mean; in their order where none can be the best."""
        sign = SIGNS[self.better] if self.paired.ordered else 0.0
        return [int(system) for system in np.argsort(-sign * self.means.mean, kind="stable")]

    def significant(self) -> np.ndarray:
        """Whether each pair differs significantly."""
        differs = (self.p_adjusted <= self.settings.alpha) & (self.paired.difference != 0.0)
        return np.asarray(differs)

    def beaten(self, system: int) -> list[int]:
        """The systems that one is significantly better than."""
        paired, differs = self.paired, self.significant()
        gain = gains(self.better, paired.difference, self.tested.statistic, self.settings)
        first, second = paired.firsts == system, paired.seconds == system
        lower = [*paired.seconds[differs & first & (gain > 0)].tolist()]
        return sorted({*lower, *paired.firsts[differs & second & (gain < 0)].tolist()})

    def alike(self) -> list[list[int]]:
        """The groups of systems that do not differ significantly, best first; needs all pairs."""
        differs = self.significant()
        different = (
            systems[differs].tolist() for systems in (self.paired.firsts, self.paired.seconds)
        )
        return alike(self.ranked(), zip(*different, strict=True))

    def columns(
        self, measure: str, names: list[str], pairs: Integers | None = None
    ) -> list[list[Any]]:
        """The fields of `Pair` as columns, by default for all pairs."""
        paired, tested = self.paired, self.tested
        pairs = np.arange(len(paired)) if pairs is None else pairs
        count = len(pairs)
        higher, lower = paired.higher[pairs].tolist(), paired.lower[pairs].tolist()
        wins, losses = {
            "higher": (higher, lower),
            "lower": (lower, higher),
            "": ([None] * count,) * 2,
        }[self.better]
        numbers = (
            *(self.mean_a, self.mean_b, paired.difference, self.relative, self.low, self.high),
            *(tested.statistic, tested.df, tested.p, self.p_adjusted, self.smallest_p),
        )
        systems = [side[pairs].tolist() for side in (paired.firsts, paired.seconds)]
        return [
            [measure] * count,
            *([names[system] for system in side] for side in systems),
            *(array[pairs].tolist() for array in numbers),
            wins,
            paired.equal[pairs].tolist(),
            losses,
            *(array[pairs].tolist() for array in (self.effect, paired.sd, paired.n, tested.exact)),
            [self.notes.get(pair, "") for pair in pairs.tolist()],
        ]


def analyze(
    measured: Measured,
    firsts: Integers,
    seconds: Integers,
    clusters: Integers | None,
    settings: Settings,
) -> Analysis:
    """Compare the systems of one measure, pair by pair."""
    values = measured.values
    # This test cannot use queries without a value of every system.
    tested_values = common_values(values)[0] if settings.of_all_systems else values
    paired = Paired(tested_values, firsts, seconds, clusters, measured.within)
    means = moments(paired.common)
    # Added in the order of the queries, as `evaluate` does.
    means = means._replace(mean=np.cumsum(np.nan_to_num(paired.common), axis=1)[:, -1] / means.n)
    if settings.function is not None:
        tested = user_test(paired, settings)
    elif len(paired):
        tested = TESTS[settings.test](paired, settings)
    else:
        tested = Tested(np.zeros(0), np.zeros(0))
    untested = paired.n == 0
    tested.p[untested] = np.nan
    for pair in np.flatnonzero(untested):
        tested.notes[int(pair)] = f"no {settings.unit.one} has values of both: no test is possible"
    if settings.correction == "max-t" and len(paired):
        # p is not from the same flips, and no correction makes it smaller.
        adjusted = np.maximum(tested.p, max_t(paired, settings))
    else:
        adjusted = adjust(tested.p, settings.correction)
    notes = {pair: [note] for pair, note in tested.notes.items()}
    intervals = _intervals(paired, means, settings, notes)
    _widen(paired, means, settings, intervals, notes, measured.name)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean_a, mean_b = _means_of_pairs(paired, means)
        relative = np.where(mean_b == 0, np.nan, paired.difference / mean_b)
        effect = np.where(paired.unequal == 0, 0.0, paired.difference / paired.sd)
    general = [*tested.general, *_sizes(paired, settings.unit)]
    unknown = np.isnan(intervals[0]) & (means.n > 1)
    if unknown.any() and settings.interval != "none" and not one_cluster(paired):
        number = counted(int(unknown.sum()), "mean has", "means have")
        general.append(f"{number} no interval: {WITHOUT_SPREAD}")
    if not paired.sd.all() and (constant_differences(paired) & np.isfinite(intervals[2])).any():
        by_signs = settings.test in ("t", "bootstrap") and settings.function is None
        test = "randomization test" if by_signs else "test"
        general.append(OF_EQUALS.format(test, settings.unit.many))
    if settings.correction == "max-t":
        general.append(
            f"corrected p-values are estimated from {settings.flips:,} random sign flips (seed"
            f" {settings.seed}), and at least the p-values before the correction"
        )
    units = unequal_units(paired)
    smallest = np.minimum(1.0, 2.0 ** (1.0 - units))
    _note_few_differences(paired, units, smallest, settings, notes)
    noted = {pair: "; ".join(texts) for pair, texts in notes.items()}
    return Analysis(
        *(values, measured.better, settings, paired, tested, adjusted, means, mean_a, mean_b),
        *(*intervals, relative, effect, smallest, noted, general),
    )


def corrected_together(analyses: dict[str, Analysis], correction: str) -> dict[str, Analysis]:
    """The analyses with p-values corrected over all measures at once."""
    adjusted = adjust(
        np.concatenate([analysis.tested.p for analysis in analyses.values()]), correction
    )
    parts = np.split(adjusted, len(analyses))
    return {
        name: analysis._replace(p_adjusted=part)
        for (name, analysis), part in zip(analyses.items(), parts, strict=True)
    }


def _means_of_pairs(paired: Paired, means: Moments) -> tuple[Floats, Floats]:
    """The means of the systems of each pair, over the queries with values of both."""
    if not paired.has_gaps:
        return means.mean[paired.firsts], means.mean[paired.seconds]
    both = [paired.both(pair) for pair in range(len(paired))]
    first, second = (
        np.array([values[side].mean() if len(values[side]) else np.nan for values in both])
        for side in (0, 1)
    )
    return first, second


def one_cluster(paired: Paired) -> bool:
    """Whether all queries are in the same cluster."""
    return paired.clusters is not None and not paired.clusters.any()


def _intervals(
    paired: Paired, means: Moments, settings: Settings, notes: dict[int, list[str]]
) -> tuple[Floats, Floats, Floats, Floats]:
    systems, pairs = len(means.n), len(paired)
    if settings.interval == "none":
        return (*np.full((2, systems), np.nan), *np.full((2, pairs), np.nan))
    if settings.interval == "t":
        low_means, high_means = t_interval(means, settings.level)
        differences = Moments(paired.n, paired.difference, paired.sd)
        low, high = t_interval(differences, settings.level)
    else:
        of_means, of_pairs = bootstrap_intervals(paired, settings)
        low_means, high_means = of_means.low, of_means.high
        low, high = of_pairs.low, of_pairs.high
        for intervals, n in ((of_means, means.n), (of_pairs, paired.n)):
            untold = (n < 2) | one_cluster(paired)
            intervals.low[untold] = intervals.high[untold] = np.nan
        for pair, note in of_pairs.notes.items():
            if paired.unequal[pair] and paired.n[pair] > 1:
                notes.setdefault(pair, []).append(note)
    return low_means, high_means, low, high


def _widen(
    paired: Paired,
    means: Moments,
    settings: Settings,
    intervals: tuple[Floats, Floats, Floats, Floats],
    notes: dict[int, list[str]],
    measure: str,
) -> None:
    """Replace intervals without width, of equal values, and those that resamples leave too wide.

    Other queries may have other values. What values can be is known of measures between 0 and 1:
    studentized bounds, which alone of resamples can be beyond that, or infinite, are cut there.
    Otherwise there is no interval without width, or with an infinite bound.
    """
    least = CONSTANT * paired.largest
    ends = (intervals[0], intervals[1]), (intervals[2], intervals[3])
    if settings.interval != "studentized" and not any(
        (high - low <= least).any() for low, high in ends
    ):
        return
    units = None if paired.clusters is None else len(np.unique(paired.clusters))
    finite = paired.values[~np.isnan(paired.values)]
    bounded = may_be_shares(measure) and bool(((finite >= 0.0) & (finite <= 1.0)).all())
    sides = (
        (means.mean, means.n, *ends[0], 0.0),
        (paired.difference, paired.n, *ends[1], -1.0),
    )
    for values, n, low, high, lowest in sides:
        for row in np.flatnonzero(high - low <= least):
            count = units or int(n[row])
            bounds = all_the_same(float(values[row]), count, lowest, 1.0, settings.level)
            low[row], high[row] = bounds if bounded else (np.nan, np.nan)
            if lowest < 0.0 and not bounded and paired.unequal[row]:
                notes.setdefault(int(row), []).append(NO_INTERVAL)
        if settings.interval == "studentized" and bounded:
            low[:], high[:] = np.maximum(low, lowest), np.minimum(high, 1.0)
        elif settings.interval == "studentized":
            for row in np.flatnonzero(np.isinf(high - low)):
                low[row] = high[row] = np.nan
                if lowest < 0.0:
                    notes.setdefault(int(row), []).append(ENDLESS)


def _note_few_differences(
    paired: Paired,
    units: Integers,
    smallest: Floats,
    settings: Settings,
    notes: dict[int, list[str]],
) -> None:
    """Note the pairs that differ on too few queries for a test by signs to be significant."""
    # Holm's correction of a pair is less than this if others are significant.
    size = len(paired) if settings.correction == "bonferroni" else 1
    for pair in np.flatnonzero(smallest * size > settings.alpha):
        unequal, n = int(units[pair]), int(paired.n[pair])
        of_all = counted(n, *settings.unit[:2])
        if paired.clusters is not None:
            of_all = counted(int(paired.clusters.max()) + 1, "cluster")
        differing = f"only {unequal} of {of_all} {'differs' if unequal == 1 else 'differ'}"
        if not paired.unequal[pair]:
            note = f"identical on every {settings.unit.one}"
            if paired.difference[pair]:
                note += f", up to {paired.decimals} decimals"
        elif settings.test in BY_SIGNS and settings.function is None:
            note = f"cannot be significant: {differing}"
        elif n > 1:
            note = f"{differing}: no test by signs could find this"
        else:
            continue
        if n:
            notes.setdefault(int(pair), []).append(note)


def _sizes(paired: Paired, unit: Unit) -> list[str]:
    """Notes on the number of queries and clusters."""
    n, notes = paired.values.shape[1], []
    if 1 < n < FEW_QUERIES:
        notes.append(f"few {unit.many} ({n}): tests can find only large differences")
    if n > MANY_QUERIES:
        always = "nearly any difference is significant; look at its size"
        notes.append(f"with {n:,} {unit.many} {always}")
    if paired.clusters is not None:
        clusters = int(paired.clusters.max()) + 1
        if clusters == 1:
            notes.append("one cluster: a test and intervals need several")
        elif clusters < FEW_CLUSTERS:
            notes.append(f"few clusters ({clusters}): intervals are too narrow")
    return notes
