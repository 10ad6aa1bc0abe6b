"""A search back end for MTEB: its retrieval tasks searched by fastrank, exactly or by an index.

    wrapper = mteb.models.SearchEncoderWrapper(model, index_backend=SearchIndex(model))
    mteb.evaluate(wrapper, tasks)

>>> from fastrank.compat.mteb import SearchIndex
>>> index = SearchIndex(metric="ip")
>>> index.add_documents([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], ["a", "b", "c"])
>>> index.search([[0.0, 2.0]], 2, None)
([[2.0, 1.0]], [[1, 2]])

The results are those of MTEB's FaissSearchIndex. What differs, on purpose:

- Any index that faiss's `index_factory` makes, not only the exact one. Where such an index finds
  fewer documents than asked for, the lists are shorter; faiss's -1 in them would be the last
  document to MTEB.
- A zero vector is an error under cosine: it has no cosine with any other.
- Nothing that MTEB hands over is changed.

MTEB itself is not needed for it.
"""

from __future__ import annotations

import warnings

from fastrank.compat.similarities import metric_of
from fastrank.errors import ArrayError, InputError
from fastrank.search import build_index, search_batches
from fastrank.search.vectors import check_metric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    import numpy.typing as npt

    from fastrank.search import Found, Index

    Array = npt.NDArray[Any]
    Lists = tuple[list[list[float]], list[list[int]]]

__all__ = ["SearchIndex"]


class SearchIndex:
    """The documents that MTEB adds, and searches in.

    model: an encoder of MTEB, whose similarity function is taken; or none, and then `metric`:
        "cosine", "ip" or "l2".
    index_factory, parameters, train_size, batch_size, progress: as `fastrank.search.build_index`
        and `search` take them. Documents are reranked by their vectors, whatever the index.

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
        """Add documents: a row of embeddings and an id for each. Raises ArrayError.

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
        similarity_fn: Callable[..., Any] | None,  # noqa: ARG002 (MTEB hands it to every back end)
        top_ranked: Mapping[str, Sequence[str]] | None = None,
        query_idx_to_id: Mapping[int, str] | None = None,
    ) -> Lists:
        """The scores and places of the best documents for each query, best first.

        embeddings: floats[queries, dimension]. Places are those in which documents were added; with
        top_ranked, {query id: ids of documents}, only these are ranked, and places are those in
        each query's list, as MTEB reads them; query_idx_to_id is needed then. Distances become
        scores by changing sign.

        Raises InputError if there are no documents, ArrayError for embeddings that do not fit.

        >>> index = SearchIndex(metric="ip")
        >>> index.add_documents([[1.0], [3.0], [2.0]], ["a", "b", "c"])
        >>> index.search([[1.0]], 2, None, {"q": ["c", "a", "b"]}, {0: "q"})
        ([[3.0, 2.0]], [[2, 0]])
        """
        if not self._blocks:
            raise InputError("search index", "no documents were added")
        queries = _array(embeddings)
        if top_ranked is None:
            return self._search(self._corpus(), queries, top_k)
        if query_idx_to_id is None:
            raise InputError("query_idx_to_id", "needed for reranking, found None")
        return self._rerank(queries, top_k, top_ranked, query_idx_to_id)

    def clear(self) -> None:
        """Forget all documents.

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
                self._vectors(), self._factory, self._metric, train_size=self._train_size,
                progress=self._progress,
            )  # fmt: skip
        return self._index

    def _vectors(self) -> Array:
        """All vectors; a single array from now on, if there were several."""
        if len(self._blocks) > 1:
            import numpy

            self._blocks = [numpy.concatenate(self._blocks)]
        return self._blocks[0]

    def _search(self, corpus: Any, queries: Array, k: int, **options: Any) -> Lists:
        scores: list[list[float]] = []
        places: list[list[int]] = []
        options = {**self._options, **options}
        if corpus is not self._index:
            options["metric"] = self._metric
        for found in search_batches(corpus, queries, k, **options):
            values = self._similarities(found)
            for rows, row_scores in zip(found.rows, values, strict=True):
                kept = rows >= 0
                scores.append(row_scores[kept].tolist())
                places.append(rows[kept].tolist())
        return scores, places

    def _similarities(self, found: Found) -> Array:
        """Scores as MTEB has them: of squared distances the negated roots."""
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
            found = self._search(candidates, query[None], k, parameters=None, progress=False)
            scores += found[0]
            places += found[1]
        return scores, places


def _metric_of(model: Any) -> str:
    """The metric of an encoder of MTEB. Raises OptionError."""
    known = getattr(model, "mteb_model_meta", None)
    return metric_of(getattr(known, "similarity_fn_name", None))


def _array(embeddings: Any) -> Array:
    """Embeddings as an array of their own, also those of torch in any of its types."""
    import numpy

    if hasattr(embeddings, "detach"):
        embeddings = embeddings.detach().cpu().float().numpy()
    found: Array = numpy.asarray(embeddings)
    if found.ndim != 2:
        found_shape = f"expected a table of vectors, found the shape {found.shape}"
        raise ArrayError("embeddings", found_shape)
    return found
