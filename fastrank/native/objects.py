"""Python's own dicts and floats, read and made by kernels through CPython's C API.

Elsewhere (another interpreter, or one without a global lock) there is no such way, and the callers
have another.
"""

from __future__ import annotations

import ctypes
import sys
from array import array
from itertools import repeat, starmap

from fastrank.native import codes, kernels
from fastrank.native.buffers import address, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# A float of which no other is known, by which to see how floats lie in memory.
_KNOWN = 0.1234567890123456
_ONE = 1.0
_FUNCTIONS = {
    codes.NEXT_ITEM: "PyDict_Next",
    codes.GET_ITEM: "PyDict_GetItemWithError",
    codes.SET_ITEM: "PyDict_SetItem",
    codes.MAKE_FLOAT: "PyFloat_FromDouble",
    codes.DROP_REFERENCE: "Py_DecRef",
    codes.AS_UTF8: "PyUnicode_AsUTF8AndSize",
    codes.AS_INTEGER: "PyLong_AsLongLongAndOverflow",
    codes.CLEAR_ERROR: "PyErr_Clear",
}
# In the table of a dict of CPython an entry is hash, key and value, 24 bytes; from 3.11 on the hash
# is left out as long as all keys are str itself. What a dict has beside its table:
_ENTRY, _LEAST_ROOM = 24, 8
_BESIDE_TABLE = {0: 0}.__sizeof__() - _LEAST_ROOM - _ENTRY * (_LEAST_ROOM * 2 // 3)


class _Interpreter:
    """What kernels have to know about the interpreter, found out once."""

    _known: list[Any] | None = None

    def api(self) -> Any | None:
        """Functions and types as `api` in native/codes.py; None where they cannot be used."""
        if self._known is None:
            self._known = [_find_api()] if _is_as_expected() else []
        return self._known[0] if self._known else None


interpreter = _Interpreter()


def addresses(objects: Iterable[Any]) -> Any:
    """Where objects lie, for kernels; somebody has to hold them."""
    return array("q", map(id, objects))


def are_small(dicts: list[dict[Any, Any]], lengths: list[int]) -> bool:
    """Whether each takes less room than any of its length with a key that is not of type str.

    One that has shrunk may be all text and not small. To look at the type of every key would take
    as long as to read the values.
    """
    sizes = map(dict.__sizeof__, dicts)
    return all(starmap(_is_small, set(zip(lengths, sizes, strict=True))))


def _is_small(length: int, size: int) -> bool:
    room = _LEAST_ROOM
    while room * 2 // 3 < length:
        room *= 2
    return size < _BESIDE_TABLE + room + _ENTRY * (room * 2 // 3)


def rows_as_dicts(columns: dict[str, tuple[Any, int, int]], count: int) -> list[dict[str, Any]]:
    """`count` dicts from the names of columns to numbers.

    columns: the memory of its doubles, the place of the first one and how many places from one to
    the next, which may be 0.
    """
    api = interpreter.api()
    if api is None or not columns:
        listed = [
            values.tolist()[first : first + step * count : step]
            if step
            else [values[first]] * count
            for values, first, step in columns.values()
        ]
        rows = zip(*listed, strict=True) if columns else iter([()] * count)
        return [dict(zip(columns, row)) for row in rows]  # noqa: B905
    made: list[dict[str, Any]] = list(map(dict.copy, repeat(dict.fromkeys(columns, 0.0), count)))
    places = array("q", [address(values) + 8 * first for values, first, _ in columns.values()])
    steps = array("q", [8 * step for _, _, step in columns.values()])
    kernels.fill_dicts(api, addresses(made), addresses(columns), places, steps)
    return made


def _is_as_expected() -> bool:
    """Whether this is CPython with its lock, and its objects lie in memory as they always have."""
    if sys.implementation.name != "cpython" or "t" in getattr(sys, "abiflags", ""):
        return False
    # An object is a count of references and a type, a float also has a double.
    basic, whole = codes.NUMBER_IN_FLOAT, codes.NUMBER_IN_FLOAT + 8
    if (object.__basicsize__, float.__basicsize__, ctypes.sizeof(ctypes.c_void_p)) != (
        basic, whole, 8,
    ):  # fmt: skip
        return False
    kind = ctypes.c_int64.from_address(id(_KNOWN) + codes.TYPE_IN_OBJECT).value
    number = ctypes.c_double.from_address(id(_KNOWN) + codes.NUMBER_IN_FLOAT).value
    text = ctypes.c_int64.from_address(id("") + codes.TYPE_IN_OBJECT).value
    return (kind, number, text) == (id(float), _KNOWN, id(str))


def _find_api() -> Any:
    api = zeros("q", codes.API_SIZE)
    for place, name in _FUNCTIONS.items():
        found = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        assert found is not None
        api[place] = found
    api[codes.FLOAT], api[codes.STR], api[codes.INT] = id(float), id(str), id(int)
    api[codes.ONE] = id(_ONE)
    api[codes.FLOAT64], api[codes.FLOAT32] = _types_of_numpy()
    return api


def _types_of_numpy() -> tuple[int, int]:
    """NumPy's types of floats, those that lie in memory as Python's own; 0 instead of others."""
    import numpy

    double, single = numpy.float64(_KNOWN), numpy.float32(_KNOWN)
    numbers = (
        ctypes.c_double.from_address(id(double) + codes.NUMBER_IN_FLOAT).value,
        ctypes.c_float.from_address(id(single) + codes.NUMBER_IN_FLOAT).value,
    )
    return (
        id(numpy.float64) if numbers[0] == double else 0,
        id(numpy.float32) if numbers[1] == single else 0,
    )
