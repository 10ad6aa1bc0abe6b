"""Processes for the option `--jobs`."""

from __future__ import annotations

import multiprocessing
import signal
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
    executor = ProcessPoolExecutor(count, context, initializer=_end_silently)
    try:
        yield executor
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def _end_silently() -> None:
    # By default each process prints a traceback when the user types Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
