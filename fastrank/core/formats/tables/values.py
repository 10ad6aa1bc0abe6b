"""Convert ids, grades, scores and ranks of any type to texts and typed columns; check arrays."""

from __future__ import annotations

import operator
from array import array
from contextlib import suppress

from fastrank.common.c_numbers import number_of_entire_text
from fastrank.common.messages import brief
from fastrank.core.data.grades import encode_grades
from fastrank.core.data.texts import Texts, encoded, joined, memory_of, spans
from fastrank.core.formats.tables.forms import is_missing
from fastrank.core.formats.trec.strict import advice_on_number
from fastrank.core.native import kernels, records
from fastrank.core.native.buffers import zeros
from fastrank.errors import ArrayError, InputError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, NoReturn

    import numpy.typing as npt

    from fastrank.core.data.grades import Scale
    from fastrank.core.native.records.objects import PythonApi

    Array = npt.NDArray[Any]
    # Raises the error about a row, for a reason.
    Fail = Callable[[int, str], NoReturn]

# Larger ranks may be equal as 32-bit floats, which trec_eval 9.0.8 compares.
LAST_RANK = 2**24
# Marks of missing values in lower case, as spreadsheets, pandas and R write them; and of grades.
MISSING = ("", "-", "\u2013", "\u2014", "na", "n/a", "#n/a", "<na>", "nan", "none", "null")
UNRATED = (*MISSING, "?", "unrated", "unjudged")
NO_ID = "expected an id, found a missing value"
LONGEST_INTEGER = 20
# The usual length of an id, in bytes; longer ones take a second look.
USUAL_LENGTH = 16
# Attributes of the objects of other libraries that name a document.
ID_NAMES = ("node_id", "id", "doc_id", "_id")
NO_IDS = (type(None), bool, float, complex, list, tuple, dict, set, frozenset, bytearray)


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
        return texts_of(given, fail)
    # Columns of other libraries convert to Python objects, with None for missing values.
    values = given.tolist() if hasattr(given, "tolist") else list(given)
    return texts_of_list(values, fail)


def texts_of(values: Any, fail: Fail) -> Texts:
    """The texts of ids in a list or a numpy array. Calls `fail` for invalid ids."""
    if not hasattr(values, "dtype"):
        return texts_of_list(values, fail)
    kind = values.dtype.kind
    if kind in "iu" and (values.dtype.itemsize < 8 or kind == "i"):
        return _texts_of_integers(values)
    if kind in "fb" and len(values):
        fail(0, no_id(values[0].item()))
    # `tolist` converts NumPy strings to Python objects.
    return texts_of_list(values.tolist(), fail)


def _texts_of_integers(values: Any) -> Texts:
    count = len(values)
    numbers = memory_of(values.astype("int64"))
    printed = records.Texts(zeros("B", LONGEST_INTEGER * count), *spans(count))
    size = kernels.print_integers(numbers, printed)
    return Texts(bytes(printed.buffer[:size]), printed.starts, printed.lengths)


def texts_of_list(values: Sequence[Any], fail: Fail) -> Texts:
    """The texts of ids in a list."""
    texts = strings_of(values)
    if texts is not None:
        return texts
    kinds = set(map(type, values))
    if kinds == {int}:
        # Python prints no integers of thousands of digits; the row of one is named below.
        with suppress(ValueError):
            return joined("".join(strings := list(map(str, values))).encode(), strings)
    if kinds == {bytes}:
        return joined(b"".join(values), values)
    # Imported here because the trec_eval command does not need it.
    from functools import partial

    encoded = [encoded_id(value, partial(fail, row)) for row, value in enumerate(values)]
    if len(kinds) > 1:
        _refuse_collisions(values, encoded, fail)
    return joined(b"".join(encoded), encoded)


def _copier(rows: Sequence[Any]) -> PythonApi | None:
    """The function that copies objects of Python from a list; None if that cannot be done."""
    # Imported here because the trec_eval command does not need it.
    from fastrank.core.native.objects import python_api

    return python_api() if type(rows) is list else None


def floats_of(rows: Sequence[Any], place: int = -1) -> Array | None:
    """The floats in a list, or at a place of its tuples, as float64; None if they are others."""
    import numpy

    api, values = _copier(rows), numpy.empty(len(rows))
    return values if api and kernels.copy_floats(api, id(rows), place, values) else None


