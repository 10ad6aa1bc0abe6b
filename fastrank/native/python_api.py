"""Where CPython's own C functions and types are, for kernels that work on Python's objects."""

from __future__ import annotations

import sys

from fastrank.native import codes
from fastrank.native.buffers import zeros
from fastrank.native.c_interface import Double, Int64, dlopen, dlsym

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# A float of which no other is known, by which to see how floats lie in memory.
KNOWN = 0.1234567890123456
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
    codes.TUPLE_ITEM: "PyTuple_GetItem",
    codes.GET_BUFFER: "PyObject_GetBuffer",
    codes.RELEASE_BUFFER: "PyBuffer_Release",
}
# Found out once: empty where they cannot be used.
_FOUND: list[Any] = []


def python_api() -> Any | None:
    """Functions and types as `api` in native/codes.py; None where they cannot be used."""
    if not _FOUND:
        _FOUND.append(_find() if _is_as_expected() else None)
    return _FOUND[0]


def _is_as_expected() -> bool:
    """Whether this is CPython with its lock, and its objects lie in memory as they always have."""
    if sys.implementation.name != "cpython" or "t" in getattr(sys, "abiflags", ""):
        return False
    # An object is a count of references and a type, a float also has a double.
    basic, whole = codes.NUMBER_IN_FLOAT, codes.NUMBER_IN_FLOAT + 8
    if (object.__basicsize__, float.__basicsize__, sys.maxsize) != (basic, whole, 2**63 - 1):
        return False
    kind = Int64.from_address(id(KNOWN) + codes.TYPE_IN_OBJECT).value
    number = Double.from_address(id(KNOWN) + codes.NUMBER_IN_FLOAT).value
    text = Int64.from_address(id("") + codes.TYPE_IN_OBJECT).value
    return (kind, number, text) == (id(float), KNOWN, id(str))


def _find() -> Any:
    api = zeros("q", codes.API_SIZE)
    program = dlopen(None)  # type: ignore[arg-type]
    for place, name in _FUNCTIONS.items():
        api[place] = dlsym(program, name)
    api[codes.FLOAT], api[codes.STR], api[codes.INT] = id(float), id(str), id(int)
    api[codes.ONE] = id(_ONE)
    return api
