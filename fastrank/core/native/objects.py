"""Python's own objects, read and made by kernels through CPython's C API: dicts, floats, arguments.

Elsewhere (another interpreter, or one without a global lock) there is no such way, and the callers
have another.
"""

from __future__ import annotations

import _ctypes
import sys
from _ctypes import addressof, byref
from array import array
from itertools import starmap

from fastrank.core.native import codes
from fastrank.core.native.buffers import NO_EXCEPTION, SIZES, Double, Int64, Single, address, filled
from fastrank.core.native.record import RECORDS, State
from fastrank.core.native.records.objects import PythonApi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from fastrank.core.native.buffers import HoldingFunction

# An unusual float, used to check the memory layout of floats.
KNOWN = 0.1234567890123456
_ONE = 1.0
_FUNCTIONS = {
    "next_item": "PyDict_Next",
    "get_item": "PyDict_GetItemWithError",
    "set_item": "PyDict_SetItem",
    "make_float": "PyFloat_FromDouble",
    "drop_reference": "Py_DecRef",
    "as_utf8": "PyUnicode_AsUTF8AndSize",
    "as_integer": "PyLong_AsLongLongAndOverflow",
    "clear_error": "PyErr_Clear",
    "tuple_item": "PyTuple_GetItem",
    "get_buffer": "PyObject_GetBuffer",
    "release_buffer": "PyBuffer_Release",
}
# Found out once: empty where they cannot be used.
_FOUND: list[PythonApi | None] = []


# In the table of a dict of CPython an entry is hash, key and value, 24 bytes; from 3.11 on the hash
# is left out as long as all keys are str itself.
_ENTRY, _LEAST_ROOM = 24, 8


def python_api() -> PythonApi | None:
    """Functions and types; None where they cannot be used."""
    if not _FOUND:
        _FOUND.append(_find() if _is_as_expected() else None)
    return _FOUND[0]


def _is_as_expected() -> bool:
    """Whether this is CPython with its lock, and its objects lie in memory as they always have."""
    if sys.implementation.name != "cpython" or "t" in getattr(sys, "abiflags", ""):
        return False
    if not hasattr(_ctypes, "dlopen"):  # Windows
        return False
    # An object is a count of references and a type, a float also has a double.
    basic, whole = codes.NUMBER_IN_FLOAT, codes.NUMBER_IN_FLOAT + 8
    if (object.__basicsize__, float.__basicsize__, sys.maxsize) != (basic, whole, 2**63 - 1):
        return False
    kind = Int64.from_address(id(KNOWN) + codes.TYPE_IN_OBJECT).value
    number = Double.from_address(id(KNOWN) + codes.NUMBER_IN_FLOAT).value
    text = Int64.from_address(id("") + codes.TYPE_IN_OBJECT).value
    return (kind, number, text) == (id(float), KNOWN, id(str))


def _find() -> PythonApi:
    program = _ctypes.dlopen(None)  # type: ignore[arg-type]
    functions = {name: _ctypes.dlsym(program, function) for name, function in _FUNCTIONS.items()}
    return PythonApi(**functions, text=id(str), integer=id(int), double=id(float), one=id(_ONE))


def api_with_numpy() -> PythonApi | None:
    """The same with NumPy's types, for which NumPy is imported."""
    api = _FOUND[0] if _FOUND else python_api()
    if api is not None and api.numpy_double == 0:
        api.numpy_double, api.numpy_single = _types_of_numpy()
    return api


def _types_of_numpy() -> tuple[int, int]:
    """NumPy's types of floats if they lie in memory as Python's own; else what no type is."""
    import numpy

    double, single = numpy.float64(KNOWN), numpy.float32(KNOWN)
    values = (
        Double.from_address(id(double) + codes.NUMBER_IN_FLOAT).value,
        Single.from_address(id(single) + codes.NUMBER_IN_FLOAT).value,
    )
    return (id(numpy.float64), id(numpy.float32)) if values == (double, single) else (-1, -1)


def addresses(objects: Iterable[object]) -> array[int]:
    """Where objects lie, for kernels; somebody has to hold them."""
    return array("q", map(id, objects))


def are_small(dicts: list[dict[Any, object]], lengths: list[int]) -> bool:
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
    beside_table = {0: 0}.__sizeof__() - _LEAST_ROOM - _ENTRY * (_LEAST_ROOM * 2 // 3)
    return size < beside_table + room + _ENTRY * (room * 2 // 3)


class Packer:
    """Packs the arguments of one kernel, given the entry point of `pack_arguments`.

    That takes 0.05 us for an array, where Python takes 1 us.
    """

    def __init__(
        self, entry: HoldingFunction, count: int, words: list[str], api: PythonApi
    ) -> None:
        expected = _expected(count, words)
        self._count = count
        # The kernel gets their addresses only.
        self._memory = [*api, *(filled("q", [*column]) for column in zip(*expected, strict=True))]
        parts = [part for memory in self._memory for part in (address(memory), len(memory))]
        arrays = sum(kind > 0 for _, _, kind, _ in expected)
        numbers = sum(kind == codes.INTEGER for _, _, kind, _ in expected)
        # The kernel's own memory lies behind the arguments.
        room = 2 * arrays + numbers + len(expected)
        self._packed_type = Int64 * room
        # All but the two addresses that change.
        self._arguments = (Int64 * (len(parts) + 3))(*parts[:2], 0, *parts[2:], 0, room)
        self._entry = entry

    def pack(self, values: tuple[object, ...]) -> Any | None:
        """Arguments as entry points take them; None if they are not as declared."""
        packed, wrong = self._packed_type(), Int64()
        arguments = type(self._arguments).from_buffer_copy(self._arguments)
        arguments[2], arguments[-2] = id(values), addressof(packed)
        try:
            self._entry(byref(wrong), NO_EXCEPTION, arguments)
        except (TypeError, ValueError, BufferError, IndexError):
            return None
        return packed if wrong.value < 0 and len(values) == self._count else None


def make_packer(entry: HoldingFunction, count: int, words: list[str]) -> Packer | None:
    """A packer for arguments as `call_words` says; None if Python has to pack them."""
    api = python_api()
    # The kernel does not read floats: one kernel takes any.
    return None if api is None or "float64" in words else Packer(entry, count, words, api)


def _expected(count: int, words: list[str]) -> list[list[int]]:
    """The columns of `ExpectedArguments`, a row for each word."""
    rows: list[list[int]] = []
    # A stack, whose last item comes next: the record that has it, and which of its fields it is.
    pending = [(-1, i) for i in reversed(range(count))]
    for row, word in enumerate(words):
        owner = pending.pop()
        if word == "int64":
            rows.append([*owner, codes.INTEGER, 0])
        elif word in SIZES:
            rows.append([*owner, SIZES[word], ord(word)])
        else:
            record = RECORDS[word]
            rows.append([*owner, codes.RECORD, id(record)])
            width = 1 if issubclass(record, State) else len(record.__annotations__)
            pending += [(row, i) for i in reversed(range(width))]
    return rows
