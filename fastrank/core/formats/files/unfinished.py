"""Files that are being written are removed where a signal ends the process."""

from __future__ import annotations

import contextlib
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# The process that writes each file: one that was forked from it does not remove it.
_UNFINISHED: dict[str, int] = {}


@contextlib.contextmanager
def removed_by_signals(path: str) -> Iterator[None]:
    """Where SIGTERM or SIGHUP would end the process at once, it removes the file or folder first.

    Signals that the program handles itself are left alone, and so is everything outside the main
    thread, where Python lets nobody handle signals.
    """
    import signal

    _UNFINISHED[path] = os.getpid()
    handled = []
    try:
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                with contextlib.suppress(ValueError):
                    signal.signal(number, _end)
                    handled.append(number)
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)
        del _UNFINISHED[path]


def _end(number: int, _frame: object) -> None:
    import signal

    for path, process in list(_UNFINISHED.items()):
        if process != os.getpid():
            continue
        if os.path.isdir(path):
            import shutil

            shutil.rmtree(path, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.unlink(path)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
