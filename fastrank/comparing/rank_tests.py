"""Tests that use only the signs or the ranks of differences."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fastrank.comparing.tested import Tested
from fastrank.native import kernels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.comparing.options import Settings
    from fastrank.comparing.paired import Floats, Integers, Paired

# Up to this many ranks the distribution of their signed sums is computed.
MOST_RANKS = 500
CAUTION = (
    "this test is about the median of the differences, not the mean; with AP, nDCG and 100 queries"
    " its error rate is 7-13 % where 5 % is asked (Urbano, Lima and Hanjalic, SIGIR 2019)"
)


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
    return Tested((higher - lower).astype(float), p, general=[CAUTION])


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
    kept = ranked != 0
    return doubled[inverse].astype(np.int64)[kept], (ranked > 0)[kept]


def _exact_p(ranks: Integers, limit: int) -> float:
    # Without ties, the doubled ranks are even; pairs without ties have the same ranks.
    unit = int(np.gcd.reduce(ranks)) if len(ranks) else 1
    sums = _rank_sums(np.sort(ranks // unit).tobytes())
    return float(min(1.0, 2.0 * sums[limit // unit] * 2.0 ** -len(ranks)))


@lru_cache(maxsize=16)
def _rank_sums(ranks: bytes) -> Floats:
    """In how many ways some of the ranks add up to at most 0, 1, ..., half of their sum."""
    own = np.frombuffer(ranks, np.int64)
    counts = np.empty(int(own.sum()) // 2 + 1)
    kernels.count_rank_sums(own.copy(), counts, np.empty_like(counts))
    return counts


def _approximate_p(ranks: Integers, above: int) -> float:
    from scipy.special import ndtr

    deviation = above - ranks.sum() / 2
    return float(2.0 * ndtr(-abs(deviation) / np.sqrt((ranks.astype(float) ** 2).sum() / 4)))
