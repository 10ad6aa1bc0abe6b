"""The fallback engine: kernels are compiled when they are first called, and kept for the next time.

They are what a library would have: the same processes compile them, and object code is kept in the
same place. llvmlite loads it instead of the system's loader, so that no linker is needed. A line on
standard error says that kernels are being compiled.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import threading
from importlib.util import find_spec

import llvmlite.binding as llvm

from fastrank.core.native.compiling.digests import kernel_digests
from fastrank.core.native.compiling.levels import levels, native_level
from fastrank.core.native.compiling.object_cache import Compiled, ObjectCache, emit_object
from fastrank.core.native.compiling.worker import Worker, generate
from fastrank.core.native.library import EntryPoints

if find_spec("numba") is None:
    raise ModuleNotFoundError("no numba", name="numba")


class Jit(EntryPoints):
    """Kernels that are compiled in this session, or were in an earlier one.

    reason: why there is no library to call, for the line on standard error; empty for no line.
    """

    def __init__(self, reason: str) -> None:
        self._cpu = levels()[native_level()]
        self._digests = kernel_digests()
        self._cache = ObjectCache()
        self._loader = _make_loader()
        self._worker: tuple[int, Worker] | None = None
        self._found: dict[str, tuple[int, str]] = {}
        self._lock = threading.Lock()
        self._reason = reason
        self._said = ""

    def find(self, name: str) -> tuple[int, str]:
        """See `EntryPoints.find`."""
        with self._lock:
            if name not in self._found:
                compiled = self._cache.get(self._digests[name], f"{self._cpu}.jit")
                if compiled is None:
                    compiled = self._compile(name)
                self._loader.add_object_file(llvm.ObjectFileRef.from_data(compiled.code))
                self._loader.finalize_object()
                address = self._loader.get_function_address(f"fastrank_{name}")
                self._found[name] = address, compiled.words
            return self._found[name]

    def _compile(self, name: str) -> Compiled:
        self._say(self._cache.problem)
        if self._worker is None or self._worker[0] != os.getpid():
            # A process that was forked from this one has its own.
            self._worker = os.getpid(), Worker()
        words, bitcode = self._worker[1].call(generate, name)
        compiled = Compiled(words, emit_object(bitcode, self._cpu, jit=True))
        self._cache.put(self._digests[name], f"{self._cpu}.jit", compiled)
        if self._cache.problem:
            self._say(self._cache.problem)
        return compiled

    def _say(self, uncached: str) -> None:
        """Print that kernels are compiled, and how to avoid it, unless the same was said before."""
        line = notice(self._reason, uncached) if self._reason or uncached else ""
        if line != self._said and sys.stderr is not None:
            print(line, file=sys.stderr, flush=True)
        self._said = line


def _make_loader() -> llvm.ExecutionEngine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def notice(reason: str, uncached: str) -> str:
    """The line which says that kernels are being compiled, and how to avoid it.

    reason: why there is no library, empty if the JIT was asked for. uncached: why compiled code is
    not kept for the next process, empty if it is.
    """
    often, mend = "once", []
    if uncached:
        often = f"in every process, because code cannot be kept in {uncached}"
        mend.append("set XDG_CACHE_HOME to a folder of your own")
    if reason:
        linker = shlex.split(os.environ.get("CC") or "cc")[0]
        install = "" if shutil.which(linker) else "install a C compiler (gcc) and "
        mend.append(f"{install}run: {shlex.quote(sys.executable)} -m fastrank.core.native.build")
    return (
        f"fastrank: {reason or 'FASTRANK_ENGINE=jit'}; compiling the kernels that are needed, up to"
        f" a minute {often}. To avoid this, {' or '.join(mend)}"
    )
