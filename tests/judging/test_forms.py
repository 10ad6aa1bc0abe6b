"""One rule for every form of a run: file, Run, dict, table or arrays."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.errors import ArrayError, EvaluationError, NoQueriesError
from fastrank.formats.dicts import qrels_from_dict
from fastrank.judging.judge import RunJudge
from fastrank.judging.keywords import TIES
from fastrank.judging.options import Options
from fastrank.measures.selection import Selection
from tests.helpers.parsing import parse_run
from tests.helpers.small import run_lines
from tests.helpers.strategies import examples

# Ranks of judged documents

DEPTH = 400
# Hits are compared with each of their ties, or these are sorted; better scores are counted for each
# of them, or all scores are sorted.
HITS = [1, 8, 9, 128, 129, 350]


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
        # With tied documents in any order.
        run = dict(sorted(run.items(), key=lambda item: -item[1]))
    judged = {doc: rng.choice([0, 1, 2]) for doc in rng.sample(docs, hits)} | {"x": 1}
    path = tmp_path / "run"
    path.write_bytes(run_lines({"q": run}))
    numbered: Any = {int(doc): grade for doc, grade in judged.items() if doc != "x"} | {9999: 1}
    ids, scores = [[int(doc) for doc in run]], [list(run.values())]

    found = [fr.evaluate({"q": judged}, {"q": run}, "map")]
    found.append(fr.evaluate({"q": judged}, fr.Run.from_dict({"q": run}), "map"))
    found.append(fr.evaluate({"q": judged}, path, "map"))
    found.append(fr.evaluate_arrays([numbered], ids, scores, "map"))

    assert [own["map"].tolist() for own in found] == [[average_precision(judged, run)]] * 4


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


# A document twice in a ranking

QRELS: dict[str, dict[int, int]] = {"0": {1: 1, 2: 0}, "1": {3: 1, 4: -1}, "2": {5: 0}}
RESULT = st.tuples(st.integers(1, 6), st.sampled_from([1.0, 2.0, 3.0]))
RANKINGS = st.lists(st.lists(RESULT, min_size=4, max_size=4), min_size=1, max_size=4)
OPTIONS = st.fixed_dictionaries(
    {"ties": st.sampled_from(TIES)},
    optional={
        "depth": st.integers(1, 4),
        "no_relevant": st.just("skip"),
        "missing": st.just("zero"),
        "duplicates": st.sampled_from(["error", "first", "max"]),
        "ignore_identical_ids": st.just(True),
    },
)


def outcome(call: Any) -> Any:
    """The means, or that a document is repeated."""
    try:
        return call().mean
    except (EvaluationError, ArrayError) as error:
        repeated = "duplicate docs" in str(error) or "retrieved twice" in str(error)
        return "repeated" if repeated else error
    except NoQueriesError:
        return "no queries"


@pytest.mark.parametrize("measures", ["num_q", "num_rel", "map P.2 num_ret"])
@given(rankings=RANKINGS, options=OPTIONS)
@examples(60)
def test_repeated_documents_are_an_error_or_none_in_every_form(
    measures: str, rankings: Any, options: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Which rankings are evaluated, and how deep, decides whether a repeated document matters."""
    rows = [(str(q), str(doc), score) for q, own in enumerate(rankings) for doc, score in own]
    path = tmp_path_factory.getbasetemp() / "repeats.run"
    path.write_text("".join(f"{query} Q0 {doc} 0 {score} t\n" for query, doc, score in rows))
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    qrels = {query: {str(doc): grade for doc, grade in own.items()} for query, own in QRELS.items()}
    ids, scores = np.moveaxis(np.array(rankings), 2, 0)
    queries = [str(q) for q in range(len(rankings))]

    expected = outcome(lambda: fr.evaluate(qrels, path, measures, **options))

    for run in (fr.read_run(path), frame, fr.Run.from_arrays(*map(list, zip(*rows, strict=True)))):
        assert outcome(lambda run=run: fr.evaluate(qrels, run, measures, **options)) == expected
    options["queries"] = queries
    arrays = outcome(
        lambda: fr.evaluate_arrays(QRELS, ids.astype(int), scores, measures, **options)
    )
    assert arrays == expected


# A run of which one query cannot be judged

# Query c holds a document twice; b and d have no results.
FOUR = {query: {"x": 1} for query in "abcd"}
RUN = b"a Q0 x 1 2 t\nc Q0 x 1 2 t\nc Q0 x 2 1 t\n"


@pytest.mark.parametrize(
    ("measures", "place", "judged"), [("map", 1, 1), ("num_q runid", None, None)]
)
def test_rankings_end_before_the_query_that_cannot_be_judged_if_a_measure_needs_them(
    measures: str, place: int | None, judged: int | None
) -> None:
    judge = RunJudge(qrels_from_dict(FOUR), Selection(measures).bind("9.0.8"), Options())

    found = judge.judge(parse_run(RUN))

    assert (found.failure.place if found.failure else None) == place
    assert (found.judged if found.judged is None else len(found.judged)) == judged
    assert len(found.queries) == 2


def test_scores_before_a_failure_know_all_missing_queries() -> None:
    with pytest.raises(EvaluationError, match="query 'c'") as caught:
        fr.evaluate(FOUR, parse_run(RUN), "map", missing="zero", trec_eval_version="10.0")

    before = caught.value.before
    assert before.queries == ["a", "b"]
    assert (before.counts["missing_queries"], before.missing_queries) == (2, ["b", "d"])


@pytest.mark.parametrize("kind", ["file", "run", "dict"])
def test_a_grade_is_refused_from_that_on_of_which_trec_eval_has_no_table(
    kind: str, tmp_path: Path
) -> None:
    """trec_eval counts grades in a table of 8 bytes each, which has to fit 2**47 bytes."""
    path = tmp_path / "run"
    path.write_bytes(b"q Q0 d 1 0.5 t\n")
    run = {"file": path, "run": fr.read_run(path), "dict": {"q": {"d": 0.5}}}[kind]

    assert fr.evaluate({"q": {"d": 2**44 - 2, "e": 0}}, run, "map").mean == {"map": 1.0}
    with pytest.raises(EvaluationError, match="too large to count judgments by grade"):
        fr.evaluate({"q": {"d": 2**44 - 1, "e": 0}}, run, "map")
