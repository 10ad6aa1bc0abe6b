"""Kernels one by one: `pytest bench`. Each timing stands beside a check of the result.

The check is by pytrec_eval or by a plain Python loop; `extra_info["correct"]` carries it into
the JSON that pytest-benchmark writes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from bench import inputs, oracle
from fastrank.arguments import DEFAULT_VERSION
from fastrank.data.qrels import Qrels
from fastrank.data.run import Run
from fastrank.data.texts import spans
from fastrank.evaluation.values import Values
from fastrank.formats import trec
from fastrank.formats.chunks import line_reader
from fastrank.judging.options import MAX_RETRIEVED, Options, judging_options
from fastrank.judging.queries import match_queries
from fastrank.judging.rankings import judge_rankings, judge_texts
from fastrank.measures.selection import Selection
from fastrank.native import codes, engine, kernels, records
from fastrank.native.buffers import filled, zeros

# 100,000 lines of run, 10,000 judgments.
QUERIES, RETRIEVED, JUDGED = 100, 1000, 100

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


@pytest.fixture(scope="module")
def collection() -> inputs.Collection:
    return inputs.collection(QUERIES, RETRIEVED, JUDGED)


@pytest.fixture(scope="module")
def qrels(collection: inputs.Collection) -> Qrels:
    return trec.parse(collection.qrels_text().encode())


@pytest.fixture(scope="module")
def run(collection: inputs.Collection) -> Run:
    return trec.parse(collection.run_text().encode(), form="trec_results")


def record(benchmark: Any, correct: bool, **facts: Any) -> None:
    """Put a check beside the timing, then insist on it."""
    benchmark.extra_info.update(correct=correct, engine=engine(), **facts)
    assert correct


def test_scan_run(benchmark: Any, collection: inputs.Collection) -> None:
    text = collection.run_text().encode()
    lines = QUERIES * RETRIEVED
    fields = records.ResultFields(docs=spans(lines), scores=spans(codes.CHUNK))
    scores, fallbacks, state = zeros("d", lines), zeros("q", 3 * lines), records.Reading()
    stretches = records.Stretches(*spans(lines), rows=zeros("q", lines))
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
    finished = state.status == codes.DONE and state.rows == lines
    correct = finished and state.fallbacks == 0 and found == rows
    record(benchmark, correct, lines=lines, bytes=len(text))


def test_judge(benchmark: Any, collection: inputs.Collection, qrels: Qrels, run: Run) -> None:
    matched = match_queries(qrels, run)

    judged = benchmark(judge_rankings, qrels, run, matched, judging_options([], OPTIONS, qrels))

    offsets, ranks, grades = judged.columns[:3]
    found = [
        list(zip(ranks[first:stop], grades[first:stop], strict=True))
        for first, stop in pairwise(offsets)
    ]
    expected = [
        [
            (rank, collection.qrels[query][doc])
            for rank, doc in enumerate(collection.run[query], 1)
            if doc in collection.qrels[query]
        ]
        for query in sorted(collection.run)
    ]
    record(benchmark, found == expected, lines=QUERIES * RETRIEVED)


def prepared(name: str, qrels: Qrels, run: Run) -> tuple[Any, Any, Any]:
    """What computes values of a judged run, one measure, and room for its values."""
    bound = Selection([name]).bind(DEFAULT_VERSION)
    judged = judge_texts(qrels, bound, OPTIONS, run)
    return Values(qrels, bound, OPTIONS, judged), bound[0], zeros("d", QUERIES)


def expected_values(collection: inputs.Collection, measure: str) -> list[float]:
    """The value of a measure for every query, in byte order of the queries."""
    values = oracle.reference(collection.qrels, collection.run, measure)
    return [values[query] for query in sorted(values)]


def test_average_precision(
    benchmark: Any, collection: inputs.Collection, qrels: Qrels, run: Run
) -> None:
    computed, own, values = prepared("map", qrels, run)
    numbers = filled("d", own.numbers)

    benchmark(kernels.average_precision, computed.judged_for(own).columns, numbers, values)

    correct = values.tolist() == expected_values(collection, "map")
    record(benchmark, correct, queries=QUERIES)


def test_ndcg(benchmark: Any, collection: inputs.Collection, qrels: Qrels, run: Run) -> None:
    computed, own, values = prepared("ndcg", qrels, run)
    numbers = filled("d", own.numbers)

    benchmark(kernels.normalized_discounted_gain, computed.gains(own), numbers, values)

    correct = values.tolist() == expected_values(collection, "ndcg")
    record(benchmark, correct, queries=QUERIES)
