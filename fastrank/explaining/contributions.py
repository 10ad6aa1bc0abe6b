"""What each document adds to the value of a measure, for each kernel that is such a sum.

A function here repeats what the kernel of its measure computes, operation by operation, so that
factor * sum / divisor is the same double. `explain` asserts that.
"""

from __future__ import annotations

import math

from fastrank.data.columns import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, ClassVar

INFINITE = math.inf


class Ranking(Frozen):
    """A judged ranking as kernels see it, and the parameters of a measure.

    ranks, grades, gains: of the listed documents; gains only for measures of gains. ideal: the
    gains of the best ranking. nonrelevant: the number of judged documents that are not relevant.
    The others are as in `fastrank.native.records.Rankings`.
    """

    __slots__ = (
        "gains", "grades", "ideal", "level", "nonrelevant", "num_rel", "num_ret", "numbers",
        "ranks",
    )  # fmt: skip

    ranks: list[int]
    grades: list[int]
    gains: list[float]
    ideal: list[float]
    level: int
    num_ret: int
    num_rel: int
    nonrelevant: int
    numbers: tuple[float, ...]

    def relevant(self, cutoff: float = INFINITE) -> Iterator[tuple[int, int]]:
        """The ranks of the relevant documents up to a cutoff, counted from 1."""
        found = 0
        for rank, grade in zip(self.ranks, self.grades, strict=True):
            if rank > cutoff:
                return
            if grade >= self.level:
                found += 1
                yield found, rank


class Contributions(Frozen):
    """What each document adds: value = factor * (sum of adds in the order of ranks) / divisor.

    adds: {rank: float}. divisor: 0 if there is nothing to divide by, which makes the value 0.
    divided_by: what the divisor is. cutoff: the last rank that counts. details: {column: {rank:
    value}}, from which the adds are computed.
    """

    __slots__ = ("adds", "cutoff", "details", "divided_by", "divisor", "factor")
    defaults: ClassVar[dict[str, Any]] = {
        "cutoff": INFINITE, "details": {}, "divided_by": "", "divisor": 1, "factor": 1.0,
    }  # fmt: skip

    adds: dict[int, float]
    divisor: float
    divided_by: str
    factor: float
    cutoff: float
    details: dict[str, dict[int, float]]

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


def _counted(q: Ranking, cutoff: float, divisor: float, divided_by: str) -> Contributions:
    """Each relevant document adds 1."""
    adds = {rank: 1.0 for _, rank in q.relevant(cutoff)}
    return Contributions(adds=adds, divisor=divisor, divided_by=divided_by, cutoff=cutoff)


def _precisions(q: Ranking, cutoff: float, divisor: float, divided_by: str) -> Contributions:
    """Each relevant document adds the precision at its rank."""
    found = {rank: count for count, rank in q.relevant(cutoff)}
    return Contributions(
        adds={rank: count / rank for rank, count in found.items()},
        divisor=divisor, divided_by=divided_by, cutoff=cutoff, details={"found": found},
    )  # fmt: skip


def _average_precision(q: Ranking) -> Contributions:
    return _precisions(q, INFINITE, q.num_rel, "R")


def _average_precision_cut(q: Ranking) -> Contributions:
    return _precisions(q, q.numbers[0], q.num_rel, "R")


def _average_precision_of_possible(q: Ranking) -> Contributions:
    return _precisions(q, q.numbers[0], min(q.numbers[0], q.num_rel), "min(k, R)")


def _average_precision_of_found(q: Ranking) -> Contributions:
    found = len(list(q.relevant(q.numbers[0])))
    return _precisions(q, q.numbers[0], found, "relevant retrieved")


def _precision_cut(q: Ranking) -> Contributions:
    return _counted(q, q.numbers[0], q.numbers[0], "k")


def _precision_of_retrieved(q: Ranking) -> Contributions:
    return _counted(q, q.numbers[0], min(q.numbers[0], q.num_ret), "min(k, retrieved)")


def _recall_cut(q: Ranking) -> Contributions:
    return _counted(q, q.numbers[0], q.num_rel, "R")


def _relative_precision_cut(q: Ranking) -> Contributions:
    divisor = min(q.numbers[0], q.num_rel) if q.num_rel else 0
    return _counted(q, q.numbers[0], divisor, "min(k, R)")


def _first(q: Ranking, cutoff: float, add: Callable[[int], float]) -> Contributions:
    """Only the first relevant document adds something."""
    adds = {rank: add(rank) for count, rank in q.relevant(cutoff) if count == 1}
    return Contributions(adds=adds, cutoff=cutoff)


def _success_cut(q: Ranking) -> Contributions:
    return _first(q, q.numbers[0], lambda _: 1.0)


def _reciprocal_rank(q: Ranking) -> Contributions:
    return _first(q, q.numbers[0] if q.numbers else INFINITE, lambda rank: 1.0 / rank)


def _r_precision(q: Ranking) -> Contributions:
    return _counted(q, q.num_rel, q.num_rel, "R")


def _set_precision(q: Ranking) -> Contributions:
    return _counted(q, INFINITE, q.num_ret, "retrieved")


def _set_recall(q: Ranking) -> Contributions:
    return _counted(q, INFINITE, q.num_rel, "R")


def _set_relative_precision(q: Ranking) -> Contributions:
    return _counted(q, INFINITE, min(q.num_ret, q.num_rel), "min(retrieved, R)")


