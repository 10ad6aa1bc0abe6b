"""Runs in memory, judged: what is known of a run of which one query cannot be judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from fastrank.formats.dicts import qrels_from_dict
from fastrank.judging.judge import RunJudge
from fastrank.judging.options import Options
from fastrank.measures.selection import Selection
from tests.helpers.parsing import parse_run, read_trec_run

# Query c holds a document twice; b and d have no results.
QRELS = {query: {"x": 1} for query in "abcd"}
RUN = b"a Q0 x 1 2 t\nc Q0 x 1 2 t\nc Q0 x 2 1 t\n"


def judged(measures: str, **options: Any) -> Any:
    how = Options(**options)
    bound = Selection(measures).bind(how.trec_eval_version)
    return RunJudge(qrels_from_dict(QRELS), bound, how).judge(parse_run(RUN))


def test_rankings_end_before_the_query_that_cannot_be_judged() -> None:
    found = judged("map")

    assert (found.failure.place, len(found.judged), len(found.queries)) == (1, 1, 2)


def test_a_run_is_not_judged_where_no_measure_needs_it() -> None:
    found = judged("num_q runid")

    assert (found.failure, found.judged, len(found.queries)) == (None, None, 2)


def test_scores_before_a_failure_know_all_missing_queries() -> None:
    with pytest.raises(fr.EvaluationError, match="query 'c'") as caught:
        fr.evaluate(QRELS, parse_run(RUN), "map", missing="zero", trec_eval_version="10.0")

    before = caught.value.before
    assert before.queries == ["a", "b"]
    assert (before.counts["missing_queries"], before.missing_queries) == (2, ["b", "d"])


@pytest.mark.parametrize("grade", [2**44 - 2, 2**44 - 1])
@pytest.mark.parametrize("kind", ["file", "run", "dict"])
def test_a_grade_is_refused_from_that_on_of_which_trec_eval_has_no_table(
    grade: int, kind: str, tmp_path: Path
) -> None:
    """trec_eval counts grades in a table of 8 bytes each, which has to fit 2**47 bytes."""
    path = tmp_path / "run"
    path.write_bytes(b"q Q0 d 1 0.5 t\n")
    run = {"file": path, "run": read_trec_run(path), "dict": {"q": {"d": 0.5}}}[kind]
    qrels = {"q": {"d": grade, "e": 0}}

    if grade == 2**44 - 2:
        assert fr.evaluate(qrels, run, "map").mean == {"map": 1.0}
        return
    with pytest.raises(fr.EvaluationError, match="too large to count judgments by grade"):
        fr.evaluate(qrels, run, "map")


def test_excluded_documents_are_counted_beside_placeholders_of_missing_queries() -> None:
    """trec_eval 10.0 gives a judged query without results a document, under -c."""
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
    run = fr.Run.from_dict({"q1": {"a": 2.0, "b": 1.0}})

    scores = fr.evaluate(
        qrels,
        run,
        "map",
        trec_eval_version="10.0",
        missing="zero",
        exclude={"q1": ["a"], "q2": ["x"]},
    )

    assert scores.counts["excluded"] == 1


@pytest.mark.parametrize("missing", [1, 5, 6])
def test_an_error_names_five_missing_queries_at_most(missing: int) -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(missing + 1)}
    names = ", ".join(f"q{i}" for i in range(1, min(missing, 5) + 1))
    more = ", ..." if missing > 5 else ""

    with pytest.raises(fr.EvaluationError, match=rf"missing from the run: {names}{more}$"):
        fr.evaluate(qrels, fr.Run.from_dict({"q0": {"a": 1.0}}), "map", missing="error")
