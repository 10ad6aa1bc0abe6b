"""What each document adds to the value of a measure that is such a sum.

A function here repeats what the kernel of its measure computes, operation by operation, so that
factor * sum / divisor is the same double. `explain` checks that.
"""

from __future__ import annotations

import math
from itertools import islice

from fastrank.core.data.columns import Frozen
from fastrank.core.native.logarithm import log2

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INFINITE = math.inf


class Ranking(Frozen):
    """A judged ranking as kernels see it, and the parameters of a measure.

    ranks, grades, gains: of the listed documents; gains only for measures of gains. ideal: the
    gains of the best ranking. nonrelevant: the number of judged documents that are not relevant.
    cutoff: the last rank that counts. p: the persistence, for measures that have one. The others
    are as in `fastrank.core.native.records.Rankings`.
    """

    ranks: list[int]
    grades: list[int]
    gains: list[float]
    ideal: list[float]
    level: int
    num_ret: int
    num_rel: int
    nonrelevant: int
    cutoff: float
    p: float

    def relevant(self) -> Iterator[tuple[int, int]]:
        """The ranks of the relevant documents up to the cutoff, counted from 1."""
        count = 0
        for rank, grade in zip(self.ranks, self.grades, strict=True):
            if rank > self.cutoff:
                return
            if grade >= self.level:
                count += 1
                yield count, rank


class Contributions(Frozen):
    """What each document adds: value = factor * (sum of adds in the order of ranks) / divisor.

    adds: {rank: float}. divisor: 0 if there is nothing to divide by, which makes the value 0.
    divided_by: what the divisor is. cutoff: the last rank that counts. details: {column: {rank:
    value}}, from which the adds are computed.
    """

    adds: dict[int, float]
    divisor: float = 1
    divided_by: str = ""
    factor: float = 1.0
    cutoff: float = INFINITE
    details: dict[str, dict[int, float]] = {}  # noqa: RUF012

    @property
    def total(self) -> float:
        """The sum, rounded after each addition as in the kernels."""
        total = 0.0
        for rank in sorted(self.adds):
            total += self.adds[rank]
        return total

    @property
    def value(self) -> float:
        """The value of the measure."""
        return self.factor * self.total / self.divisor if self.divisor else 0.0


def _precision(q: Ranking) -> Contributions:
    """Each relevant document adds the precision at its rank."""
    counts = {rank: count for count, rank in q.relevant()}
    return Contributions(
        adds={rank: count / rank for rank, count in counts.items()}, details={"found": counts}
    )


def _discounted_gain(q: Ranking) -> Contributions:
    """Each document adds gain / log2(rank + 1)."""
    gains = {
        rank: gain
        for rank, gain in zip(q.ranks, q.gains, strict=True)
        if rank <= q.cutoff and gain != 0.0
    }
    discounts = {rank: 1.0 / log2(rank + 1) for rank in range(1, int(min(q.cutoff, q.num_ret)) + 1)}
    return Contributions(
        adds={rank: gain / log2(rank + 1) for rank, gain in gains.items()},
        details={"gain": gains, "discount": discounts},
    )


def _preference(q: Ranking) -> Contributions:
    """A relevant document adds 1 - min(n, R) / min(N, R), with n nonrelevant ones above it."""
    adds: dict[int, float] = {}
    above: dict[int, float] = {}
    count = 0
    for rank, grade in zip(q.ranks, q.grades, strict=True):
        if grade < 0:
            continue
        if grade < q.level:
            count += 1
            continue
        above[rank] = count
        adds[rank] = 1.0 - min(count, q.num_rel) / min(q.nonrelevant, q.num_rel) if count else 1.0
    return Contributions(adds=adds, details={"nonrelevant above": above})


def _inferred_precision(q: Ranking) -> Contributions:
    """A relevant document adds the precision that is expected at its rank."""
    epsilon = 0.00001
    adds: dict[int, float] = {}
    relevant = nonrelevant = pooled = 0
    for rank, grade in zip(q.ranks, q.grades, strict=True):
        above = float(rank - 1)
        if grade == -1:
            continue
        if grade < 0:
            pooled += 1
        elif grade < q.level:
            nonrelevant += 1
        elif rank == 1:
            relevant += 1
            adds[rank] = 1.0
        else:
            in_pool = (relevant + nonrelevant + pooled) / above
            share = (relevant + epsilon) / (relevant + nonrelevant + 2.0 * epsilon)
            adds[rank] = 1.0 / rank + (above / rank) * in_pool * share
            relevant += 1
    return Contributions(adds=adds)


