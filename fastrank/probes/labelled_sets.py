"""Training and test vectors with labels of any kind, for evaluations other than classification."""

from __future__ import annotations

from copy import deepcopy

from fastrank.data.columns import Frozen
from fastrank.datasets.text_task import (
    TextTask,
    as_text_task,
    check_labels,
    labels_of,
    plain_labels,
)
from fastrank.embeddings.encoders import needs_fitting
from fastrank.embeddings.text_vectors import (
    are_vectors,
    encode_task,
    refuse_encoding,
    vectors_of,
)
from fastrank.errors import ArrayError, InputError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]


class LabelledSet(Frozen):
    """Vectors with a label each: a name, float32[rows, dimension], and a list."""

    name: str
    vectors: Array
    labels: list[Any]


def labelled_sets(
    model_or_vectors: Any, task: Any, test: Any, name: str | None, **encoding: Any
) -> tuple[LabelledSet, LabelledSet]:
    """The training rows and the test rows, both given as in `evaluate_multilabel`.

    encoding: options of `encode_task`. A transformer that is not fitted is fitted on the training
    texts. Raises InputError, ArrayError and OptionError.
    """
    if are_vectors(model_or_vectors):
        refuse_encoding(encoding)
        if not isinstance(test, tuple) or len(test) != 2:
            raise OptionError("test", "expected a tuple (vectors, labels), as vectors are given")
        training = _given(model_or_vectors, task, name or "labels")
        tests = _given(*test, f"{training.name} (test)")
    else:
        texts, test_texts = as_text_task(task), as_text_task(test)
        label = name or texts.name
        if len(texts.texts) > 1 or len(test_texts.texts) > 1:
            raise InputError(label, "expected rows of one text")
        model = model_or_vectors
        if needs_fitting(model, texts.texts[0]):
            model = deepcopy(model).fit(texts.texts[0])
        training, tests = (
            LabelledSet(
                name=called, vectors=encode_task(model, one, **encoding)[0], labels=labels_of(one)
            )
            for called, one in ((label, texts), (f"{label} (test)", test_texts))
        )
    widths = [one.vectors.shape[1] for one in (training, tests)]
    if widths[0] != widths[1]:
        found = f"expected {widths[0]} dimensions, as in training, found {widths[1]}"
        raise ArrayError("test", found)
    return training, tests


def _given(vectors: Any, task: Any, name: str) -> LabelledSet:
    if isinstance(task, TextTask):
        labels = labels_of(task)
    else:
        labels = plain_labels(task)
        check_labels(name, labels)
    arrays = vectors_of(vectors, len(labels))
    if len(arrays) > 1:
        raise ArrayError(name, f"expected vectors of one text per row, found {len(arrays)}")
    return LabelledSet(name=name, vectors=arrays[0], labels=labels)
