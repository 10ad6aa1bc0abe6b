"""Runs in memory, judged: what is known of a run of which one query cannot be judged."""

from __future__ import annotations

from typing import Any

import pytest

import fastrank as fr
from fastrank.formats.dicts import qrels_from_dict
from fastrank.formats.trec import parse_run
from fastrank.judging.memory import MemoryJudge
from fastrank.judging.options import MAX_RETRIEVED, Options
from fastrank.measures.selection import Selection

# Query c holds a document twice; b and d have no results.
QRELS = {query: {"x": 1} for query in "abcd"}
RUN = b"a Q0 x 1 2 t\nc Q0 x 1 2 t\nc Q0 x 2 1 t\n"


def judged(measures: str, **options: Any) -> Any:
    how: dict[str, Any] = {
        "compat": "9.0.8", "relevance_format": "qrels", "relevance_level": 1, "complete": False,
        "judged_only": False, "max_retrieved": MAX_RETRIEVED, "collection_size": 0, "query": None,
    }  # fmt: skip
    how |= options
    bound = Selection(measures).bind(how["compat"])
    return MemoryJudge(qrels_from_dict(QRELS), bound, Options(**how)).judge(parse_run(RUN))


def test_rankings_end_before_the_query_that_cannot_be_judged() -> None:
    found = judged("map")

    assert (found.failure.place, len(found.judged), len(found.queries)) == (1, 1, 2)


def test_a_run_is_not_judged_where_no_measure_needs_it() -> None:
    found = judged("num_q runid")

    assert (found.failure, found.judged, len(found.queries)) == (None, None, 2)


def test_scores_before_a_failure_know_all_missing_queries() -> None:
    with pytest.raises(fr.EvaluationError, match="query 'c'") as caught:
        fr.evaluate(QRELS, parse_run(RUN), "map", missing="zero", compat="10.0")

    before = caught.value.before
    assert before.queries == ["a", "b"]
    assert (before.missing, before.missing_queries) == (2, ["b", "d"])
