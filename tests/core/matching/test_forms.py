"""Every form of a run with every option, and what the options mean."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.core.formats.tables.to_qrels import qrels_from_dict
from fastrank.core.matching.match import match
from fastrank.core.matching.options import Options
from fastrank.core.matching.plan import Plan
from fastrank.core.measures.selection import Selection
from fastrank.errors import ArrayError, EvaluationError, NoQueriesError
from tests.helpers.forms import (
    CASES,
    RUNS,
    TIES,
    WHOLE_CASES,
    Case,
    arrays_of,
    assert_same,
    by_trec_eval,
    judgments,
    left,
    options,
    outcome,
    ranked,
)
from tests.helpers.parsing import parse_run
from tests.helpers.small import run_lines
from tests.helpers.strategies import examples, slow_in_python
from tests.helpers.streamed import piece

SUPPORTED = pytrec_eval.supported_measures - {"runid", "num_q", "relstring", "gm_map", "gm_bpref"}
# What 10.0 defines otherwise.
COMPARED = SUPPORTED - {"iprec_at_recall", "11pt_avg", "num_rel"}
COMPARED_OPTIONS = options(
    ties=st.sampled_from(TIES[:-1]),
    no_relevant=st.sampled_from(["zero", "skip", "error"]),
    relevance_level=st.sampled_from([1, 2, 3]),
    collection_size=st.just(0),
)


@examples(200)
@given(WHOLE_CASES, COMPARED_OPTIONS)
def test_options_mean_what_pytrec_eval_gives_the_rankings_that_they_leave(case, how):
    """To the bit; the means add the values in byte order of the queries."""
    rankings = ranked(case, how)
    expected = by_trec_eval(case, rankings, COMPARED, how)

    found = outcome(fr.evaluate, *case.nouns(), sorted(COMPARED), **how)

    why = refusal(case, how)
    if why or not expected:
        assert isinstance(found, EvaluationError if why else NoQueriesError)
        assert why in str(found)
        return
    assert found.queries == list(expected)
    for name in found:
        values = [float(expected[query].get(name, 0.0)) for query in found.queries]
        assert [float(value).hex() for value in found[name]] == [v.hex() for v in values], name
        total = sum(values)
        mean = total if name.startswith("num_") else total / len(values)
        assert float(found.mean[name]).hex() == mean.hex(), name
    judged, kept = judgments(case, how), left(case, how)
    results = [(len(dict(case.pairs())[q]), *map(len, kept[q])) for q in judged if q in kept]
    assert found.missing_queries == [query for query in judged if query not in kept]
    counts = {
        "excluded": sum(every - own for every, own, _ in results),
        "duplicates": sum(own - single for _, own, single in results),
        "no_relevant_skipped": len(case.qrels()) - len(judged),
        "missing_queries": len(found.missing_queries),
    }
    assert {name: found.counts[name] for name in counts} == counts


def refusal(case: Case, how: dict[str, Any]) -> str:
    """Why a run is refused; empty if it is not."""
    level, judged = how.get("relevance_level", 1), judgments(case, how)
    if how.get("no_relevant") == "error" and any(
        max(own.values()) < level for own in judged.values()
    ):
        return "judged queries have no relevant document"
    # Which documents are cut is known when grades have settled the ties.
    by_grade = how.get("ties") in ("best", "worst")
    rankings = ranked(case, how | ({"depth": None} if by_grade else {}))
    if how.get("missing") == "error" and not judged.keys() <= rankings.keys():
        return "missing from the run"
    twice = any(len({*own}) < len(own) for query, own in rankings.items() if query in judged)
    return "duplicate docs" if twice else ""


@examples(100)
@given(
    case=CASES,
    how=options(),
    # Where no ranking is needed a document may be repeated.
    counts=st.sampled_from([None, None, "num_q", "num_rel"]),
    threads=st.integers(1, 3),
)
def test_every_form_gives_what_a_run_in_memory_gives(case, how, counts, threads, tmp_path_factory):
    """Values, means, counts and errors; an Evaluator gives a dict the same again."""
    folder, measures = tmp_path_factory.getbasetemp(), counts or case.measures(**how)
    qrels, run = case.nouns()
    expected = outcome(fr.evaluate, qrels, run, measures, **how)

    for judged in (qrels, case.qrels()):
        evaluator = outcome(fr.Evaluator, judged, measures, **how)
        if not isinstance(evaluator, fr.Evaluator):
            assert_same(evaluator, expected)
            continue
        for make in (*RUNS.values(), RUNS["dict"]):
            own = make(case, folder)
            if own is not None:
                with piece(64):
                    found = outcome(evaluator.evaluate, own, threads=threads)
                assert_same(found, expected)
    for arrays, reading in arrays_of(case):
        found = outcome(fr.evaluate_arrays, *arrays, measures, threads=threads, **reading, **how)
        same = expected
        if isinstance(found, ArrayError):
            # Rows are checked before it is known which queries are missing.
            same = outcome(fr.evaluate, qrels, run, measures, **how | {"missing": "skip"})
        assert_same(found, same, named="queries" in reading)


# Ranks of judged documents

# Hits are compared with each of their ties, or these are sorted; better scores are counted for each
# of them, or all scores are sorted.
SIZES = [*((400, hits) for hits in (1, 8, 9, 128, 129, 350)), (900, 300)]


def average_precision(judged: dict[str, int], run: dict[str, float]) -> float:
    """That of a ranking in trec_eval's order."""
    ranking = sorted(run, key=lambda doc: (np.float32(run[doc]), doc), reverse=True)
    total, found = 0.0, 0
    for rank, doc in enumerate(ranking, start=1):
        if judged.get(doc, 0) > 0:
            found += 1
            total += found / rank
    return total / sum(grade > 0 for grade in judged.values())


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("distinct", [1, 3, 60, 10**6])
@pytest.mark.parametrize(
    ("depth", "hits"), [*SIZES, pytest.param(40_000, 300, marks=slow_in_python)]
)
def test_every_form_ranks_as_a_sort_does(depth, hits, distinct, descending, tmp_path):
    rng = random.Random(hits * distinct)
    docs = [str(number) for number in rng.sample(range(2 * depth), depth)]
    # Negative scores, zeros of both signs, and scores that differ in double precision only.
    levels = [rng.uniform(-2, 2) for _ in range(distinct)] if distinct < 400 else []
    levels += [0.0, -0.0, 1.0, 1.0 + 1e-12] if 1 < distinct < 400 else []
    run = {doc: rng.choice(levels) if levels else rng.uniform(-2, 2) for doc in docs}
    if descending:
        # With tied documents in any order.
        run = dict(sorted(run.items(), key=lambda item: -item[1]))
    judged = {doc: rng.choice([0, 1, 2]) for doc in rng.sample(docs, hits)}
    judged |= {docs[-1]: 1, str(2 * depth): 1}
    path = tmp_path / "run"
    path.write_bytes(run_lines({"q": run}))
    ids, scores = [[int(doc) for doc in run]], [list(run.values())]

    found = [fr.evaluate({"q": judged}, {"q": run}, "map")]
    found.append(fr.evaluate({"q": judged}, fr.Run.from_dict({"q": run}), "map"))
    found.append(fr.evaluate({"q": judged}, path, "map"))
    numbered: Any = {int(doc): grade for doc, grade in judged.items()}
    found.append(fr.evaluate_arrays([numbered], ids, scores, "map"))

    assert [own["map"].tolist() for own in found] == [[average_precision(judged, run)]] * 4


