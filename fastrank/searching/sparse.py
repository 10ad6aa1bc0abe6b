"""Sparse vectors, such as TF-IDF: read as dense blocks, or searched directly."""

from __future__ import annotations

from fastrank.errors import ArrayError, OptionError
from fastrank.searching.engines import result_heap
from fastrank.searching.vectors import LARGEST_LENGTH, SMALLEST_LENGTH, Vectors, block_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]

# Scores of a block of documents for all queries of a search: 32 MB as doubles.
BLOCK_SCORES = 1 << 22


def is_sparse(given: Any) -> bool:
    """Whether this is a scipy sparse matrix or a sparse torch tensor."""
    tensor = getattr(given, "is_sparse", False) or getattr(given, "is_sparse_csr", False)
    return bool(tensor) or hasattr(given, "toarray")


def as_csr(given: Any) -> Any:
    """Convert a sparse matrix or tensor to a scipy CSR matrix of float32 without stored zeros."""
    import numpy

    if hasattr(given, "detach"):
        from scipy import sparse

        tensor = given.detach().cpu().to_sparse_coo().coalesce()
        values = tensor.values().float().numpy()
        found = sparse.csr_matrix((values, tensor.indices().numpy()), tuple(tensor.shape))
    else:
        found = given.tocsr().astype(numpy.float32)
    found.eliminate_zeros()
    return found


class SparseRows(Vectors):
    """The rows of a sparse matrix, as float32 in scipy's CSR format."""

    repeatable = True

    def __init__(self, name: str, given: Any) -> None:
        matrix = as_csr(given)
        if matrix.ndim != 2 or not matrix.shape[1]:
            raise ArrayError(name, f"expected a table of vectors, found shape {matrix.shape}")
        self.name, self.matrix = name, matrix
        self.count, self.dimension = matrix.shape

    def raw(self, size: int, selected: Array | None = None) -> Iterator[tuple[Array, Array]]:
        """Dense blocks of the rows, or of the selected ones."""
        import numpy

        rows = numpy.arange(self.matrix.shape[0]) if selected is None else selected
        for first in range(0, len(rows), size):
            own = rows[first : first + size]
            yield own, self.matrix[own].toarray()

    def check(self, *, unit: bool, selected: Array | None = None) -> None:
        """Check all rows. Raises ArrayError."""
        lengths = self.lengths() if selected is None else self.lengths()[selected]
        fit = SMALLEST_LENGTH <= lengths.max(initial=0) < LARGEST_LENGTH
        if not fit or (unit and not lengths.all()):
            # The dense blocks show which row and column it is.
            super().check(unit=unit, selected=selected)

    def lengths(self) -> Array:
        """The length of each row, float64[rows]."""
        import numpy

        matrix = self.matrix
        rows = numpy.repeat(numpy.arange(matrix.shape[0]), numpy.diff(matrix.indptr))
        squares = matrix.data.astype(numpy.float64) ** 2
        return numpy.sqrt(numpy.bincount(rows, squares, matrix.shape[0]))


class SparseSearch:
    """Compares queries with all rows of a sparse matrix.

    Scores are computed in double precision and returned as 32-bit floats.
    """

    once = False

    def __init__(self, corpus: SparseRows, metric: str, *, gpu: bool) -> None:
        if gpu:
            raise OptionError("gpu", "sparse vectors are searched on the CPU")
        corpus.check(unit=metric == "cosine")
        self.count, self._metric, self._matrix = corpus.count, metric, corpus.matrix
        self._lengths = corpus.lengths()

    def at_once(self, _depth: int, batch_size: int) -> int | None:
        """How many queries to search at once; they are dense until then."""
        return min(batch_size, block_rows(self._matrix.shape[1]))

    def search(
        self, queries: Array, depth: int, tell: Callable[[float], None]
    ) -> tuple[Array, Array]:
        """Scores or distances and rows of the best `depth`, best first; row -1 means none."""
        import numpy
        from scipy import sparse

        sign = -1.0 if self._metric == "l2" else 1.0
        asked = sparse.csr_matrix(queries).astype(numpy.float64)
        heap = result_heap(len(queries), depth, "ip")
        size = max(1, BLOCK_SCORES // len(queries))
        rows = self._matrix.shape[0]
        for first in range(0, rows, size):
            scores = self._scores(asked, slice(first, first + size))
            found = numpy.broadcast_to(numpy.arange(scores.shape[1]), scores.shape)
            if depth < scores.shape[1]:
                found = numpy.argpartition(-scores, depth - 1, axis=1)[:, :depth]
                scores = numpy.take_along_axis(scores, found, axis=1)
            heap.add_result(
                numpy.ascontiguousarray(scores), numpy.ascontiguousarray(found + first, numpy.int64)
            )
            tell(min(size, rows - first) / rows)
        heap.finalize()
        return sign * heap.D, heap.I

    def _scores(self, asked: Any, part: slice) -> Array:
        """The scores of all queries for some documents, float32[queries, documents]."""
        import numpy

        documents = self._matrix[part].astype(numpy.float64)
        scores: Array = (asked @ documents.T).toarray()
        if self._metric == "cosine":
            scores /= self._lengths[part]
        if self._metric == "l2":
            own = numpy.asarray(asked.multiply(asked).sum(axis=1)).reshape(-1, 1)
            scores = numpy.minimum(2 * scores - own - self._lengths[part] ** 2, 0)
        return scores.astype(numpy.float32)
