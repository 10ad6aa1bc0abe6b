"""Read vectors of callers in checked blocks of float32."""

from __future__ import annotations

import os

import numpy

from fastrank.core.formats.tables.values import as_rows
from fastrank.errors import ArrayError, OptionError
from fastrank.vectors.searching.npy_files import load_npy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    import numpy.typing as npt
    from scipy.sparse import csr_matrix

    from fastrank.common.arrays import Array
    from fastrank.common.choices import Metric

    VectorsLike = npt.ArrayLike | str | os.PathLike[str] | Any
    """Vectors, floats[n, dimension]: an array, the path of a `.npy` file, an iterator of blocks, or
    a sparse matrix of scipy or tensor of torch. See [Embeddings](../embeddings.md)."""

TABLE = "a table of vectors"
METRICS = ("ip", "l2", "cosine")
DEFAULT_METRIC: Metric = "cosine"
# Names of metrics in other libraries.
SYNONYMS = {
    "dot": "ip",
    "cos": "cosine",
    "cosine_similarity": "cosine",
    "euclidean": "l2",
}
# Values of a block: 64 MB as float32.
BLOCK_VALUES = 1 << 24
# The squared distance of two vectors of this length still fits a 32-bit float.
LARGEST_LENGTH = 9e18
# The product of two shorter vectors may underflow to 0 as a 32-bit float.
SMALLEST_LENGTH = 1.1e-19


def check_metric(metric: str | None) -> Metric:
    """The metric by its name or a synonym, by default the cosine. Raises OptionError for others."""
    name: Any = DEFAULT_METRIC if metric is None else metric
    name = SYNONYMS.get(name, name) if isinstance(name, str) else name
    if name not in METRICS:
        raise OptionError("metric", f"expected 'ip', 'l2' or 'cosine', found {metric!r}")
    return name  # type: ignore[no-any-return]


class Vectors:
    """Rows of the same dimension, to be read in blocks.

    name: of the argument, for errors. count: the number of rows, None if unknown before the end.
    repeatable: whether they can be read more than once. zeros: the rows of the zero vectors among
    those that were normalized.
    """

    name: str
    zeros: frozenset[int] = frozenset()
    dimension: int
    count: int | None
    repeatable: bool

    def raw(self, size: int, selected: Array | None = None) -> Iterator[tuple[Array, Array]]:
        """Row numbers and rows in the given type, up to `size` at a time; all rows or some."""
        raise NotImplementedError

    def blocks(
        self, size: int, *, unit: bool, selected: Array | None = None, check: bool = True
    ) -> Iterator[tuple[Array, Array]]:
        """Row numbers and rows as contiguous float32; `unit`: normalized to length 1.

        With `unit`, zero vectors stay zero, so that their similarity to all others is 0. A block
        may be the caller's memory or be overwritten by the next one; copy it to keep it. Raises
        ArrayError, unless all rows were checked before, for NaN and infinite values, and vectors
        too long or too short for products as 32-bit floats.
        """
        for rows, raw in self.raw(size, selected):
            yield rows, self._as_float32(rows, raw, unit=unit, check=check)

    def _as_float32(self, rows: Array, raw: Array, *, unit: bool, check: bool) -> Array:
        with numpy.errstate(all="ignore"):
            block = numpy.ascontiguousarray(raw, numpy.float32)
            # One fast pass over the block; suspicious rows are checked again.
            least = SMALLEST_LENGTH**2 * len(block)
            if check and not least <= numpy.vdot(block, block) < LARGEST_LENGTH:
                _refuse_odd(self.name, rows, raw, block, unit=unit)
            if not unit:
                return block
            norms = numpy.sqrt(numpy.einsum("ij,ij->i", block, block, dtype=numpy.float64))
            if not norms.all():
                self.zeros |= frozenset(rows[norms == 0].tolist())
                norms[norms == 0] = 1.0
            scaled = numpy.empty_like(block)
            numpy.divide(block, norms[:, None], out=scaled, casting="unsafe")
            return scaled

    def check(self, *, unit: bool, selected: Array | None = None) -> None:
        """Check all rows, if they can be read again. Raises ArrayError."""
        if self.repeatable:
            for _ in self.blocks(block_rows(self.dimension), unit=unit, selected=selected):
                pass


