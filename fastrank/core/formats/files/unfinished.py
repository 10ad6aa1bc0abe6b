"""Files and folders that are not complete: none is left if a program is interrupted or ended."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# The process that writes each file: one that was forked from it does not remove it.
_UNFINISHED: dict[str, int] = {}


@contextmanager
def removed_at_the_end(path: str) -> Iterator[str]:
    """A path at which there is no file or folder after the block, however it ends.

    Where SIGTERM or SIGHUP would end the process at once, it removes the file or folder first.
    Signals that the program handles itself are left alone, and so is everything outside the main
    thread, where Python lets nobody handle signals.
    """
    _UNFINISHED[path] = os.getpid()
    try:
        with _handling(_end, ("SIGTERM", "SIGHUP"), only_default=True):
            try:
                yield path
            finally:
                with signals_held():
                    _remove(path)
    finally:
        del _UNFINISHED[path]


@contextmanager
def signals_held() -> Iterator[None]:
    """Signals that would interrupt or end the process wait until the end of the block."""
    import signal

    waiting: list[int] = []
    try:
        # Not by a mask, which is that of a thread: the system may choose another one.
        with _handling(lambda number, _: waiting.append(number), ("SIGTERM", "SIGHUP", "SIGINT")):
            yield
    finally:
        for number in waiting:
            signal.raise_signal(number)


@contextmanager
def _handling(
    handler: Callable[[int, object], None], names: Iterable[str], *, only_default: bool = False
) -> Iterator[None]:
    """A function handles signals, or only those for which the system's default is in force."""
    import signal

    before = {}
    try:
        for number in (getattr(signal, name) for name in names if hasattr(signal, name)):
            present = signal.getsignal(number)
            if present is not None and (present is signal.SIG_DFL or not only_default):
                with suppress(ValueError):
                    before[number] = signal.signal(number, handler)
        yield
    finally:
        for number, present in before.items():
            signal.signal(number, present)


def _end(number: int, _frame: object) -> None:
    import signal

    for path, process in list(_UNFINISHED.items()):
        if process == os.getpid():
            _remove(path)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _remove(path: str) -> None:
    if os.path.isdir(path):
        import shutil

        shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        os.unlink(path)
