"""A search backend for MTEB's retrieval tasks: exact search, or any faiss index.

    wrapper = mteb.models.SearchEncoderWrapper(model, index_backend=SearchIndex(model))
    mteb.evaluate(wrapper, tasks)

>>> from fastrank.compat.mteb import SearchIndex
>>> index = SearchIndex(metric="ip")
>>> index.add_documents([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], ["a", "b", "c"])
>>> index.search([[0.0, 2.0]], 2, None)
([[2.0, 1.0]], [[1, 2]])

The results are those of MTEB's FaissSearchIndex, with intentional differences:

- It supports any index of faiss's `index_factory`, not only the exact one. If an index finds fewer
  documents than requested, the lists are shorter; MTEB would read faiss's -1 as the last document.
- With cosine, a zero vector is an error, because its cosine is undefined.
- Arguments are never modified.

MTEB does not need to be installed.
"""

from __future__ import annotations

import warnings

from fastrank.compat.similarities import metric_of
from fastrank.errors import ArrayError, InputError
from fastrank.searching import build_index, search_batches
from fastrank.searching.vectors import check_metric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    import numpy.typing as npt

    from fastrank.searching import Found, Index

    Array = npt.NDArray[Any]
    Lists = tuple[list[list[float]], list[list[int]]]

__all__ = ["SearchIndex"]


