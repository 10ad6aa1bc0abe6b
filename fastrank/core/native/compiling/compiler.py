"""Numba and LLVM, as kernels are declared with them; for the plain engine, names that do nothing.

All that kernels and `declare` need of numba and llvmlite is imported from here. Where nothing is
compiled, a decorator returns the function as it is, and the other names have no effect.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from fastrank.core.native.library import only_plain

__all__ = [
    "Tuple",
    "UniTuple",
    "boolean",
    "cgutils",
    "float32",
    "float64",
    "from_dtype",
    "int64",
    "ir",
    "lower_builtin",
    "njit",
    "overload",
    "type_callable",
    "types",
    "uint64",
    "void",
]


class _Nothing:
    """A name without a compiler behind it: so are its attributes, and what calls of it return."""

    def __getattr__(self, _name: str) -> _Nothing:
        return self

    def __call__(self, *_: object, **__: object) -> _Nothing:
        return self


if find_spec("numba") is not None and not only_plain():
    from llvmlite import ir
    from numba import from_dtype, njit, types
    from numba.core import cgutils
    from numba.extending import lower_builtin, overload, type_callable
    from numba.types import Tuple, UniTuple, boolean, float32, float64, int64, uint64, void
else:
    ir = cgutils = types = from_dtype = lower_builtin = overload = type_callable = _Nothing()
    Tuple = UniTuple = boolean = float32 = float64 = int64 = uint64 = void = _Nothing()

    def njit(**_: object) -> Callable[[Any], Any]:
        """The decorator of a function that is called as it is."""
        return lambda function: function
