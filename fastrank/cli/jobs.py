"""Processes for the option `--jobs`."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# Seconds between checks whether a process has died.
PATIENCE = 1.0


@contextmanager
def processes(count: int, method: str | None = None) -> Iterator[ProcessPoolExecutor]:
    """An executor with a number of processes, which are terminated on an error or interrupt.

    method: how they are started, as in multiprocessing; "spawn" if faiss uses threads in them.
    """
    context = multiprocessing.get_context(method)
    executor = ProcessPoolExecutor(count, context, initializer=_prepare)
    # Processes should be forked before there is another thread; the first call does that.
    executor.submit(int)
    workers = _Workers(executor)
    try:
        yield executor
    except BaseException:
        workers.terminate()
        raise
    finally:
        workers.ended.set()
        executor.shutdown(cancel_futures=True)


class _Workers:
    """The processes of an executor, which may die when they have sent only a part of a result.

    The executor waits for the rest as long as any process, including this one, could write it.
    """

    def __init__(self, executor: Any) -> None:
        self._processes: dict[int, Any] = executor._processes
        self._pending: dict[int, Any] = executor._pending_work_items
        self._results = executor._result_queue
        self.ended = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def terminate(self) -> None:
        """Terminate the processes, and let the executor notice it."""
        # Before Python 3.12, the executor fails on cancelled calls.
        for number, item in list(self._pending.items()):
            if item.future.cancelled():
                self._pending.pop(number, None)
        for process in list(self._processes.values()):
            process.terminate()
        self._results._writer.close()

    def _watch(self) -> None:
        while not self.ended.wait(PATIENCE):
            if any(own.exitcode is not None for own in list(self._processes.values())):
                # By then the executor has noticed it, unless it waits.
                if not self.ended.wait(PATIENCE):
                    self.terminate()
                return


def _prepare() -> None:
    # Ctrl-C reaches all processes: the command decides, and terminates them if it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # By default a process waits for work forever if the command is killed.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
