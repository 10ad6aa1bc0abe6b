"""Measures of retrieved text: the published code, the definitions, budgets, queries."""

from __future__ import annotations

import csv
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from tests.helpers.paths import SHARED, TESTS
from tests.helpers.spans import Place, places, slow, table
from tests.helpers.tables import giving, refusing

RECORDED = json.loads((TESTS / "recorded/spans/chunking_evaluation.json").read_text("utf-8"))
QUESTIONS = SHARED / "data/spans/questions.csv"


def _ranking(number: int, references: list[Any], corpus: str, chunks: list[Place]) -> list[int]:
    """Chunks around the evidence and others, in turns: what the published code was given."""
    near = [
        place
        for place, (document, start, end) in enumerate(chunks)
        if document == corpus
        and any(
            start < own["end_index"] + 150 and own["start_index"] - 150 < end for own in references
        )
    ]
    near = near[number % 2 :] + near[: number % 2]
    far = [(number * 37 + step * 101) % len(chunks) for step in range(12)]
    both = [place for pair in zip(near, far, strict=False) for place in pair]
    return list(dict.fromkeys(both + far))[:10]


@pytest.mark.skipif(not QUESTIONS.exists(), reason="needs ../shared")
@pytest.mark.parametrize("chunking", RECORDED["chunkings"])
def test_values_are_those_of_the_published_code(chunking):
    size, step = map(int, chunking.split("/"))
    chunks = [
        (document, start, min(start + size, length))
        for document, length in RECORDED["lengths"].items()
        for start in range(0, length, step)
    ]
    with QUESTIONS.open(newline="", encoding="utf-8") as file:
        questions = list(csv.DictReader(file))
    run = {
        str(number): {
            str(place): float(-rank)
            for rank, place in enumerate(
                _ranking(number, json.loads(own["references"]), own["corpus_id"], chunks)
            )
        }
        for number, own in enumerate(questions)
    }
    rows = [(str(place), *own) for place, own in enumerate(chunks)]
    expected = RECORDED["chunkings"][chunking]

    found = fr.evaluate_spans(QUESTIONS, table("chunk document start end", *rows), run, expected)

    assert len(found.queries) == 472
    for measure, (mean, weighted) in expected.items():
        values = zip(found.queries, found[measure].tolist(), strict=True)
        checksum = sum((int(query) % 97 + 1) * value for query, value in values)
        assert (found.mean[measure], checksum) == pytest.approx((mean, weighted), rel=1e-12)


PIECES = st.lists(st.tuples(places(), st.sampled_from(["", "x", "y"])), min_size=1, max_size=5)


@given(PIECES, st.lists(places(), min_size=1, max_size=8, unique=True), st.data())
def test_values_are_those_of_the_definitions(spans, chunks, data):
    # Each document has a chunk.
    chunks = [*chunks, ("a", 90, 91), ("b", 90, 91)]
    ids = [f"c{place}" for place in range(len(chunks))]
    ranked = data.draw(st.permutations(ids))[: data.draw(st.integers(1, 5))]
    k, budget = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 40))
    retrieved = [chunks[int(own[1:])] for own in ranked]
    evidence: dict[str, list[Place]] = {}
    for number, (place, name) in enumerate(spans):
        evidence.setdefault(name or str(number), []).append(place)
    left, cut = budget, []
    for document, start, end in retrieved:
        cut.append((document, start, min(end, start + left)))
        left -= cut[-1][2] - start
    touching = [
        (document, start, end)
        for document, start, end in chunks
        if any(own[0] == document and start <= own[2] and own[1] <= end for own, _ in spans)
    ]
    expected = {
        f"{name}{'(repeated=True)' * (repeated and name != 'SpanRecall')}@{at}": value
        for repeated in (False, True)
        for at, some in ((k, retrieved[:k]), (f"{budget}c", cut))
        for name, value in slow(evidence, some, repeated=repeated).items()
    }
    expected["SpanPrecisionOmega"] = slow(evidence, touching, repeated=False)["SpanIoU"]

    found = fr.evaluate_spans(
        table("query document start end evidence", *[("q", *own, name) for own, name in spans]),
        table("chunk document start end", *[(i, *own) for i, own in zip(ids, chunks, strict=True)]),
        {"q": {own: float(-rank) for rank, own in enumerate(ranked)}},
        expected,
    )

    assert found.mean == pytest.approx(expected, rel=1e-12)


SPANS = table("query document start end", ("q1", "a", 0, 10), ("q2", "a", 50, 60))
ROWS = [("c1", "a", 0, 8, 4), ("c2", "a", 8, 20, 3), ("c3", "a", 40, 70, 0)]
CHUNKS = table("chunk document start end tokens", *ROWS)
RUN = {"q1": {"c1": 2, "c2": 1, "c3": 0}}
WITH_GRADES = table("query document start end grade", ("q1", "a", 0, 10, 0), ("q1", "a", 8, 12, 2))


