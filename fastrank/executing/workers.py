"""The part that runs in worker processes."""

from __future__ import annotations

import pickle
import sys
import traceback
from threading import Lock
from typing import Any, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Function = Callable[[Any, Any], Any]

# The functions and shared objects that a process keeps, by their digests; the last used is last.
_kept: dict[bytes, tuple[Function, Any]] = {}
_lock = Lock()
MOST_KEPT = 2


class Outcome(NamedTuple):
    """What a call returned, or the exception that it raised."""

    value: Any = None
    error: Exception | None = None


class Unpicklable:
    """Takes the place of an item that cannot be pickled."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


class WorkerError(Exception):
    """The traceback in a worker process, as the cause of an exception."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class Task(NamedTuple):
    """A chunk of items for a worker process.

    unique: makes tasks differ, because Dask does not repeat equal ones. digest: of the function and
    the shared object. payload: these two, pickled; None if the worker is expected to have them.
    items: each pickled.
    """

    unique: str
    digest: bytes
    payload: bytes | None
    items: list[bytes]


def work(task: Task) -> list[bytes] | None:
    """The pickled outcomes of a chunk; None if the worker needs the payload first."""
    prepared = _prepared(task.digest, task.payload)
    return None if prepared is None else [_packed(*prepared, item) for item in task.items]


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


def _packed(function: Function, shared: Any, item: bytes) -> bytes:
    """The pickled Outcome of a call."""
    try:
        loaded = pickle.loads(item)
        if isinstance(loaded, Unpicklable):
            raise TypeError(loaded.reason)
        return dumps(Outcome(function(shared, loaded)))
    except Exception as error:
        return _packed_error(error)


def _packed_error(error: Exception) -> bytes:
    trace = "".join(traceback.format_exception(error))
    try:
        packed = dumps(error)
        # Some exceptions can be pickled, but not unpickled.
        pickle.loads(packed)
    except Exception:
        packed = dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return dumps((packed, trace))


def unpacked(packed: bytes) -> Outcome:
    """The Outcome of a call in another process."""
    found = pickle.loads(packed)
    if isinstance(found, Outcome):
        return found
    error, trace = pickle.loads(found[0]), found[1]
    error.__cause__ = WorkerError(trace)
    return Outcome(error=error)


def dumps(given: Any) -> bytes:
    """Pickle an object; with cloudpickle if it is loaded.

    Dask, loky and Ray load it. It also pickles functions of notebooks and scripts, which workers
    cannot import.
    """
    module: Any = sys.modules.get("cloudpickle", pickle)
    packed: bytes = module.dumps(given, protocol=pickle.HIGHEST_PROTOCOL)
    return packed