def strings_of(rows: Sequence[Any], place: int = -1) -> Texts | None:
    """The texts of str in a list, or at a place of its tuples; None if they are others."""
    api, count = _copier(rows), len(rows)
    if api is None:
        return None
    size = USUAL_LENGTH * count
    while True:
        texts = records.Texts(zeros("B", size + 8), *spans(count))
        needed = kernels.copy_strings(api, id(rows), place, texts)
        if needed <= size:
            break
        size = needed
    return Texts(bytes(texts.buffer[:needed]), *texts[1:]) if needed >= 0 else None


def encoded_id(value: Any, fail: Callable[[str], NoReturn]) -> bytes:
    """The text of one id."""
    if isinstance(value, bytes):
        return bytes(value)
    if isinstance(value, str):
        try:
            # A call of `encoded` for each id would take as long again.
            return value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            fail(f"expected an id, found a lone surrogate in {value!r}, which UTF-8 cannot encode")
    kind: Any = type(value)
    if hasattr(kind, "as_py"):
        # An Arrow scalar, whose missing values become None.
        return encoded_id(value.as_py(), fail)
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        # A tensor or an array with one value.
        value = value.item()
        if isinstance(value, (str, bytes)):
            return encoded_id(value, fail)
        kind = type(value)
    if isinstance(value, NO_IDS) or kind.__name__ in ("NAType", "NaTType", "bool", "bool_"):
        fail(no_id(value))
    if hasattr(kind, "__index__") and not hasattr(kind, "__len__"):
        try:
            return b"%d" % operator.index(value)
        except ValueError:
            fail(f"expected an id, found {brief(operator.index(value))}")
    # Floats of other libraries, and arrays.
    if hasattr(kind, "__float__") or hasattr(kind, "__len__"):
        fail(no_id(value))
    if kind.__name__ != "UUID" and not hasattr(kind, "__fspath__"):
        # The text of other objects, such as a document of LangChain, is not what names them.
        name = next((name for name in ID_NAMES if getattr(value, name, None) is not None), None)
        fail(f"{no_id(value)}; pass {f'its {name}' if name else 'its id, or str() of it'}")
    return encoded(str(value))


def tag_of(tag: str | bytes | None, source: str) -> bytes:
    """The name of a run, as bytes."""

    def fail(reason: str) -> NoReturn:
        raise InputError(source, f"tag: {reason}")

    return b"" if tag is None else encoded_id(tag, fail)


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
    if is_missing(value):
        return NO_ID
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


LEAST, LARGEST = -(2**63), 2**63 - 1


def scores_of(values: Any, fail: Fail, *, higher_is_better: bool = True) -> Any:
    """Scores as float64[rows], negated if lower is better. Calls `fail` for invalid scores."""
    import numpy

    if hasattr(values, "dtype") and values.dtype.kind in "fiub":
        scores = values.astype("float64")
    else:
        scores = _floats(list(values), "score", fail)
    missing = numpy.isnan(scores)
    if missing.any():
        fail(int(missing.argmax()), "expected a score, found NaN")
    return memory_of(scores if higher_is_better else -scores)


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
        grade = float(numbers[row])
        fail(row, f"expected a grade, found {grade if grade == grade else 'NaN'}")
    if (numpy.trunc(numbers) == numbers).all():
        return memory_of(_whole(numbers, "grade", fail)), None
    codes, scale = encode_grades(numbers)
    return memory_of(codes), scale


def scores_of_ranks(values: Any, fail: Fail) -> Any:
    """Minus the ranks as float64[rows]. Calls `fail` for invalid ranks."""
    ranks = integers_of(values, "rank", fail)
    wrong = (ranks > LAST_RANK) | (ranks < -LAST_RANK)
    if wrong.any():
        row = int(wrong.argmax())
        fail(row, f"expected a rank of at most {LAST_RANK}, found {ranks[row]}")
    return memory_of(-ranks.astype("float64"))


def integers_of(values: Any, what: str, fail: Fail) -> Any:
    """Whole numbers as int64[rows]; what: their name in messages. Calls `fail` for others."""
    numbers = _array(values, what, fail)
    return _whole(numbers, what, fail) if numbers.dtype.kind == "f" else numbers


def _whole(numbers: Any, what: str, fail: Fail) -> Any:
    """Floats without fractions as int64[rows]."""
    import numpy

    wrong = ~((numpy.floor(numbers) == numbers) & (abs(numbers) < 2.0**63))
    if wrong.any():
        row = int(wrong.argmax())
        found = float(numbers[row])
        if not found.is_integer():
            fail(row, f"expected a {what}, found {found if found == found else 'NaN'}")
        fail(row, f"expected a 64-bit {what}, found {found!r}")
    return numbers.astype("int64")


