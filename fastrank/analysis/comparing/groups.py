"""Groups of systems that cannot be told apart: compact letter display, and Nemenyi's mean ranks."""

from __future__ import annotations

import math
from itertools import product
from string import ascii_lowercase
from typing import NamedTuple

import numpy as np

from fastrank.analysis.comparing.pair_tests import SIGNS
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeVar

    from fastrank.analysis.comparing.paired import Paired
    from fastrank.common.arrays import Floats

    Key = TypeVar("Key")

# More groups than this are useless, and many systems can form exponentially many.
MOST_GROUPS = 10_000


def letter_display(groups: Sequence[Sequence[int]]) -> dict[int, str]:
    """The letters of each system, given the groups of `alike`; the best has the letter a.

    Commas separate the letters of a system if some are aa, ab, ...
    """
    separator = "," if len(groups) > len(ascii_lowercase) else ""
    return {system: separator.join(parts) for system, parts in letters_of(groups).items()}


def letters_of(groups: Sequence[Sequence[Key]]) -> dict[Key, list[str]]:
    """The letters of each system; those of one group share a letter."""
    by_system: dict[Key, list[str]] = {}
    for letter, group in zip(alphabet(), groups, strict=False):
        for system in group:
            by_system.setdefault(system, []).append(letter)
    return by_system


def alike(order: Sequence[int], different: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The largest groups of systems without a pair that differs significantly, best first.

    order: the systems, best first. different: the pairs that differ significantly. Raises
    OptionError if there are more than MOST_GROUPS. These are the groups of Piepho, 'An algorithm
    for a letter-based representation of all-pairwise comparisons', Journal of Computational and
    Graphical Statistics 13(2), 2004, found as the maximal cliques of the systems that do not
    differ: Bron and Kerbosch, Communications of the ACM 16(9), 1973, with pivots.
    """
    position = {system: i for i, system in enumerate(order)}
    everyone = (1 << len(order)) - 1
    # Sets of systems are the bits of integers.
    like = [everyone ^ (1 << i) for i in range(len(order))]
    for first, second in different:
        like[position[first]] &= ~(1 << position[second])
        like[position[second]] &= ~(1 << position[first])
    groups = []
    open_branches = [(0, everyone, 0)]
    while open_branches:
        group, candidates, excluded = open_branches.pop()
        if not candidates and not excluded:
            groups.append(sorted(_bits(group)))
            if len(groups) > MOST_GROUPS:
                raise OptionError(
                    "letters",
                    f"{len(order):,} systems form more than {MOST_GROUPS:,} overlapping"
                    " groups; compare fewer systems",
                )
        if not candidates:
            continue
        pivot = max(_bits(candidates | excluded), key=lambda i: (candidates & like[i]).bit_count())
        for i in _bits(candidates & ~like[pivot]):
            open_branches.append((group | 1 << i, candidates & like[i], excluded & like[i]))
            candidates ^= 1 << i
            excluded |= 1 << i
    return [[order[i] for i in group] for group in sorted(groups)]


def _bits(number: int) -> Iterator[int]:
    """The positions of the bits that are 1."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def alphabet() -> Iterable[str]:
    """a to z, then aa, ab, ...: without end."""
    length = 1
    while True:
        yield from map("".join, product(ascii_lowercase, repeat=length))
        length += 1


class MeanRanks(NamedTuple):
    """The mean ranks of systems over n queries; 1 is the best, and equal values share their ranks.

    p: of Friedman's test, corrected for ties; NaN if all systems have the same values. critical:
    the least difference of two mean ranks that is significant.
    """

    ranks: Floats
    n: int
    p: float
    critical: float

    def groups(self) -> list[list[int]]:
        """The largest groups of two systems or more whose mean ranks differ by less than critical.

        The systems of a group, and the groups, are in the order of their ranks.
        """
        order = [int(system) for system in np.argsort(self.ranks, kind="stable")]
        groups: list[list[int]] = []
        last = 0
        for start, first in enumerate(order):
            limit = float(self.ranks[first]) + self.critical
            group = [system for system in order[start:] if self.ranks[system] < limit]
            if len(group) > 1 and start + len(group) > last:
                groups.append(group)
                last = start + len(group)
        return groups


def mean_ranks(paired: Paired, better: str, alpha: float) -> MeanRanks:
    """The mean ranks over the queries with values of all systems.

    better: which values are; for neither, higher ones have the lower ranks. Source: Demsar,
    'Statistical comparisons of classifiers over multiple data sets', JMLR 7, 2006.
    """
    from scipy.special import chdtrc
    from scipy.stats import rankdata, studentized_range

    values = paired.rounded(paired.complete())
    k, n = values.shape
    ranks = rankdata(-(SIGNS[better] or 1.0) * values, axis=0)
    between = 12.0 * ((ranks.sum(axis=1) - n * (k + 1) / 2) ** 2).sum() / (k * (k + 1))
    # The variance of the ranks of a query, as a share of that without ties.
    varied = 12.0 * ((ranks - (k + 1) / 2) ** 2).sum() / (k * (k * k - 1))
    p = float(chdtrc(k - 1, between / varied)) if varied > 0 else math.nan
    q = float(studentized_range.ppf(1 - alpha, k, np.inf)) / math.sqrt(2)
    mean = ranks.mean(axis=1) if n else np.full(k, np.nan)
    return MeanRanks(mean, n, p, q * math.sqrt(k * (k + 1) / (6 * n)) if n else math.nan)
