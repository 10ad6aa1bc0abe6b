"""C functions and C numbers: as much of ctypes as calling the library takes.

From `_ctypes`, the part of ctypes that is written in C: importing the part in Python, which makes
classes for all of C's types and needs `struct`, takes 1.3 ms of the 8 that a command has.
"""

from __future__ import annotations

from _ctypes import (
    FUNCFLAG_CDECL,
    FUNCFLAG_PYTHONAPI,
    CFuncPtr,
    _SimpleCData,
    addressof,
    byref,
    dlopen,
    dlsym,
)

__all__ = [
    "Char", "Double", "Int64", "Pointer", "Single", "Text", "addressof", "byref", "dlopen", "dlsym",
]  # fmt: skip


class Char(_SimpleCData):  # type: ignore[type-arg]
    """One byte."""

    _type_ = "c"


class Int64(_SimpleCData):  # type: ignore[type-arg]
    """A signed integer of 64 bits."""

    _type_ = "q"


class Double(_SimpleCData):  # type: ignore[type-arg]
    """A float of 64 bits."""

    _type_ = "d"


class Single(_SimpleCData):  # type: ignore[type-arg]
    """A float of 32 bits."""

    _type_ = "f"


class Pointer(_SimpleCData):  # type: ignore[type-arg]
    """An address."""

    _type_ = "P"


class Text(_SimpleCData):  # type: ignore[type-arg]
    """The address of the bytes of an object."""

    _type_ = "z"


class Status(_SimpleCData):  # type: ignore[type-arg]
    """A signed integer of 32 bits."""

    _type_ = "i"


class Function(CFuncPtr):
    """A function that returns a status, called without the interpreter's lock."""

    _flags_ = FUNCFLAG_CDECL
    _restype_ = Status


class HoldingFunction(CFuncPtr):
    """A function that returns a status and works on Python's objects."""

    _flags_ = FUNCFLAG_CDECL | FUNCFLAG_PYTHONAPI
    _restype_ = Status
