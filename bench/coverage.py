"""How often the intervals of `fr.estimate` cover the truth, and how wide they are.

Queries have human judgments (data/digits.qrels with the runs in data/, or files of yours), and the
judgments of a simulated judge: each human grade becomes another one as often as a language model
gave it on the passages of TREC Deep Learning 2023 (Rahmani et al., 'Judging the judges', 2025,
arXiv 2502.13908). People judge a random sample of n queries, again and again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import fastrank as fr
from fastrank.comparing.options import COMPARISON, settings
from fastrank.judges.prediction_powered import estimated

DATA = Path(__file__).parent.parent / "data"
RUNS = ("pixels", "pca", "profile")
MEASURES = ("AP", "nDCG@10", "RR@10", "P@10")
SIZES = (20, 50, 100)
# The grades of two judges (columns) by those of people (rows), 0 to 3.
JUDGES = {
    "willia-umbrela1": ((1521, 369, 88, 27), (579, 457, 157, 40), (189, 280, 270, 69),
                        (46, 125, 93, 113)),
    "RMITIR-llama38b": ((1536, 164, 261, 44), (718, 198, 271, 46), (252, 181, 340, 35),
                        (70, 71, 186, 50)),
}  # fmt: skip


def judged_by(human: dict[str, dict[str, int]], judge: str, seed: int) -> dict[str, dict[str, int]]:
    """The judgments of a simulated judge; the highest grade of people counts as 3."""
    draw = np.random.default_rng(seed)
    counts = np.array(JUDGES[judge], float)
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


def rows(
    qrels: Any, runs: dict[str, Any], repetitions: int, seed: int = 0
) -> Iterator[tuple[str, str, str, int, float, float, float]]:
    """Judge, measure, system, n, coverage, that of people alone, and the mean share of width."""
    human = fr.read_qrels(qrels).to_dict() if not isinstance(qrels, dict) else qrels
    chosen = settings({one.name: one.default for one in COMPARISON})
    by_people = values(human, runs)
    for judge in JUDGES:
        by_judge = values(judged_by(human, judge, seed), runs)
        for measure, systems in by_people.items():
            for system in (next(iter(systems)), list(systems)[-1]):
                f, g = systems[system], by_judge[measure][system]
                for n in (size for size in SIZES if size < len(f)):
                    yield judge, measure, system, n, *_coverage(f, g, n, repetitions, seed, chosen)


def _coverage(
    f: Any, g: Any, n: int, repetitions: int, seed: int, chosen: Any
) -> tuple[float, float, float]:
    draw, truth = np.random.default_rng(seed), f.mean()
    covered = alone = 0
    widths = []
    for _ in range(repetitions):
        order = draw.permutation(len(f))
        known, rest = order[:n], order[n:]
        found = estimated(f[known], g[known], g[rest], chosen, finite=True)
        covered += found.low <= truth <= found.high
        people = estimated(f[known], 0 * g[known], 0 * g[rest], chosen, finite=True)
        alone += people.low <= truth <= people.high
        widths.append(found.width)
    # Where all sampled values are the same, there is no width.
    return covered / repetitions, alone / repetitions, float(np.nanmean(widths))


def table(qrels: Any = None, runs: dict[str, Any] | None = None, repetitions: int = 5000) -> str:
    """The rows as a table in Markdown."""
    found = rows(
        qrels or DATA / "digits.qrels", runs or {name: DATA / f"{name}.run" for name in RUNS},
        repetitions,
    )  # fmt: skip
    names = ("judge", "measure", "system", "n", "coverage %", "people alone %", "width")
    lines = [f"| {' | '.join(names)} |", "|---|---|---|--:|--:|--:|--:|"]
    lines += [
        f"| {judge} | {measure} | {system} | {n} | {100 * covered:.1f} | {100 * alone:.1f} |"
        f" {width:.2f} |"
        for judge, measure, system, n, covered, alone, width in found
    ]
    return "\n".join(lines)
