"""Convert the output of models, and embeddings from callers, to rows of float32."""

from __future__ import annotations

import numpy

from fastrank.errors import ArrayError
from fastrank.vectors.searching.vectors import as_csr, is_sparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def as_vectors(
    output: object,
    name: str,
    ids: Sequence[str],
    first: int = 0,
    by: str = "",
    *,
    keep_sparse: bool = False,
) -> Any:
    """Vectors as float32[rows, dimension], one per id.

    output: an array or tensor of any float or signed integer type, on any device, a sparse matrix
        or tensor, or a list or iterator of rows. name, first, by: for messages, the name of the
        rows, the number of the first one, and what made them. keep_sparse: convert sparse vectors
        to a scipy CSR matrix of float32 instead of an array.

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

    matrix = as_csr(output) if keep_sparse and is_sparse(output) else None
    try:
        array = _as_array(output) if matrix is None else matrix
    except (TypeError, ValueError) as error:
        reason = f"expected vectors, found {type(output).__name__}, which is not array-like"
        raise fail(f"{reason}: {error}") from None
    if isinstance(array, list):
        lengths = [row.shape for row in array]
        odd = next((i for i, shape in enumerate(lengths) if shape != lengths[0]), None)
        if odd is not None:
            row = odd if odd < len(ids) else None
            raise fail(f"expected shape {lengths[0]}, as in row 0, found {lengths[odd]}", row)
        array = numpy.stack(array) if array else numpy.zeros((0, 0))
    if array.dtype.kind not in "fi":
        packed = " (packed bits?)" if array.dtype.kind == "u" else ""
        raise fail(f"expected float vectors, found {array.dtype}{packed}")
    if array.ndim != 2:
        raise fail(f"expected one vector for each of {len(ids)} texts, found shape {array.shape}")
    if array.shape[0] != len(ids):
        raise fail(f"expected {len(ids)} vectors, one per text, found {array.shape[0]}")
    if not array.shape[1]:
        raise fail("expected vectors, found no columns")
    if matrix is not None:
        strange = numpy.flatnonzero(~numpy.isfinite(matrix.data))
        if len(strange):
            position = int(strange[0])
            row = int(numpy.searchsorted(matrix.indptr, position, "right")) - 1
            reason = f"expected a finite 32-bit float, found {matrix.data[position]}"
            raise fail(reason, row, int(matrix.indices[position]))
        return matrix
    with numpy.errstate(over="ignore"):
        rows = numpy.ascontiguousarray(array, numpy.float32)
    with numpy.errstate(invalid="ignore"):
        # The sum is finite only if all values are; doubles, because the sum of floats may overflow.
        total = rows.sum(dtype=numpy.float64)
    if not numpy.isfinite(total):
        row, column = (int(i) for i in numpy.argwhere(~numpy.isfinite(rows))[0])
        raise fail(f"expected a finite 32-bit float, found {array[row, column]}", row, column)
    return rows


def _as_array(output: Any) -> Any:
    """A numpy array, or a list of arrays."""
    if hasattr(output, "detach"):
        # torch: detach, and move to the CPU; numpy has no bfloat16.
        output = output.detach().cpu()
        output = output.to_dense() if is_sparse(output) else output
        return (output.float() if output.is_floating_point() else output).numpy()
    if hasattr(output, "toarray"):
        return output.toarray()
    if hasattr(output, "dtype") or hasattr(output, "__array__"):
        return numpy.asarray(output)
    rows = [_as_array(row) if hasattr(row, "detach") else numpy.asarray(row) for row in output]
    return [row.astype(float) if row.dtype.kind == "O" else row for row in rows]
