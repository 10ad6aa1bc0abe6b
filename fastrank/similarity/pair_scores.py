"""Similarities of the vectors of each row."""

from __future__ import annotations

import numpy

from fastrank.errors import ArrayError
from fastrank.native import kernels
from fastrank.native.threads import default_threads, in_threads
from fastrank.similarity.options import DISTANCES, SIMILARITIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]

# Values of both vectors for which a thread pays off.
WORTH_A_THREAD = 1 << 18


def similarities_of(one: Array, other: Array, wanted: tuple[str, ...]) -> dict[str, Array]:
    """The similarities of rows of equal shape, as float32[rows]; distances are negative.

    They are the same for any number of threads. Raises ArrayError for values that are not finite.
    """
    rows = len(one)
    found: dict[str, Array] = {}
    for kernel, names in (
        (kernels.products_of_pairs, SIMILARITIES[:2]),
        (kernels.distances_of_pairs, DISTANCES),
    ):
        columns = [numpy.empty(rows * (name in wanted), numpy.float32) for name in names]
        if any(map(len, columns)):
            _run(kernel, one, other, columns)
            found |= dict(zip(names, columns, strict=True))
    for name in wanted:
        values = found[name]
        # Both are NaN if any value is.
        if not (numpy.isfinite(values.min()) and numpy.isfinite(values.max())):
            _refuse(one, other, int((~numpy.isfinite(values)).argmax()))
    return {name: found[name] for name in wanted}


def _run(kernel: Any, one: Array, other: Array, columns: list[Array]) -> None:
    rows, width = one.shape
    flat = one.reshape(-1), other.reshape(-1)
    count = default_threads(2 * one.size, WORTH_A_THREAD)

    def work(part: int) -> None:
        first, last = (rows * edge // count for edge in (part, part + 1))
        kernel(*flat, width, first, last, *columns)

    in_threads(work, count)


def _refuse(one: Array, other: Array, row: int) -> None:
    for number, vectors in enumerate((one, other), 1):
        bad = ~numpy.isfinite(vectors[row])
        if bad.any():
            column = int(bad.argmax())
            reason = f"expected finite values, found {vectors[row, column]}"
            raise ArrayError(f"vectors of text {number}", reason, row, column)
    raise ArrayError("vectors", "the products of the values are too large for 32-bit floats", row)
