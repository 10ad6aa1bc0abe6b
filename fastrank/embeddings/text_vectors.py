"""Vectors of the texts of a task, from a model or as given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastrank.embeddings.cache import EmbeddingCache
from fastrank.embeddings.encoded_texts import EncodedTexts, check_encoding
from fastrank.embeddings.encoders import text_encoder
from fastrank.errors import ArrayError, OptionError
from fastrank.keywords import TypedDict
from fastrank.searching.model_output import as_vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any

    import numpy.typing as npt

    from fastrank.datasets.text_task import TextTask

    Array = npt.NDArray[Any]


class EncodingOptions(TypedDict, total=False):
    """Options of encoding the texts of a task."""

    batch_size: int | None
    prompt: str | None
    cache: str | os.PathLike[str] | None
    cache_name: str | None
    progress: bool | None


def are_vectors(given: Any) -> bool:
    """Whether these are vectors, or a tuple of vectors for several texts per row, and no model."""
    if isinstance(given, (tuple, list)):
        return bool(given) and (are_vectors(given[0]) or _is_number(given[0]))
    # A frame has no dtype.
    return hasattr(given, "shape") and (hasattr(given, "dtype") or hasattr(given, "to_numpy"))


def refuse_encoding(options: Mapping[str, Any]) -> None:
    """Raise OptionError for options of models that are given with vectors."""
    for name, value in options.items():
        if name != "progress" and value is not None:
            raise OptionError(name, "this applies to models, but vectors are given")


def vectors_of(given: Any, rows: int | None = None) -> tuple[Array, ...]:
    """Given vectors as float32[rows, dimension], one array for each text of a row.

    given: an array, tensor or list of rows, or a tuple of these. rows: the expected number. Raises
    ArrayError.
    """
    parts = given if isinstance(given, tuple) else (given,)
    names = (
        ("vectors",)
        if len(parts) == 1
        else [f"vectors of text {number}" for number in range(1, len(parts) + 1)]
    )
    arrays = []
    for name, part in zip(names, parts, strict=True):
        count = len(part) if not hasattr(part, "shape") else int(part.shape[0])
        if rows is not None and count != rows:
            raise ArrayError(name, f"expected {rows} rows, one per label, found {count}")
        arrays.append(_dense(as_vectors(part, name, range(count))))  # type: ignore[arg-type]
    return tuple(arrays)


def encode_task(
    model: Any,
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
        groups = [(one, [column]) for one, column in zip(model, task.texts, strict=True)]
    else:
        groups = [(model, list(task.texts))]
    prepared = []
    for one, columns in groups:
        distinct = list(dict.fromkeys(text for column in columns for text in column))
        numbers = {text: number for number, text in enumerate(distinct)}
        encoder, fitted = text_encoder(one, distinct, batch_size=batch_size, prompt=prompt)
        store = None if cache is None or fitted else EmbeddingCache(cache, cache_name)
        texts = EncodedTexts(encoder, distinct, distinct, store, unit=False)
        prepared.append((texts, numbers, columns))
    widths = {texts.dimension for texts, *_ in prepared}
    if len(widths) > 1:
        found = " and ".join(f"{texts.dimension} from {texts.name}" for texts, *_ in prepared)
        raise ArrayError("texts", f"expected vectors of one dimension, found {found}")
    arrays: list[Array] = []
    for texts, numbers, columns in prepared:
        vectors = texts.vectors(progress)
        arrays += (_dense(vectors[[numbers[text] for text in column]]) for column in columns)
    return tuple(arrays)


def _is_number(given: Any) -> bool:
    """Whether the first row of a list is a list of numbers."""
    return isinstance(given, Sequence) and bool(given) and isinstance(given[0], (int, float))


def _dense(rows: Any) -> Array:
    """float32[rows, dimension], also of a sparse matrix."""
    import numpy

    return numpy.ascontiguousarray(
        rows.toarray() if hasattr(rows, "toarray") else rows, numpy.float32
    )
