"""Definitions of measures in plain Python, slow and obvious; nothing here is of fastrank."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


class Query:
    """The ranking of a query: the grade of each retrieved document, None for unjudged ones."""

    def __init__(self, judged: dict[str, int], scores: dict[str, float], pool: set[str]) -> None:
        by_score = sorted(
            scores, key=lambda d: (scores[d], d.encode("utf-8", "surrogateescape")), reverse=True
        )
        self.scores = [scores[d] for d in by_score]
        self.grades = [judged.get(d) for d in by_score]
        self.in_pool = [d in pool for d in by_score]
        self.hits = [grade is not None and grade >= 1 for grade in self.grades]
        self.ranks = [rank for rank, hit in enumerate(self.hits, 1) if hit]
        self.relevant = sum(grade >= 1 for grade in judged.values())
        self.gains = [max(0, grade or 0) for grade in self.grades]
        self.ideal = sorted((max(0, grade) for grade in judged.values()), reverse=True)
        self.missed = [grade for d, grade in judged.items() if d not in scores]

    def found(self, k: int) -> int:
        """Relevant documents in the first k."""
        return sum(self.hits[:k])


def dcg(gains: list[Any], k: int) -> float:
    """Jarvelin and Kekalainen 2002, with the logarithm of rank + 1."""
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:k], 1))


def burges(gains: list[Any]) -> list[Any]:
    return [2**gain - 1 for gain in gains]


def precision_sum(q: Query, k: int) -> float:
    return math.fsum(i / rank for i, rank in enumerate(q.ranks, 1) if rank <= k)


def err(q: Query, k: int, highest: int) -> float:
    """Chapelle et al. 2009."""
    value, reading = 0.0, 1.0
    for rank, gain in enumerate(q.gains[:k], 1):
        stops = (2**gain - 1) / 2**highest
        value, reading = value + reading * stops / rank, reading * (1 - stops)
    return value


def rbp(q: Query, p: float, k: int) -> float:
    """Moffat and Zobel 2008."""
    return (1 - p) * math.fsum(p ** (rank - 1) for rank in q.ranks if rank <= k)


def ordered_pairs(q: Query, k: int) -> float:
    """The share of pairs (relevant, other) in the first k with the relevant document first."""
    hits = q.hits[:k]
    pairs = sum(hits) * (len(hits) - sum(hits))
    before = sum(not other for i, hit in enumerate(hits) if hit for other in hits[i + 1 :])
    return before / pairs if pairs else math.nan


def area_under_curve(q: Query) -> float:
    """The share of pairs (relevant, other) with the higher score first; equal ones count a half."""
    ranked = list(zip(q.hits, q.scores, strict=True))
    pairs = [(own, other) for hit, own in ranked if hit for miss, other in ranked if not miss]
    ordered = math.fsum((own > other) + (own == other) / 2 for own, other in pairs)
    return ordered / len(pairs) if pairs else math.nan


def f1(q: Query, k: int) -> float:
    """That of ranx 0.3.21: precision at k is divided by k, however few were retrieved."""
    p, r = q.found(k) / k, q.found(k) / q.relevant
    return 2 * p * r / (p + r) if p + r else 0.0


def of_best(q: Query, k: int, highest: int) -> float:
    """nDCG whose ideal ranking has the highest grade at every rank."""
    return dcg(q.gains, k) / dcg([highest] * k, k)


def overlap(one: list[Any], other: list[Any], p: float, depth: int) -> float:
    """Rank-biased overlap of Webber et al. 2010, not normalized."""
    shares = [len({*one[:i]} & {*other[:i]}) / i for i in range(1, depth + 1)]
    return math.fsum(p**i * share for i, share in enumerate(shares))


def compatibility(q: Query, p: float, depth: int) -> float:
    """Clarke et al. 2020: the overlap with the ideal ranking that is most like the ranking."""
    count = len(q.grades)
    documents = [*enumerate(q.gains), *enumerate(q.missed, count)]
    ideal = [place for gain, place in sorted((-gain, i) for i, gain in documents if gain > 0)]
    return overlap([*range(count)], ideal, p, depth) / overlap(ideal, ideal, p, depth)


def q_measure(q: Query) -> float:
    """Sakai 2004, with beta 1: the mean of blended ratios at the relevant documents."""
    blended = [
        (i + sum(q.gains[:rank])) / (rank + sum(q.ideal[:rank]))
        for i, rank in enumerate(q.ranks, 1)
    ]
    return math.fsum(blended) / q.relevant


DEFINITIONS: dict[str, Callable[[Query], float]] = {
    "AP@10": lambda q: precision_sum(q, 10) / q.relevant,
    "AP(denominator='min_k')@5": lambda q: precision_sum(q, 5) / min(5, q.relevant),
    "RR@3": lambda q: 1 / q.ranks[0] if q.ranks and q.ranks[0] <= 3 else 0.0,
    "ReciprocalHitRank": lambda q: math.fsum(1 / r for r in q.ranks) / max(1, len(q.ranks)),
    "P(denominator='retrieved')@20": lambda q: q.found(20) / min(20, len(q.hits)),
    "RCap@5": lambda q: q.found(5) / min(5, q.relevant),
    "HitRatio@5": lambda q: q.found(5) / q.relevant,
    "Success@3": lambda q: float(q.found(3) > 0),
    "DCG@5": lambda q: dcg(q.gains, 5),
    "DCG(dcg='exp-log2')@5": lambda q: dcg(burges(q.gains), 5),
    "nDCG(dcg='exp-log2')@5": lambda q: dcg(burges(q.gains), 5) / dcg(burges(q.ideal), 5),
    "ERR(max_grade=4)@10": lambda q: err(q, 10, 4),
    "RBP": lambda q: rbp(q, 0.8, len(q.hits)),
    "RBP(p=0.5)@5": lambda q: rbp(q, 0.5, 5),
    "nCG@5": lambda q: sum(q.gains[:5]) / sum(q.ideal[:5]),
    "F1@5": lambda q: f1(q, 5),
    "F1@20": lambda q: f1(q, 20),
    "F1": lambda q: f1(q, len(q.hits)),
    "SetF": lambda q: f1(q, len(q.hits)),
    "nDCG(ideal='max',max_grade=4)@5": lambda q: of_best(q, 5, 4),
    "SDCG(max_rel=4)@5": lambda q: of_best(q, 5, 4),
    "Compat(p=0.9,depth=20)": lambda q: compatibility(q, 0.9, 20),
    "Compat(p=0.5,depth=2)": lambda q: compatibility(q, 0.5, 2),
    "Q": q_measure,
    "P(denominator='retrieved')@2": lambda q: q.found(2) / min(2, len(q.hits)),
    "AP(denominator='relevant_retrieved')@5": lambda q: (
        precision_sum(q, 5) / q.found(5) if q.found(5) else 0.0
    ),
    "Judged(denominator='k')@5": lambda q: sum(g is not None for g in q.grades[:5]) / 5,
    "PairAccuracy": lambda q: ordered_pairs(q, len(q.hits)),
    "PairAccuracy@10": lambda q: ordered_pairs(q, 10),
    "AUC": area_under_curve,
    "GAUC": area_under_curve,
    "Judged@10": lambda q: sum(g is not None for g in q.grades[:10]) / min(10, len(q.grades)),
    "Unjudged(negative='judged')@10": lambda q: (
        sum(g is None for g in q.grades[:10]) / min(10, len(q.grades))
    ),
    "Hole@2": lambda q: sum(not known for known in q.in_pool[:2]) / 2,
    "Hole@10": lambda q: sum(not known for known in q.in_pool[:10]) / 10,
    "FirstRank": lambda q: float(q.ranks[0]) if q.ranks else math.nan,
    "MedianRank": lambda q: float(q.ranks[0]) if q.ranks else math.nan,
    "FullRecall": lambda q: float(len(q.ranks) == q.relevant),
    "Evidence(n=2)@5": lambda q: float(q.found(5) >= 2),
    "LastRank": lambda q: float(q.ranks[-1]) if len(q.ranks) == q.relevant else math.nan,
    "LastRank(unretrieved='worst')": lambda q: (
        float(q.ranks[-1]) if len(q.ranks) == q.relevant else math.inf
    ),
    "RBP(residual=True)@3": lambda q: (
        math.fsum(0.2 * 0.8**i for i, g in enumerate(q.grades[:3]) if g is None or g < 0)
        + 0.8 ** min(3, len(q.grades))
    ),
}
