"""Processes for the option `--jobs`."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import wait

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.process import BaseProcess
    from typing import Any


@contextmanager
def processes(count: int, method: str | None = None) -> Iterator[ProcessPoolExecutor]:
    """An executor with a number of processes, which are terminated on an error or interrupt.

    method: how they are started, as in multiprocessing; "spawn" if faiss uses threads in them.
    """
    executor: Any = ProcessPoolExecutor(count, multiprocessing.get_context(method), _begin)
    # If a process dies while it sends or receives, the executor waits for the rest as long as the
    # other end of the pipe is open: all ends have to be in processes, which then end together.
    executor._safe_to_dynamically_spawn_children = False
    executor._start_executor_manager_thread()
    executor._call_queue._reader.close()
    executor._result_queue._writer.close()
    workers = [*executor._processes.values()]
    threading.Thread(target=_end_together, args=(workers,), daemon=True).start()
    try:
        yield executor
    except BaseException:
        _terminate(workers)
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def _end_together(workers: list[BaseProcess]) -> None:
    wait([worker.sentinel for worker in workers])
    _terminate(workers)


def _terminate(workers: list[BaseProcess]) -> None:
    for worker in workers:
        worker.terminate()


def _begin() -> None:
    # Ctrl-C reaches all processes: the command decides, and terminates them if it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # Without this, a process waits for work forever if the command is killed.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
