"""Checks of labels and scores, which become arrays."""

from __future__ import annotations

import numpy

from fastrank.errors import ArrayError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]


def label_array(name: str, labels: Any) -> Array:
    """Labels as a one-dimensional array of integers, floats, bools or str. Raises ArrayError."""
    given = labels if hasattr(labels, "dtype") else list(labels)
    if isinstance(given, list):
        kinds = {str if isinstance(label, str) else type(label) for label in given}
        if str in kinds and len(kinds) > 1:
            found = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise ArrayError(name, f"expected labels of one type, found {found}")
    array = numpy.asarray(given)
    if array.dtype.kind == "O" and hasattr(labels, "dtype"):
        return label_array(name, array.tolist())
    if array.ndim != 1:
        raise ArrayError(name, f"expected one dimension, found {array.ndim}")
    if array.dtype.kind not in "biufUS":
        raise ArrayError(name, "expected labels that are numbers or str")
    if array.dtype.kind == "f" and numpy.isnan(array).any():
        raise ArrayError(name, "the label is NaN", int(numpy.isnan(array).argmax()))
    return array


def same_length(name: str, array: Array, other_name: str, other: Array) -> None:
    """Raise ArrayError unless the arrays have the same length, which is not 0."""
    if len(array) != len(other):
        raise ArrayError(
            other_name, f"expected {len(array)} values, as in {name}, found {len(other)}"
        )
    if not len(array):
        raise ArrayError(name, "expected at least one value, found none")


def codes(name: str, labels: Any, other_name: str, others: Any) -> tuple[Array, Array, Array]:
    """The sorted distinct labels, and the position of each label and each other label in it."""
    first, second = label_array(name, labels), label_array(other_name, others)
    same_length(name, first, other_name, second)
    if (first.dtype.kind in "US") != (second.dtype.kind in "US"):
        raise ArrayError(other_name, f"expected labels of the same type as in {name}")
    both = numpy.concatenate([first, second])
    classes, numbers = numpy.unique(both, return_inverse=True)
    return classes, numbers[: len(first)], numbers[len(first) :]


def number_array(name: str, values: Any) -> Array:
    """Finite numbers as a one-dimensional array of float64, or of float32 as given."""
    try:
        given = values if hasattr(values, "dtype") else list(values)
        array = numpy.asarray(given)
        array = array.astype(numpy.result_type(array.dtype, numpy.float32), copy=False)
    except (TypeError, ValueError) as error:
        raise ArrayError(name, "expected numbers") from error
    if array.ndim != 1:
        raise ArrayError(name, f"expected one dimension, found {array.ndim}")
    if array.dtype.kind != "f":
        for row, value in enumerate(given):
            if isinstance(value, str):
                raise ArrayError(name, f"expected a number, found str: {str(value)!r:.60}", row)
        raise ArrayError(name, f"expected numbers, found {array.dtype}")
    # Both are NaN if any number is.
    if len(array) and not (numpy.isfinite(array.min()) and numpy.isfinite(array.max())):
        row = int((~numpy.isfinite(array)).argmax())
        raise ArrayError(name, f"expected a finite number, found {array[row]}", row)
    return array


def binary_array(name: str, labels: Any) -> Array:
    """Labels 0 and 1, also as text, as an array of bool. Raises ArrayError for others."""
    array = label_array(name, labels)
    if array.dtype.kind in "US":
        array = numpy.char.strip(array.astype(str))
        positive, negative = numpy.isin(array, ("1", "1.0")), numpy.isin(array, ("0", "0.0"))
    else:
        positive, negative = array == 1, array == 0
    bad = ~(positive | negative)
    if bad.any():
        row = int(bad.argmax())
        raise ArrayError(name, f"expected labels 0 and 1, found {array[row]!s:.40}", row)
    return positive
