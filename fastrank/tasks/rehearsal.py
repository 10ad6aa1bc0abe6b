"""Check tasks by evaluating each up to the first text that a model would encode."""

from __future__ import annotations

from fastrank.datasets.text_task import labels_of
from fastrank.metrics.inputs import binary_array, label_array, number_array
from fastrank.tasks.kinds import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.tasks.task import Task

# More texts than `evaluate_model` encodes to check a model.
MANY = 3
# Options that depend on the dimension of the vectors of the real model.
OF_DIMENSION = {"index_factory", "parameters", "train_size"}
# Labels that the functions check after encoding.
LABELS = {
    "similarity": ("scores", number_array),
    "pairs": ("labels", binary_array),
    "clustering": ("labels", label_array),
    "regression": ("labels", number_array),
}


class _FirstTextError(Exception):
    """All checks before encoding have passed."""


class _Standin:
    """In place of a model: it has vectors for a few texts and ends an evaluation that has more."""

    def __init__(self, most: int) -> None:
        self._most = most

    def encode(self, texts: list[str]) -> list[list[float]]:
        """Vectors of two dimensions."""
        if len(texts) > self._most:
            raise _FirstTextError
        return [[1.0, 1.0 + row] for row in range(len(texts))]


def rehearse(task: Task, name: str, models: int | None) -> None:
    """Raise what the evaluation of a task raises before a model encodes its first text.

    models: how many models encode the texts of a row, or None if it is the same model.
    """
    if task.kind in LABELS:
        what, check = LABELS[task.kind]
        check(what, labels_of(task.data, name))
    kind = KINDS[task.kind]
    standin = _Standin(MANY - 1 if kind.ranks else 0)
    options = {key: one for key, one in task.options.items() if key not in OF_DIMENSION}
    if not kind.ranks:
        options["name"] = name
    model = standin if models is None else (standin,) * models
    try:
        kind.evaluate(model, task.data, progress=False, **options)
    except _FirstTextError:
        return
