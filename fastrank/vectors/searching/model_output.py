"""Convert the output of models, and embeddings from callers, to rows of float32."""

from __future__ import annotations

import numpy

from fastrank.errors import ArrayError
from fastrank.vectors.searching.vectors import as_csr, is_sparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]


def as_vectors(
    given: Any,
    name: str,
    ids: Sequence[str],
    first: int = 0,
    by: str = "",
    *,
    keep_sparse: bool = False,
) -> Any:
    """Vectors as float32[rows, dimension], one per id.

    given: an array or tensor of any float or signed integer type, on any device, a sparse matrix or
        tensor, or a list or iterator of rows. name, first, by: for messages, the name of the rows,
        the number of the first one, and what made them. keep_sparse: convert sparse vectors to a
        scipy CSR matrix of float32 instead of an array.

    Raises ArrayError, which names row, column and id, for the wrong number of rows, rows of
    different lengths, NaN and infinite values.
    """
    made_by = f" from {by}" if by else ""

    def fail(reason: str, row: int | None = None, column: int | None = None) -> ArrayError:
        where = ""
        if row is not None:
            where = f"{ids[row]!r:.60}: "
            row += first
        return ArrayError(name, f"{where}{reason}{made_by}", row, column)

    matrix: Any = as_csr(given) if keep_sparse and is_sparse(given) else None
    try:
        found = _as_array(given) if matrix is None else matrix
    except (TypeError, ValueError) as error:
        reason = f"expected vectors, found {type(given).__name__}, which is not array-like"
        raise fail(f"{reason}: {error}") from None
    if isinstance(found, list):
        lengths = [row.shape for row in found]
        odd = next((i for i, shape in enumerate(lengths) if shape != lengths[0]), None)
        if odd is not None:
            row = odd if odd < len(ids) else None
            raise fail(f"expected shape {lengths[0]}, as in row 0, found {lengths[odd]}", row)
        found = numpy.stack(found) if found else numpy.zeros((0, 0))
    if found.dtype.kind not in "fi":
        packed = " (packed bits?)" if found.dtype.kind == "u" else ""
        raise fail(f"expected float vectors, found {found.dtype}{packed}")
    if found.ndim != 2:
        raise fail(f"expected one vector for each of {len(ids)} texts, found shape {found.shape}")
    if found.shape[0] != len(ids):
        raise fail(f"expected {len(ids)} vectors, one per text, found {found.shape[0]}")
    if not found.shape[1]:
        raise fail("expected vectors, found no columns")
    if matrix is not None:
        strange = numpy.flatnonzero(~numpy.isfinite(matrix.data))
        if len(strange):
            place = int(strange[0])
            row = int(numpy.searchsorted(matrix.indptr, place, "right")) - 1
            reason = f"expected a finite 32-bit float, found {matrix.data[place]}"
            raise fail(reason, row, int(matrix.indices[place]))
        return matrix
    with numpy.errstate(over="ignore"):
        rows = numpy.ascontiguousarray(found, numpy.float32)
    with numpy.errstate(invalid="ignore"):
        # The sum is finite only if all values are; doubles, because the sum of floats may overflow.
        total = rows.sum(dtype=numpy.float64)
    if not numpy.isfinite(total):
        row, column = (int(i) for i in numpy.argwhere(~numpy.isfinite(rows))[0])
        raise fail(f"expected a finite 32-bit float, found {found[row, column]}", row, column)
    return rows


def _as_array(given: Any) -> Any:
    """A numpy array, or a list of arrays."""
    if hasattr(given, "detach"):
        # torch: detach, and move to the CPU; numpy has no bfloat16.
        given = given.detach().cpu()
        given = given.to_dense() if is_sparse(given) else given
        return (given.float() if given.is_floating_point() else given).numpy()
    if hasattr(given, "toarray"):
        return given.toarray()
    if hasattr(given, "dtype") or hasattr(given, "__array__"):
        return numpy.asarray(given)
    rows = [_as_array(row) if hasattr(row, "detach") else numpy.asarray(row) for row in given]
    return [row.astype(float) if row.dtype.kind == "O" else row for row in rows]
