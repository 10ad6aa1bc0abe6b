"""Every form of a run is matched with judgments as the specification says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.core.data.texts import decoded
from fastrank.core.matching.arrays import ArrayRun, match_rows
from fastrank.core.matching.dicts import index_judgments
from fastrank.core.matching.join import JoinedQuery, join
from fastrank.core.matching.judged import JudgedRun
from fastrank.core.matching.match import match
from fastrank.core.matching.options import MAX_RETRIEVED, Options
from fastrank.core.matching.plan import Plan
from fastrank.core.measures.selection import Selection
from tests.helpers.forms import RUNS, WHOLE_CASES, Case, arrays_of
from tests.helpers.strategies import examples

OPTIONS = st.fixed_dictionaries(
    {
        "relevance_level": st.sampled_from([1, 2]),
        "depth": st.sampled_from([None, 1, 3]),
        "judged_only": st.booleans(),
        "trec_eval_version": st.sampled_from(["9.0.8", "10.0"]),
    }
)


def plan_of(judgments: Any, depth: int | None = None, **options: Any) -> Plan:
    measures = Selection("map ndcg").bind(options["trec_eval_version"])
    return Plan(judgments, measures, Options(max_retrieved=depth or MAX_RETRIEVED, **options))


def joined(plan: Plan, run: JudgedRun) -> list[JoinedQuery]:
    """What a judged run has, as the specification gives it."""
    assert run.judged is not None
    columns = run.judged.columns
    found = []
    for i, row in enumerate(run.queries):
        listed = slice(*columns.offsets[i : i + 2])
        grades = slice(*columns.grade_offsets[i : i + 2])
        counts = zip(columns.grade_values[grades], columns.grade_counts[grades], strict=True)
        found.append(
            JoinedQuery(
                decoded(plan.judgments.queries[row]),
                list(zip(columns.ranks[listed], columns.grades[listed], strict=True)),
                dict(counts),
                columns.num_ret[i],
                columns.num_rel[i],
                columns.num_rel_ret[i],
            )
        )
    return found


def documents(case: Case) -> dict[str, dict[str, float]]:
    """The run, without queries that have no results."""
    return {query: dict(ranking) for query, ranking in case.pairs() if ranking}


@examples(100)
@given(WHOLE_CASES, OPTIONS)
def test_runs_in_any_form_are_joined(tmp_path_factory, case, options):
    assume(not case.repeats and case.qrels() and documents(case))
    expected = join(case.qrels(), documents(case), **options)
    qrels, run = case.nouns()
    folder = tmp_path_factory.mktemp("forms")
    forms = {"run": run, **{name: make(case, folder) for name, make in RUNS.items()}}

    for judgments in filter(None, (qrels, index_judgments(case.qrels()))):
        plan = plan_of(judgments, **options)
        for name, form in forms.items():
            if form is not None:
                assert joined(plan, match(plan, form)) == expected, name


@examples(100)
@given(WHOLE_CASES, OPTIONS)
def test_rows_of_arrays_are_joined(case, options):
    assume(not case.repeats and case.qrels() and all(case.rankings) and arrays_of(case))
    (judged, ids, scores), named = arrays_of(case)[0]
    qrels = fr.index_qrels(judged, **named)
    rows = np.full(len(qrels), -1)
    rows[qrels.rows[qrels.rows >= 0]] = np.flatnonzero(qrels.rows >= 0)
    run = ArrayRun(
        ids=ids,
        scores=scores,
        queries=qrels.order,
        rows=rows[qrels.order],
        lower_is_better=False,
        unique=True,
    )
    plan = plan_of(qrels, **options)

    assert joined(plan, match_rows(plan, run)) == join(case.qrels(), documents(case), **options)


@pytest.mark.parametrize(
    ("options", "listed", "num_ret", "num_rel_ret"),
    [
        ({}, [(1, -2), (2, 1), (3, 2)], 3, 2),
        ({"judged_only": True}, [(1, 1), (2, 2)], 2, 2),
        ({"depth": 2}, [(1, -2), (2, 1)], 2, 1),
        # 1 and 1 + 2e-8 are equal as 32-bit floats.
        ({"trec_eval_version": "10.0"}, [(1, -2), (2, 2), (3, 1)], 3, 2),
    ],
)
def test_a_document_is_listed_with_its_rank_and_grade(options, listed, num_ret, num_rel_ret):
    qrels = {"q": {"a": 2, "b": 1, "c": -1, "d": 0}}
    run = {"q": {"a": 1.0 + 2e-8, "b": 1.0, "c": 3.0}, "unjudged": {"a": 1.0}}

    assert join(qrels, run, **options) == [
        JoinedQuery("q", listed, {0: 1, 1: 1, 2: 1}, num_ret, 2, num_rel_ret)
    ]
