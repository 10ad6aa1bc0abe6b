"""The comparison of two systems, and which two a plot or a table shows."""

from __future__ import annotations

import math
from collections import namedtuple

from fastrank.common.messages import closest, did_you_mean, first_few
from fastrank.errors import MeasureError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fastrank.analysis.comparing.comparison import Comparison


Pair = namedtuple(
    "Pair",
    "measure a b mean_a mean_b difference relative low high statistic df p p_adjusted smallest_p"
    " wins ties losses effect sd n exact note",
)
Pair.__doc__ = """The comparison of two systems in one measure.

a, b: their names. mean_a, mean_b: their means over the n queries with values of both. difference:
    mean_a - mean_b. relative: difference / mean_b, NaN if mean_b is 0.
low, high: the confidence interval of the difference. sd: the standard deviation of the differences.
statistic, df: of the test: t and n - 1; for "randomization" and "tukey" the difference, for "sign"
    the number of positive minus that of negative differences, for "wilcoxon" the sum of the signed
    ranks; the difference for a function.
p, p_adjusted: the two-sided p-value, and the same corrected for several comparisons. exact: whether
    p is computed rather than simulated or approximated.
smallest_p: the smallest p-value that signs alone could give: 2**(1 - k) if k queries, or clusters,
    differ.
wins, ties, losses: the numbers of queries on which a is better than, equal to, and worse than b;
    wins and losses are None for measures without a better direction.
effect: Cohen's d_z, difference / sd. note: what else a reader must know.

>>> comparison.pair("map", "pixels", "pca").wins
157
"""


def turned(pair: Pair) -> Pair:
    """The comparison of (b, a)."""
    # 0 stays 0 instead of -0.
    difference = 0.0 - pair.difference
    return pair._replace(
        a=pair.b,
        b=pair.a,
        mean_a=pair.mean_b,
        mean_b=pair.mean_a,
        difference=difference,
        relative=difference / pair.mean_a if pair.mean_a else math.nan,
        low=0.0 - pair.high,
        high=0.0 - pair.low,
        statistic=0.0 - pair.statistic,
        wins=pair.losses,
        losses=pair.wins,
        effect=0.0 - pair.effect,
    )


def pairs_of(comparison: Comparison, measure: str | None = None) -> Iterator[Pair]:
    """The pairs of a measure, by default of all of them."""
    for name in comparison.measures if measure is None else [measure]:
        columns = comparison.analysis(name).columns(name, comparison.names)
        yield from map(Pair._make, zip(*columns, strict=True))


def place_of(system: object, names: list[str], option: str = "system") -> int:
    """The place of a system. Raises OptionError for one that was not compared."""
    if system in names:
        return names.index(system)
    some = f": {first_few([*map(repr, names)], 10)}"
    hint = did_you_mean(map(repr, closest(system, names, most=3))) or some
    raise OptionError(option, f"{system!r} is not one of the systems{hint}")


def default_pair(
    comparison: Comparison, measure: str, a: str | None = None, b: str | None = None
) -> tuple[str, str]:
    """Two systems to show: those given, else the best of the others, and the baseline.

    Without a baseline, the best two, in the order in which they were named. Raises OptionError if
    there are no two systems.
    """
    need_two_systems(comparison)
    ranked = comparison.ranked(measure)
    if a is None and b is None and not comparison.baseline:
        a, b = sorted(ranked[:2], key=comparison.names.index)
    if b is None:
        others = [name for name in comparison.baseline or ranked if name != a]
        b = next((name for name in others if name != a), ranked[0])
    if a is None:
        a = next(name for name in ranked if name != b)
    comparison.pair(measure, a, b)
    return a, b


def why_chosen(comparison: Comparison) -> str:
    """How `default_pair` chose its systems, if there are others."""
    if len(comparison) == 2:
        return ""
    return "the best and the baseline" if comparison.baseline else "the two best"


def chosen_pair(
    comparison: Comparison, measure: str, pair: Sequence[str] | None
) -> tuple[str, str]:
    """The two systems with these names, by default those of `default_pair`. Raises OptionError."""
    if pair is None:
        return default_pair(comparison, measure)
    if isinstance(pair, str) or len(pair) != 2:
        raise OptionError("pair", f"expected the names of two systems, found {pair!r}")
    a, b = (comparison.names[place_of(name, comparison.names)] for name in pair)
    return a, b


def need_two_systems(comparison: Comparison) -> None:
    """Raise OptionError for a single system, which has no pairs to show."""
    if len(comparison) < 2:
        raise OptionError("pair", "needs two systems, found 1")


def need_all_pairs(comparison: Comparison, method: str) -> None:
    """Raise OptionError if only pairs with a baseline were compared."""
    if comparison.baseline:
        raise OptionError("baseline", f"{method} needs all pairs; compare without a baseline")


def need_common_queries(comparison: Comparison, measure: str) -> None:
    """Raise MeasureError if no query has values of all systems."""
    if not comparison.analysis(measure).paired.ordered:
        raise MeasureError(
            measure, f"{measure!r}: no {comparison.settings.unit.one} has values of all systems"
        )