def _array(values: Any, what: str, fail: Fail) -> Any:
    """Numbers as an array of int64, or of float64 if one of them is a float."""
    import numpy

    kind = values.dtype.kind if hasattr(values, "dtype") else ""
    if kind == "f":
        return values.astype("float64")
    if kind and kind in "ib":
        return values.astype("int64")
    if kind == "u" and (not len(values) or values.max() <= LARGEST):
        return values.astype("int64")
    given = values if type(values) is list else list(values)
    try:
        if given and type(given[0]) is numpy.bool_:
            raise TypeError("numpy before 2 warns of these")
        # Takes integers of any type, and nothing else.
        return numpy.array(array("q", given))
    except (TypeError, OverflowError):
        found = floats_of(given)
    if found is not None:
        return found
    numbers = [_number(value, what, row, fail) for row, value in enumerate(given)]
    if float in set(map(type, numbers)):
        return _floats(numbers, what, fail)
    try:
        return numpy.array(numbers, "int64")
    except OverflowError:
        row = next(i for i, value in enumerate(numbers) if not LEAST <= value <= LARGEST)
        fail(row, f"expected a 64-bit {what}, found {brief(numbers[row])}")


def _floats(given: list[Any], what: str, fail: Fail) -> Any:
    """Numbers of any type as an array of float64."""
    import numpy

    found = floats_of(given)
    if found is not None:
        return found
    if not set(map(type, given)) <= {float}:
        given = [
            _as_float(_number(value, what, row, fail), what, row, fail)
            for row, value in enumerate(given)
        ]
    return numpy.array(given, "float64")


def _as_float(value: float, what: str, row: int, fail: Fail) -> float:
    """An integer or a float as a float; the conversion of what is not a score must be exact."""
    try:
        number = float(value)
    except OverflowError:
        fail(row, f"expected a {what} in the range of a double, found {brief(value)}")
    if what != "score" and isinstance(value, int) and number != value:
        fail(row, f"expected a {what} that is exact as a 64-bit float, found {brief(value)}")
    return number


def _number(value: Any, what: str, row: int, fail: Fail) -> int | float:
    """One number; any kind of integer becomes an int."""
    kind = type(value)
    is_truth = kind.__name__ in ("bool", "bool_")
    if hasattr(kind, "__index__") or is_truth:
        try:
            return int(bool(value)) if is_truth else operator.index(value)
        except TypeError:
            # Not an integer after all, such as a tensor of floats.
            pass
    if hasattr(kind, "__float__") and not isinstance(value, (str, bytes)):
        try:
            return float(value)
        except OverflowError:
            fail(row, f"expected a {what} in the range of a double, found {brief(value)}")
        except (TypeError, ValueError):
            pass
    if isinstance(value, str):
        advice = advice_on_number(value, what)
        if number_of_entire_text(encoded(value)) is not None:
            advice = "write the number without quotes"
        elif what == "grade" and not advice:
            advice = "write 1 for relevant, 0 for not relevant"
            if value.strip().lower() in UNRATED:
                advice = "leave out what nobody has judged"
        return fail(row, f"expected a {what}, found {str(value)!r:.60}{advice and f': {advice}'}")
    found = "a missing value" if is_missing(value) else f"{kind.__name__}: {value!r:.60}"
    return fail(row, f"expected a {what}, found {found}")


def as_rows(
    name: str, given: Any, dimensions: int, table: str = "a table of queries × documents"
) -> Array:
    """The value as an array with this many dimensions; `table` names a two-dimensional one.

    Raises ArrayError, for example for ragged rows.
    """
    import numpy

    try:
        found: Array = numpy.asarray(given)
    except (RuntimeError, TypeError, ValueError) as error:
        lengths = [len(row) for row in given] if isinstance(given, (list, tuple)) else []
        odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is None:
            raise ArrayError(name, f"cannot be converted to an array: {error}") from None
        raise ArrayError(
            name, f"expected {lengths[0]} columns as in row 0, found {lengths[odd]}", odd
        ) from None
    if numpy.ma.is_masked(given):
        place = [int(i) for i in numpy.argwhere(numpy.ma.getmaskarray(given))[0]]
        raise ArrayError(
            name, "the value is masked; expected an array without masked values", *place
        )
    if found.ndim != dimensions:
        expected = {1: "a one-dimensional array", 2: table}[dimensions]
        what = f"shape {found.shape}" if found.ndim else type(given).__name__
        raise ArrayError(name, f"expected {expected}, found {what}")
    return found


