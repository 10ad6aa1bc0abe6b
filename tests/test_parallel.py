"""Calls for many items with executors of every kind."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from fastrank.parallel import in_order, outcomes
from tests.helpers import executors
from tests.helpers.executors import add, started


@pytest.fixture(scope="module")
def dask() -> Iterator[Any]:
    """A client of a cluster whose workers live."""
    with executors.dask_client() as client:
        yield client


@pytest.fixture(scope="module")
def mortal() -> Iterator[Any]:
    """A client of a cluster whose workers may be killed."""
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


@pytest.fixture
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=get_context(executors.CONTEXT)) as made:
        yield made


def test_results_are_in_order(executor: Any) -> None:
    items = list(range(100, 400))

    assert list(in_order(executor, add, items, shared=1000)) == [1000 + item for item in items]


def test_an_item_that_fails_does_not_affect_the_others(executor: Any) -> None:
    found = list(outcomes(executor, add, range(100), shared=1))

    assert [one.value for one in found] == [None if i == 13 else 1 + i for i in range(100)]
    errors = [one.error for one in found if one.error is not None]
    assert list(map(repr, errors)) == ["ValueError('13 is not allowed')"]


def test_the_first_error_is_raised_after_the_results_before_it(executor: Any) -> None:
    results = in_order(executor, add, range(100), shared=1)

    assert [next(results) for _ in range(13)] == list(range(1, 14))
    with pytest.raises(ValueError, match="13 is not allowed"):
        next(results)


@pytest.mark.parametrize("kind", ["processes", "process pool", "loky", "dask"])
def test_each_worker_gets_the_shared_object_once(kind: str, tmp_path: Path) -> None:
    shared = executors.Loaded(tmp_path / "loads", 5)
    with started(kind) as executor:
        for _ in range(3):
            found = list(in_order(executor, add, range(14, 300), shared=shared, chunk_size=3))

            assert found == list(range(19, 305))

    loads = shared.path.read_text().split()
    assert len(loads) == len(set(loads)) <= 2


def test_a_worker_asks_for_a_shared_object_that_it_has_dropped(
    processes: ProcessPoolExecutor,
) -> None:
    one_worker = executors.Counting(processes, 1)
    for turn in range(3):
        for shared in range(4):
            items = range(20, 60)
            found = list(in_order(one_worker, add, items, shared=shared))
            assert found == [shared + item for item in items], turn


def test_threads_share_the_object_itself() -> None:
    shared = object()
    with ThreadPoolExecutor(2) as executor:
        found = list(in_order(executor, lambda given, _: given, range(9), shared=shared))

    assert all(one is shared for one in found)


@pytest.mark.parametrize(
    ("count", "workers", "chunks"),
    [(1, 2, 1), (8, 2, 8), (80, 2, 8), (1000, 2, 32), (1000, 100, 500), (80, None, 10)],
)
def test_chunks_are_small_enough_for_all_workers(
    count: int, workers: int | None, chunks: int
) -> None:
    with ThreadPoolExecutor(1) as threads:
        executor = executors.Counting(threads, workers)

        list(outcomes(executor, add, range(14, 14 + count), shared=0))

    # A chunk may be sent again, with the shared object.
    assert chunks <= executor.submitted <= chunks + 1


def test_two_chunks_per_worker_are_sent_ahead() -> None:
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
def test_an_interrupt_cancels_what_waits(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = _Waiting()

    def interrupted(*_: Any) -> None:
        raise error

    monkeypatch.setattr(Future, "result", interrupted)
    with pytest.raises(error):
        list(outcomes(executor, add, range(100), shared=0))

    assert executor.futures
    assert all(future.cancelled() for future in executor.futures)


def test_closing_cancels_what_waits() -> None:
    with ThreadPoolExecutor(1) as executor:
        found = in_order(executor, executors.add_slowly, range(100), chunk_size=1, shared=0)
        assert next(found) == 0
        found.close()
    # Without the cancellation, the executor would have worked for two seconds.
    assert executor._work_queue.qsize() <= 1


def test_what_was_done_before_a_worker_was_killed_is_kept(processes: ProcessPoolExecutor) -> None:
    found = list(outcomes(processes, executors.die, range(100), chunk_size=1))

    assert [one.value for one in found[:50]] == list(range(50))
    assert isinstance(found[50].error, BrokenProcessPool)
    assert {type(one.error) for one in found[51:] if one.value is None} == {CancelledError}
    assert len(found) == 100


def test_a_dask_client_that_was_closed_is_an_error(dask: Any) -> None:
    with type(dask)(dask.scheduler.address, set_as_default=False) as client:
        pass

    with pytest.raises(Exception, match="Client is closed"):
        list(in_order(client, add, range(5), shared=0))


def test_an_executor_that_was_shut_down_is_an_error(processes: ProcessPoolExecutor) -> None:
    processes.shutdown()

    with pytest.raises(RuntimeError, match="after shutdown"):
        list(in_order(processes, add, range(5), shared=0))


def test_dask_repeats_the_chunks_of_a_worker_that_was_killed(mortal: Any, tmp_path: Path) -> None:
    found = list(in_order(mortal, executors.die_once, range(100), shared=tmp_path / "killed"))

    assert (tmp_path / "killed").exists()
    assert found == list(range(100))


def test_a_chunk_that_kills_each_dask_worker_ends_it(mortal: Any) -> None:
    found = list(outcomes(mortal, executors.die, range(100), chunk_size=1))

    assert [one.value for one in found[:50]] == list(range(50))
    assert type(found[50].error).__name__ == "KilledWorker"
    assert len(found) == 100


def test_exceptions_that_cannot_be_unpickled_are_described(processes: ProcessPoolExecutor) -> None:
    found = list(outcomes(processes, executors.raise_what_cannot_be_unpickled, [7]))

    assert repr(found[0].error) == "RuntimeError('CannotBeUnpickledError: one and 7')"


def test_an_exception_has_the_traceback_of_the_worker(processes: ProcessPoolExecutor) -> None:
    [found] = outcomes(processes, add, [13], shared=0)

    assert found.error is not None
    assert "in add" in str(found.error.__cause__)


@pytest.fixture
def without_cloudpickle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "cloudpickle", raising=False)


@pytest.mark.usefixtures("without_cloudpickle")
def test_results_that_cannot_be_pickled_are_errors(processes: ProcessPoolExecutor) -> None:
    [found] = outcomes(processes, executors.return_what_cannot_be_pickled, [7])

    assert "pickle" in str(found.error)


@pytest.mark.usefixtures("without_cloudpickle")
def test_items_that_cannot_be_pickled_do_not_affect_the_others(
    processes: ProcessPoolExecutor,
) -> None:
    first, second, third = outcomes(processes, add, [1, lambda: 2, 3], shared=0)  # type: ignore[list-item]

    assert (first.value, third.value) == (1, 3)
    assert isinstance(second.error, TypeError)
    assert "cannot be pickled for another process" in str(second.error)


@pytest.mark.usefixtures("without_cloudpickle")
def test_a_function_that_cannot_be_pickled_is_an_error(processes: ProcessPoolExecutor) -> None:
    with pytest.raises(TypeError, match="cannot be pickled for another process"):
        list(outcomes(processes, lambda *_: 1, [1]))


def test_dask_takes_functions_that_cannot_be_imported(dask: Any) -> None:
    assert list(in_order(dask, lambda shared, item: shared + item, [1, 2], shared=3)) == [4, 5]


@pytest.mark.parametrize("executor", [4, "processes", ThreadPoolExecutor])
def test_other_objects_are_not_executors(executor: Any) -> None:
    with pytest.raises(TypeError, match=r"executor: expected a concurrent\.futures\.Executor"):
        list(outcomes(executor, add, [1]))
