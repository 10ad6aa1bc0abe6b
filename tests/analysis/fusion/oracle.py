"""Fusion in plain Python, slow and obvious."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import mean, median, pstdev, stdev
from typing import Any

import numpy as np

Ranking = dict[str, float]
BY_RANK = ("rrf", "isr", "log_isr", "logn_isr", "rbc", "borda", "condorcet")
WEIGHTED = ("rrf", "convex", "borda", "wmnz", "mixed", "condorcet")


def ranked(run: Ranking) -> list[str]:
    """The documents in the order of trec_eval 9.0.8."""
    return sorted(run, key=lambda doc: (np.float32(run[doc]), doc), reverse=True)


def normalized(run: Ranking, normalization: str, candidates: int) -> Ranking:
    """The normalized scores."""
    low, high, count = min(run.values()), max(run.values()), len(run)
    scores = list(run.values())
    if normalization == "none":
        return dict(run)
    if normalization == "rank":
        return {doc: 1 - i / count for i, doc in enumerate(ranked(run))}
    if normalization == "borda":
        return {doc: 1 - i / candidates for i, doc in enumerate(ranked(run))}
    if normalization == "max":
        return {doc: score / high for doc, score in run.items()}
    if low == high:
        constant = {
            "min-max": 1.0,
            "min-max-inverted": 1.0,
            "sum": 1 / count,
            "z": 0.0,
            "dbsf": 0.5,
        }[normalization]
        return dict.fromkeys(run, constant)
    shift, scale = Fraction(low), high - low
    if normalization == "min-max-inverted":
        return {doc: float(Fraction(high) - Fraction(score)) / scale for doc, score in run.items()}
    if normalization == "sum":
        scale = sum(score - low for score in scores)
    elif normalization == "z":
        shift, scale = mean(map(Fraction, scores)), pstdev(scores)
    elif normalization == "dbsf":
        shift = mean(map(Fraction, scores)) - 3 * Fraction(stdev(scores))
        scale = 6 * stdev(scores)
    return {doc: float(Fraction(score) - shift) / scale for doc, score in run.items()}


def by_rank(run: Ranking, method: str, number: float, candidates: int) -> Ranking:
    """What a run gives each document by its rank."""
    formulas = {
        "rrf": lambda rank: 1 / (number + rank),
        "rbc": lambda rank: (1 - number) * number ** (rank - 1),
        "borda": lambda rank: candidates - rank + 1,
    }
    formula = formulas.get(method, lambda rank: 1 / rank**2)
    return {doc: formula(rank) for rank, doc in enumerate(ranked(run), 1)}


def fused(
    runs: list[Ranking],
    method: str,
    *,
    number: float = 0.0,
    weights: list[float] | None = None,
    normalization: str = "min-max",
    unretrieved: str | None = None,
) -> Ranking:
    """The fused scores of one query. number: the parameter of the method."""
    docs = sorted({doc for run in runs for doc in run})
    if method == "condorcet":
        return {doc: copeland(doc, docs, runs, weights or [1.0] * len(runs)) for doc in docs}
    if weights is None:
        weights = [1 / len(runs) if method == "convex" else 1.0] * len(runs)
    values: list[Ranking] = []
    for run in runs:
        if method in BY_RANK:
            values.append(by_rank(run, method, number, len(docs)))
        else:
            values.append(normalized(run, normalization, len(docs)) if run else {})
    lowest = unretrieved == "min" or (unretrieved is None and normalization == "z")
    found = {}
    for doc in docs:
        own = [value[doc] for value in values if doc in value]
        total = 0.0
        for value, weight, run in zip(values, weights, runs, strict=True):
            factor = weight if method in WEIGHTED and method != "wmnz" else 1.0
            if doc in value:
                total += factor * value[doc]
            elif not run:
                continue
            elif method == "borda":
                total += factor * (len(docs) - len(run) + 1) / 2
            elif method not in BY_RANK and normalization == "borda":
                total += factor * (len(docs) - len(run) + 1) / 2 / len(docs)
            elif method not in BY_RANK and lowest:
                total += factor * min(value.values())
        having = sum(weight for value, weight in zip(values, weights, strict=True) if doc in value)
        found[doc] = combined(method, total, own, having, number)
    return found


def combined(method: str, total: float, own: list[float], having: float, number: float) -> float:
    """The score of a document from the sum and the values of the runs with it."""
    count = len(own)
    combinations: dict[str, Any] = {
        "combmax": lambda: max(own),
        "combmin": lambda: min(own),
        "combmed": lambda: median(own),
        "combanz": lambda: sum(own) / count,
        "combmnz": lambda: total * count,
        "isr": lambda: total * count,
        "gmnz": lambda: total * count**number,
        "log_isr": lambda: total * math.log(count),
        "logn_isr": lambda: total * math.log(count + number),
        "wmnz": lambda: total * having,
        "mixed": lambda: total * math.sqrt(count),
    }
    return float(combinations.get(method, lambda: total)())


def copeland(doc: str, docs: list[str], runs: list[Ranking], weights: list[float]) -> float:
    """The number of documents that one defeats, and half of those that it ties with."""
    score = 0.0
    for other in docs:
        if other == doc:
            continue
        margin = 0.0
        for run, weight in zip(runs, weights, strict=True):
            order = ranked(run)
            places = [order.index(one) if one in run else math.inf for one in (doc, other)]
            margin += weight * ((places[0] < places[1]) - (places[0] > places[1]))
        score += 0.5 if abs(margin) < 1e-9 else float(margin > 0)
    return score