def _weighted(q: Ranking, gains: dict[int, float]) -> Contributions:
    """Each document adds its gain times p to the power of rank - 1."""
    weights, weight = {}, 1.0
    for rank in range(1, int(min(q.cutoff, q.num_ret)) + 1):
        weights[rank] = weight
        weight *= q.p
    return Contributions(
        adds={
            rank: gain * weights[rank]
            for rank, gain in gains.items()
            if rank <= q.cutoff and gain != 0.0
        },
        factor=1.0 - q.p,
        details={"weight": weights},
    )


def _stop(q: Ranking) -> Contributions:
    """A document adds the probability that the reader stops there, divided by its rank."""
    adds: dict[int, float] = {}
    stops: dict[int, float] = {}
    reached: dict[int, float] = {}
    going_on = 1.0
    for rank, gain in zip(q.ranks, q.gains, strict=True):
        if rank > q.cutoff:
            break
        if gain > 0.0:
            stops[rank], reached[rank] = gain, going_on
            adds[rank] = going_on * gain / rank
            going_on *= 1.0 - gain
    return Contributions(adds=adds, details={"stop probability": stops, "reached": reached})


# The functions for `Measure.adds`: what documents add, and what their sum is divided by.
_ADDS: dict[str, Callable[[Ranking], Contributions]] = {
    "discounted gain": _discounted_gain,
    "hit": lambda q: Contributions(adds={rank: 1.0 for _, rank in islice(q.relevant(), 1)}),
    "inferred precision": _inferred_precision,
    "precision": _precision,
    "preference": _preference,
    "reciprocal rank": lambda q: Contributions(
        adds={rank: 1.0 / rank for _, rank in islice(q.relevant(), 1)}
    ),
    "relevance": lambda q: Contributions(adds={rank: 1.0 for _, rank in q.relevant()}),
    "relevance of the first R": lambda q: Contributions(
        adds={rank: 1.0 for _, rank in q.relevant() if rank <= q.num_rel}, cutoff=q.num_rel
    ),
    "stop": _stop,
    "weighted gain": lambda q: _weighted(q, dict(zip(q.ranks, q.gains, strict=True))),
    "weighted relevance": lambda q: _weighted(q, {rank: 1.0 for _, rank in q.relevant()}),
}
_DIVISORS: dict[str, Callable[[Ranking], float]] = {
    "": lambda _: 1,
    "R": lambda q: q.num_rel,
    "k": lambda q: q.cutoff,
    "min(k, R)": lambda q: min(q.cutoff, q.num_rel),
    "min(k, retrieved)": lambda q: min(q.cutoff, q.num_ret),
    "min(retrieved, R)": lambda q: min(q.num_ret, q.num_rel),
    "relevant retrieved": lambda q: len(list(q.relevant())),
    "retrieved": lambda q: q.num_ret,
}
# Sums over another ranking, whose gains are shown.
_IDEALS: dict[str, Callable[[Ranking], list[float]]] = {
    "ideal DCG": lambda q: q.ideal,
    "ideal DCG of the retrieved": lambda q: sorted(
        (gain for gain in q.gains if gain > 0.0), reverse=True
    ),
}


def contributions(q: Ranking, adds: str, divided_by: str) -> Contributions:
    """What each document adds, and the divisor, both as `Measure.adds` names them."""
    parts = _ADDS[adds](q)
    details, divisor = parts.details, 0.0
    if divided_by in _IDEALS:
        best = {
            rank: gain / log2(rank + 1)
            for rank, gain in enumerate(_IDEALS[divided_by](q), 1)
            if rank <= q.cutoff
        }
        details = {**details, "ideal": best}
        for gain in best.values():
            divisor += gain
    else:
        divisor = _DIVISORS[divided_by](q)
    return Contributions(
        adds=parts.adds,
        factor=parts.factor,
        divisor=divisor,
        divided_by=divided_by,
        cutoff=min(parts.cutoff, q.cutoff),
        details=details,
    )