class SearchIndex:
    """A search index for MTEB.

    model: an MTEB encoder, whose similarity function is used unless `metric` is given.
    metric: "cosine", "ip" or "l2".
    index_factory, parameters, train_size, batch_size, progress: as `fastrank.searching.build_index`
        and `search` take them. Reranking always uses the vectors, not the index.

    Raises OptionError for another similarity function.

    >>> from fastrank.compat.mteb import SearchIndex
    >>> index = SearchIndex(metric="l2", index_factory="HNSW8")
    >>> index.add_documents([[1.0], [4.0]], ["a", "b"])
    >>> index.search([[3.0]], 5, None)
    ([[-1.0, -2.0]], [[1, 0]])
    """

    def __init__(
        self,
        model: Any = None,
        *,
        metric: str | None = None,
        index_factory: str = "Flat",
        parameters: Any = None,
        train_size: int | None = None,
        batch_size: int = 1024,
        progress: bool | None = False,
    ) -> None:
        self._metric = _metric_of(model) if metric is None else check_metric(metric)
        self._factory, self._train_size = index_factory, train_size
        self._options = {"parameters": parameters, "batch_size": batch_size, "progress": progress}
        self._progress = progress
        self._blocks: list[Array] = []
        self._ids: list[str] = []
        self._index: Index | None = None

    def add_documents(self, embeddings: Any, idxs: Sequence[str]) -> None:
        """Add documents: embeddings [documents, dimension] and an id for each. Raises ArrayError.

        >>> index = SearchIndex(metric="ip")
        >>> index.add_documents([[1.0, 2.0]], ["a", "b"])
        Traceback (most recent call last):
        fastrank.errors.ArrayError: idxs: expected 1, one per row of embeddings, found 2
        """
        block, ids = _array(embeddings), list(idxs)
        if len(ids) != len(block):
            expected = f"expected {len(block)}, one per row of embeddings, found {len(ids)}"
            raise ArrayError("idxs", expected)
        if self._blocks and block.shape[1] != self._blocks[0].shape[1]:
            expected = f"expected {self._blocks[0].shape[1]} columns, as before"
            raise ArrayError("embeddings", f"{expected}, found {block.shape[1]}")
        self._blocks.append(block)
        self._ids += ids
        self._index = None

    def search(
        self,
        embeddings: Any,
        top_k: int,
        similarity_fn: Callable[..., Any] | None,  # noqa: ARG002 (MTEB passes it to every backend)
        top_ranked: Mapping[str, Sequence[str]] | None = None,
        query_idx_to_id: Mapping[int, str] | None = None,
    ) -> Lists:
        """The scores and indexes of the top_k documents for each query, best first.

        embeddings: floats[queries, dimension]. top_ranked: {query id: ids of documents}, to rank
        only these documents; requires query_idx_to_id. Indexes are in the order in which documents
        were added or, with top_ranked, in the query's list, as MTEB expects. Distances are negated.

        Raises InputError if there are no documents, ArrayError for embeddings of the wrong shape.

        >>> index = SearchIndex(metric="ip")
        >>> index.add_documents([[1.0], [3.0], [2.0]], ["a", "b", "c"])
        >>> index.search([[1.0]], 2, None, {"q": ["c", "a", "b"]}, {0: "q"})
        ([[3.0, 2.0]], [[2, 0]])
        """
        if not self._blocks:
            raise InputError("search index", "no documents were added")
        queries = _array(embeddings)
        if top_ranked is None:
            return self._search(queries, self._corpus(), top_k)
        if query_idx_to_id is None:
            raise InputError("query_idx_to_id", "required with top_ranked, found None")
        return self._rerank(queries, top_k, top_ranked, query_idx_to_id)

    def clear(self) -> None:
        """Remove all documents.

        >>> index = SearchIndex(metric="ip")
        >>> index.add_documents([[1.0]], ["a"])
        >>> index.clear()
        >>> index.search([[1.0]], 1, None)
        Traceback (most recent call last):
        fastrank.errors.InputError: search index: no documents were added
        """
        self._blocks, self._ids, self._index = [], [], None

    def _corpus(self) -> Any:
        if self._factory == "Flat":
            return self._vectors()
        if self._index is None:
            self._index = build_index(
                self._vectors(),
                self._factory,
                self._metric,
                train_size=self._train_size,
                progress=self._progress,
            )
        return self._index

    def _vectors(self) -> Array:
        """All vectors; a single array from now on, if there were several."""
        if len(self._blocks) > 1:
            import numpy

            self._blocks = [numpy.concatenate(self._blocks)]
        return self._blocks[0]

    def _search(self, queries: Array, corpus: Any, k: int, **options: Any) -> Lists:
        scores: list[list[float]] = []
        places: list[list[int]] = []
        options = {**self._options, **options}
        if corpus is not self._index:
            options["metric"] = self._metric
        for found in search_batches(queries, corpus, k, **options):
            values = self._similarities(found)
            for rows, row_scores in zip(found.rows, values, strict=True):
                kept = rows >= 0
                scores.append(row_scores[kept].tolist())
                places.append(rows[kept].tolist())
        return scores, places

    def _similarities(self, found: Found) -> Array:
        """Scores as in MTEB: squared distances become negated distances."""
        import numpy

        if self._metric != "l2":
            return found.scores
        squares: Array = numpy.maximum(-found.scores, 0)
        return -numpy.sqrt(squares)

    def _rerank(
        self,
        queries: Array,
        k: int,
        top_ranked: Mapping[str, Sequence[str]],
        query_ids: Mapping[int, str],
    ) -> Lists:
        vectors = self._vectors()
        rows = {query_id: row for row, query_id in enumerate(self._ids)}
        scores: list[list[float]] = []
        places: list[list[int]] = []
        for i, query in enumerate(queries):
            query_id = query_ids[i]
            docs = top_ranked.get(query_id) or []
            unknown = next((doc for doc in docs if doc not in rows), None)
            if unknown is not None:
                reason = f"query {query_id!r:.60}: document {unknown!r:.60} was not added"
                raise InputError("top_ranked", reason)
            if not docs:
                warnings.warn(f"query {query_id!r:.60} has no documents to rerank", stacklevel=3)
                scores.append([])
                places.append([])
                continue
            candidates = vectors[[rows[doc] for doc in docs]]
            found = self._search(query[None], candidates, k, parameters=None, progress=False)
            scores += found[0]
            places += found[1]
        return scores, places


def _metric_of(model: Any) -> str:
    """The metric of an MTEB encoder. Raises OptionError."""
    known = getattr(model, "mteb_model_meta", None)
    return metric_of(getattr(known, "similarity_fn_name", None))


def _array(embeddings: Any) -> Array:
    """Embeddings as a NumPy array; torch tensors of any type are converted."""
    import numpy

    if hasattr(embeddings, "detach"):
        embeddings = embeddings.detach().cpu().float().numpy()
    found: Array = numpy.asarray(embeddings)
    if found.ndim != 2:
        raise ArrayError("embeddings", f"expected 2 dimensions, found the shape {found.shape}")
    return found