def _discounted(
    q: Ranking, cutoff: float, ideal: list[float] | None, divided_by: str
) -> Contributions:
    """Each document adds gain / log2(rank + 1); divided by that sum over the ideal ranking."""
    gains = {
        rank: gain
        for rank, gain in zip(q.ranks, q.gains, strict=True)
        if rank <= cutoff and gain != 0.0
    }
    adds = {rank: gain / math.log2(rank + 1) for rank, gain in gains.items()}
    discounts = {
        rank: 1.0 / math.log2(rank + 1) for rank in range(1, int(min(cutoff, q.num_ret)) + 1)
    }
    details: dict[str, dict[int, float]] = {"gain": gains, "discount": discounts}
    if ideal is None:
        return Contributions(adds=adds, cutoff=cutoff, details=details)
    best = {
        rank: gain / math.log2(rank + 1) for rank, gain in enumerate(ideal, 1) if rank <= cutoff
    }
    divisor = 0.0
    for gain in best.values():
        divisor += gain
    return Contributions(
        adds=adds, divisor=divisor, divided_by=divided_by, cutoff=cutoff,
        details={**details, "ideal": best},
    )  # fmt: skip


def _dcg(q: Ranking) -> Contributions:
    return _discounted(q, INFINITE, None, "")


def _dcg_cut(q: Ranking) -> Contributions:
    return _discounted(q, q.numbers[0], None, "")


def _ndcg(q: Ranking) -> Contributions:
    return _discounted(q, INFINITE, q.ideal, "ideal DCG")


def _ndcg_cut(q: Ranking) -> Contributions:
    return _discounted(q, q.numbers[0], q.ideal, "ideal DCG")


def _ndcg_of_retrieved(q: Ranking) -> Contributions:
    ideal = sorted((gain for gain in q.gains if gain > 0.0), reverse=True)
    return _discounted(q, q.numbers[0], ideal, "ideal DCG of the retrieved")


def _binary_preference(q: Ranking) -> Contributions:
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
    return Contributions(
        adds=adds, divisor=q.num_rel, divided_by="R", details={"nonrelevant above": above}
    )


def _inferred_average_precision(q: Ranking) -> Contributions:
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
    return Contributions(adds=adds, divisor=q.num_rel, divided_by="R")


def _weights(q: Ranking, p: float, cutoff: float) -> dict[int, float]:
    """The weight of each rank up to the cutoff: p to the power of rank - 1."""
    weights, weight = {}, 1.0
    for rank in range(1, int(min(cutoff, q.num_ret)) + 1):
        weights[rank] = weight
        weight *= p
    return weights


def _persistence(q: Ranking, p: float, cutoff: float, gains: dict[int, float]) -> Contributions:
    weights = _weights(q, p, cutoff)
    return Contributions(
        adds={
            rank: gain * weights[rank]
            for rank, gain in gains.items()
            if rank <= cutoff and gain != 0.0
        },
        factor=1.0 - p, cutoff=cutoff, details={"weight": weights},
    )  # fmt: skip


def _rbp(q: Ranking) -> Contributions:
    """Of gains; the only parameter is p."""
    return _persistence(q, q.numbers[0], INFINITE, dict(zip(q.ranks, q.gains, strict=True)))


def _rbp_cut(q: Ranking) -> Contributions:
    """Of gains; the parameters are the cutoff and p."""
    cutoff, p = q.numbers
    return _persistence(q, p, cutoff, dict(zip(q.ranks, q.gains, strict=True)))


def _rbp_binary(q: Ranking) -> Contributions:
    cutoff, p = q.numbers
    return _persistence(q, p, cutoff, {rank: 1.0 for _, rank in q.relevant(cutoff)})


def _err(q: Ranking) -> Contributions:
    """A document adds the probability that the reader stops there, divided by its rank."""
    adds: dict[int, float] = {}
    stops: dict[int, float] = {}
    reached: dict[int, float] = {}
    going_on = 1.0
    for rank, gain in zip(q.ranks, q.gains, strict=True):
        if rank > q.numbers[0]:
            break
        if gain > 0.0:
            stops[rank], reached[rank] = gain, going_on
            adds[rank] = going_on * gain / rank
            going_on *= 1.0 - gain
    details = {"stop probability": stops, "reached": reached}
    return Contributions(adds=adds, cutoff=q.numbers[0], details=details)


# By the name of the measure's kernel.
CONTRIBUTIONS: dict[str, Callable[[Ranking], Contributions]] = {
    "average_precision": _average_precision,
    "average_precision_cut": _average_precision_cut,
    "average_precision_of_found": _average_precision_of_found,
    "average_precision_of_possible": _average_precision_of_possible,
    "binary_preference": _binary_preference,
    "discounted_gain": _dcg,
    "discounted_gain_cut": _dcg_cut,
    "expected_reciprocal_rank": _err,
    "inferred_average_precision": _inferred_average_precision,
    "normalized_discounted_gain": _ndcg,
    "normalized_discounted_gain_cut": _ndcg_cut,
    "normalized_discounted_gain_of_retrieved": _ndcg_of_retrieved,
    "precision_cut": _precision_cut,
    "precision_of_retrieved": _precision_of_retrieved,
    "r_precision": _r_precision,
    "rank_biased_precision": _rbp,
    "rank_biased_precision_binary": _rbp_binary,
    "rank_biased_precision_cut": _rbp_cut,
    "recall_cut": _recall_cut,
    "reciprocal_rank": _reciprocal_rank,
    "reciprocal_rank_cut": _reciprocal_rank,
    "relative_precision_cut": _relative_precision_cut,
    "set_precision": _set_precision,
    "set_recall": _set_recall,
    "set_relative_precision": _set_relative_precision,
    "success_cut": _success_cut,
}
