"""The fallback engine: the same kernels through `numba.njit`, or as plain Python.

With a compiler-less installation each kernel is compiled when it is first called, and a line on
standard error says so. The machine code is kept on disk in a folder named after a digest of all
kernel sources: numba's own cache looks only at the file of the entry point, and would serve stale
code when a kernel in another file changed.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numba
import numpy as np
from numba.core import event

from fastrank.native import entries, signature
from fastrank.native.buffers import CODES, address, count_items
from fastrank.native.cache_folder import open_cache, write_whole
from fastrank.native.declare import KERNELS, NO_ALLOCATION
from fastrank.native.jit_notice import JitNotice
from fastrank.native.record import Shape, flatten, shape_of
from fastrank.native.sources import read_sources


class Jit:
    """Kernels compiled in this process, or interpreted when NUMBA_DISABLE_JIT is set.

    reason: why there is no library to call, for the line on standard error; empty for no line.
    """

    def __init__(self, reason: str) -> None:
        entries.declare_all()
        self.compiles = not numba.config.DISABLE_JIT
        self._module, self._uncached = _entries_module()
        self._notice = JitNotice(reason, self._uncached)
        self._functions: dict[str, Callable[..., Any]] = {}

    def bind(self, name: str) -> Callable[..., Any]:
        """A Python function that converts buffers to arrays and calls the kernel `name`."""
        function, shapes, items = self._entry(name)

        def call(*given: Any) -> Any:
            return _call(function, _arrays(items, flatten(name, shapes, given)))

        return call

    def prepare(self, name: str, *given: Any) -> Callable[[], Any]:
        """The same call of the kernel `name` again and again, its arguments converted once."""
        function, shapes, items = self._entry(name)
        arrays = _arrays(items, flatten(name, shapes, given))

        def call() -> Any:
            return _call(function, arrays)

        # Arrays over addresses keep no memory alive; the function does.
        call.memory = given  # type: ignore[attr-defined]
        return call

    def _entry(self, name: str) -> tuple[Callable[..., Any], list[Shape], list[str | None]]:
        """The compiled function, and the shapes of its arguments.

        Third, for what the function takes, the item type of each array, None for a number.
        """
        result, arguments = signature.parse(entries.flat_signature(name))
        if name not in self._functions:
            function = getattr(self._module, name)
            if self.compiles:
                types = f"{result}({', '.join(arguments)})"
                options = {**NO_ALLOCATION, "nogil": not KERNELS[name].holds_gil}
                function = numba.njit(cache=not self._uncached, **options)(function)
                self._compile(function, types)
            self._functions[name] = function
        items = [
            signature.item(argument) if signature.is_array(argument) else None
            for argument in arguments
        ]
        _, declared = signature.parse(KERNELS[name].signature)
        return self._functions[name], [shape_of(argument) for argument in declared], items

    def _compile(self, function: Any, types: str) -> None:
        try:
            with event.install_listener("numba:compile", self._notice):
                function.compile(types)
        except OSError as error:
            # The disk is full; the function has been compiled.
            folder = os.path.dirname(self._module.__file__ or "")
            self._uncached = f"{folder} ({error.strerror})"
            self._notice.cannot_keep(self._uncached)
        function.disable_compile()


def _arrays(items: list[str | None], given: list[Any]) -> list[Any]:
    return [
        value if item is None else _array(value, item)
        for item, value in zip(items, given, strict=True)
    ]


def _call(function: Callable[..., Any], arrays: list[Any]) -> Any:
    # Plain Python meets numpy's warnings where compiled code just computes inf or nan.
    with np.errstate(all="ignore"):
        found = function(*arrays)
    return found.item() if isinstance(found, np.generic) else found


def _array(buffer: Any, item: str) -> Any:
    """A writable array over the buffer's memory; kernels are typed for writable arrays."""
    dtype: Any = np.dtype(item)
    count = count_items(buffer, CODES[item])
    if count == 0:
        return np.empty(0, dtype)
    memory: Any = (ctypes.c_char * (count * dtype.itemsize)).from_address(address(buffer))
    return np.frombuffer(memory, dtype)


def _entries_module() -> tuple[ModuleType, str]:
    """The generated entry points as a module in a file, or else why it is in no file."""
    with open(__file__, "rb") as file:
        own = file.read()
    versions = f"{numba.__version__} {np.__version__} {sys.version}".encode()
    digest = hashlib.sha256(read_sources() + own + versions).hexdigest()[:24]
    try:
        path = _write_module(open_cache(digest))
    except OSError as error:
        # A read-only home: everything works, but is compiled anew in each process.
        module = ModuleType("fastrank_entries")
        exec(entries.module_source(), module.__dict__)
        return module, f"{error.filename} ({error.strerror})"
    return _import(path), ""


def _write_module(folder: str) -> str:
    path = os.path.join(folder, "entries.py")
    if not os.path.exists(path):
        write_whole(path, entries.module_source().encode())
    return path


def _import(path: str) -> ModuleType:
    # Numba imports the module by name again when it loads code from its cache.
    name = f"fastrank_entries_{os.path.basename(os.path.dirname(path))}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
