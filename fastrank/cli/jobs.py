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


@contextmanager
def processes(count: int, method: str | None = None) -> Iterator[ProcessPoolExecutor]:
    """An executor of so many processes, which are terminated on an error or interrupt.

    method: how they are started, as in multiprocessing; "spawn" if faiss uses threads in them.
    """
    context = multiprocessing.get_context(method)
    executor = ProcessPoolExecutor(count, context, initializer=_prepare)
    try:
        yield executor
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def _prepare() -> None:
    # By default each process prints a traceback when the user types Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # By default a process waits for work forever if the command is killed.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
