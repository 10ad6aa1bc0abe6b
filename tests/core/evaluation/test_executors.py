"""Runs that are evaluated with an executor."""

from __future__ import annotations

import copy
import gzip
import io
import json
import pickle
import sys
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import CancelledError, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.core.evaluation import evaluate_many
from fastrank.core.evaluation import evaluator as evaluating
from fastrank.errors import (
    ArrayError,
    EvaluationError,
    FormatError,
    GroupError,
    InputError,
    MeasureError,
    NoQueriesError,
    OptionError,
    ReadError,
    RunError,
    TaskError,
)
from tests.helpers import executors
from tests.helpers.executors import started
from tests.helpers.paths import REPOSITORY

DATA = REPOSITORY / "data"
QRELS = DATA / "digits.qrels"
PATHS = [DATA / f"{name}.run" for name in ("pixels", "pca", "profile")]
MEASURES = "official ndcg_cut.10 relstring RBP@5"


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with started("processes") as made:
        yield made


@pytest.fixture(params=["threads", "processes"])
def executor(request: pytest.FixtureRequest, processes: ProcessPoolExecutor) -> Iterator[Any]:
    """One that takes objects as they are, and one that takes them pickled.

    tests/test_parallel.py has executors of every kind.
    """
    if request.param == "processes":
        yield processes
    else:
        with started("threads") as made:
            yield made


SHORT = {"q0000": {"d": 1.0}}
SEVEN = {f"d{number}": 1.0 for number in range(7)}


def same(found: list[fr.Scores], expected: list[fr.Scores]) -> bool:
    """Whether two lists of Scores are equal to the last bit."""

    def everything(scores: fr.Scores) -> Any:
        values = [np.asarray(scores[name]).tobytes() for name in scores]
        means = {name: value.hex() for name, value in scores.mean.items()}
        return scores.tag, scores.queries, scores.counts, scores.names, values, means

    return list(map(everything, found)) == list(map(everything, expected))


def run_of(path: Path) -> dict[str, dict[str, float]]:
    return fr.read_run(path).to_dict()


@pytest.mark.parametrize(
    ("qrels", "times"),
    [(str(QRELS), 4), (fr.read_qrels(QRELS), 1), (fr.read_qrels(QRELS).to_dict(), 1)],
)
def test_scores_are_those_of_an_evaluation_without_an_executor(executor, qrels, times):
    runs = [*PATHS, fr.read_run(PATHS[0]), run_of(PATHS[1])] * times
    runs.append(io.BytesIO(PATHS[2].read_bytes()))
    evaluator = fr.Evaluator(qrels, MEASURES, missing="zero", depth=10)
    expected = evaluator.evaluate(copy.deepcopy(runs))

    assert same(evaluator.evaluate(runs, executor=executor), expected)


def test_a_run_that_fails_is_named_and_does_not_affect_the_others(executor, tmp_path):
    bad = tmp_path / "bad.run"
    bad.write_bytes(PATHS[0].read_bytes() + b"q0000 Q0 d\n")

    with pytest.raises(RunError) as caught:
        fr.evaluate(QRELS, [PATHS[0], bad, PATHS[1]], "map", executor=executor)

    error = caught.value
    assert str(error).startswith(f"{bad}: line 20001: malformed line")
    assert error.run == str(bad)
    first, failed, last = error.scores
    assert failed is None
    assert same([first, last], fr.evaluate(QRELS, [PATHS[0], PATHS[1]], "map"))
    assert list(error.errors) == [1]
    assert isinstance(error.errors[1], FormatError)


def test_without_an_executor_a_run_that_fails_does_not_affect_the_others_either():
    with pytest.raises(RunError, match=r"^run 1: .*no query ids.* \(1 other run failed, too\)$"):
        fr.evaluate(QRELS, [{"other": {"d": 1.0}}, PATHS[0], {"q": {"d": 1.0}}], "map")


def test_the_number_of_runs_that_were_not_started_is_named():
    evaluator = fr.Evaluator(QRELS, [executors.deadly])
    runs = [SHORT] * 30 + [{"q0000": SEVEN}] + [SHORT] * 30

    with (
        started("processes") as executor,
        pytest.raises(RunError, match=r"^run \d+: .*abruptly .*were not evaluated\)$") as caught,
    ):
        evaluator.evaluate(runs, executor=executor)

    done = [one for one in caught.value.scores if one is not None]
    assert same(done[:1], [evaluator.evaluate(runs[0])])
    kinds = {type(error) for error in caught.value.errors.values()}
    assert kinds == {BrokenProcessPool}


