"""Threads over parts of a task."""

from __future__ import annotations

import os
from _thread import allocate_lock, start_new_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


# Below this, starting a thread and finding where to cut costs more than it gains.
WORTH_A_THREAD = 32 << 20
MOST_THREADS = 8


def default_threads(size: int, worth_a_thread: int = WORTH_A_THREAD) -> int:
    """How many threads help with something of a size, by default a file of so many bytes."""
    if hasattr(os, "sched_getaffinity"):
        processors = len(os.sched_getaffinity(0))
    else:
        processors = os.cpu_count() or 1
    return max(1, min(processors, MOST_THREADS, size // worth_a_thread))


def in_threads(work: Callable[[int], None], count: int) -> None:
    """Call work(0), ..., work(count - 1) at once, the first in this thread.

    Raises what the first raised that failed.
    """
    failures: dict[int, BaseException] = {}

    def attempt(number: int, running: Any) -> None:
        try:
            work(number)
        except BaseException as error:
            failures[number] = error
        finally:
            running.release()

    # Not `threading`, whose import takes a command longer than all that these threads wait for.
    locks = [allocate_lock() for _ in range(count)]
    for lock in locks:
        lock.acquire()
    for number in range(1, count):
        try:
            start_new_thread(attempt, (number, locks[number]))
        except RuntimeError:
            # The system gives no more threads.
            attempt(number, locks[number])
    attempt(0, locks[0])
    for lock in locks:
        lock.acquire()
    if failures:
        raise failures[min(failures)]
