"""How a kernel is declared: one decorator with the types of its arguments.

Importing this module imports numba. Only the ahead-of-time build, the JIT fallback and the
plain-Python mode do that; a process that runs the compiled library never comes here.
"""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

import numba

# Declares the records.
from fastrank.native import records  # noqa: F401
from fastrank.native.record import PER_QUERY, RECORDS, Record

# Division by zero must give inf and nan as in C, never raise: the library has no exceptions.
# boundscheck is spelled out because an environment variable could otherwise turn it on.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "boundscheck": False}
# Kernels allocate nothing. Said to the JIT (as numba's own code does), that spares it two atomic
# counts of references for every array given to a helper: reading a number took 70 ns with them,
# 9 ns without. An entry point of the library makes arrays of pointers, which it may not without.
NO_ALLOCATION: dict[str, Any] = {**OPTIONS, "_nrt": False}


class Declared(NamedTuple):
    """A kernel that gets an entry point."""

    function: Callable[..., Any]
    signature: str
    holds_gil: bool


KERNELS: dict[str, Declared] = {}


def helper(function: Callable[..., Any]) -> Any:
    """Compile a function that only other kernels call."""
    return numba.njit(**NO_ALLOCATION)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function into each of its callers: for the inside of loops, where a call costs."""
    return numba.njit(forceinline=True, **NO_ALLOCATION)(function)


def kernel(signature: str, *, holds_gil: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Export a function under its own name, with the types of `signature`.

    A kernel works on arrays and scalars that the caller owns: it allocates nothing, raises
    nothing, and reports by its return value. An argument type may also be the name of a record of
    native/records.py. For the name that a record has query by query, the entry point calls the
    kernel once per query, with the columns of the query and with the last argument cut into one
    equal piece per query.

    holds_gil: the kernel works on Python's objects, and other threads wait. It may set an exception
    that C functions of Python set, which the caller then gets.
    """

    def declare(function: Callable[..., Any]) -> Any:
        if function.__name__ in KERNELS:
            raise ValueError(f"kernel {function.__name__} is declared twice")
        KERNELS[function.__name__] = Declared(function, signature, holds_gil)
        return helper(function)

    return declare


def _let_kernels_make(record: Any) -> None:
    """Tell numba the fields that the class of a record is called with."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    fields = [inspect.Parameter(field, kind) for field in record._fields]
    record.__signature__ = inspect.Signature(fields)


for own in RECORDS.values():
    _let_kernels_make(own)


def _of_one_query(name: str, record: type[Record]) -> Any:
    """The named tuple through which a kernel sees the columns of one query."""
    kinds = record.__annotations__.items()
    make: Any = namedtuple
    return make(name, [field for field, kind in kinds if kind != "Offsets"])


# What the generated entry points call by these names.
QUERIES: dict[str, Any] = {name: _of_one_query(name, own) for name, own in PER_QUERY.items()}
globals().update(QUERIES)
