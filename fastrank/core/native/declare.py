"""How a kernel is declared: one decorator with the types of its arguments.

Importing this module imports numba, but for the plain engine (compiling/compiler.py). Only the
ahead-of-time build, the JIT fallback and the plain engine do that; a process that runs the compiled
library never comes here.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections import namedtuple
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastrank.core.native import records
from fastrank.core.native.compiling.compiler import (
    from_dtype,
    lower_builtin,
    njit,
    overload,
    type_callable,
    types,
)
from fastrank.core.native.record import PER_QUERY, RECORDS, Record, State

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from llvmlite.ir import IRBuilder, Value
    from numba.core.base import BaseContext
    from numba.core.typing.templates import Signature

    Function: TypeAlias = Callable[..., Any]
    Decorator: TypeAlias = Callable[[Function], Any]

# Division by zero must give inf and nan as in C, never raise: the library has no exceptions.
# boundscheck is spelled out because an environment variable could otherwise turn it on. Kernels
# allocate nothing (_nrt, as in numba's own code), so that no references of arrays are counted.
# forceinline is spelled out because a function would have it from the first one that calls it.
OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "boundscheck": False,
    "_nrt": False,
    "forceinline": False,
}


class Declared(NamedTuple):
    """A kernel that gets an entry point: numba's dispatcher, or the function in plain Python."""

    function: Any
    signature: str
    holds_gil: bool


KERNELS: dict[str, Declared] = {}
# The functions that are not compiled into their callers.
OUTLINED: set[str] = set()
# The structures through which kernels see states, by name.
STRUCTURES: dict[str, types.Type] = {}


def helper(function: Function) -> Any:
    """Compile a function that only other kernels call."""
    return njit(**OPTIONS)(function)


def inlined(function: Function) -> Any:
    """Compile a function into each of its callers: for the inside of loops, where a call costs."""
    return njit(**{**OPTIONS, "forceinline": True})(function)


def outlined(function: Function) -> Any:
    """Compile a function that is rarely called, and no part of its callers: they stay small."""
    OUTLINED.add(function.__name__)
    return helper(function)


# In the signature of an instruction: an array of any items.
ARRAY: Any = types.Dummy("array")


def instruction(signature: Any, generate: Function) -> Decorator:
    """Let compiled code that calls a function execute what `generate` generates instead.

    The function itself is the meaning in plain Python. signature: numba's types, and ARRAY.
    `generate(builder, ...)` gets the arguments, of arrays a pointer to the first item, and returns
    the value, a list for a tuple, None for void.
    """

    def typer(*actual: types.Type) -> types.Type:
        pairs = zip(signature.args, actual, strict=True)
        return signature.return_type(*(array if kind is ARRAY else kind for kind, array in pairs))

    def lower(
        context: BaseContext, builder: IRBuilder, called: Signature, arguments: Sequence[Value]
    ) -> Value:
        values = [
            context.make_array(kind)(context, builder, value).data
            if isinstance(kind, types.Array)
            else value
            for kind, value in zip(called.args, arguments, strict=True)
        ]
        result = generate(builder, *values)
        if isinstance(result, list):
            return context.make_tuple(builder, called.return_type, result)
        return context.get_dummy_value() if result is None else result

    def declare(function: Function) -> Function:
        typer.pysig = inspect.signature(function)  # type: ignore[attr-defined]
        type_callable(function)(lambda _: typer)
        lower_builtin(function, types.VarArg(types.Any))(lower)
        return function

    return declare


def unless_tied(expected: Any) -> Decorator:
    """Compile a function of a ranking that only kernels call, and `expected` in its place.

    The latter is called, with the same arguments, for rankings with tie groups.
    """

    def declare(function: Function) -> Any:
        plain = helper(function)

        @functools.wraps(function)
        def chosen(q: Any, *others: Any) -> Any:
            # In plain Python; compiled code takes one of the two by the type of the ranking.
            return (expected if hasattr(q, "lows") else plain)(q, *others)

        @overload(chosen, jit_options=OPTIONS, strict=False)  # type: ignore[untyped-decorator]
        def compiled(q: Any, *others: Any) -> Any:  # noqa: ARG001
            return (expected if "lows" in q.fields else plain).py_func

        return chosen

    return declare


def kernel(signature: str, over_ties: str = "", *, holds_gil: bool = False) -> Decorator:
    """Export a function under its own name, with the types of `signature`.

    A kernel works on arrays and scalars that the caller owns: it allocates nothing, raises
    nothing, and reports by its return value. An argument type may also be the name of a record of
    native/records. For the name that a record has query by query, the kernel is called once per
    query, with the columns of the query and with the last argument cut into one equal piece per
    query.

    over_ties: the types with which it is exported once more, as NAME_over_ties: those of rankings
        with tie groups, for which the helpers that it calls have other versions (`unless_tied`).
    holds_gil: the kernel works on Python's objects, and other threads wait. It may set an exception
    that C functions of Python set, which the caller then gets.
    """

    def declare(function: Function) -> Any:
        exported = {function.__name__: signature}
        if over_ties:
            exported[f"{function.__name__}_over_ties"] = over_ties
        compiled = helper(function)
        for name, types_ in exported.items():
            if name in KERNELS:
                raise ValueError(f"kernel {name} is declared twice")
            KERNELS[name] = Declared(compiled, types_, holds_gil)
        return compiled

    return declare


def declare_all() -> None:
    """Import every module of kernels, so that all of them are declared."""
    kernels = importlib.import_module("fastrank.core.kernels")
    for module in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}."):
        importlib.import_module(module.name)


def _let_kernels_make(record: type[Record]) -> None:
    """Tell numba the fields of a record, and that its class is called with them."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    record._fields = tuple(record.__annotations__)
    record.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(field, kind) for field in record._fields]
    )


def _structure(state: type[State]) -> types.Type:
    """A state as numba sees it: its memory, with its names."""
    fields = [(name, np.int64) for name in state.__annotations__]
    structure = from_dtype(np.dtype(fields, align=True))
    # Its own name, with all fields, would be part of every function's.
    structure.name = state.__name__
    return structure


for module in pkgutil.iter_modules(records.__path__):
    importlib.import_module(f"{records.__name__}.{module.name}")
for record in RECORDS.values():
    if issubclass(record, State):
        STRUCTURES[record.__name__] = _structure(record)
    else:
        _let_kernels_make(record)


def _of_one_query(name: str, record: type[Record]) -> Any:
    """The named tuple through which a kernel sees the columns of one query."""
    kinds = record.__annotations__.items()
    make: Any = namedtuple
    return make(name, [field for field, kind in kinds if kind != "Offsets"])


# The named tuples of single queries, by the names that types have for them.
QUERIES: dict[str, Any] = {name: _of_one_query(name, record) for name, record in PER_QUERY.items()}
