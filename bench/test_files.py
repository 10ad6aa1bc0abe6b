"""Whole inputs in memory, of every kind that `generate` makes: `pytest bench`.

Reading is checked by the number of lines and by sums over them, evaluating by the values that
pytrec_eval computes from the same columns.
"""

from __future__ import annotations

from typing import Any

import pytest

from bench import cases, draw, expected, lines
from bench.cases import Case
from bench.draw import Columns
from fastrank import evaluate
from fastrank.formats import trec

# 70 queries of 1,000 documents, or as much as the case has of them.
SCALE = 0.01


@pytest.fixture(scope="module", params=cases.CASES.values(), ids=cases.CASES)
def case(request: pytest.FixtureRequest) -> Case:
    own: Case = request.param
    return own


@pytest.fixture(scope="module")
def columns(case: Case) -> Columns:
    return draw.draw(case, SCALE, cases.SEED)


def test_read_run(benchmark: Any, case: Case, columns: Columns) -> None:
    text = b"".join(lines.run_text(case, columns))

    run = benchmark(trec.parse_run, text)

    found = (len(run.docs), sum(run.docs.lengths), pytest.approx(sum(run.score_column)))
    docs = lines.doc_bytes(case, columns.docs.ravel())
    correct = found == (len(columns.lines), docs, columns.scores.sum())
    benchmark.extra_info.update(correct=correct, lines=len(columns.lines), bytes=len(text))
    assert correct


@pytest.mark.parametrize("measures", ["official", "all_trec"])
def test_evaluate(benchmark: Any, case: Case, columns: Columns, measures: str) -> None:
    qrels = trec.parse_qrels(b"".join(lines.qrels_text(case, columns)))
    run = trec.parse_run(b"".join(lines.run_text(case, columns)))

    scores = benchmark(evaluate, qrels, run, measures)

    names = expected.names_of(measures)
    problem = expected.values_wrong(scores.mean, expected.compute(case, columns), names)
    benchmark.extra_info.update(correct=not problem, lines=len(columns.lines))
    assert not problem
