"""Vectors of the texts of a data set or of a task, from a model or as given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy

from fastrank.common.keywords import TypedDict
from fastrank.errors import ArrayError, InputError, OptionError
from fastrank.vectors.datasets.dataset import as_dataset
from fastrank.vectors.embeddings.encoded_texts import (
    FIRST_TEXTS,
    EmbeddingCache,
    EncodedTexts,
    check_encoding,
)
from fastrank.vectors.embeddings.encoders import encoders_of, text_encoder
from fastrank.vectors.searching.model_output import as_vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any

    from fastrank.common.arrays import Array
    from fastrank.vectors.datasets.dataset import Dataset
    from fastrank.vectors.datasets.text_task import TextTask


class EncodingOptions(TypedDict, total=False):
    """Options of encoding the texts of a task."""

    batch_size: int | None
    prompt: str | None
    cache: str | os.PathLike[str] | None
    cache_name: str | None
    progress: bool | None


def are_vectors(value: object) -> bool:
    """Whether these are vectors, or a tuple of vectors for several texts per row, and no model."""
    if isinstance(value, (tuple, list)):
        return bool(value) and (are_vectors(value[0]) or _is_number(value[0]))
    # A frame has no dtype.
    return hasattr(value, "shape") and (hasattr(value, "dtype") or hasattr(value, "to_numpy"))


def refuse_encoding(options: Mapping[str, object]) -> None:
    """Raise OptionError for options of models that are given with vectors."""
    for name, value in options.items():
        if name != "progress" and value is not None:
            raise OptionError(name, "this applies to models, but vectors are given")


def part_name(number: int, parts: int) -> str:
    """The name of the vectors of a text of each row, for messages."""
    return "vectors" if parts == 1 else f"vectors of text {number}"


def vectors_of(vectors: object, rows: int | None = None) -> tuple[Array, ...]:
    """Given vectors as float32[rows, dimension], one array for each text of a row.

    vectors: an array, tensor or list of rows, or a tuple of these. rows: the expected number.
    Raises ArrayError.
    """
    parts = vectors if isinstance(vectors, tuple) else (vectors,)
    arrays = []
    for number, part in enumerate(parts, 1):
        name = part_name(number, len(parts))
        count = len(part) if not hasattr(part, "shape") else int(part.shape[0])
        if rows is not None and count != rows:
            raise ArrayError(name, f"expected {rows} rows, one per label, found {count}")
        arrays.append(_dense(as_vectors(part, name, range(count))))  # type: ignore[arg-type]
    return tuple(arrays)


def encode_task(
    model: object,
    task: TextTask,
    *,
    batch_size: int | None = None,
    prompt: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    cache_name: str | None = None,
    progress: bool | None = None,
) -> tuple[Array, ...]:
    """Vectors of the texts of a task, float32[rows, dimension], one array per text of a row.

    model: as in `evaluate_model`; where a model has several methods, `encode` is used. A pair of
        models encodes first and second texts. Each distinct text is encoded once.
    batch_size, cache, cache_name, progress: as in `evaluate_model`. prompt: passed to the model as
        `prompt` if it takes that, else prepended to each text.

    Raises TypeError for an object that is not a model, ArrayError for invalid vectors and for
    models of different dimensions, InputError for a cache with vectors of another model.
    """
    check_encoding(batch_size, cache, cache_name, prompt=prompt)
    if isinstance(model, (tuple, list)):
        if len(model) != len(task.texts):
            raise TypeError(
                f"model: expected one model, or one for each of {len(task.texts)} texts,"
                f" found {len(model)}"
            )
        groups = [
            (text_model, [column]) for text_model, column in zip(model, task.texts, strict=True)
        ]
    else:
        groups = [(model, list(task.texts))]
    prepared = []
    for text_model, columns in groups:
        distinct = list(dict.fromkeys(text for column in columns for text in column))
        numbers = {text: number for number, text in enumerate(distinct)}
        encoder, fitted = text_encoder(text_model, distinct, batch_size=batch_size, prompt=prompt)
        store = None if cache is None or fitted else EmbeddingCache(cache, cache_name)
        texts = EncodedTexts(encoder, distinct, distinct, store)
        prepared.append((texts, numbers, columns))
    widths = {texts.dimension for texts, *_ in prepared}
    if len(widths) > 1:
        dimensions = " and ".join(f"{texts.dimension} from {texts.name}" for texts, *_ in prepared)
        raise ArrayError("texts", f"expected vectors of one dimension, found {dimensions}")
    arrays: list[Array] = []
    for texts, numbers, columns in prepared:
        vectors = texts.vectors(progress)
        arrays += (_dense(vectors[[numbers[text] for text in column]]) for column in columns)
    return tuple(arrays)


def _is_number(row: object) -> bool:
    """Whether this, the first row of a list, is a list of numbers."""
    return isinstance(row, Sequence) and bool(row) and isinstance(row[0], (int, float))


def _dense(rows: object) -> Array:
    """float32[rows, dimension], also of a sparse matrix."""
    return numpy.ascontiguousarray(
        rows.toarray() if hasattr(rows, "toarray") else rows, numpy.float32
    )


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
    model: object,
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

    first: the vectors of the first texts.
    """

    def __init__(
        self,
        model: object,
        data: Dataset,
        batch_size: int | None,
        query_prompt: str | None,
        corpus_prompt: str | None,
        cache: str | os.PathLike[str] | None,
        cache_name: str | None,
    ) -> None:
        check_encoding(
            batch_size, cache, cache_name, query_prompt=query_prompt, corpus_prompt=corpus_prompt
        )
        self._rows = data.query_rows
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
        corpus = self._corpus = EncodedTexts(for_documents, data.corpus_ids, data.corpus, store)
        asked = corpus
        if data.query_rows is None:
            asked = self._queries = EncodedTexts(for_queries, data.query_ids, data.queries, store)
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
