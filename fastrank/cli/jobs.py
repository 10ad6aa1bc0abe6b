"""Processes for the option `--jobs`."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from queue import SimpleQueue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from multiprocessing.connection import Connection
    from typing import Any


@contextmanager
def processes(count: int, method: str | None = None) -> Iterator[Processes]:
    """An executor with a number of processes, which are terminated on an error or interrupt.

    method: how they are started, as in multiprocessing; "spawn" if faiss uses threads in them.
    """
    executor = Processes(count, method)
    try:
        yield executor
    except BaseException:
        executor.terminate()
        raise
    finally:
        executor.end()


class Processes:
    """An executor whose processes may die at any time, even when they have sent a part of a result.

    Each process has a pipe, whose other end nobody else can write to, and a thread that waits for
    its results. If one process dies, all calls fail with BrokenProcessPool.
    """

    def __init__(self, count: int, method: str | None) -> None:
        self.num_workers = count
        self._is_broken = False
        self._idle: SimpleQueue[Connection] = SimpleQueue()
        self._processes = []
        context: Any = multiprocessing.get_context(method)
        # Processes should be forked before there is another thread.
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            self._processes.append(process)
            self._idle.put(ours)
        self._threads = ThreadPoolExecutor(count)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Call a function in a process."""
        return self._threads.submit(self._call, function, *arguments)

    def _call(self, *call: Any) -> Any:
        connection = self._idle.get()
        try:
            if self._is_broken:
                raise EOFError
            connection.send(call)
            value, error = connection.recv()
        except (EOFError, OSError):
            self.terminate()
            raise BrokenProcessPool("a process of the executor has ended") from None
        finally:
            self._idle.put(connection)
        if error is not None:
            raise error
        return value

    def terminate(self) -> None:
        """Terminate the processes."""
        self._is_broken = True
        for process in self._processes:
            process.terminate()

    def end(self) -> None:
        """Let the processes end."""
        self._threads.shutdown(cancel_futures=True)
        while not self._idle.empty():
            with suppress(OSError), self._idle.get() as connection:
                connection.send(None)
        for process in self._processes:
            process.join()


def _work(connection: Connection) -> None:
    # Ctrl-C reaches all processes: the command decides, and terminates them if it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while call := connection.recv():
        function, *arguments = call
        value = raised = None
        try:
            value = function(*arguments)
        except Exception as error:
            raised = error
        connection.send((value, raised))


def _end_with_parent() -> None:
    # By default a process waits for work forever if the command is killed.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
