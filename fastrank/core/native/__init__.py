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
    """The engine of the kernels, and why: `precompiled (x86-64-v3)`, `jit (...)`, `plain (...)`.

    The environment variable FASTRANK_ENGINE=precompiled, =jit or =plain insists on one of them.

    >>> fr.testing.engine().partition(" ")[0] in ("precompiled", "jit", "plain")
    True
    """
    kernels._load()
    return kernels._name


def _choose() -> tuple[EntryPoints | Interpreter, str]:
    from fastrank.core.native import library

    choice, reason = os.environ.get("FASTRANK_ENGINE", ""), library.only_plain()
    compiles = not reason
    if choice in ("precompiled", "jit") and reason:
        raise EngineError(f"FASTRANK_ENGINE={choice}: {reason}")
    if compiles and choice != "jit":
        loaded, reason = library.load()
        if loaded is not None:
            return loaded, f"precompiled ({loaded.level})"
        if choice == "precompiled":
            raise EngineError(f"FASTRANK_ENGINE=precompiled: {reason}")
        if "requires x86-64-v2" in reason:
            # The other engines import numpy, which ends the process with SIGILL.
            raise EngineError(
                f"{reason}, as numpy 2.4 does. In a virtual machine, choose the CPU model of the "
                f"host; with an older numpy, set FASTRANK_ENGINE=jit"
            )
    if compiles:
        try:
            from fastrank.core.native.jit import Jit

            return Jit(reason), f"jit ({reason or 'FASTRANK_ENGINE=jit'})"
        except ModuleNotFoundError as error:
            missing = "numba is not installed"
            if choice == "jit":
                raise EngineError(f"FASTRANK_ENGINE=jit: {missing}: {library.remedy()}") from error
            reason = f"{reason}, and {missing}"
    from fastrank.core.native.interpreted import Interpreter

    return Interpreter("" if library.plain_asked_for() else reason), f"plain ({reason})"
