"""Encode the texts of a data set."""

from __future__ import annotations

from typing import NamedTuple

from fastrank.datasets.dataset import as_dataset
from fastrank.embeddings.cache import EmbeddingCache
from fastrank.embeddings.encoded_texts import FIRST_TEXTS, EncodedTexts, check_encoding
from fastrank.embeddings.encoders import encoders_of
from fastrank.errors import ArrayError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any

    import numpy.typing as npt

    from fastrank.datasets.dataset import Dataset

    Array = npt.NDArray[Any]


class Embeddings(NamedTuple):
    """Vectors of a data set, float32[queries, dimension] and float32[documents, dimension].

    These are scipy CSR matrices for models with sparse vectors, such as TF-IDF.

    >>> data = fr.Dataset.from_texts(["aa", "ab"], ["b"], {0: {1: 1}})
    >>> fr.embed_dataset(lambda texts: [[text.count("b")] for text in texts], data).corpus.tolist()
    [[0.0], [1.0]]
    """

    queries: Any
    corpus: Any


def embed_dataset(
    model: Any,
    dataset: Dataset | str | os.PathLike[str],
    *,
    batch_size: int | None = None,
    query_prompt: str | None = None,
    corpus_prompt: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    cache_name: str | None = None,
    progress: bool | None = None,
) -> Embeddings:
    """Encode the queries and the corpus of a data set, the first step of `evaluate_model`.

    The vectors can then be searched in several ways with `evaluate_embeddings`. Arguments and
    errors are those of `evaluate_model`. With a cache, dense vectors are memory-mapped and never
    loaded as a whole.

    >>> data = fr.Dataset.from_texts(["aa", "ab"], ["b"], {0: {1: 1}})
    >>> queries, corpus = fr.embed_dataset(lambda texts: [[len(text)] for text in texts], data)
    >>> queries.shape, corpus.shape
    ((1, 1), (2, 1))
    """
    prepared = PreparedModel(
        model, as_dataset(dataset), batch_size, query_prompt, corpus_prompt, cache, cache_name
    )
    return prepared.embeddings(progress)


class PreparedModel:
    """A model and a data set, checked against each other by encoding the first texts.

    unit: whether the metric is cosine. first: the vectors of the first texts.
    """

    def __init__(
        self,
        model: Any,
        data: Dataset,
        batch_size: int | None,
        query_prompt: str | None,
        corpus_prompt: str | None,
        cache: Any,
        cache_name: str | None,
        *,
        unit: bool = False,
    ) -> None:
        check_encoding(
            batch_size, cache, cache_name, query_prompt=query_prompt, corpus_prompt=corpus_prompt
        )
        self._rows: Any = data.query_rows
        self._own: Any = data.vectors
        self._queries: EncodedTexts | None = None
        self._corpus: EncodedTexts | None = None
        if model is None:
            if data.vectors is None or data.query_rows is None:
                raise TypeError(f"model: expected a model, found None; {data.name} has no vectors")
            self.first = Embeddings(
                data.vectors[data.query_rows[:FIRST_TEXTS]], data.vectors[:FIRST_TEXTS]
            )
            return
        if not len(data.corpus):
            raise InputError(data.name, "no texts to encode; omit the model to use its vectors")
        for_queries, for_documents, fitted = encoders_of(
            model,
            data.corpus,
            batch_size=batch_size,
            query_prompt=query_prompt,
            corpus_prompt=corpus_prompt,
        )
        store = None if cache is None or fitted else EmbeddingCache(cache, cache_name)
        corpus = self._corpus = EncodedTexts(
            for_documents, data.corpus_ids, data.corpus, store, unit=unit
        )
        asked = corpus
        if data.query_rows is None:
            asked = self._queries = EncodedTexts(
                for_queries, data.query_ids, data.queries, store, unit=unit
            )
        if asked.dimension != corpus.dimension:
            expected = f"dimension {corpus.dimension}, as from {corpus.name} for the corpus"
            raise ArrayError(
                "queries", f"expected {expected}, found {asked.dimension} from {asked.name}"
            )
        self.first = Embeddings(asked.first[: len(data.query_ids)], corpus.first)

    def embeddings(self, progress: bool | None) -> Embeddings:
        """All vectors."""
        # Queries first: they are fewer, so that errors show before hours of work.
        queries = None if self._queries is None else self._queries.vectors(progress)
        corpus = self._own if self._corpus is None else self._corpus.vectors(progress)
        if queries is None:
            queries = corpus[self._rows]
        return Embeddings(queries, corpus)
