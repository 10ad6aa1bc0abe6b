"""The native core: `kernels.NAME(...)` calls an exported kernel, whichever engine runs it."""

from __future__ import annotations

import os

from fastrank.errors import EngineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from fastrank.core.native.interpreted import Interpreter
    from fastrank.core.native.library import Call, EntryPoints


class _Kernels:
    """Every exported kernel as an attribute, bound when it is first used."""

    _engine: EntryPoints | Interpreter | None = None
    _name = ""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        function = self._load().bind(name)
        setattr(self, name, function)
        return function

    def prepare(self, name: str, *arguments: object) -> Callable[[], Any]:
        """A function that calls a kernel with these arguments, for many calls in a row.

        What changes between the calls must be in memory, which may not move.
        """
        return self._load().prepare(name, *arguments)

    def prepare_all(self, calls: Sequence[Call], whole: int = -1) -> Callable[[], bool]:
        """A function that makes calls one after the other, each prepared like that of `prepare`.

        It returns whether it has made all: not if a kernel on Python's objects returned something
        other than `whole`, if that is not negative.
        """
        return self._load().prepare_all(calls, whole)

    def _load(self) -> EntryPoints | Interpreter:
        if self._engine is None:
            self._engine, self._name = _choose()
        return self._engine


kernels = _Kernels()


def engine() -> str:
    """The engine of the kernels, and why: `precompiled (x86-64-v3)`, `jit (...)`, `python (...)`.

    The environment variable FASTRANK_ENGINE=precompiled or =jit insists on one of them;
    NUMBA_DISABLE_JIT=1 runs the kernels as plain Python.

    >>> fr.testing.engine().partition(" ")[0] in ("precompiled", "jit", "python")
    True
    """
    kernels._load()
    return kernels._name


def _choose() -> tuple[EntryPoints | Interpreter, str]:
    choice = os.environ.get("FASTRANK_ENGINE", "")
    if choice not in ("", "precompiled", "jit"):
        raise EngineError(f"FASTRANK_ENGINE={choice!r}: expected 'precompiled' or 'jit'")
    interpret = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
    reason, unasked = "FASTRANK_ENGINE=jit", ""
    if interpret and choice != "precompiled":
        reason = "NUMBA_DISABLE_JIT is set"
    elif choice != "jit":
        from fastrank.core.native import library

        loaded, reason = library.load()
        if loaded is not None:
            return loaded, f"precompiled ({loaded.level})"
        if choice == "precompiled":
            raise EngineError(f"FASTRANK_ENGINE=precompiled: {reason}")
        if "requires x86-64-v2" in reason:
            # The JIT imports numpy, which ends the process with SIGILL.
            raise EngineError(
                f"{reason}, as numpy 2.4 does. In a virtual machine, choose the CPU model of the "
                f"host; with an older numpy, set FASTRANK_ENGINE=jit"
            )
        unasked = reason
    try:
        if interpret:
            from fastrank.core.native.interpreted import Interpreter

            return Interpreter(), f"python ({reason})"
        from fastrank.core.native.jit import Jit
    except ModuleNotFoundError as error:
        hint = "pip install 'fastrank-eval[jit]'"
        needed = f"compiling the kernels needs {error.name}: {hint} ({reason})"
        raise EngineError(needed) from error

    return Jit(unasked), f"jit ({reason})"