def test_an_interrupt_has_the_scores_so_far(monkeypatch):
    evaluator, scores_of_run = fr.Evaluator(QRELS, "map"), evaluating.scores_of_run

    def interrupted(plan: Any, run: Any, *rest: Any) -> fr.Scores:
        if run == PATHS[2]:
            raise KeyboardInterrupt
        return scores_of_run(plan, run, *rest)

    monkeypatch.setattr(evaluating, "scores_of_run", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        evaluator.evaluate(PATHS)

    monkeypatch.undo()
    assert same(vars(caught.value)["scores"], evaluator.evaluate(PATHS[:2]))


def test_workers_read_the_file_of_the_judgments():
    sent = pickle.dumps(evaluate_many.Shared(fr.Evaluator(QRELS, "map")._plan, 1))

    assert len(sent) < 10_000 < QRELS.stat().st_size


def test_judgments_are_sent_if_their_file_has_changed(processes, tmp_path):
    path = tmp_path / "qrels"
    path.write_bytes(QRELS.read_bytes())
    evaluator = fr.Evaluator(path, "map")
    expected = evaluator.evaluate(PATHS)
    path.write_text("q0000 0 other 1\n")

    assert same(evaluator.evaluate(PATHS, executor=processes), expected)


def test_relative_paths_are_found_by_workers_in_other_folders(processes, tmp_path, monkeypatch):
    list(processes.map(abs, range(4)))  # The workers have started elsewhere.
    (tmp_path / "qrels").write_bytes(QRELS.read_bytes())
    (tmp_path / "run.gz").write_bytes(gzip.compress(PATHS[0].read_bytes()))
    monkeypatch.chdir(tmp_path)

    [found] = fr.evaluate("qrels", ["run.gz"], "map", executor=processes)

    assert same([found], fr.evaluate(QRELS, PATHS[:1], "map"))


def test_standard_input_is_refused(processes):
    with pytest.raises(OptionError, match=r"executor: workers cannot read standard input"):
        fr.evaluate(QRELS, ["-"], "map", executor=processes)


def test_warnings_of_workers_are_issued_here(processes, tmp_path):
    path = tmp_path / "run"
    path.write_bytes(PATHS[0].read_bytes() + b"\0 q0000 Q0 d 1 1 t\n")
    with warnings.catch_warnings(record=True) as expected:
        warnings.simplefilter("always")
        fr.evaluate(QRELS, [path], "map")

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fr.evaluate(QRELS, [path], "map", executor=processes)

    assert [str(one.message) for one in found] == [str(one.message) for one in expected] != []
    assert {one.filename for one in found} == {__file__}


@pytest.mark.parametrize("cloudpickle", [False, True])
def test_a_lambda_can_be_sent_to_processes_if_cloudpickle_is_loaded(
    cloudpickle, processes, monkeypatch
):
    mine = lambda ranking: ranking.num_ret / 7  # noqa: E731
    mine.__name__ = "mine"
    if cloudpickle:
        pytest.importorskip("cloudpickle")
        found = fr.evaluate(QRELS, PATHS, ["map", mine], executor=processes)
        assert same(found, fr.evaluate(QRELS, PATHS, ["map", mine]))
        return
    monkeypatch.delitem(sys.modules, "cloudpickle", raising=False)
    with pytest.raises(TypeError, match="cannot be pickled for another process"):
        fr.evaluate(QRELS, PATHS, ["map", mine], executor=processes)


@pytest.mark.parametrize("progress", [True, False])
def test_progress_is_shown_on_request(progress, capsys):
    fr.evaluate(QRELS, PATHS, "map", progress=progress)

    assert ("3.00/3.00" in capsys.readouterr().err) == progress


ERRORS = [
    ReadError("run", "no such file"),
    FormatError("run", 3, "malformed"),
    InputError("run", "no score"),
    OptionError("ties", "unknown"),
    MeasureError("mapp", "unknown"),
    EvaluationError("map", b"q1", "duplicate", inconsistent=True),
    RunError("bm25", "duplicate"),
    TaskError("sts", None, "no text"),
    NoQueriesError("none"),
    GroupError("none"),
    ArrayError("ids", "twice", 1, None),
]


@pytest.mark.parametrize("error", ERRORS)
def test_errors_can_be_pickled_with_their_fields(error):
    for name in ("before", "scores"):
        if hasattr(error, name):
            setattr(error, name, [1, None])

    found = pickle.loads(pickle.dumps(error))

    assert (type(found), str(found), vars(found)) == (type(error), str(error), vars(error))


def test_all_errors_are_pickled_in_the_test():
    assert {type(error) for error in ERRORS} == set(fr.FastrankError.__subclasses__())


def test_threads_that_share_an_evaluator_get_the_scores_of_one_thread():
    """Dicts, runs and files at once; and later evaluations do not change earlier Scores."""
    runs = [*PATHS, *map(fr.read_run, PATHS), *map(run_of, PATHS)]
    expected = fr.evaluate(QRELS, runs, "map ndcg P.5")
    for qrels in (fr.read_qrels(QRELS), fr.read_qrels(QRELS).to_dict()):
        evaluator, start = fr.Evaluator(qrels, "map ndcg P.5"), threading.Barrier(8)

        def work(first: int, evaluator: Any = evaluator, start: Any = start) -> Any:
            # All threads make what the evaluator makes when it is first used.
            start.wait()
            order = [(first + turn) % len(runs) for turn in range(2 * len(runs))]
            return [(number, evaluator.evaluate(runs[number])) for number in order]

        with ThreadPoolExecutor(8) as pool:
            found = [pair for pairs in pool.map(work, range(8)) for pair in pairs]

        assert same([scores for _, scores in found], [expected[number] for number, _ in found])


def test_runs_that_were_not_started_are_not_errors():
    class _Dead:
        def submit(self, *_: Any) -> Any:
            raise RuntimeError("no workers")

    with pytest.raises(RunError, match=r"run: no workers \(.* were not evaluated\)") as caught:
        fr.evaluate(QRELS, PATHS * 100, "map", executor=_Dead())

    assert CancelledError not in map(type, caught.value.errors.values())
    json.dumps(list(caught.value.errors))
