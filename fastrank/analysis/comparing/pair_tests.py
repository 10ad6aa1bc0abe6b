"""Tests of each pair: paired t-test, Wilcoxon, sign test, a user's function; corrections."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fastrank.analysis.comparing.power import p_of_t
from fastrank.core.native import kernels
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.analysis.comparing.options import Settings
    from fastrank.analysis.comparing.paired import Paired
    from fastrank.common.arrays import Floats, Integers

SIGNS = {"higher": 1.0, "lower": -1.0, "": 0.0}
# Up to this many ranks the distribution of their signed sums is computed.
MOST_RANKS = 500
MCNEMAR = "values are 0 and 1: the sign test is McNemar's exact test"
CAUTION = (
    "this test is about the median of the differences, not the mean; with AP, nDCG and 100 queries"
    " its error rate is 7-13 % where 5 % is asked (Urbano, Lima and Hanjalic, SIGIR 2019)"
)


class Tested:
    """The results of a test: one value for each pair.

    p: NaN if the test does not apply. exact: whether p is computed rather than simulated or
    approximated. notes: {pair: note}. general: notes on all pairs.
    """

    def __init__(
        self,
        statistic: Any,
        p: Any,
        *,
        df: Any = np.nan,
        exact: Any = True,
        notes: dict[int, str] | None = None,
        general: list[str] | None = None,
    ) -> None:
        self.statistic, self.p = statistic, p
        self.df = np.broadcast_to(np.asarray(df, float), p.shape)
        self.exact = np.broadcast_to(np.asarray(exact, bool), p.shape)
        self.notes, self.general = notes or {}, general or []


def gains(better: str, difference: Floats, statistic: Floats, settings: Settings) -> Floats:
    """How much better the first system of each pair is; 0 if neither counts as better.

    Neither does if the test, which is not of means, favors the one with the worse mean. better:
    which values of the measure are.
    """
    gain: Floats = SIGNS[better] * np.asarray(difference)
    if settings.of_medians:
        return np.where(np.sign(statistic) == np.sign(difference), gain, 0.0)
    return gain


def t_test(paired: Paired, settings: Settings) -> Tested:
    """Student's paired t-test: t = mean / (sd / sqrt(n)) with n - 1 degrees of freedom.

    If all differences are equal, sd is 0, and p is that of the randomization test, 2**(1 - n).
    Source: Student, 'The probable error of a mean', Biometrika 6(1), 1908.
    """
    n, difference, sd = paired.n, paired.difference, paired.sd
    with np.errstate(invalid="ignore", divide="ignore"):
        statistic = difference / (sd / np.sqrt(n))
    df = n - 1.0
    p = p_of_t(statistic, df)
    notes: dict[int, str] = {}
    unit = settings.unit.one
    for pair in np.flatnonzero(constant_differences(paired)):
        statistic[pair] = np.copysign(np.inf, difference[pair])
        p[pair] = 2.0 ** (1.0 - n[pair])
        notes[int(pair)] = f"every {unit} differs by the same amount: judged by randomization"
    identical = (paired.unequal == 0) & (n > 0)
    statistic[identical], p[identical] = 0.0, 1.0
    for pair in np.flatnonzero(n < 2):
        statistic[pair], p[pair] = np.nan, np.nan
        notes[int(pair)] = f"one {unit}: no test is possible"
    return Tested(statistic, p, df=df, notes=notes)


def constant_differences(paired: Paired) -> np.ndarray:
    """Whether the differences of a pair, of two queries or more, are all the same but not 0."""
    return np.asarray((paired.sd == 0.0) & (paired.unequal > 0) & (paired.n > 1))


def sign_test(paired: Paired, settings: Settings) -> Tested:
    """The binomial test of the number of positive among the non-zero differences.

    Differences of at most `min_difference` are ignored. For measures that are 0 or 1, this is the
    exact test of McNemar. Source: Conover, 'Practical nonparametric statistics', 1999, section 3.4.
    """
    from scipy.special import bdtr

    higher, lower = paired.higher, paired.lower
    if settings.min_difference:
        higher, lower = np.zeros_like(higher), np.zeros_like(lower)
        for part, differences in paired.chunks():
            rounded = paired.rounded(differences)
            higher[part] = (rounded > settings.min_difference).sum(axis=1)
            lower[part] = (rounded < -settings.min_difference).sum(axis=1)
    p = np.minimum(1.0, 2.0 * bdtr(np.minimum(higher, lower), higher + lower, 0.5))
    general = [MCNEMAR if is_binary(paired.values) else CAUTION]
    return Tested((higher - lower).astype(float), p, general=general)


def is_binary(values: Floats) -> bool:
    """Whether all values are 0 or 1, and both occur."""
    present = values[~np.isnan(values)]
    return bool(((present == 0) | (present == 1)).all()) and len(np.unique(present)) == 2


def wilcoxon_test(paired: Paired, settings: Settings) -> Tested:
    """Wilcoxon's signed-rank test; the statistic is the sum of the signed ranks.

    p is exact for up to 500 ranks, also with ties: from the distribution of the sum when each rank
    is positive with probability 1/2. For more it is approximated by a normal distribution, without
    a continuity correction. Sources: Wilcoxon, Biometrics Bulletin 1(6), 1945; Pratt, JASA 54(287),
    1959.
    """
    pairs = len(paired)
    statistic, p, exact = np.empty(pairs), np.empty(pairs), np.ones(pairs, bool)
    notes = {}
    for part, differences in paired.chunks():
        for pair, row in enumerate(paired.rounded(differences), part.start):
            ranks, positive = signed_ranks(row[~np.isnan(row)], settings.zeros)
            total, above = int(ranks.sum()), int(ranks[positive].sum())
            statistic[pair] = (2 * above - total) / 2
            if len(ranks) <= MOST_RANKS:
                p[pair] = _exact_p(ranks, min(above, total - above))
            else:
                p[pair], exact[pair] = _approximate_p(ranks, above), False
                notes[pair] = "p is approximate"
    return Tested(statistic, p, exact=exact, notes=notes, general=[CAUTION])


def signed_ranks(differences: Floats, zeros: str) -> tuple[Integers, np.ndarray]:
    """The doubled midranks of the non-zero absolute differences, and which ones are positive."""
    ranked = differences if zeros == "pratt" else differences[differences != 0]
    _, inverse, counts = np.unique(np.abs(ranked), return_inverse=True, return_counts=True)
    doubled = 2 * np.cumsum(counts) - counts + 1
    nonzero = ranked != 0
    return doubled[inverse].astype(np.int64)[nonzero], (ranked > 0)[nonzero]


def _exact_p(ranks: Integers, limit: int) -> float:
    # Without ties, the doubled ranks are even; pairs without ties have the same ranks.
    unit = int(np.gcd.reduce(ranks)) if len(ranks) else 1
    sums = _rank_sums(np.sort(ranks // unit).tobytes())
    return float(min(1.0, 2.0 * sums[limit // unit] * 2.0 ** -len(ranks)))


@lru_cache(maxsize=16)
def _rank_sums(ranks: bytes) -> Floats:
    """In how many ways some of the ranks add up to at most 0, 1, ..., half of their sum."""
    doubled = np.frombuffer(ranks, np.int64)
    counts = np.empty(int(doubled.sum()) // 2 + 1)
    kernels.count_rank_sums(doubled.copy(), counts, np.empty_like(counts))
    return counts


def _approximate_p(ranks: Integers, above: int) -> float:
    from scipy.special import ndtr

    deviation = above - ranks.sum() / 2
    return float(2.0 * ndtr(-abs(deviation) / np.sqrt((ranks.astype(float) ** 2).sum() / 4)))


def user_test(paired: Paired, settings: Settings) -> Tested:
    """The p-values of a function of the values of both systems, float64[queries] each.

    Identical systems have p = 1, whatever the function returns. Raises OptionError if its result is
    not a probability.
    """
    p = np.ones(len(paired))
    for pair in range(len(paired)):
        if not paired.n[pair]:
            p[pair] = np.nan
        elif paired.unequal[pair]:
            p[pair] = _p_value(settings.function(*paired.both(pair)), settings.test)
    return Tested(paired.difference, p)


def _p_value(result: Any, name: str) -> float:
    value = getattr(result, "pvalue", result)
    if isinstance(value, (tuple, list)):
        value = value[1] if len(value) > 1 else None
    try:
        p = float(value)
    except (TypeError, ValueError):
        p = np.nan
    if not 0.0 <= p <= 1.0:
        raise OptionError("test", f"{name}: expected a p-value from 0 to 1, found {result!r}")
    return p


def adjust(p: Floats, correction: str) -> Floats:
    """Adjusted p-values, in the order of p. NaN stays NaN, and counts as no comparison.

    Sources: Bonferroni; Holm, Scandinavian Journal of Statistics 6, 1979; Hochberg, Biometrika 75,
    1988; Benjamini and Hochberg (bh), JRSS B 57, 1995; Benjamini and Yekutieli (by), Annals of
    Statistics 29, 2001.
    """
    adjusted = np.full(len(p), np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    m = len(order)
    position = np.arange(1, m + 1)
    ascending = p[order]
    if correction == "bonferroni":
        corrected = m * ascending
    elif correction == "holm":
        corrected = np.maximum.accumulate((m - position + 1) * ascending)
    elif correction == "hochberg":
        corrected = np.minimum.accumulate(((m - position + 1) * ascending)[::-1])[::-1]
    elif correction in ("bh", "by"):
        factor = (1.0 / position).sum() if correction == "by" else 1.0
        corrected = np.minimum.accumulate((ascending * (m / position) * factor)[::-1])[::-1]
    else:
        corrected = ascending
    adjusted[order] = np.minimum(1.0, corrected)
    return adjusted
