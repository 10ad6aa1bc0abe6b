"""How often the intervals of `fr.estimate` cover the truth, and how wide they are.

Queries have human judgments (data/digits.qrels with the runs in data/, or files of yours), and the
judgments of a simulated judge: each human grade becomes another one as often as a language model
gave it on the passages of TREC Deep Learning 2023 (Rahmani et al., 'Judging the judges', 2025,
arXiv 2502.13908). People judge a random sample of n queries, or of the pairs of n queries, again
and again.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import fastrank as fr
from fastrank.analysis.comparing.options import COMPARISON, settings
from fastrank.analysis.judges.merging import named_rankings
from fastrank.analysis.judges.prediction_powered import estimated, half_width, mostly_equal

DATA = Path(__file__).parent.parent / "data"
RUNS = ("pixels", "pca", "profile")
MEASURES = ("AP", "nDCG@10", "RR@10", "P@10")
SIZES = (20, 50, 100)
# How many queries stand for all that users ask.
POPULATION = 400
# What is promised below 50 queries, and from 50 on.
LIMITS = ((0.92, 0.97), (0.93, 0.965))
# The grades of two judges (columns) by those of people (rows), 0 to 3.
JUDGES = {
    "willia-umbrela1": (
        (1521, 369, 88, 27),
        (579, 457, 157, 40),
        (189, 280, 270, 69),
        (46, 125, 93, 113),
    ),
    "RMITIR-llama38b": (
        (1536, 164, 261, 44),
        (718, 198, 271, 46),
        (252, 181, 340, 35),
        (70, 71, 186, 50),
    ),
}


# Plans of pairs: of how many queries, how many pairs, from how deep a pool, for which measures.
PLAN_QUERIES, PLAN_PAIRS, PLAN_DEPTH = (5, 10, 20), (20, 40, 60, 100), 10
PLAN_MEASURES = ("P@5", "DCG@10")
# With a judge that errs in 3 % of the pairs, too, of which the few that people judge tell little.
PLAN_JUDGES = {**JUDGES, "nearly right": tuple(map(tuple, np.eye(4, dtype=int) * 96 + 1))}


def judged_by(human: dict[str, dict[str, int]], judge: str, seed: int) -> dict[str, dict[str, int]]:
    """The judgments of a simulated judge; the highest grade of people counts as 3."""
    draw = np.random.default_rng(seed)
    counts = np.array(PLAN_JUDGES[judge], float)
    top = max(grade for documents in human.values() for grade in documents.values())
    rows = {grade: counts[round(3 * grade / top)] for grade in range(top + 1)}

    def grade(by_people: int) -> int:
        row = rows[max(by_people, 0)]
        return round(int(draw.choice(4, p=row / row.sum())) * top / 3)

    return {
        query: {document: grade(own) for document, own in documents.items()}
        for query, documents in human.items()
    }


def values(qrels: Any, runs: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """{measure: {system: value per query}}, and the difference of the first two systems."""
    scores = fr.evaluate(qrels, runs, list(MEASURES), missing="zero")
    found = {
        measure: {own.name: own[measure].astype(float) for own in scores} for measure in MEASURES
    }
    for own in found.values():
        first, second, *_ = own
        own[f"{first} - {second}"] = own[first] - own[second]
    return found


class Row(NamedTuple):
    """How often intervals of n human queries have the truth, for one system and judge.

    queries: where all queries are known, and n of them drawn. everyone: where POPULATION queries
    are drawn with replacement, to stand for all that users ask, of which people judge n; then also
    people alone, and the judge alone. width: the mean share of the width of people alone. equal:
    whether half or more of the values are the same.
    """

    judge: str
    measure: str
    system: str
    n: int
    queries: float
    everyone: float
    people: float
    judge_alone: float
    width: float
    equal: bool


def rows(qrels: Any, runs: dict[str, Any], repetitions: int, seed: int = 0) -> Iterator[Row]:
    """The first system and the difference of the first two, in each measure."""
    human = fr.read_qrels(qrels).to_dict() if not isinstance(qrels, dict) else qrels
    by_people = values(human, runs)
    for judge in JUDGES:
        by_judge = values(judged_by(human, judge, seed), runs)
        for measure, systems in by_people.items():
            for system in (next(iter(systems)), list(systems)[-1]):
                f, g = systems[system], by_judge[measure][system]
                for n in SIZES:
                    found = _coverage(f, g, n, repetitions, seed, (-1.0 * (" - " in system), 1.0))
                    yield Row(judge, measure, system, n, *found, mostly_equal(f))


def _coverage(
    f: Any, g: Any, n: int, repetitions: int, seed: int, limits: tuple[float, float]
) -> tuple[float, float, float, float, float]:
    draw, chosen = np.random.default_rng(seed), settings({o.name: o.default for o in COMPARISON})
    truth, hits, widths = f.mean(), np.zeros((repetitions, 4)), np.full(repetitions, np.nan)
    for row in range(repetitions):
        hits[row, 0] = np.nan
        if n < len(f):
            known, rest = np.split(draw.permutation(len(f)), [n])
            found = estimated(f[known], g[known], g[rest], chosen, finite=True, limits=limits)
            hits[row, 0] = found.low <= truth <= found.high
        known, rest = np.split(draw.integers(len(f), size=POPULATION), [n])
        found = estimated(f[known], g[known], g[rest], chosen, finite=False, limits=limits)
        half, own = (
            half_width(error, count - 1, chosen.level)
            for error, count in ((found.human_error, n), (found.judge_error, POPULATION))
        )
        hits[row, 1:] = (
            found.low <= truth <= found.high,
            abs(found.human - truth) <= half,
            abs(found.judge - truth) <= own,
        )
        # Where all sampled values are the same, there is no width.
        widths[row] = found.width
    return (*hits.mean(axis=0).tolist(), float(np.nanmean(widths)))


class PlanRow(NamedTuple):
    """How often intervals from plans of n pairs have the truth, for one system and judge.

    width: their mean width.
    """

    judge: str
    measure: str
    system: str
    queries: int
    n: int
    coverage: float
    width: float


def plan_rows(
    qrels: Any, runs: dict[str, Any], repetitions: int, seed: int = 0
) -> Iterator[PlanRow]:
    """The first system and the difference of the first two, from few pairs of random queries."""
    human = fr.read_qrels(qrels).to_dict() if not isinstance(qrels, dict) else qrels
    rankings = dict(list(named_rankings(runs, PLAN_DEPTH))[:2])
    names = (next(iter(rankings)), " - ".join(rankings))
    for judge in PLAN_JUDGES:
        by_judge = judged_by(human, judge, seed)
        for queries, pairs in product(PLAN_QUERIES, PLAN_PAIRS):
            draw, outcomes = np.random.default_rng(seed), list[list[tuple[bool, float]]]()
            for _ in range(repetitions):
                sample = draw.choice(sorted(human), queries, replace=False).tolist()
                people, model = ({q: side[q] for q in sample} for side in (human, by_judge))
                systems = {
                    name: {q: {doc: 1 / rank for doc, rank in ranks[q].items()} for q in sample}
                    for name, ranks in rankings.items()
                }
                if pairs < len(fr.pool(systems, PLAN_DEPTH)):
                    plan_seed = int(draw.integers(2**31))
                    outcomes.append(_planned(people, model, systems, pairs, plan_seed))
            # Otherwise, some pools are smaller than the plan.
            if len(outcomes) == repetitions:
                means = np.array(outcomes).mean(axis=0).tolist()
                for key, row in zip(product(PLAN_MEASURES, names), means, strict=True):
                    yield PlanRow(judge, *key, queries, pairs, *row)


def _planned(
    people: Any, judge: Any, runs: dict[str, Any], pairs: int, seed: int
) -> list[tuple[bool, float]]:
    """Whether the interval of each measure and system has the truth, and its width."""
    plan = fr.plan_judgments(runs, pairs, judge=judge, depth=PLAN_DEPTH, seed=seed)
    grades: dict[str, dict[str, int]] = {}
    for query, document, _ in plan.sheet().rows():
        grades.setdefault(query, {})[document] = people[query].get(document, 0)
    with warnings.catch_warnings():
        # Few pairs seldom have all grades that the judge gives.
        warnings.simplefilter("ignore")
        estimate = fr.estimate(grades, judge, runs, list(PLAN_MEASURES), plan=plan)
    scores, outcomes = fr.evaluate(people, runs, list(PLAN_MEASURES), missing="zero"), []
    for measure in PLAN_MEASURES:
        first, second = (of_run.mean[measure] for of_run in scores)
        _, low, high, *_ = estimate.pair(measure, *runs)
        bounds = (estimate.interval(measure, next(iter(runs))), (low, high))
        outcomes += [
            (low - 1e-9 <= truth <= high + 1e-9, high - low)
            for truth, (low, high) in zip((first, first - second), bounds, strict=True)
        ]
    return outcomes


def plan_table(rows: Iterable[PlanRow]) -> str:
    """The rows as a table in Markdown."""
    lines = [
        "| judge | measure | system | queries | pairs | covers % | width |",
        "|---|---|---|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {row.judge} | {row.measure} | {row.system} | {row.queries} | {row.n} |"
        f" {100 * row.coverage:.1f} | {row.width:.2f} |"
        for row in rows
    ]
    return "\n".join(lines)


def falls_short(row: Row | PlanRow, repetitions: int) -> bool:
    """Whether a coverage is outside what is promised, by more than chance.

    Intervals of mostly equal values, and of plans, whose judge may be mostly right, may be too
    long.
    """
    low, high = LIMITS[row.n >= 50]
    noise = 3 * math.sqrt(0.05 * 0.95 / repetitions)
    if isinstance(row, PlanRow):
        return row.coverage < low - noise
    shares = [share for share in (row.queries, row.everyone) if not math.isnan(share)]
    return min(shares) < low - noise or (not row.equal and max(shares) > high + noise)


def table(found: Iterable[Row]) -> str:
    """The rows as a table in Markdown; those of mostly equal values have a mark."""
    names = (
        "judge",
        "measure",
        "system",
        "n",
        "known queries %",
        "all queries %",
        "people alone %",
        "judge alone %",
        "width",
    )
    lines = [f"| {' | '.join(names)} |", f"|---|---|---|{'--:|' * (len(names) - 3)}"]
    for own in found:
        shown = (own.queries, own.everyone, own.people, own.judge_alone)
        cells = ["" if math.isnan(share) else f"{100 * share:.1f}" for share in shown]
        cells = [own.judge, own.measure + " *" * own.equal, own.system, str(own.n), *cells]
        lines.append(f"| {' | '.join(cells)} | {own.width:.2f} |")
    return "\n".join(lines)
