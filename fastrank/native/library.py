"""The compiled library: found, checked against its sources, and called through ctypes."""

from __future__ import annotations

import ctypes
import os

from fastrank.native.buffers import CODES, place
from fastrank.native.record import Shape, flatten, shape_of
from fastrank.native.signature import is_array, item, parse
from fastrank.native.sources import NATIVE, library_path, read_sources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_C: dict[str, Any] = {"int64": ctypes.c_int64, "float64": ctypes.c_double, "void": ctypes.c_void_p}


class Library:
    """A loaded library: its kernels by name, with the signatures it carries."""

    def __init__(self, level: str, handle: ctypes.CDLL) -> None:
        self.level = level
        self._handle = handle
        lines = _text(handle, "signatures").decode().split("\n")
        self._signatures = dict(line.split(" ", 1) for line in lines)
        # The same library, for kernels that keep the interpreter's lock while they run.
        self._holding = ctypes.PyDLL(None, handle=handle._handle)
        self._held = _text(handle, "held").decode().split()

    def bind(self, name: str) -> Callable[..., Any]:
        """A Python function that calls the entry point `name`."""
        entry, shapes, codes, result_type = self._entry(name)

        def call(*given: Any) -> Any:
            return _call(name, entry, result_type(), _flat(codes, flatten(name, shapes, given)))

        return call

    def prepare(self, name: str, *given: Any) -> Callable[[], Any]:
        """The same call of the entry point `name` again and again, its arguments looked at once.

        What changes between the calls must be in memory; that of the arguments may not move.
        """
        entry, shapes, codes, result_type = self._entry(name)
        flat, out = _flat(codes, flatten(name, shapes, given)), result_type()

        def call() -> Any:
            return _call(name, entry, out, flat)

        # Addresses keep no memory alive; the function does.
        call.memory = given  # type: ignore[attr-defined]
        return call

    def _entry(self, name: str) -> tuple[Any, list[Shape], list[str], Any]:
        """The C function, the shapes of its arguments, and the result's type.

        Third, for what the function takes, the type code of each array, empty for a number.
        """
        result, declared = parse(self._signatures[name])
        shapes = [shape_of(argument) for argument in declared]
        handle = self._holding if name in self._held else self._handle
        entry = getattr(handle, f"fastrank_{name}")
        entry.restype = ctypes.c_int32
        flat: list[Any] = [ctypes.c_void_p, ctypes.c_void_p]
        codes: list[str] = []
        for shape in shapes:
            own_codes, own_types = _as_c(shape)
            codes += own_codes
            flat += own_types
        entry.argtypes = flat
        return entry, shapes, codes, _C[result]


# What C takes for an argument of each shape, found out once: type codes, and its own types.
_AS_C: dict[Shape, tuple[list[str], list[Any]]] = {}


def _as_c(shape: Shape) -> tuple[list[str], list[Any]]:
    if shape not in _AS_C:
        codes: list[str] = []
        own: list[Any] = []
        for type_ in shape.columns:
            if is_array(type_):
                codes.append(CODES[item(type_)])
                own += [ctypes.c_void_p, ctypes.c_int64]
            else:
                codes.append("")
                own.append(_C[type_])
        _AS_C[shape] = codes, own
    return _AS_C[shape]


def _flat(codes: list[str], given: list[Any]) -> list[Any]:
    """Arguments as C takes them: address and length of each array."""
    values: list[Any] = []
    for code, value in zip(codes, given, strict=True):
        if code:
            values += place(value, code)
        else:
            values.append(value)
    return values


def _call(name: str, entry: Any, out: Any, values: list[Any]) -> Any:
    # Numba's calling convention: a place for the result, one for an exception.
    exception = ctypes.c_void_p()
    status = entry(ctypes.byref(out), ctypes.byref(exception), *values)
    if status != 0:
        raise RuntimeError(f"kernel {name} ended with status {status}")
    return out.value


def load() -> tuple[Library | None, str]:
    """The best library for this processor, or None and the reason why there is none to use."""
    library, reason = _load_from(NATIVE)
    if library is None:
        from fastrank.native.installed import other_folders

        for folder in other_folders():
            library, problem = _load_from(folder)
            if library is not None:
                return library, ""
            reason = reason or problem
    return library, reason or "no compiled library is installed"


def _load_from(folder: str) -> tuple[Library | None, str]:
    """The best library in a folder, or None and what is wrong with those that are there."""
    reason = ""
    for level, needed in (("x86-64-v3", 3), ("x86-64-v2", 2), ("baseline", 0)):
        path = library_path(level, folder)
        if not os.path.exists(path):
            continue
        try:
            handle = ctypes.CDLL(path)
            handle.fastrank_cpu_level.restype = ctypes.c_int64
            if handle.fastrank_cpu_level() < needed:
                reason = f"the compiled library is for {level}, which this processor is not"
                continue
            sources = _text(handle, "sources")
            if not sources and folder != NATIVE:
                # That of an installed package carries none: it is as old as the files beside it.
                sources = read_sources(os.path.dirname(folder))
            if not sources or sources == read_sources():
                return Library(level, handle), ""
            reason = "the compiled library was made from other sources than these"
        except (OSError, AttributeError, ValueError) as error:
            reason = f"the compiled library {path} cannot be used: {error}"
    return None, reason


def _text(handle: ctypes.CDLL, name: str) -> bytes:
    size = ctypes.c_int64.in_dll(handle, f"fastrank_{name}_size").value
    first = ctypes.c_char.in_dll(handle, f"fastrank_{name}")
    return ctypes.string_at(ctypes.addressof(first), size)
