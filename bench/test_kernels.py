"""Kernels one by one: `pytest bench`. Each timing stands beside a check of the result.

The check is by pytrec_eval or by a plain Python loop; `extra_info["correct"]` carries it into
the JSON that pytest-benchmark writes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import pytrec_eval

from bench import cases, draw, lines, trec_files
from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.core.data.texts import spans
from fastrank.core.evaluation.values import Values
from fastrank.core.formats.files.chunks import line_reader
from fastrank.core.formats.qrels import Qrels
from fastrank.core.formats.run import Run
from fastrank.core.formats.trec import reader as trec
from fastrank.core.matching.options import MAX_RETRIEVED, Options
from fastrank.core.matching.plan import Plan
from fastrank.core.matching.queries import match_queries
from fastrank.core.matching.rankings import judge_rankings
from fastrank.core.matching.texts import match_texts
from fastrank.core.measures.selection import Selection
from fastrank.core.native import codes, engine, kernels, records
from fastrank.core.native.buffers import filled, zeros

# 100,000 lines of run, 10,000 judgments.
QUERIES, RETRIEVED = 100, 1000
CASE = replace(cases.CASES["pool-100"], queries=QUERIES, retrieved=RETRIEVED)

OPTIONS = Options(
    trec_eval_version=DEFAULT_VERSION,
    relevance_format="qrels",
    relevance_level=1,
    complete=False,
    judged_only=False,
    max_retrieved=MAX_RETRIEVED,
    collection_size=0,
    query=None,
)


@dataclass(frozen=True)
class Collection:
    """Two files as text, and what plain Python reads in them."""

    qrels_text: bytes
    run_text: bytes
    qrels: trec_files.Qrels
    run: trec_files.Run


@pytest.fixture(scope="module")
def collection() -> Collection:
    columns = draw.draw(CASE, 1.0, cases.SEED)
    qrels, run = (b"".join(text(CASE, columns)) for text in (lines.qrels_text, lines.run_text))
    return Collection(qrels, run, trec_files.parse_qrels(qrels), trec_files.parse_run(run))


@pytest.fixture(scope="module")
def qrels(collection: Collection) -> Qrels:
    return trec.parse(collection.qrels_text)


@pytest.fixture(scope="module")
def run(collection: Collection) -> Run:
    return trec.parse(collection.run_text, form="trec_results")


def record(benchmark: Any, correct: bool, **facts: Any) -> None:
    """Put a check beside the timing, then insist on it."""
    benchmark.extra_info.update(correct=correct, engine=engine(), **facts)
    assert correct


def test_scan_run(benchmark: Any, collection: Collection) -> None:
    text, count = collection.run_text, QUERIES * RETRIEVED
    fields = records.ResultFields(docs=spans(count), scores=spans(codes.CHUNK))
    scores, fallbacks, state = zeros("d", count), zeros("q", 3 * count), records.Reading()
    stretches = records.Stretches(*spans(count), rows=zeros("q", count))
    reader = line_reader(text, records.Cursor())

    def scan() -> None:
        state.clear(refused=codes.STRICTLY)
        kernels.scan_run(reader, codes.NO_COMMENTS, fields, scores, fallbacks, stretches, state)

    benchmark(scan)
    rows = [row for ranking in collection.run.values() for row in ranking.items()]
    found = [
        (text[start : start + length].decode(), score)
        for start, length, score in zip(*fields.docs, scores, strict=True)
    ]
    finished = state.status == codes.DONE and state.rows == count
    correct = finished and state.fallbacks == 0 and found == rows
    record(benchmark, correct, lines=count, bytes=len(text))


def test_judge(benchmark: Any, collection: Collection, qrels: Qrels, run: Run) -> None:
    matched = match_queries(qrels, run)

    judged = benchmark(judge_rankings, qrels, run, matched, Plan(qrels, [], OPTIONS).judging)

    offsets, ranks, grades = judged.columns[:3]
    found = [
        list(zip(ranks[first:stop], grades[first:stop], strict=True))
        for first, stop in pairwise(offsets)
    ]
    expected = [
        [
            (rank, collection.qrels[query][doc])
            for rank, doc in enumerate(ranked(collection.run[query]), 1)
            if doc in collection.qrels[query]
        ]
        for query in sorted(collection.run)
    ]
    record(benchmark, found == expected, lines=QUERIES * RETRIEVED)


def ranked(scores: dict[str, float]) -> list[str]:
    """Documents as trec_eval ranks them: by C floats, and equal ones by their ids, descending."""
    return sorted(scores, key=lambda doc: (np.float32(scores[doc]), doc.encode()), reverse=True)


def prepared(name: str, qrels: Qrels, run: Run) -> tuple[Any, Any, Any]:
    """What computes values of a judged run, one measure, and room for its values."""
    bound = Selection([name]).bind(DEFAULT_VERSION)
    plan = Plan(qrels, bound, OPTIONS)
    return Values(plan, match_texts(plan, run)), bound[0], zeros("d", QUERIES)


def expected_values(collection: Collection, measure: str) -> list[float]:
    """The value of a measure for every query by pytrec_eval, in byte order of the queries."""
    evaluator = pytrec_eval.RelevanceEvaluator(collection.qrels, {measure})
    values = evaluator.evaluate(collection.run)
    return [values[query][measure] for query in sorted(values)]


def test_average_precision(benchmark: Any, collection: Collection, qrels: Qrels, run: Run) -> None:
    computed, own, values = prepared("map", qrels, run)
    numbers = filled("d", own.numbers)

    benchmark(kernels.average_precision, computed.judged_for(own).columns, numbers, values)

    correct = values.tolist() == expected_values(collection, "map")
    record(benchmark, correct, queries=QUERIES)


def test_ndcg(benchmark: Any, collection: Collection, qrels: Qrels, run: Run) -> None:
    computed, own, values = prepared("ndcg", qrels, run)
    numbers = filled("d", own.numbers)

    benchmark(kernels.normalized_discounted_gain, computed.gains(own), numbers, values)

    correct = values.tolist() == expected_values(collection, "ndcg")
    record(benchmark, correct, queries=QUERIES)
