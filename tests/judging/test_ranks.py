"""Ranks of judged documents: those of a plain sort, in whichever form judgments and runs come."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastrank as fr

DEPTH = 400
# Hits are compared with each of their ties, or these are sorted; better scores are counted for each
# of them, or all scores are sorted.
HITS = [1, 8, 9, 128, 129, 350]


def twin(judged: dict[str, int], run: dict[str, float]) -> float:
    """Average precision of a ranking in trec_eval's order."""
    ranking = sorted(run, key=lambda doc: (np.float32(run[doc]), doc), reverse=True)
    total, found = 0.0, 0
    for rank, doc in enumerate(ranking, start=1):
        if judged.get(doc, 0) > 0:
            found += 1
            total += found / rank
    return total / sum(grade > 0 for grade in judged.values())


def written(run: dict[str, dict[str, float]]) -> str:
    """The lines of a run in TREC format."""
    return "".join(
        f"{query} Q0 {doc} 1 {score!r} t\n"
        for query, docs in run.items()
        for doc, score in docs.items()
    )


def in_order(run: dict[str, float]) -> dict[str, float]:
    """The same ranking by descending score, with tied documents in any order."""
    return dict(sorted(run.items(), key=lambda item: -item[1]))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("distinct", [1, 3, 60, 10**6])
@pytest.mark.parametrize("hits", HITS)
def test_every_form_ranks_as_a_sort_does(
    hits: int, distinct: int, descending: bool, tmp_path: Path
) -> None:
    rng = random.Random(hits * distinct)
    docs = [str(number) for number in rng.sample(range(5000), DEPTH)]
    # Negative scores, zeros of both signs, and scores that differ in double precision only.
    levels = [rng.uniform(-2, 2) for _ in range(distinct)] if distinct < DEPTH else []
    levels += [0.0, -0.0, 1.0, 1.0 + 1e-12] if 1 < distinct < DEPTH else []
    run = {doc: rng.choice(levels) if levels else rng.uniform(-2, 2) for doc in docs}
    if descending:
        run = in_order(run)
    judged = {doc: rng.choice([0, 1, 2]) for doc in rng.sample(docs, hits)} | {"x": 1}
    path = tmp_path / "run"
    path.write_text(written({"q": run}))
    numbered: Any = {int(doc): grade for doc, grade in judged.items() if doc != "x"} | {9999: 1}
    ids, scores = [[int(doc) for doc in run]], [list(run.values())]

    found = {
        "dict": fr.evaluate({"q": judged}, {"q": run}, "map"),
        "run": fr.evaluate({"q": judged}, fr.Run.from_dict({"q": run}), "map"),
        "file": fr.evaluate({"q": judged}, path, "map"),
        "arrays": fr.evaluate_arrays([numbered], ids, scores, "map"),
    }

    expected = [twin(judged, run)]
    assert [form for form, own in found.items() if own["map"].tolist() != expected] == []


def test_ties_of_scores_outlive_the_dicts_they_came_from() -> None:
    """What evaluates once does not copy the judgments."""
    qrels = {"q": {"".join(["d", str(i)]): i % 2 for i in range(9)}}
    run = {"q": dict.fromkeys(qrels["q"], 1.0)}
    kept = fr.evaluate({"q": dict(qrels["q"])}, run, "map").ties

    ties = fr.evaluate(qrels, run, "map").ties
    qrels["q"].clear()
    run.clear()

    assert ties is not None
    assert kept is not None
    assert ties.ranges() == kept.ranges()
