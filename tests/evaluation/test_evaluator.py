"""An Evaluator: lists of runs, pickles, and what it shows."""

from __future__ import annotations

import os
import pickle
import random
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import fastrank as fr
from fastrank.formats.chunks import FileParts
from fastrank.judging.streaming import FileJudge

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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_process_forked_while_a_file_is_read_can_read_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same evaluator: the thread that was reading does not exist there."""
    path = tmp_path / "run"
    path.write_text("q1 Q0 a 1 1 t\n")
    evaluator, reading, forked = fr.Evaluator(QRELS, "map"), threading.Event(), threading.Event()
    judge = FileJudge.judge

    def wait_before(self: FileJudge, parts: FileParts) -> Any:
        if threading.current_thread() is not threading.main_thread():
            reading.set()
            forked.wait()
        return judge(self, parts)

    monkeypatch.setattr(FileJudge, "judge", wait_before)
    thread = threading.Thread(target=evaluator.evaluate, args=(path,))
    thread.start()
    reading.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if evaluator.evaluate(path).mean == {"map": 1.0} else 1)

    _, status = os.waitpid(child, 0)
    forked.set()
    thread.join()

    assert os.waitstatus_to_exitcode(status) == 0


def runs_of_the_same_queries(count: int) -> list[dict[str, dict[str, float]]]:
    chance = random.Random(1)
    return [
        {
            query: {
                f"d{n}": chance.random() for n in chance.sample(range(40), chance.randrange(40))
            }
            for query in chance.sample(["q1", "q2", "q3", "other"], 3)
        }
        for _ in range(count)
    ]


GRADED = {f"q{i}": {f"d{n}": (n * i) % 4 - 1 for n in range(30)} for i in range(1, 5)}


@pytest.mark.parametrize(
    ("measures", "options"),
    [
        ("official ndcg ndcg_cut.5,10 rbp ERR@5 RBP@7", {}),
        ("map P.5 num_rel relstring gm_map", {"missing": "zero"}),
        ("map P.5 FirstRank", {"missing": "zero", "trec_eval_version": "10.0"}),
        ("map nDCG@5 AP(rel=2)@10 P(judged_only=True)@5", {"relevance_level": 2}),
        ("ndcg.1=0.5 map", {"no_relevant": "one", "relevance_level": 3}),
        ("nDCG(dcg='exp-log2')@10 Hole@5 MedianRank", {"missing": "zero", "depth": 10}),
    ],
)
def test_every_run_has_the_scores_of_a_new_evaluator(measures: str, options: Any) -> None:
    evaluator, runs = fr.Evaluator(GRADED, measures, **options), runs_of_the_same_queries(8)

    # All are kept until the end: later runs must not change earlier scores.
    found = [evaluator.evaluate(run) for run in runs]

    for scores, run in zip(found, runs, strict=True):
        expected = fr.evaluate(GRADED, run, measures, **options)
        assert scores.to_json() == expected.to_json()


def test_threads_share_an_evaluator() -> None:
    evaluator, runs = fr.Evaluator(GRADED, "map ndcg P.5"), runs_of_the_same_queries(400)
    expected = [fr.evaluate(GRADED, run, "map ndcg P.5").to_json() for run in runs]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda run: evaluator.evaluate(run).to_json(), runs))

    assert found == expected