def check_integers(name: str, found: Array) -> Array:
    """Raise ArrayError unless the array contains integers: ids are never converted from floats."""
    if found.dtype.kind not in "iu" and found.size:
        raise ArrayError(name, f"expected integers, found {found.dtype}")
    return found


def check_scores(name: str, found: Array) -> Array:
    """Raise ArrayError unless the scores are integers or floats of 16, 32 or 64 bits."""
    exact = found.dtype.kind in "iu" or found.dtype.itemsize <= 8
    if found.dtype.kind not in "iuf" or not exact:
        raise ArrayError(name, f"expected float16, float32 or float64, found {found.dtype}")
    return found


def to_int64(name: str, found: Array) -> Array:
    """Integers as contiguous int64, copied if needed. Raises ArrayError if one is too large."""
    import numpy

    if found.dtype.kind == "u" and found.dtype.itemsize == 8 and found.size:
        largest = numpy.unravel_index(int(found.argmax()), found.shape)
        if found[largest] > LARGEST:
            place = [int(i) for i in largest]
            raise ArrayError(name, f"expected at most 2**63 - 1, found {found[largest]}", *place)
    return numpy.ascontiguousarray(found, numpy.int64)


def selected_integers(name: str, table: Array, rows: Array) -> Array:
    """Some rows of a table as contiguous int64. Raises ArrayError if a value is too large."""
    try:
        return to_int64(name, table[rows])
    except ArrayError as error:
        raise ArrayError(name, error.reason, int(rows[error.row or 0]), error.column) from None


def graded_numbers(name: str, found: Array) -> tuple[Array, Scale | None]:
    """Grades as int64, and their Scale if one has a fraction. Also accepts booleans."""
    import numpy

    if found.dtype.kind == "b" or not found.size:
        return numpy.ascontiguousarray(found, numpy.int64), None
    if found.dtype.kind != "f":
        return to_int64(name, check_integers(name, found)), None

    def fail(row: int, reason: str) -> NoReturn:
        raise ArrayError(name, reason, *map(int, numpy.unravel_index(row, found.shape)))

    codes, scale = grades_of(found.reshape(-1), fail)
    return numpy.asarray(codes).reshape(found.shape), scale


def to_single(scores: Array) -> Array:
    """Scores as 32-bit floats, as in trec_eval 9.0.8; too large ones become infinite."""
    import numpy

    with numpy.errstate(over="ignore"):
        return scores.astype(numpy.float32, order="C", copy=False)


def query_ids(queries: Iterable[object]) -> list[bytes]:
    """Query ids of any type as bytes. Raises ArrayError, also for duplicates."""
    ids: list[bytes] = []
    if isinstance(queries, (str, bytes)):
        raise ArrayError("queries", f"expected a list of ids, found {queries!r:.60}")

    def fail(reason: str) -> NoReturn:
        raise ArrayError("queries", reason, len(ids))

    for query in queries:
        ids.append(encoded_id(query, fail))
    repeat = first_repeat(ids)
    if repeat >= 0:
        name, first = ids[repeat].decode("utf-8", "replace"), ids.index(ids[repeat])
        raise ArrayError("queries", f"duplicate query {name!r}, also at {first}", repeat)
    return ids


def row_numbers(count: int) -> list[bytes]:
    """The ids of unnamed queries: their row numbers, from 0."""
    return " ".join(map(str, range(count))).encode().split()


def row_offsets(name: str, given: Any, rows: int, what: str) -> Array:
    """Offsets as int64, checked to ascend from 0 to `rows`; `what` names the rows in messages."""
    import numpy

    found = to_int64(name, check_integers(name, as_rows(name, given, 1)))
    if len(found) == 0 or found[0] != 0:
        first = found[0] if len(found) else "an empty array"
        raise ArrayError(name, f"expected 0 as the first offset, found {first}", 0)
    falls = numpy.flatnonzero(found[1:] < found[:-1])
    if len(falls):
        i = int(falls[0]) + 1
        raise ArrayError(
            name, f"expected ascending offsets, found {found[i]} after {found[i - 1]}", i
        )
    if found[-1] != rows:
        reason = f"expected the number of {what}, {rows}, as the last offset, found {found[-1]}"
        raise ArrayError(name, reason, len(found) - 1)
    return found
