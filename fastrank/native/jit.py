"""The fallback engine: the same kernels through `numba.njit`, or as plain Python.

With a compiler-less installation each kernel is compiled when it is first called. The machine
code is kept on disk in a folder named after a digest of all kernel sources: numba's own cache
looks only at the file of the entry point, and would serve stale code when a kernel in another
file changed.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numba
import numpy as np

from fastrank.native import entries, signature
from fastrank.native.buffers import CODES, address, count_items
from fastrank.native.declare import KERNELS, NO_ALLOCATION
from fastrank.native.record import Shape
from fastrank.native.sources import read_sources


class Jit:
    """Kernels compiled in this process, or interpreted when NUMBA_DISABLE_JIT is set."""

    def __init__(self) -> None:
        entries.declare_all()
        self.compiles = not numba.config.DISABLE_JIT
        self._module, self._cached = _entries_module()
        self._functions: dict[str, Callable[..., Any]] = {}

    def bind(self, name: str) -> Callable[..., Any]:
        """A Python function that converts buffers to arrays and calls the kernel `name`."""
        function, shape, items = self._entry(name)

        def call(*given: Any) -> Any:
            return _call(function, _arrays(items, shape.flatten(given)))

        return call

    def prepare(self, name: str, *given: Any) -> Callable[[], Any]:
        """The same call of the kernel `name` again and again, its arguments converted once."""
        function, shape, items = self._entry(name)
        arrays = _arrays(items, shape.flatten(given))

        def call() -> Any:
            return _call(function, arrays)

        # Arrays over addresses keep no memory alive; the function does.
        call.memory = given  # type: ignore[attr-defined]
        return call

    def _entry(self, name: str) -> tuple[Callable[..., Any], Shape, list[str | None]]:
        """The compiled function, and the shape of its arguments.

        Third, for what the function takes, the item type of each array, None for a number.
        """
        result, arguments = signature.parse(entries.flat_signature(name))
        if name not in self._functions:
            function = getattr(self._module, name)
            if self.compiles:
                types = f"{result}({', '.join(arguments)})"
                options = {**NO_ALLOCATION, "nogil": not KERNELS[name].holds_gil}
                function = numba.njit(types, cache=self._cached, **options)(function)
            self._functions[name] = function
        items = [
            signature.item(argument) if signature.is_array(argument) else None
            for argument in arguments
        ]
        _, declared = signature.parse(KERNELS[name].signature)
        return self._functions[name], Shape(name, declared), items


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


def _entries_module() -> tuple[ModuleType, bool]:
    """The generated entry points as a module in a file, and whether that file stays."""
    with open(__file__, "rb") as file:
        own = file.read()
    versions = f"{numba.__version__} {np.__version__} {sys.version}".encode()
    digest = hashlib.sha256(read_sources() + own + versions).hexdigest()[:24]
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(base, "fastrank", digest)
    try:
        path = _write_module(folder)
    except OSError:
        # A read-only home: everything works, but is compiled anew in each process.
        with tempfile.TemporaryDirectory() as scratch:
            return _import(_write_module(scratch)), False
    return _import(path), True


def _write_module(folder: str) -> str:
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "entries.py")
    if not os.path.exists(path):
        handle, scratch = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "w") as file:
            file.write(entries.module_source())
        os.replace(scratch, path)
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
