"""How a kernel is declared: one decorator with its types, and records of columns as arguments.

Importing this module imports numba. Only the ahead-of-time build, the JIT fallback and the
plain-Python mode do that; a process that runs the compiled library never comes here.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

import numba

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


class Layout(NamedTuple):
    """How one record argument is spread over flat columns, one row range per query."""

    record: Any
    rows: dict[str, dict[str, str]]
    each: dict[str, str]
    shared: dict[str, str]


KERNELS: dict[str, Declared] = {}
LAYOUTS: dict[str, Layout] = {}


def helper(function: Callable[..., Any]) -> Any:
    """Compile a function that only other kernels call."""
    return numba.njit(**NO_ALLOCATION)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function into each of its callers: for the inside of loops, where a call costs."""
    return numba.njit(forceinline=True, **NO_ALLOCATION)(function)


def kernel(signature: str, *, holds_gil: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Export a function under its own name, with the types of `signature`.

    A kernel works on arrays and scalars that the caller owns: it allocates nothing, raises
    nothing, and reports by its return value. An argument type may also be the name of a record
    declared with `record`; the entry point then takes the record's columns for all queries and
    calls the kernel once per query, with the last argument cut into one equal piece per query.

    holds_gil: the kernel works on Python's objects, and other threads wait. It may set an exception
    that C functions of Python set, which the caller then gets.
    """

    def declare(function: Callable[..., Any]) -> Any:
        if function.__name__ in KERNELS:
            raise ValueError(f"kernel {function.__name__} is declared twice")
        KERNELS[function.__name__] = Declared(function, signature, holds_gil)
        return helper(function)

    return declare


def record(
    name: str, rows: dict[str, dict[str, str]], each: dict[str, str], shared: dict[str, str]
) -> Any:
    """Make the named tuple through which a kernel sees one query.

    `rows` maps the name of an offsets array to the columns it cuts (ragged: one row range per
    query), `each` names columns with one value per query, `shared` names scalars.
    """
    fields = [column for columns in rows.values() for column in columns] + [*each, *shared]
    make: Any = namedtuple
    made = make(name, fields)
    LAYOUTS[name] = Layout(made, rows, each, shared)
    return made
