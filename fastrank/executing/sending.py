"""Send chunks of items to an executor, and collect the results in order."""

from __future__ import annotations

from collections import deque
from concurrent.futures import CancelledError
from hashlib import blake2b
from itertools import islice
from uuid import uuid4

from fastrank.executing.executors import is_in_this_process, submitter, workers_of
from fastrank.executing.workers import Outcome as Outcome
from fastrank.executing.workers import Task, Unpicklable, dumps, unpacked, work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from typing import Any

    from fastrank.executing.executors import Call, Submit

    Function = Callable[[Any, Any], Any]

MOST_ITEMS = 32
# For executors that do not say how many workers they have.
UNKNOWN_CHUNK, UNKNOWN_WORKERS = 8, 8


def in_order(
    executor: Any,
    function: Function,
    items: Sequence[Any],
    *,
    shared: Any = None,
    workers: int | None = None,
    chunk_size: int | None = None,
) -> Iterator[Any]:
    """Yield function(shared, item) for each item, in order; raise the first exception.

    The arguments are those of `outcomes`. After an exception, calls that have not started are
    cancelled.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from operator import add
    >>> from fastrank.executing import in_order
    >>> with ThreadPoolExecutor(2) as executor:
    ...     list(in_order(executor, add, [1, 2, 3], shared=10))
    [11, 12, 13]
    """
    found = outcomes(
        executor, function, items, shared=shared, workers=workers, chunk_size=chunk_size
    )
    try:
        for value, error in found:
            if error is not None:
                raise error
            yield value
    finally:
        found.close()


def outcomes(
    executor: Any,
    function: Function,
    items: Sequence[Any],
    *,
    shared: Any = None,
    workers: int | None = None,
    chunk_size: int | None = None,
) -> Generator[Outcome, None, None]:
    """Yield the Outcome of function(shared, item) for each item, in order: a value or an error.

    executor: any concurrent.futures.Executor (threads, processes, loky, mpi4py, Dask's
        `client.get_executor()`), a client of Dask, a pool with `apply_async` (multiprocessing,
        Ray), or None to call the function in this thread.
    function: defined at the top level of a module. It should use a single thread.
    shared: what the function needs for all items. Processes get it pickled, once each, and keep
        the last two; threads use the object itself.
    workers: the number of workers; by default that of the executor, if it is known.
    chunk_size: the number of items to send at once; by default 1 to 32, so that each worker gets at
        least four chunks, and 8 if the number of workers is unknown.

    At most two chunks per worker are sent ahead. An item that fails or cannot be pickled does not
    affect the others. If the executor fails, for example because a worker was killed, nothing more
    is sent: the error of the items in the chunk that failed is the executor's, items that are
    finished have their values, and the error of all others is concurrent.futures.CancelledError.
    Closing the generator, or interrupting it, cancels calls that have not started.

    Raises TypeError for an object that is not an executor, and for a function or a shared object
    that cannot be pickled.
    """
    if executor is None:
        yield from _called(function, shared, items)
        return
    if hasattr(executor, "get_executor"):
        executor = executor.get_executor()
    submit = submitter(executor)
    workers = workers or workers_of(executor)
    send: Callable[[Sequence[Any]], _Sent]
    if is_in_this_process(executor):

        def send(chunk: Sequence[Any]) -> _Sent:
            return _Sent(submit(_called_at_once, function, shared, chunk))

    else:
        send = _Sender(submit, function, shared, copies=workers or 1).send
    size = chunk_size or _chunk_size(len(items), workers)
    chunks = (items[first : first + size] for first in range(0, len(items), size))
    first = islice(chunks, 2 * (workers or UNKNOWN_WORKERS))
    waiting = deque((chunk, send(chunk)) for chunk in first)
    failed = False
    try:
        while waiting:
            chunk, sent = waiting[0]
            found = _cancelled(chunk)
            try:
                if not failed or sent.call.done():
                    found = sent.outcomes()
            except Exception as error:
                # Calls that were sent before it failed have the same error.
                if not failed:
                    found = [Outcome(error=error)] * len(chunk)
                failed = True
            waiting.popleft()
            if not failed:
                waiting.extend((chunk, send(chunk)) for chunk in islice(chunks, 1))
            yield from found
        for chunk in chunks:
            yield from _cancelled(chunk)
    finally:
        for _, sent in waiting:
            sent.call.cancel()


def _chunk_size(count: int, workers: int | None) -> int:
    return UNKNOWN_CHUNK if workers is None else max(1, min(MOST_ITEMS, count // (4 * workers)))


def _cancelled(chunk: Sequence[Any]) -> list[Outcome]:
    return [Outcome(error=CancelledError("not started, because the executor failed"))] * len(chunk)


def _called(function: Function, shared: Any, chunk: Sequence[Any]) -> Iterator[Outcome]:
    for item in chunk:
        try:
            found = Outcome(function(shared, item))
        except Exception as error:
            found = Outcome(error=error)
        yield found


def _called_at_once(function: Function, shared: Any, chunk: Sequence[Any]) -> list[Outcome]:
    return list(_called(function, shared, chunk))


class _Sent:
    """A chunk that was sent to a thread."""

    def __init__(self, call: Call) -> None:
        self.call = call

    def outcomes(self) -> list[Outcome]:
        """Wait for the outcomes. Raises what the executor raises."""
        found: list[Outcome] = self.call.result()
        return found


class _SentToProcess(_Sent):
    """A chunk that was sent to a process, which may not have the shared object."""

    def __init__(self, sender: _Sender, task: Task) -> None:
        super().__init__(sender.submit(work, task))
        self._sender, self._task = sender, task

    def outcomes(self) -> list[Outcome]:
        found = self.call.result()
        if found is None:
            complete = self._task._replace(unique=uuid4().hex, payload=self._sender.payload)
            self.call = self._sender.submit(work, complete)
            found = self.call.result()
        return [unpacked(one) for one in found]


class _Sender:
    """Pickles chunks; the first few have the shared object with them.

    copies: how many. A worker that gets none of these asks for it. Raises TypeError for a function
    or a shared object that cannot be pickled.
    """

    def __init__(self, submit: Submit, function: Function, shared: Any, *, copies: int) -> None:
        self.submit, self._copies = submit, copies
        self.payload = _pickled((function, shared))
        self._digest = blake2b(self.payload, digest_size=16).digest()

    def send(self, chunk: Sequence[Any]) -> _Sent:
        """Submit a chunk."""
        self._copies -= 1
        payload = self.payload if self._copies >= 0 else None
        items = [_pickled_item(item) for item in chunk]
        return _SentToProcess(self, Task(uuid4().hex, self._digest, payload, items))


def _pickled(given: Any) -> bytes:
    try:
        return dumps(given)
    except Exception as error:
        raise TypeError(f"cannot be pickled for another process: {error}") from None


def _pickled_item(item: Any) -> bytes:
    try:
        return _pickled(item)
    except TypeError as error:
        return dumps(Unpicklable(str(error)))
