"""Call a function for many items with an executor: threads, processes, or a cluster.

The module does not know what is computed. `outcomes` sends chunks of items to any executor and
returns the results in order; what all items share is sent once to each worker process.
"""

from __future__ import annotations

import pickle
import sys
import traceback
from collections import deque
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from hashlib import blake2b
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple
from uuid import uuid4

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from typing import Protocol, TypeAlias

    Function: TypeAlias = Callable[[Any, Any], Any]

    class Executor(Protocol):
        """An executor: concurrent.futures.Executor, or a client of Dask."""

        def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
            """Start a call."""

    class Pool(Protocol):
        """A pool of multiprocessing or of Ray."""

        @property
        def apply_async(self) -> Callable[..., object]:
            """Start a call; takes the function, its arguments, and two functions to call then."""

    Workers: TypeAlias = Executor | Pool

MOST_ITEMS = 32
# Defaults for executors that do not say how many workers they have.
UNKNOWN_CHUNK, UNKNOWN_WORKERS = 8, 8
# The functions and shared objects that a worker process keeps, by their digests; the last used is
# last.
_kept: dict[bytes, tuple[Function, Any]] = {}
_lock = Lock()
MOST_KEPT = 2


class Outcome(NamedTuple):
    """The value that a call returned, or the exception that it raised."""

    value: Any = None
    error: Exception | None = None


class WorkerError(Exception):
    """The traceback in a worker process, as the cause of an exception."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def in_order(
    executor: Workers | None,
    function: Function,
    items: Sequence[object],
    *,
    shared: object = None,
    chunk_size: int | None = None,
) -> Iterator[Any]:
    """Yield function(shared, item) for each item, in order; raise the first exception.

    The arguments are those of `outcomes`. After an exception, calls that have not started are
    cancelled.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from operator import add
    >>> from fastrank.common.parallel import in_order
    >>> with ThreadPoolExecutor(2) as executor:
    ...     list(in_order(executor, add, [1, 2, 3], shared=10))
    [11, 12, 13]
    """
    results = outcomes(executor, function, items, shared=shared, chunk_size=chunk_size)
    try:
        for value, error in results:
            if error is not None:
                raise error
            yield value
    finally:
        results.close()


def outcomes(
    executor: Workers | None,
    function: Function,
    items: Sequence[object],
    *,
    shared: object = None,
    chunk_size: int | None = None,
) -> Generator[Outcome, None, None]:
    """Yield the Outcome of function(shared, item) for each item, in order: a value or an error.

    executor: any concurrent.futures.Executor (threads, processes, loky, mpi4py, Dask's
        `client.get_executor()`), a client of Dask, a pool with `apply_async` (multiprocessing,
        Ray), or None to call the function in this thread.
    function: defined at the top level of a module. It should use a single thread.
    shared: what the function needs for all items. Processes get it pickled, once each, and keep
        the last two; threads use the object itself.
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
    _check_executor(executor)
    workers = _workers_of(executor)
    sender = _Sender(executor, function, shared, workers or 1)
    size = chunk_size or _chunk_size(len(items), workers)
    chunks = (items[first : first + size] for first in range(0, len(items), size))
    first = islice(chunks, 2 * (workers or UNKNOWN_WORKERS))
    waiting = deque((chunk, sender.send(chunk)) for chunk in first)
    failed = False
    try:
        while waiting:
            chunk, call = waiting[0]
            results = _cancelled(chunk)
            try:
                if not failed or call.done():
                    results = sender.received(call, chunk)
            except Exception as error:
                # Calls that were sent before it failed have the same error.
                if not failed:
                    results = [Outcome(error=error)] * len(chunk)
                failed = True
            waiting.popleft()
            if not failed:
                waiting.extend((chunk, sender.send(chunk)) for chunk in islice(chunks, 1))
            yield from results
        for chunk in chunks:
            yield from _cancelled(chunk)
    finally:
        for _, call in waiting:
            call.cancel()


