"""Grades and scores of any kind into typed columns."""

from __future__ import annotations

import operator

from fastrank.convert.ids import memory_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from fastrank.convert.ids import Fail

LEAST, MOST = -(2**63), 2**63 - 1
WHAT_TO_DO = "round it, or scale all grades to integers: others cut it off without a word"


def scores_of(values: Any, fail: Fail, *, higher_is_better: bool = True) -> Any:
    """Scores as float64[rows], negated if lower is better. `fail` is called for what is none."""
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
            fail(row, f"score {value!r:.60} is beyond the range of a double")
        except (TypeError, ValueError):
            pass
    return fail(row, f"expected a score, found {type(value).__name__}: {value!r:.60}")


def grades_of(values: Any, fail: Fail) -> Any:
    """Grades as int64[rows]; floats only if they are whole. `fail` is called for what is none."""
    import numpy

    if hasattr(values, "dtype") and values.dtype.kind in "iufb":
        if values.dtype.kind == "f":
            _refuse_fractions(values, fail)
        elif values.dtype.kind == "u" and len(values) and values.max() > MOST:
            grade(values[values.argmax()], int(values.argmax()), fail)
        return memory_of(values.astype("int64"))
    given = list(values)
    if not set(map(type, given)) <= {int, bool}:
        given = [grade(value, row, fail) for row, value in enumerate(given)]
    try:
        return memory_of(numpy.array(given, "int64"))
    except OverflowError:
        row = next(i for i, value in enumerate(given) if not LEAST <= value <= MOST)
        grade(given[row], row, fail)
        raise


def _refuse_fractions(values: Any, fail: Fail) -> None:
    import numpy

    wrong = ~((numpy.floor(values) == values) & (abs(values) < 2.0**63))
    if wrong.any():
        row = int(wrong.argmax())
        grade(float(values[row]), row, fail)


def grade(value: Any, row: int, fail: Fail) -> int:
    """One grade as an integer."""
    kind = type(value)
    found = None
    if hasattr(kind, "__index__") or kind.__name__ in ("bool", "bool_"):
        try:
            found = operator.index(value)
        except TypeError:
            found = int(bool(value)) if kind.__name__ in ("bool", "bool_") else None
    elif hasattr(kind, "__float__") and not isinstance(value, (str, bytes)):
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = float("nan")
        if number != number:
            fail(row, f"expected an integer grade, found {value!r:.60}")
        if not number.is_integer():
            fail(row, f"expected an integer grade, found {value!r:.60}; {WHAT_TO_DO}")
        found = int(number)
    if found is None:
        fail(row, f"expected an integer grade, found {kind.__name__}: {value!r:.60}")
    if not LEAST <= found <= MOST:
        fail(row, f"grade {value!r:.60} does not fit 64 bits")
    return found
