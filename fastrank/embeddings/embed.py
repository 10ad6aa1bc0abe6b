"""The texts of a data set into vectors."""

from __future__ import annotations

from typing import NamedTuple

from fastrank.arguments import at_least
from fastrank.datasets.dataset import as_dataset
from fastrank.embeddings.cache import EmbeddingCache
from fastrank.embeddings.encoded_texts import FIRST_TEXTS, EncodedTexts
from fastrank.embeddings.encoders import encoders_of
from fastrank.errors import ArrayError, InputError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any

    import numpy.typing as npt

    from fastrank.datasets.dataset import Dataset

    Array = npt.NDArray[Any]


class Embeddings(NamedTuple):
    """Vectors of a data set, float32[queries, dimension] and float32[documents, dimension].

    Of a model that makes sparse vectors, such as TF-IDF, these are CSR matrices of scipy.

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
    document_prompt: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    cache_name: str | None = None,
    progress: bool | None = None,
) -> Embeddings:
    """Encode the queries and the corpus of a data set: what `evaluate_model` does first.

    So one can search them in several ways, with `evaluate_embeddings`. The arguments and errors
    are those of `evaluate_model`. With a cache dense vectors are mapped from their files, and
    are never in memory as a whole.

    >>> data = fr.Dataset.from_texts(["aa", "ab"], ["b"], {0: {1: 1}})
    >>> queries, corpus = fr.embed_dataset(lambda texts: [[len(text)] for text in texts], data)
    >>> queries.shape, corpus.shape
    ((1, 1), (2, 1))
    """
    prepared = PreparedModel(
        model, as_dataset(dataset), batch_size, query_prompt, document_prompt, cache, cache_name
    )
    return prepared.embeddings(progress)


class PreparedModel:
    """A model and a data set that go together; the first texts are encoded.

    unit: whether the metric is the cosine. first: the vectors of these.
    """

    def __init__(
        self,
        model: Any,
        data: Dataset,
        batch_size: int | None,
        query_prompt: str | None,
        document_prompt: str | None,
        cache: Any,
        cache_name: str | None,
        *,
        unit: bool = False,
    ) -> None:
        if batch_size is not None:
            at_least("batch_size", batch_size, 1)
        prompts = {"query_prompt": query_prompt, "document_prompt": document_prompt}
        for option, prompt in prompts.items():
            if prompt is not None and not isinstance(prompt, str):
                raise OptionError(option, f"expected a text, found {type(prompt).__name__}")
        if (cache is None) != (cache_name is None):
            absent = "cache" if cache is None else "cache_name"
            raise OptionError(absent, "expected a folder as cache and a name of the model, or none")
        self._rows: Any = data.query_rows
        self._own: Any = data.vectors
        self._queries: EncodedTexts | None = None
        self._corpus: EncodedTexts | None = None
        if model is None:
            if data.vectors is None or data.query_rows is None:
                raise TypeError(f"model: expected one, found None, and {data.name} has no vectors")
            self.first = Embeddings(
                data.vectors[data.query_rows[:FIRST_TEXTS]], data.vectors[:FIRST_TEXTS]
            )
            return
        if not len(data.corpus):
            raise InputError(data.name, "no texts to encode; to use its vectors, give no model")
        for_queries, for_documents, fitted = encoders_of(
            model,
            data.corpus,
            batch_size=batch_size,
            query_prompt=query_prompt,
            document_prompt=document_prompt,
        )
        store = None
        if cache is not None and cache_name is not None and not fitted:
            store = EmbeddingCache(cache, cache_name)
        corpus = self._corpus = EncodedTexts(
            for_documents, data.corpus_ids, data.corpus, store, unit=unit
        )
        asked = corpus
        if data.query_rows is None:
            asked = self._queries = EncodedTexts(
                for_queries, data.query_ids, data.queries, store, unit=unit
            )
        if asked.dimension != corpus.dimension:
            expected = f"dimension {corpus.dimension}, as {corpus.name} makes of the corpus"
            raise ArrayError(
                "queries", f"expected {expected}, found {asked.dimension} from {asked.name}"
            )
        self.first = Embeddings(asked.first[: len(data.query_ids)], corpus.first)

    def embeddings(self, progress: bool | None) -> Embeddings:
        """All vectors."""
        # The queries first: they are fewer, and what is wrong with them shows before hours of work.
        queries = None if self._queries is None else self._queries.vectors(progress)
        corpus = self._own if self._corpus is None else self._corpus.vectors(progress)
        if queries is None:
            queries = corpus[self._rows]
        return Embeddings(queries, corpus)
