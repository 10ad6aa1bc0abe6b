"""Python's own dicts and floats, read and made by kernels through CPython's C API.

Elsewhere (another interpreter, or one without a global lock) there is no such way, and the callers
have another.
"""

from __future__ import annotations

from array import array
from itertools import repeat, starmap

from fastrank.native import codes, kernels
from fastrank.native.buffers import address
from fastrank.native.c_interface import Double, Single
from fastrank.native.python_api import KNOWN, python_api

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# In the table of a dict of CPython an entry is hash, key and value, 24 bytes; from 3.11 on the hash
# is left out as long as all keys are str itself. What a dict has beside its table:
_ENTRY, _LEAST_ROOM = 24, 8
_BESIDE_TABLE = {0: 0}.__sizeof__() - _LEAST_ROOM - _ENTRY * (_LEAST_ROOM * 2 // 3)
# Numbers up to which dicts are made of them sooner without a kernel.
_FEW = 64


class _Interpreter:
    """What kernels have to know about the interpreter."""

    def api(self) -> Any | None:
        """Functions and types as `api` in native/codes.py; None where they cannot be used."""
        api = python_api()
        if api is not None and api[codes.FLOAT64] == 0:
            api[codes.FLOAT64], api[codes.FLOAT32] = _types_of_numpy()
        return api


def _types_of_numpy() -> tuple[int, int]:
    """NumPy's types of floats if they lie in memory as Python's own; else what no type is."""
    import numpy

    double, single = numpy.float64(KNOWN), numpy.float32(KNOWN)
    found = (
        Double.from_address(id(double) + codes.NUMBER_IN_FLOAT).value,
        Single.from_address(id(single) + codes.NUMBER_IN_FLOAT).value,
    )
    return (id(numpy.float64), id(numpy.float32)) if found == (double, single) else (-1, -1)


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
    if count * len(columns) <= _FEW:
        return [
            {name: values[first + i * step] for name, (values, first, step) in columns.items()}
            for i in range(count)
        ]
    api = interpreter.api()
    if api is None:
        listed = [
            values.tolist()[first : first + step * count : step]
            if step
            else [values[first]] * count
            for values, first, step in columns.values()
        ]
        return [dict(zip(columns, row)) for row in zip(*listed, strict=True)]  # noqa: B905
    made: list[dict[str, Any]] = list(map(dict.copy, repeat(dict.fromkeys(columns, 0.0), count)))
    places = array("q", [address(values) + 8 * first for values, first, _ in columns.values()])
    steps = array("q", [8 * step for _, _, step in columns.values()])
    kernels.fill_dicts(api, addresses(made), addresses(columns), places, steps)
    return made
