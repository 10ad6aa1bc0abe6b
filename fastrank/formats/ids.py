"""Convert ids of any type to texts."""

from __future__ import annotations

import operator

from fastrank.data.texts import Texts, joined, memory_of, spans
from fastrank.errors import ArrayError
from fastrank.native import kernels, records
from fastrank.native.buffers import zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, NoReturn

    # Raises the error about a row, for a reason.
    Fail = Callable[[int, str], NoReturn]

LONGEST_INTEGER = 20
NO_IDS = (type(None), bool, float, complex, list, tuple, dict, set, frozenset, bytearray)


def texts_of(values: Any, fail: Fail) -> Texts:
    """The texts of ids in a list or a numpy array. Calls `fail` for invalid ids."""
    return texts_of_array(values, fail) if hasattr(values, "dtype") else texts_of_list(values, fail)


def texts_of_ids(argument: str, given: Any) -> Texts:
    """The texts of ids in an array, a list, or a column of any library. Raises ArrayError."""
    import numpy

    def fail(row: int, reason: str) -> NoReturn:
        raise ArrayError(argument, reason, row)

    if isinstance(given, (str, bytes)):
        raise ArrayError(argument, f"expected a list of ids, found {given!r:.60}")
    if isinstance(given, (set, frozenset)) or not hasattr(given, "__iter__"):
        found = type(given).__name__
        without = ", which has no order" if hasattr(given, "__iter__") else ""
        raise ArrayError(argument, f"expected a list of ids, found {found}{without}")
    if getattr(given, "ndim", 1) != 1:
        raise ArrayError(
            argument, f"expected a one-dimensional array, found shape {tuple(given.shape)}"
        )
    if isinstance(given, numpy.ndarray) and not numpy.ma.isMaskedArray(given):
        return texts_of_array(given, fail)
    # Columns of other libraries convert to Python objects, with None for missing values.
    values = given.tolist() if hasattr(given, "tolist") else list(given)
    return texts_of_list(values, fail)


def texts_of_array(values: Any, fail: Fail) -> Texts:
    """The texts of ids in a numpy array."""
    kind = values.dtype.kind
    if kind in "iu" and (values.dtype.itemsize < 8 or kind == "i"):
        return _texts_of_integers(values)
    if kind in "fb" and len(values):
        fail(0, no_id(values[0].item()))
    # `tolist` converts NumPy strings to Python objects.
    return texts_of_list(values.tolist(), fail)


def _texts_of_integers(values: Any) -> Texts:
    count = len(values)
    numbers = zeros("q", count)
    printed = records.Texts(zeros("B", LONGEST_INTEGER * count), *spans(count))
    if count:
        numbers[:] = memory_of(values.astype("int64"))
    size = kernels.print_integers(numbers, printed)
    return Texts(bytes(printed.buffer[:size]), printed.starts, printed.lengths)


def texts_of_list(values: Sequence[Any], fail: Fail) -> Texts:
    """The texts of ids in a list."""
    kinds = set(map(type, values))
    if kinds == {int}:
        return joined("".join(strings := list(map(str, values))).encode(), strings)
    if kinds == {str}:
        try:
            whole = "".join(values).encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            whole = b""
        if len(whole) == sum(map(len, values)):
            return joined(whole, values)
    elif kinds == {bytes}:
        return joined(b"".join(values), values)
    encoded = [_encoded(value, row, fail) for row, value in enumerate(values)]
    if len(kinds) > 1:
        _refuse_collisions(values, encoded, fail)
    return joined(b"".join(encoded), encoded)


def encoded_id(value: Any, fail: Callable[[str], NoReturn]) -> bytes:
    """The text of one id."""
    return _encoded(value, 0, lambda _, reason: fail(reason))


def _encoded(value: Any, row: int, fail: Fail) -> bytes:
    if isinstance(value, bytes):
        return bytes(value)
    if isinstance(value, str):
        try:
            return value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            fail(
                row,
                f"expected an id, found a lone surrogate in {value!r}, which UTF-8 cannot encode",
            )
    kind: Any = type(value)
    if hasattr(kind, "as_py"):
        # An Arrow scalar, whose missing values become None.
        return _encoded(value.as_py(), row, fail)
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        # A tensor or an array with one value.
        value = value.item()
        if isinstance(value, (str, bytes)):
            return _encoded(value, row, fail)
        kind = type(value)
    if isinstance(value, NO_IDS) or kind.__name__ in ("NAType", "NaTType", "bool", "bool_"):
        fail(row, no_id(value))
    if hasattr(kind, "__index__") and not hasattr(kind, "__len__"):
        return b"%d" % operator.index(value)
    # Floats of other libraries, and arrays.
    if hasattr(kind, "__float__") or hasattr(kind, "__len__"):
        fail(row, no_id(value))
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        fail(row, no_id(value))
    return str(value).encode("utf-8", "surrogateescape")


def first_repeat(ids: Iterable[Any]) -> int:
    """The index of the first duplicate id, or -1."""
    known = set()
    for place, text_id in enumerate(ids):
        if text_id in known:
            return place
        known.add(text_id)
    return -1


def no_id(value: Any) -> str:
    """The reason why a value is not a valid id."""
    kind = type(value).__name__
    if value is None or kind in ("NAType", "NaTType") or value != value:
        return f"expected an id, found the missing value {value!r}"
    if hasattr(value, "is_integer") and not hasattr(value, "__index__"):
        return (
            f"expected an id, found the float {value!r}; use integers or strings (pandas converts"
            " integers to floats in columns with missing values)"
        )
    return f"expected an id (str, bytes or int), found {kind}: {value!r:.60}"


def _refuse_collisions(values: Sequence[Any], encoded: list[bytes], fail: Fail) -> None:
    """Call `fail` for ids of different types with the same text, such as 1 and "1"."""
    known: dict[bytes, tuple[str, Any]] = {}
    for row, (value, text) in enumerate(zip(values, encoded, strict=True)):
        kind = _kind(value)
        first_kind, first = known.setdefault(text, (kind, value))
        if kind != first_kind:
            fail(row, f"{value!r} and {first!r} are the same id as text; use ids of one type")


def _kind(value: Any) -> str:
    if isinstance(value, (str, bytes)):
        return "str" if isinstance(value, str) else "bytes"
    return "integer" if hasattr(type(value), "__index__") else type(value).__name__