def _chunk_size(count: int, workers: int | None) -> int:
    return UNKNOWN_CHUNK if workers is None else max(1, min(MOST_ITEMS, count // (4 * workers)))


def _cancelled(chunk: Sequence[object]) -> list[Outcome]:
    return [Outcome(error=CancelledError("not started, because the executor failed"))] * len(chunk)


def _called(function: Function, shared: object, chunk: Sequence[object]) -> Iterator[Outcome]:
    for item in chunk:
        try:
            outcome = Outcome(function(shared, item))
        except Exception as error:
            outcome = Outcome(error=error)
        yield outcome


def _called_at_once(function: Function, shared: object, chunk: Sequence[object]) -> list[Outcome]:
    return list(_called(function, shared, chunk))


def _check_executor(executor: object) -> None:
    """Raise TypeError for an object that cannot be given calls."""
    kind = f"the class {executor.__name__}" if isinstance(executor, type) else ""
    if kind or not (hasattr(executor, "submit") or hasattr(executor, "apply_async")):
        kind = kind or type(executor).__name__
        raise TypeError(
            "executor: expected a concurrent.futures.Executor, such as ProcessPoolExecutor(4), or"
            f" a pool of multiprocessing, found {kind}"
        )


def _is_in_this_process(executor: object) -> bool:
    """Whether calls need nothing to be pickled."""
    # Imported late: only those who use pools have loaded it.
    from multiprocessing.pool import ThreadPool

    return isinstance(executor, (ThreadPoolExecutor, ThreadPool))


def _workers_of(executor: object) -> int | None:
    """The number of workers; None if it is unknown."""
    # concurrent.futures and loky, pools of multiprocessing, mpi4py.
    for name in ("_max_workers", "_processes", "num_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count
    if hasattr(executor, "_actor_pool"):  # Ray
        return len(executor._actor_pool) or None
    if hasattr(executor, "_client") and executor._client.status == "running":  # Dask
        return sum(executor._client.nthreads().values()) or None
    return None


def _submit(executor: Workers, function: Callable[..., Any], *arguments: object) -> Future[Any]:
    """Give an executor or a pool a call; what it raises is the call's exception."""
    call: Future[Any] = Future()
    # Pools cannot cancel calls.
    call.set_running_or_notify_cancel()
    try:
        if hasattr(executor, "submit"):
            accepted: Future[Any] = executor.submit(function, *arguments)
            return accepted
        executor.apply_async(
            function, arguments, callback=call.set_result, error_callback=call.set_exception
        )
    except Exception as error:
        # It was shut down, or its workers are dead.
        call.set_exception(error)
    return call


class _Sender:
    """Sends chunks: to threads as they are, to processes pickled.

    The first few carry the shared object; a process that gets none of these asks for it.
    Raises TypeError for a function or a shared object that cannot be pickled.
    """

    def __init__(self, executor: Workers, function: Function, shared: object, workers: int) -> None:
        self._executor, self._workers = executor, workers
        self._call = function, shared
        self._payload = b"" if _is_in_this_process(executor) else _pickled(self._call)
        self._digest = blake2b(self._payload, digest_size=16).digest()

    def send(self, chunk: Sequence[object]) -> Future[Any]:
        """Submit a chunk."""
        if not self._payload:
            return _submit(self._executor, _called_at_once, *self._call, chunk)
        self._workers -= 1
        return self._sent(chunk, self._payload if self._workers >= 0 else None)

    def received(self, call: Future[Any], chunk: Sequence[object]) -> list[Outcome]:
        """Wait for the outcomes of a chunk that was sent. Raises what the executor raises."""
        results = call.result()
        if results is None:
            results = self._sent(chunk, self._payload).result()
        return list(map(_unpacked, results)) if self._payload else results

    def _sent(self, chunk: Sequence[object], payload: bytes | None) -> Future[Any]:
        items = list(map(_pickled_item, chunk))
        return _submit(self._executor, work, uuid4().hex, self._digest, payload, items)


def _pickled(value: object) -> bytes:
    """Pickle an object; with cloudpickle if it is loaded. Raises TypeError.

    Dask, loky and Ray load it. It also pickles functions of notebooks and scripts, which workers
    cannot import.
    """
    module: Any = sys.modules.get("cloudpickle", pickle)
    try:
        packed: bytes = module.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise TypeError(f"cannot be pickled for another process: {error}") from None
    return packed


def _pickled_item(item: object) -> bytes | TypeError:
    try:
        return _pickled(item)
    except TypeError as error:
        return error


def work(
    _: str, digest: bytes, payload: bytes | None, items: list[bytes | TypeError]
) -> list[bytes] | None:
    """The pickled outcomes of a chunk, in a worker process; None if that needs the payload first.

    The first argument makes calls differ, because Dask does not repeat equal ones. digest: of the
    function and the shared object. payload: these two, pickled; None if the worker is expected to
    have them. items: each pickled, or why that could not be done.
    """
    prepared = _prepared(digest, payload)
    return None if prepared is None else [_packed(*prepared, item) for item in items]


def _prepared(digest: bytes, payload: bytes | None) -> tuple[Function, Any] | None:
    # A worker may have several threads: one unpickles, the others wait.
    with _lock:
        if digest in _kept:
            _kept[digest] = _kept.pop(digest)
        elif payload is None:
            return None
        else:
            _kept[digest] = pickle.loads(payload)
            if len(_kept) > MOST_KEPT:
                del _kept[next(iter(_kept))]
        return _kept[digest]


def _packed(function: Function, shared: object, item: bytes | TypeError) -> bytes:
    """The pickled Outcome of a call; of an exception also the traceback."""
    try:
        if isinstance(item, TypeError):
            raise item
        return _pickled(Outcome(function(shared, pickle.loads(item))))
    except Exception as error:
        trace = "".join(traceback.format_exception(error))
        try:
            packed = _pickled(error)
            # Some exceptions can be pickled, but not unpickled.
            pickle.loads(packed)
        except Exception:
            packed = _pickled(RuntimeError(f"{type(error).__name__}: {error}"))
        return _pickled((packed, trace))


def _unpacked(packed: bytes) -> Outcome:
    """The Outcome of a call in another process."""
    result = pickle.loads(packed)
    if isinstance(result, Outcome):
        return result
    error, trace = pickle.loads(result[0]), result[1]
    error.__cause__ = WorkerError(trace)
    return Outcome(error=error)
