"""An Evaluator: lists of runs, pickles, and what it shows."""

from __future__ import annotations

import pickle
from pathlib import Path

import fastrank as fr

QRELS = {"q1": {"a": 1}, "q2": {"b": 2, "c": 0}}
RUN = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"b": 1.0}}


def test_a_list_of_runs_gives_a_list_of_scores(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("q1 Q0 a 1 1 t\n")
    evaluator = fr.Evaluator(QRELS, "map")

    found = evaluator.evaluate([RUN, fr.Run.from_dict(RUN), path])

    assert [scores.mean["map"] for scores in found] == [0.75, 0.75, 1.0]
    assert evaluator.evaluate([]) == []


def test_named_tuples_in_a_list_are_one_run() -> None:
    import collections

    result = collections.namedtuple("result", ["query_id", "doc_id", "score"])

    scores = fr.Evaluator(QRELS, "map").evaluate([result("q1", "a", 1.0)])

    assert scores.mean == {"map": 1.0}


def test_a_pickle_evaluates_as_the_original() -> None:
    evaluator = fr.Evaluator(QRELS, "map nDCG@10 P.1", no_relevant="skip", missing="zero")
    before = evaluator.evaluate(RUN)

    copy = pickle.loads(pickle.dumps(evaluator))

    assert copy.evaluate(RUN).to_dict() == before.to_dict()
    assert repr(copy) == repr(evaluator) == "<Evaluator of map P_1 nDCG@10: 2 judged queries>"
