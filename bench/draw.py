"""Queries, rankings and judgments of a case, drawn at random as columns of numbers.

With numpy's RandomState, whose streams are frozen: the same seed gives the same columns in every
version of numpy. Cases that differ in their text only have the same columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.cases import Case

# MS MARCO's numbers of queries and of passages. Relevant documents that are not retrieved have
# numbers above those of all retrieved ones.
QUERIES, RETRIEVABLE, OTHERS = 1_102_400, 8_500_000, 341_823
# Scores are multiples of 8e-6 below 32: different ones differ in single precision too, so that
# every version of trec_eval ranks them alike.
STEP, HIGHEST = 8, 3_999_999
TIED = 0.025


@dataclass(frozen=True)
class Columns:
    """One row per query, in the order of the file; documents in rank order.

    docs and scores: [queries, retrieved]. judged: rows of (place of the query, document, grade).
    lines: which document stands on which line, counted through all queries.
    """

    queries: npt.NDArray[Any]
    docs: npt.NDArray[Any]
    scores: npt.NDArray[Any]
    judged: npt.NDArray[Any]
    lines: npt.NDArray[Any]


def draw(case: Case, scale: float, seed: int) -> Columns:
    """The columns of a case."""
    random = np.random.RandomState(seed)
    queries, retrieved = case.size(scale)
    numbers = random.permutation(QUERIES)[:queries] + 1
    docs = _distinct(random, queries, retrieved)
    scores = _scores(random, queries, retrieved)
    if case.scores == "shortest":
        scores = (scores / 32).astype(np.float32).astype(np.float64)
    judged = _judgments(random, case, docs)
    return Columns(numbers, docs, scores, judged, _lines(random, case.order, queries, retrieved))


def _distinct(random: np.random.RandomState, queries: int, count: int) -> npt.NDArray[Any]:
    """Different document numbers for each query: what repeats in a row is drawn again."""
    drawn = random.randint(RETRIEVABLE, size=(queries, count), dtype=np.uint32)
    todo = np.arange(queries)
    while len(todo):
        order = drawn[todo].argsort(axis=1, kind="stable")
        ascending = np.take_along_axis(drawn[todo], order, axis=1)
        row, place = (ascending[:, 1:] == ascending[:, :-1]).nonzero()
        again = random.randint(RETRIEVABLE, size=len(row), dtype=np.uint32)
        drawn[todo[row], order[row, place + 1]] = again
        todo = todo[np.unique(row)]
    return drawn


def _scores(random: np.random.RandomState, queries: int, count: int) -> npt.NDArray[Any]:
    """Descending scores as BM25 gives them, a few of them equal to the one before."""
    scores = random.gamma(2.0, 1.2, size=(queries, count))
    scores += random.uniform(6, 14, size=(queries, 1))
    steps = np.minimum(scores * (1e6 / STEP), HIGHEST).astype(np.int64)
    steps = -np.sort(-steps, axis=1)
    tied = random.random_sample((queries, count - 1)) < TIED
    steps[:, 1:] = np.where(tied, steps[:, :-1], steps[:, 1:])
    return steps * STEP / 1e6


def _judgments(
    random: np.random.RandomState, case: Case, docs: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """Judged documents, dense at the top of the rankings."""
    queries, retrieved = docs.shape
    many = isinstance(case.judged[0], int)
    if many:
        low, high = (int(count) for count in case.judged)
        counts = random.randint(low, high + 1, size=queries)
    else:
        counts = _pick(random, case.judged, queries) + 1
    place = np.repeat(np.arange(queries), counts)
    chance = random.random_sample(len(place))
    # Log-distributed where there are few; where there are many, these would hit one another.
    rank = retrieved * chance**2 if many else np.exp(chance**1.5 * np.log(retrieved)) - 1
    rank = rank.astype(np.int64)
    found = random.random_sample(len(place)) < case.found
    elsewhere = RETRIEVABLE + random.randint(OTHERS, size=len(place))
    judged = np.where(found, docs[place, rank], elsewhere)
    # A document is judged once: of equal pairs the first stays.
    _, first = np.unique(place * (RETRIEVABLE + OTHERS) + judged, return_index=True)
    first.sort()
    grades = _pick(random, case.grades, len(place))
    rows: npt.NDArray[Any] = np.stack([place, judged, grades], axis=1)[first]
    return rows


def _pick(random: np.random.RandomState, shares: tuple[float, ...], count: int) -> npt.NDArray[Any]:
    """Numbers from 0 on, each with its share."""
    edges = np.cumsum(shares)[:-1]
    return np.searchsorted(edges, random.random_sample(count), side="right")


def _lines(
    random: np.random.RandomState, order: str, queries: int, retrieved: int
) -> npt.NDArray[Any]:
    if order == "scattered":
        return random.permutation(queries * retrieved)
    lines = np.arange(queries * retrieved)
    if order == "shuffled":
        within = random.random_sample((queries, retrieved)).argsort(axis=1, kind="stable")
        lines = (within + np.arange(queries)[:, None] * retrieved).ravel()
    return lines
