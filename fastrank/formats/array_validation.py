"""Checks of arrays and lists of queries that callers pass, before kernels use them."""

from __future__ import annotations

from fastrank.errors import ArrayError
from fastrank.formats.values import encoded_id, grades_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NoReturn

    import numpy.typing as npt

    from fastrank.data.grade_scale import Scale

    Array = npt.NDArray[Any]

LARGEST = 2**63 - 1


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


def select_groups(offsets: Array, picks: Array) -> tuple[Array, Array]:
    """A mask of the rows of the picked groups (ascending), and the offsets of these groups."""
    import numpy

    sizes = numpy.diff(offsets)
    chosen = numpy.zeros(len(sizes), bool)
    chosen[picks] = True
    group_offsets = numpy.concatenate([numpy.zeros(1, numpy.int64), numpy.cumsum(sizes[picks])])
    return numpy.repeat(chosen, sizes), group_offsets


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
    if len(set(ids)) < len(ids):
        firsts: dict[bytes, int] = {}
        for i, query in enumerate(ids):
            if firsts.setdefault(query, i) != i:
                name = query.decode("utf-8", "replace")
                raise ArrayError("queries", f"duplicate query {name!r}, also at {firsts[query]}", i)
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
