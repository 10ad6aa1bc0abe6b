"""Translations: whether the nearest text of the other side is the right one."""

from __future__ import annotations

import numpy

from fastrank.errors import ArrayError
from fastrank.keywords import takes, with_defaults
from fastrank.tasks.inputs import TASK, TaskOptions, read_task
from fastrank.tasks.metrics import accuracy, f1, precision, recall
from fastrank.tasks.result import TaskResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt
    from typing_extensions import Unpack

    Array = npt.NDArray[Any]

# Similarities computed at once: 64 MB.
BLOCK_VALUES = 1 << 24
# The shortest length that torch divides by.
SHORTEST = 1e-12


@takes(TaskOptions, TASK)
def evaluate_bitext(
    model_or_vectors: Any, task: Any = None, **options: Unpack[TaskOptions]
) -> TaskResult:
    """Find for each text its translation as the nearest text by cosine (bitext mining).

    Metrics: `f1` (the main metric), `precision`, `recall` and `accuracy` of finding the second
    text of a row with the first, where every row is a class and the averages are weighted, as in
    MTEB; and `reverse_f1` and so on of finding the first with the second. `values` has the
    `accuracy` of each row. Of equally near texts, the first one is found.

    model_or_vectors: a model as in `evaluate_model`, or a tuple of two arrays of vectors.
    task: a TextTask with two texts per row, which are translations of each other, or what makes
        one: a file, a frame, a Dataset, or a tuple (texts, translations). None with vectors.
    **options: see `TaskOptions`.

    Raises InputError and ArrayError for invalid rows or vectors; what `encode_task` raises.

    >>> fr.tasks.evaluate_bitext(([[1, 0], [0, 1]], [[2, 1], [1, 2]])).mean["f1"]
    1.0
    """
    given = with_defaults(evaluate_bitext, options)
    rows = read_task(model_or_vectors, task, given, texts=2, labels=False)
    one, other = (_unit(part, number) for number, part in enumerate(rows.vectors, 1))
    truth = numpy.arange(len(one))
    mean: dict[str, float] = {}
    values: dict[str, list[float]] = {}
    for prefix, found in (("", _nearest(one, other)), ("reverse_", _nearest(other, one))):
        mean |= {
            f"{prefix}f1": f1(truth, found, average="weighted"),
            f"{prefix}precision": precision(truth, found, average="weighted"),
            f"{prefix}recall": recall(truth, found, average="weighted"),
            f"{prefix}accuracy": accuracy(truth, found),
        }
        values[f"{prefix}accuracy"] = (truth == found).astype(float).tolist()
    return rows.result("bitext", "mteb", "f1", mean, values=values)


def _unit(vectors: Array, number: int) -> Array:
    """The vectors normalized to length 1. Raises ArrayError for values that are not finite."""
    with numpy.errstate(invalid="ignore"):
        lengths = numpy.sqrt(numpy.einsum("ij,ij->i", vectors, vectors, dtype=numpy.float64))
    if not numpy.isfinite(lengths).all():
        row = int((~numpy.isfinite(lengths)).argmax())
        raise ArrayError(f"vectors of text {number}", "expected finite values", row)
    scaled = numpy.empty_like(vectors)
    divisors = numpy.maximum(lengths, SHORTEST)[:, None]
    numpy.divide(vectors, divisors, out=scaled, casting="unsafe")
    return scaled


def _nearest(queries: Array, corpus: Array) -> Array:
    """The row of the corpus with the highest product with each query."""
    step = max(1, BLOCK_VALUES // len(corpus))
    blocks = range(0, len(queries), step)
    found = [(queries[at : at + step] @ corpus.T).argmax(axis=1) for at in blocks]
    return numpy.concatenate(found)
