"""Convert grades, scores and ranks of any type to typed columns."""

from __future__ import annotations

import operator

from fastrank.data.grade_scale import encode_grades
from fastrank.data.texts import memory_of
from fastrank.formats.run_order import LAST_RANK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from fastrank.data.grade_scale import Scale
    from fastrank.formats.ids import Fail

LEAST, MOST = -(2**63), 2**63 - 1


def scores_of(values: Any, fail: Fail, *, higher_is_better: bool = True) -> Any:
    """Scores as float64[rows], negated if lower is better. Calls `fail` for invalid scores."""
    import numpy

    if hasattr(values, "dtype") and values.dtype.kind in "fiub":
        scores = values.astype("float64")
    else:
        scores = numpy.array(_floats(list(values), fail), "float64")
    missing = numpy.isnan(scores)
    if missing.any():
        fail(int(missing.argmax()), "expected a score, found NaN")
    return memory_of(scores if higher_is_better else -scores)


def _floats(values: list[Any], fail: Fail) -> Sequence[Any]:
    if set(map(type, values)) <= {float}:
        return values
    return [_float(value, row, fail) for row, value in enumerate(values)]


def _float(value: Any, row: int, fail: Fail) -> float:
    if not isinstance(value, (str, bytes)) and hasattr(value, "__float__"):
        try:
            return float(value)
        except OverflowError:
            fail(row, f"expected a score in the range of a double, found {value!r:.60}")
        except (TypeError, ValueError):
            pass
    return fail(row, f"expected a score, found {type(value).__name__}: {value!r:.60}")


def grades_of(values: Any, fail: Fail) -> tuple[Any, Scale | None]:
    """Grades as int64[rows], and their Scale if one has a fraction.

    Calls `fail` for invalid grades.
    """
    import numpy

    numbers = _array(values, "grade", fail)
    if numbers.dtype.kind != "f":
        return memory_of(numbers), None
    strange = ~numpy.isfinite(numbers)
    if strange.any():
        row = int(strange.argmax())
        fail(row, f"expected a grade, found {float(numbers[row])!r}")
    if (numpy.trunc(numbers) == numbers).all():
        return _whole(numbers, "grade", fail), None
    codes, scale = encode_grades(numbers)
    return memory_of(codes), scale


def ranks_of(values: Any, fail: Fail) -> Any:
    """Ranks as int64[rows]. Calls `fail` for invalid ranks."""
    import numpy

    numbers = _array(values, "rank", fail)
    ranks = _whole(numbers, "rank", fail) if numbers.dtype.kind == "f" else memory_of(numbers)
    wrong = (numpy.asarray(ranks) > LAST_RANK) | (numpy.asarray(ranks) < -LAST_RANK)
    if wrong.any():
        row = int(wrong.argmax())
        fail(row, f"expected a rank of at most {LAST_RANK}, found {ranks[row]}")
    return ranks


def _whole(numbers: Any, what: str, fail: Fail) -> Any:
    """Floats without fractions as int64[rows]."""
    import numpy

    wrong = ~((numpy.floor(numbers) == numbers) & (abs(numbers) < 2.0**63))
    if wrong.any():
        row = int(wrong.argmax())
        found = float(numbers[row])
        if not found.is_integer():
            fail(row, f"expected a {what}, found {found!r}")
        fail(row, f"expected a 64-bit {what}, found {found!r}")
    return memory_of(numbers.astype("int64"))


def _array(values: Any, what: str, fail: Fail) -> Any:
    """Numbers as an array of int64, or of float64 if one of them is a float."""
    import numpy

    kind = values.dtype.kind if hasattr(values, "dtype") else ""
    if kind == "f":
        return values.astype("float64")
    if kind and kind in "ib":
        return values.astype("int64")
    if kind == "u" and (not len(values) or values.max() <= MOST):
        return values.astype("int64")
    given = list(values)
    kinds = set(map(type, given))
    if not (kinds <= {int, bool} or kinds == {float}):
        given = [_number(value, what, row, fail) for row, value in enumerate(given)]
        kinds = set(map(type, given))
    if kinds == {float}:
        return numpy.array(given, "float64")
    if float in kinds:
        floats = [_as_float(value, what, row, fail) for row, value in enumerate(given)]
        return numpy.array(floats, "float64")
    try:
        return numpy.array(given, "int64")
    except OverflowError:
        row = next(i for i, value in enumerate(given) if not LEAST <= value <= MOST)
        fail(row, f"expected a 64-bit {what}, found {given[row]!r:.60}")


def _as_float(value: float, what: str, row: int, fail: Fail) -> float:
    """An integer or a float as a float, if the conversion is exact."""
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if isinstance(value, int) and number != value:
        fail(row, f"expected a {what} that is exact as a 64-bit float, found {value!r:.60}")
    return number


def _number(value: Any, what: str, row: int, fail: Fail) -> int | float:
    """One number; any kind of integer becomes an int."""
    kind = type(value)
    is_truth = kind.__name__ in ("bool", "bool_")
    if hasattr(kind, "__index__") or is_truth:
        try:
            return int(bool(value)) if is_truth else operator.index(value)
        except TypeError:
            pass
    elif hasattr(kind, "__float__") and not isinstance(value, (str, bytes)):
        try:
            return float(value)
        except (OverflowError, TypeError, ValueError):
            pass
    return fail(row, f"expected a {what}, found {kind.__name__}: {value!r:.60}")
