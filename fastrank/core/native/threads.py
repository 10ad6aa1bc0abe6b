"""Threads over parts of a task."""

from __future__ import annotations

import os
from _thread import allocate_lock, start_new_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


# Below this, starting a thread and finding where to cut costs more than it gains.
WORTH_A_THREAD = 32 << 20
MOST_THREADS = 8


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_threads(size: int, worth_a_thread: int = WORTH_A_THREAD) -> int:
    """How many threads help with something of a size, by default a file of `size` bytes."""
    return max(1, min(processors(), MOST_THREADS, size // worth_a_thread))


def in_threads(work: Callable[[int], None], count: int) -> None:
    """Call work(0), ..., work(count - 1) at once, the first in this thread.

    Returns when all have ended, even where it is interrupted meanwhile: they share memory with the
    caller. Raises what the first raised that failed.
    """
    failures: dict[int, BaseException] = {}
    # Not `threading`, whose import takes a command longer than all that these threads wait for.
    locks = [allocate_lock() for _ in range(count)]
    ended = [False] * count

    def attempt(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            failures[number] = error
        finally:
            ended[number] = True
            locks[number].release()

    def wait_for(number: int) -> None:
        # An interrupt may come when the lock was just acquired: what counts is whether it ended.
        while not ended[number]:
            try:
                locks[number].acquire()
            except BaseException as error:
                failures.setdefault(0, error)

    started = 0
    for lock in locks:
        lock.acquire()
    try:
        for number in range(1, count):
            try:
                start_new_thread(attempt, (number,))
            except RuntimeError:
                # The system gives no more threads.
                attempt(number)
            started = number
        attempt(0)
    finally:
        for number in range(1, started + 1):
            wait_for(number)
    if failures:
        raise failures[min(failures)]
