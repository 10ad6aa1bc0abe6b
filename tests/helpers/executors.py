"""Executors of every kind, and functions for their workers."""

from __future__ import annotations

import os
import signal
import struct
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import pytest

KINDS = ("threads", "thread pool", "processes", "process pool", "loky", "dask", "dask client")
# A fork of a process with threads is deprecated; the server starts without any.
CONTEXT = "forkserver"


@contextmanager
def started(kind: str) -> Iterator[Any]:
    """An executor of a kind with two workers."""
    if kind == "loky":
        loky = pytest.importorskip("loky")
        executor = loky.get_reusable_executor(2)
        yield executor
        executor.shutdown(wait=True)
    elif kind.startswith("dask"):
        with dask_client() as client:
            yield client if kind == "dask client" else client.get_executor()
    else:
        context = get_context(CONTEXT)
        made = {
            "threads": lambda: ThreadPoolExecutor(2),
            "thread pool": lambda: ThreadPool(2),
            "processes": lambda: ProcessPoolExecutor(2, mp_context=context),
            "process pool": lambda: context.Pool(2),
        }[kind]
        with made() as executor:
            yield executor
        if hasattr(executor, "join"):
            executor.join()


@contextmanager
def dask_client() -> Iterator[Any]:
    """A client of a cluster with two worker processes on this machine."""
    import dask
    import distributed

    # Any free port: by default a second cluster gives a warning.
    how: Any = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    # By default a chunk has to kill four workers, each of which is started anew.
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(**how, processes=True, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


class Counting(Executor):
    """An executor that says how many workers it has, if it does, and counts what it is given."""

    def __init__(self, executor: Executor, workers: int | None) -> None:
        self._executor, self.num_workers, self.submitted = executor, workers, 0

    def submit(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        self.submitted += 1
        return self._executor.submit(function, *arguments, **keywords)


class Loaded:
    """An object that adds a line to a file whenever it is unpickled."""

    def __init__(self, path: Path, value: int) -> None:
        self.path, self.value = path, value

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        with self.path.open("a") as file:
            file.write(f"{os.getpid()}\n")


class CannotBeUnpickledError(Exception):
    """An exception that can be pickled, but not unpickled."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


def add(shared: Any, item: int) -> int:
    """The sum; 13 fails."""
    if item == 13:
        raise ValueError("13 is not allowed")
    return (shared.value if isinstance(shared, Loaded) else shared) + item


def add_slowly(shared: int, item: int) -> int:
    """The sum, after a moment."""
    time.sleep(0.02)
    return shared + item


def raise_what_cannot_be_unpickled(_: Any, item: int) -> None:
    """Fail."""
    raise CannotBeUnpickledError("one", str(item))


def return_what_cannot_be_pickled(_: Any, item: int) -> Any:
    """A function without a name."""
    return lambda: item


def die_once(flag: Path, item: int) -> int:
    """Item 50 kills its process, unless the flag exists."""
    if item == 50 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def die(_: Any, item: int) -> int:
    """Item 50 kills its process."""
    if item == 50:
        time.sleep(0.2)  # The results of the items before it arrive.
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def deadly(ranking: Any) -> float:
    """A measure that kills its process for a ranking of 7 documents."""
    if ranking.num_ret == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return float(ranking.num_ret)


def send_a_part(sent: Path, die: bool) -> None:
    """In a process of `--jobs`, begin to send a result, and then die or wait."""
    frame = sys._getframe()
    while "result_queue" not in frame.f_locals:
        assert frame.f_back is not None
        frame = frame.f_back
    queue = frame.f_locals["result_queue"]
    queue._wlock.acquire()
    # The length of the result, of which nothing follows.
    os.write(queue._writer.fileno(), struct.pack("!i", 1000))
    sent.touch()
    if die:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)
