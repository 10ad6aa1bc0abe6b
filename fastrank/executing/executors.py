"""What executors and pools have in common: submitting calls, and the number of workers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    class Call(Protocol):
        """A call that an executor was given."""

        def result(self) -> Any:
            """Wait for the result; raises what the call or the executor raises."""

        def done(self) -> bool:
            """Whether the result is there."""

        def cancel(self) -> Any:
            """Do not start the call, if that is still possible."""

    Submit = Callable[..., Call]


class _PoolCall:
    """A call of a pool, whose results have other names."""

    def __init__(self, given: Any) -> None:
        self.result, self.done = given.get, given.ready

    def cancel(self) -> None:
        """Pools cannot cancel calls."""


class _FailedCall:
    """A call that the executor did not accept."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def result(self) -> Any:
        """Raise the error."""
        raise self._error

    def done(self) -> bool:
        """It has failed already."""
        return True

    def cancel(self) -> None:
        """Nothing."""


def submitter(executor: Any) -> Submit:
    """The function that submits a call. Raises TypeError for other objects."""
    is_class = isinstance(executor, type)
    if is_class or not (hasattr(executor, "submit") or hasattr(executor, "apply_async")):
        found = f"the class {executor.__name__}" if is_class else type(executor).__name__
        raise TypeError(
            "executor: expected a concurrent.futures.Executor, such as ProcessPoolExecutor(4), or"
            f" a pool of multiprocessing, found {found}"
        )

    def attempt(function: Any, *arguments: Any) -> Call:
        try:
            if hasattr(executor, "submit"):
                call: Call = executor.submit(function, *arguments)
                return call
            return _PoolCall(executor.apply_async(function, arguments))
        except Exception as error:
            # It was shut down, or its workers are dead.
            return _FailedCall(error)

    return attempt


def is_in_this_process(executor: Any) -> bool:
    """Whether calls need nothing to be pickled."""
    # Imported late: only those who use pools have loaded it.
    from multiprocessing.pool import ThreadPool

    return isinstance(executor, (ThreadPoolExecutor, ThreadPool))


def workers_of(executor: Any) -> int | None:
    """The number of workers; None if it is unknown."""
    # concurrent.futures and loky, pools of multiprocessing, mpi4py.
    for name in ("_max_workers", "_processes", "num_workers"):
        found = getattr(executor, name, None)
        if isinstance(found, int) and found > 0:
            return found
    if hasattr(executor, "_actor_pool"):  # Ray
        return len(executor._actor_pool) or None
    if hasattr(executor, "_client") and executor._client.status == "running":  # Dask
        return sum(executor._client.nthreads().values()) or None
    return None
