"""Whole inputs in memory, of every kind that `generate` makes or that was added: `pytest bench`.

Reading is checked by the number of lines and by sums over them, evaluating by the values that
pytrec_eval computes from the same columns, or from what was added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from bench import added, cases, draw, expected, lines
from fastrank import evaluate
from fastrank.core.formats.trec import reader as trec

# 70 queries of 1,000 documents, or as much as the case has of them.
SCALE = 0.01


@dataclass(frozen=True)
class Input:
    """Two files as text, what a reader must find in the run, and the right values."""

    qrels: bytes
    run: bytes
    lines: int
    doc_bytes: int
    score_sum: float
    expected: dict[str, float]


@pytest.fixture(scope="module", params=[*cases.CASES, *added.parameters()])
def given(request: pytest.FixtureRequest) -> Input:
    if case := cases.CASES.get(request.param):
        columns = draw.draw(case, SCALE, cases.SEED)
        return Input(
            b"".join(lines.qrels_text(case, columns)),
            b"".join(lines.run_text(case, columns)),
            len(columns.lines),
            lines.doc_bytes(case, columns.docs.ravel()),
            columns.scores.sum(),
            expected.compute(case, columns),
        )
    stored = added.stored()[request.param]
    own = stored.manifest
    return Input(
        stored.qrels.read_bytes(),
        stored.run.read_bytes(),
        own.lines,
        own.doc_bytes,
        own.score_sum,
        own.expected,
    )


def test_read_run(benchmark: Any, given: Input) -> None:
    run = benchmark(trec.parse, given.run, "<bytes>", "trec_results")

    found = (len(run.docs), sum(run.docs.lengths), pytest.approx(sum(run.score_column)))
    correct = found == (given.lines, given.doc_bytes, given.score_sum)
    benchmark.extra_info.update(correct=correct, lines=given.lines, bytes=len(given.run))
    assert correct


@pytest.mark.parametrize("measures", ["official", "all_trec"])
def test_evaluate(benchmark: Any, given: Input, measures: str) -> None:
    qrels, run = trec.parse(given.qrels), trec.parse(given.run, form="trec_results")

    scores = benchmark(evaluate, qrels, run, measures)

    problem = expected.values_wrong(scores.mean, given.expected, expected.names_of(measures))
    benchmark.extra_info.update(correct=not problem, lines=given.lines)
    assert not problem
