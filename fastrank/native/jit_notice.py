"""The line on standard error which says that kernels are being compiled, and how to avoid it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from typing import Any

from numba.core import event


class JitNotice(event.Listener):  # type: ignore[misc]
    """Printed when numba begins to compile, not when it loads code from its cache; once.

    reason: why kernels are not compiled ahead of time, empty if that was asked for.
    uncached: why compiled code is not kept for the next process, empty if it is.
    """

    def __init__(self, reason: str, uncached: str) -> None:
        self._reason = reason
        self._line = _line(reason, uncached) if reason or uncached else ""

    def cannot_keep(self, uncached: str) -> None:
        """Print at once why compiled code is not kept after all."""
        self._line = _line(self._reason, uncached)
        self.on_start()

    def on_start(self, _event: Any = None) -> None:
        """Called by numba before it compiles a function."""
        if self._line and sys.stderr is not None:
            print(self._line, file=sys.stderr, flush=True)
        self._line = ""

    def on_end(self, _event: Any) -> None:
        """Called by numba when it has compiled a function."""


def _line(reason: str, uncached: str) -> str:
    often, mend = "once", []
    if uncached:
        often = f"in every process, because code cannot be kept in {uncached}"
        mend.append("set XDG_CACHE_HOME to a folder of your own")
    if reason:
        linker = shlex.split(os.environ.get("CC") or "cc")[0]
        install = "" if shutil.which(linker) else "install a C compiler (gcc) and "
        mend.append(f"{install}run: {shlex.quote(sys.executable)} -m fastrank.native.build")
    return (
        f"fastrank: {reason or 'FASTRANK_ENGINE=jit'}; compiling the kernels that are needed, up to"
        f" a minute {often}. To avoid this, {' or '.join(mend)}"
    )
