"""Calls for many items with executors of every kind."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import pytest

from fastrank.common.parallel import in_order, outcomes, work
from tests.helpers import executors
from tests.helpers.executors import add, started


@pytest.fixture(scope="module")
def dask() -> Iterator[Any]:
    """A client of a cluster, whose workers may be killed."""
    with executors.dask_client() as client:
        yield client


@pytest.fixture(scope="module", params=[None, *executors.KINDS])
def executor(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param is None:
        yield None
    elif request.param.startswith("dask"):
        client = request.getfixturevalue("dask")
        yield client if request.param == "dask client" else client.get_executor()
    else:
        with started(request.param) as made:
            yield made


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with started("processes") as made:
        yield made


def test_outcomes_are_those_of_a_loop(executor):
    """In order; an item that fails does not affect the others."""
    found = list(outcomes(executor, add, range(300), shared=1000))

    assert [one.value for one in found] == [None if i == 13 else 1000 + i for i in range(300)]
    errors = [one.error for one in found if one.error is not None]
    assert list(map(repr, errors)) == ["ValueError('13 is not allowed')"]


def test_the_first_error_is_raised_after_the_results_before_it(executor):
    results = in_order(executor, add, range(100), shared=1)

    assert [next(results) for _ in range(13)] == list(range(1, 14))
    with pytest.raises(ValueError, match="13 is not allowed"):
        next(results)


def test_each_worker_gets_the_shared_object_once(executor, tmp_path):
    """Threads share the object itself."""
    shared = executors.Loaded(tmp_path / "loads", 5)
    shared.path.touch()
    for _ in range(3):
        found = list(in_order(executor, add, range(14, 300), shared=shared, chunk_size=3))

        assert found == list(range(19, 305))

    loads = shared.path.read_text().split()
    assert len(loads) == len(set(loads)) <= 2
    assert bool(loads) == (executor is not None and "hread" not in type(executor).__name__)


def test_a_worker_asks_for_a_shared_object_that_it_has_dropped(processes):
    one_worker = executors.Counting(processes, 1)
    for turn in range(3):
        for shared in range(4):
            items = range(20, 60)
            found = list(in_order(one_worker, add, items, shared=shared))
            assert found == [shared + item for item in items], turn


def test_a_worker_keeps_the_last_two_shared_objects():
    digests = [b"1", b"2", b"3", b"4"]
    for digest in digests:
        work("", digest, pickle.dumps((add, 1)), [])

    assert [work("", digest, None, []) for digest in digests] == [None, None, [], []]


@pytest.mark.parametrize(
    ("count", "workers", "chunks"),
    [(1, 2, 1), (8, 2, 8), (80, 2, 8), (1000, 2, 32), (1000, 100, 500), (80, None, 10)],
)
def test_chunks_are_small_enough_for_all_workers(count, workers, chunks):
    with ThreadPoolExecutor(1) as threads:
        executor = executors.Counting(threads, workers)

        list(outcomes(executor, add, range(14, 14 + count), shared=0))

    # A chunk may be sent again, with the shared object.
    assert chunks <= executor.submitted <= chunks + 1


def test_two_chunks_per_worker_are_sent_ahead():
    with ThreadPoolExecutor(1) as threads:
        executor = executors.Counting(threads, 3)
        found = outcomes(executor, add, range(100), shared=0, chunk_size=1)

        next(found)

        assert executor.submitted == 6 + 1
        found.close()


class _Waiting:
    """An executor whose calls never start."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []

    def submit(self, *_: Any) -> Future[Any]:
        self.futures.append(Future())
        return self.futures[-1]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_cancels_what_waits(error, monkeypatch):
    executor = _Waiting()

    def interrupted(*_: Any) -> None:
        raise error

    monkeypatch.setattr(Future, "result", interrupted)
    with pytest.raises(error):
        list(outcomes(executor, add, range(100), shared=0))

    assert executor.futures
    assert all(future.cancelled() for future in executor.futures)


def test_closing_cancels_what_waits():
    with ThreadPoolExecutor(1) as executor:
        found = in_order(executor, executors.add_slowly, range(100), chunk_size=1, shared=0)
        assert next(found) == 0
        found.close()
    # Without the cancellation, the executor would have worked for two seconds.
    assert executor._work_queue.qsize() <= 1


def test_dask_repeats_the_chunks_of_a_worker_that_was_killed(dask, tmp_path):
    found = list(in_order(dask, executors.die_once, range(100), shared=tmp_path / "killed"))

    assert (tmp_path / "killed").exists()
    assert found == list(range(100))


@pytest.mark.parametrize(
    ("kind", "error"), [("processes", "BrokenProcessPool"), ("dask client", "KilledWorker")]
)
def test_what_was_done_before_a_worker_was_killed_is_kept(kind, error, dask):
    """The chunk that kills its worker ends the work; Dask gives it to another worker first."""
    with nullcontext(dask) if kind == "dask client" else started(kind) as executor:
        found = list(outcomes(executor, executors.die, range(100), chunk_size=1))

    assert [one.value for one in found[:50]] == list(range(50))
    assert type(found[50].error).__name__ == error
    assert {type(one.error) for one in found[51:] if one.value is None} == {CancelledError}
    assert len(found) == 100


def test_an_executor_that_was_closed_is_an_error(dask):
    with (
        type(dask)(dask.scheduler.address, set_as_default=False) as client,
        started("processes") as processes,
    ):
        pass

    for closed, error in ((client, "Client is closed"), (processes, "after shutdown")):
        with pytest.raises(Exception, match=error):
            list(in_order(closed, add, range(5), shared=0))


# What cannot be pickled


def test_an_exception_has_the_traceback_of_the_worker(processes):
    [found] = outcomes(processes, add, [13], shared=0)

    assert found.error is not None
    assert "in add" in str(found.error.__cause__)


NOT_UNPICKLED = executors.raise_what_cannot_be_unpickled, [7], [None]
NOT_SENT_BACK = executors.return_what_cannot_be_pickled, [7], [None]
NOT_SENT = add, [1, lambda: 2, 3], [1, None, 3]
CANNOT = "TypeError: cannot be pickled for another process: "


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (NOT_UNPICKLED, "RuntimeError: CannotBeUnpickledError: one and 7"),
        (NOT_SENT_BACK, CANNOT),
        (NOT_SENT, CANNOT),
    ],
)
def test_what_cannot_be_pickled_is_the_error_of_its_item(call, error, processes, monkeypatch):
    monkeypatch.delitem(sys.modules, "cloudpickle", raising=False)
    function, items, values = call

    found = list(outcomes(processes, function, items, shared=0))

    assert [one.value for one in found] == values
    (failed,) = [one.error for one in found if one.error is not None]
    assert f"{type(failed).__name__}: {failed}".startswith(error)


def test_dask_takes_functions_that_cannot_be_imported(dask):
    assert list(in_order(dask, lambda shared, item: shared + item, [1, 2], shared=3)) == [4, 5]


@pytest.mark.parametrize("executor", [4, "processes", ThreadPoolExecutor])
def test_other_objects_are_not_executors(executor):
    with pytest.raises(TypeError, match=r"executor: expected a concurrent\.futures\.Executor"):
        list(outcomes(executor, add, [1]))