def evaluated(measures: Any = "SpanRecall", **changes: Any) -> fr.Scores:
    given = {"spans": SPANS, "chunks": CHUNKS, "run": RUN, **changes}
    return fr.evaluate_spans(**given, measures=measures)


def mean(measure: str, **changes: Any) -> float:
    (found,) = evaluated(measure, **changes).mean.values()
    return found


# 3 of 4 tokens are 6 of 8 characters, 1 of 3 is 4 of 12; a chunk without tokens costs nothing.
# Equal scores are in trec_eval's order, and spans with grade 0 are not evidence.
test_a_value_is_that_of_the_definition = giving("""
mean("SpanRecall@3t") => approx(0.6)
mean("SpanRecall@5t") => approx(1.0)
mean("SpanPrecision@5t") => approx(10 / 12)
mean("SpanPrecision@7t") => approx(10 / 20)
mean("SpanPrecision@8t") => approx(10 / 50)
mean("spanrecall @ 1") => approx(0.8)
mean("SpanRecall@1", run={"q1": {"c1": 1.0, "c2": 1.0}}) => approx(0.2)
mean("SpanRecall@1", spans=WITH_GRADES) => 0.0
mean("SpanRecall@2", spans=WITH_GRADES) => 1.0
""")


def test_queries_without_results_are_left_out_or_count_as_zero():
    measures = "SpanRecall SpanPrecisionOmega"

    left_out = fr.evaluate_spans(SPANS, CHUNKS, RUN, measures)
    zero = fr.evaluate_spans(SPANS, CHUNKS, RUN, measures, missing="zero")

    assert (left_out.queries, left_out.missing_queries) == (["q1"], ["q2"])
    # The second does not depend on the run.
    assert zero.to_dict() == {
        "q1": {"SpanRecall": 1.0, "SpanPrecisionOmega": 0.5},
        "q2": {"SpanRecall": 0.0, "SpanPrecisionOmega": pytest.approx(1 / 3)},
    }
    assert zero.mean["SpanRecall"] == 0.5


def test_scores_are_subtracted_and_grouped_as_all_others():
    both = [
        fr.evaluate_spans(SPANS, CHUNKS, run, "SpanRecall SpanPrecisionOmega", missing="zero")
        for run in (RUN, {"q1": {"c2": 1.0}, "q2": {"c3": 1.0}})
    ]

    assert (both[0] - both[1])["SpanRecall"].tolist() == [pytest.approx(0.8), -1.0]
    assert both[0].by_group({"q1": 1, "q2": 1})[1].mean == both[0].mean


NO_TOKENS = {name: column for name, column in CHUNKS.items() if name != "tokens"}
TWICE = fr.Run.from_arrays(["q1", "q1"], ["c1", "c1"], [1.0, 2.0])
ELSEWHERE = table("query document start end", ("q1", "A", 0, 9))

test_what_cannot_be_evaluated_is_refused = refusing("""
evaluated("SpanRecall@0") =>
  MeasureError: ...expected a whole number of at least 1, or one such as 4000c...
evaluated("SpanRecal@5") =>
  MeasureError: unknown measure of spans 'SpanRecal@5'; did you mean SpanRecall?
evaluated("nDCG@5") =>
  MeasureError: unknown measure of spans 'nDCG@5'; expected SpanRecall, SpanPrecision,...
evaluated("SpanPrecisionOmega@5") => MeasureError: ...SpanPrecisionOmega takes no cutoff
evaluated("SpanRecall(repeated=True)") =>
  MeasureError: ...unknown option 'repeated'; SpanRecall accepts cutoff
evaluated([]) => MeasureError: expected at least one measure...
evaluated([5]) => TypeError: measures: expected str, found int
evaluated("SpanRecall@9t", chunks=NO_TOKENS) =>
  InputError: ...no tokens column, which a cutoff in tokens needs
evaluated(missing="none") =>
  OptionError: missing: expected one of 'skip', 'zero', 'error', found 'none'
evaluated(missing="error") => EvaluationError: 1 of 2 judged queries is missing from the run...
evaluated(run={"q1": {"c9": 1.0}}) => InputError: ...1 document not among the chunks of <dict>: 'c9'
evaluated(run={"q3": {"c1": 1.0}}) => NoQueriesError: the run and the qrels share no query ids...
evaluated(run=TWICE) => EvaluationError: query 'q1': duplicate chunk 'c1'
evaluated(spans=ELSEWHERE) =>
  InputError: <dict>: no chunks of 1 document with spans: 'A'; did you mean 'a'?
""")