def test_ties_of_scores_outlive_the_dicts_they_came_from():
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


# A run of which one query cannot be judged

# Query c holds a document twice; b and d have no results.
FOUR = {query: {"x": 1} for query in "abcd"}
RUN = b"a Q0 x 1 2 t\nc Q0 x 1 2 t\nc Q0 x 2 1 t\n"


@pytest.mark.parametrize(
    ("measures", "place", "judged"), [("map", 1, 1), ("num_q runid", None, None)]
)
def test_rankings_end_before_the_query_that_cannot_be_judged_if_a_measure_needs_them(
    measures, place, judged
):
    plan = Plan(qrels_from_dict(FOUR), Selection(measures).bind("9.0.8"), Options())

    found = match(plan, parse_run(RUN))

    assert (found.failure.place if found.failure else None) == place
    assert (found.judged if found.judged is None else len(found.judged)) == judged
    assert len(found.queries) == 2


def test_scores_before_a_failure_know_all_missing_queries():
    with pytest.raises(EvaluationError, match="query 'c'") as caught:
        fr.evaluate(FOUR, parse_run(RUN), "map", missing="zero", trec_eval_version="10.0")

    before = caught.value.before
    assert before.queries == ["a", "b"]
    assert (before.counts["missing_queries"], before.missing_queries) == (2, ["b", "d"])


@pytest.mark.parametrize("kind", ["file", "run", "dict"])
def test_a_grade_is_refused_from_that_on_of_which_trec_eval_has_no_table(kind, tmp_path):
    """trec_eval counts grades in a table of 8 bytes each, which has to fit 2**47 bytes."""
    path = tmp_path / "run"
    path.write_bytes(b"q Q0 d 1 0.5 t\n")
    run = {"file": path, "run": fr.read_run(path), "dict": {"q": {"d": 0.5}}}[kind]

    assert fr.evaluate({"q": {"d": 2**44 - 2, "e": 0}}, run, "map").mean == {"map": 1.0}
    with pytest.raises(EvaluationError, match="too large to count judgments by grade"):
        fr.evaluate({"q": {"d": 2**44 - 1, "e": 0}}, run, "map")