def block_rows(dimension: int) -> int:
    """The number of rows of a block."""
    return max(1, BLOCK_VALUES // max(1, dimension))


def check_dimension(queries: Vectors, dimension: int) -> None:
    """Raise ArrayError if queries and corpus have different dimensions."""
    if queries.dimension != dimension:
        raise ArrayError(
            queries.name,
            f"expected {dimension} columns, as in the corpus, found {queries.dimension}",
        )


def open_vectors(name: str, source: Any) -> Vectors:
    """Open the vectors of an array, a memory map, a `.npy` file or an iterator of blocks.

    Also of a scipy sparse matrix or a sparse torch tensor. Raises ArrayError and ReadError.
    """
    if isinstance(source, Vectors):
        return source
    if is_sparse(source):
        return SparseRows(name, source)
    if isinstance(source, (str, os.PathLike)):
        return Rows(name, load_npy(os.fspath(source), mapped=True))
    if hasattr(source, "ntotal"):
        kind = type(source).__name__
        raise ArrayError(
            name,
            f"expected vectors, found a faiss {kind}; pass it as the corpus of search or"
            " evaluate_embeddings",
        )
    blocks = hasattr(source, "__iter__") and not hasattr(source, "__array__")
    if isinstance(source, (list, tuple)):
        blocks = bool(source) and getattr(source[0], "ndim", 1) == 2
    return Blocks(name, source) if blocks else Rows(name, as_rows(name, source, 2, TABLE))


def is_sparse(value: object) -> bool:
    """Whether this is a scipy sparse matrix or a sparse torch tensor."""
    tensor = getattr(value, "is_sparse", False) or getattr(value, "is_sparse_csr", False)
    return bool(tensor) or hasattr(value, "toarray")


def as_csr(source: Any) -> csr_matrix:
    """Convert a sparse matrix or tensor to a scipy CSR matrix of float32 without stored zeros."""
    if hasattr(source, "detach"):
        from scipy import sparse

        tensor = source.detach().cpu().to_sparse_coo().coalesce()
        values = tensor.values().float().numpy()
        matrix = sparse.csr_matrix((values, tensor.indices().numpy()), tuple(tensor.shape))
    else:
        # Values that do not fit become infinite, which the check of the rows names.
        with numpy.errstate(over="ignore"):
            matrix = source.tocsr().astype(numpy.float32)
    matrix.eliminate_zeros()
    return matrix


def _check_kind(name: str, rows: Array) -> None:
    if rows.ndim != 2:
        raise ArrayError(name, f"expected {TABLE}, found shape {rows.shape}")
    if rows.dtype.kind not in "fiu":
        raise ArrayError(name, f"expected float vectors, found {rows.dtype}")
    if not rows.shape[1]:
        raise ArrayError(name, "expected at least one column, found none")


class Rows(Vectors):
    """The rows of an array, which may be mapped from a file."""

    repeatable = True

    def __init__(self, name: str, rows: Array) -> None:
        _check_kind(name, rows)
        self.name, self.rows = name, rows
        self.count, self.dimension = rows.shape
        # The memory map that the array is or views, or None.
        self._mapping: Any = rows
        while self._mapping is not None and not isinstance(self._mapping, numpy.memmap):
            self._mapping = getattr(self._mapping, "base", None)

    @property
    def is_ready(self) -> bool:
        """Whether faiss can use all of them directly in memory."""
        rows = self.rows
        fits = rows.dtype == numpy.float32 and rows.dtype.isnative and rows.flags.c_contiguous
        return bool(fits and self._mapping is None)

    def raw(self, size: int, selected: Array | None = None) -> Iterator[tuple[Array, Array]]:
        """Slices of the array, or copies of the selected rows."""
        count = len(self.rows) if selected is None else len(selected)
        for first in range(0, count, size):
            if selected is None:
                stop = min(first + size, count)
                yield numpy.arange(first, stop), self.rows[first:stop]
                self._forget()
            else:
                rows = selected[first : first + size]
                yield rows, self.rows[rows]
                self._forget()

    def _forget(self) -> None:
        """Let pages of a mapped file leave memory; none are lost, because none were written."""
        import mmap

        if self._mapping is not None and self._mapping.mode == "r":
            advice = getattr(mmap, "MADV_DONTNEED", None)
            if advice is not None:
                self._mapping._mmap.madvise(advice)


class SparseRows(Vectors):
    """The rows of a sparse matrix, as float32 in scipy's CSR format."""

    repeatable = True

    def __init__(self, name: str, source: object) -> None:
        matrix = as_csr(source)
        if matrix.ndim != 2 or not matrix.shape[1]:
            raise ArrayError(name, f"expected a table of vectors, found shape {matrix.shape}")
        self.name, self.matrix = name, matrix
        self.count, self.dimension = matrix.shape

    def raw(self, size: int, selected: Array | None = None) -> Iterator[tuple[Array, Array]]:
        """Dense blocks of the rows, or of the selected ones."""
        rows = numpy.arange(self.matrix.shape[0]) if selected is None else selected
        for first in range(0, len(rows), size):
            part = rows[first : first + size]
            yield part, self.matrix[part].toarray()

    def check(self, *, unit: bool, selected: Array | None = None) -> None:
        """Check all rows. Raises ArrayError."""
        lengths = self.lengths() if selected is None else self.lengths()[selected]
        fit = SMALLEST_LENGTH <= lengths.max(initial=0) < LARGEST_LENGTH
        if not fit or (unit and not lengths.all()):
            # The dense blocks show which row and column it is.
            super().check(unit=unit, selected=selected)

    def lengths(self) -> Array:
        """The length of each row, float64[rows]."""
        matrix = self.matrix
        rows = numpy.repeat(numpy.arange(matrix.shape[0]), numpy.diff(matrix.indptr))
        squares = matrix.data.astype(numpy.float64) ** 2
        return numpy.sqrt(numpy.bincount(rows, squares, matrix.shape[0]))


class Blocks(Vectors):
    """Blocks from an iterator; the first is read ahead."""

    count = None

    def __init__(self, name: str, source: Iterable[npt.ArrayLike]) -> None:
        self.name, self._source = name, source
        self.repeatable = iter(source) is not source
        self._coming = self._checked(iter(source))
        try:
            self._first: Array | None = next(self._coming)
        except StopIteration:
            raise ArrayError(name, "expected vectors, found none") from None
        self.dimension = int(self._first.shape[1])

    def _checked(self, coming: Iterator[npt.ArrayLike]) -> Iterator[Array]:
        row, dimension = 0, None
        for rows in coming:
            try:
                block = as_rows(self.name, rows, 2, TABLE)
                _check_kind(self.name, block)
            except ArrayError as error:
                raise ArrayError(self.name, f"block from row {row}: {error.reason}") from None
            if dimension not in (None, block.shape[1]):
                raise ArrayError(
                    self.name,
                    f"expected {dimension} columns, as before, found {block.shape[1]}",
                    row,
                )
            dimension = block.shape[1]
            if len(block):
                yield block
            row += len(block)

    def raw(self, size: int, selected: Array | None = None) -> Iterator[tuple[Array, Array]]:
        """The blocks, cut or joined to `size` rows."""
        start = 0
        for block in _resize_blocks(self._all(), size):
            rows = numpy.arange(start, start + len(block))
            start += len(block)
            if selected is not None:
                remaining = selected[numpy.searchsorted(selected, rows[0]) :]
                rows = remaining[: numpy.searchsorted(remaining, start)]
                block = block[rows - (start - len(block))]
            if len(rows):
                yield rows, block
        self.count = start

    def _all(self) -> Iterator[Array]:
        if self._first is None:
            assert self.repeatable
            yield from self._checked(iter(self._source))
            return
        first, self._first = self._first, None
        yield first
        del first
        yield from self._coming


def _resize_blocks(blocks: Iterator[Array], size: int) -> Iterator[Array]:
    """Blocks cut or joined to `size` rows."""
    held: list[Array] = []
    missing = size
    for block in blocks:
        while len(block):
            held.append(block[:missing])
            missing -= len(held[-1])
            block = block[len(held[-1]) :]
            if not missing:
                yield held[0] if len(held) == 1 else numpy.concatenate(held)
                held, missing = [], size
        if held:
            # The iterator may reuse the memory for the next block.
            held[-1] = held[-1].copy()
    if held:
        yield held[0] if len(held) == 1 else numpy.concatenate(held)


def _refuse_odd(name: str, rows: Array, raw: Array, block: Array, *, unit: bool) -> None:
    odd = ~numpy.isfinite(block)
    if odd.any():
        row, column = (int(i) for i in numpy.unravel_index(int(odd.argmax()), odd.shape))
        value = raw[row, column]
        large = numpy.isfinite(value)
        expected = "expected values that fit 32-bit floats" if large else "expected finite values"
        raise ArrayError(name, f"{expected}, found {value}", int(rows[row]), column)
    lengths = numpy.sqrt(numpy.einsum("ij,ij->i", block, block, dtype=numpy.float64))
    if not unit and not SMALLEST_LENGTH <= lengths.max() <= LARGEST_LENGTH and lengths.any():
        row = int(lengths.argmax())
        at_most = "" if lengths[row] > LARGEST_LENGTH else " at most"
        raise ArrayError(
            name,
            "expected a vector whose products fit 32-bit floats, found length"
            f"{at_most} {lengths[row]:g}; scale the vectors, or use metric='cosine'",
            int(rows[row]),
        )
