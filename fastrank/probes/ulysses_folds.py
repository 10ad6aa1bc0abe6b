"""How Ulysses SentEval balances and splits the rows of a task."""

from __future__ import annotations

from math import ceil

from fastrank.data.columns import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]

MOST_SEED = 2**32 - 1


class Fold(Frozen):
    """One split of the rows: arrays of row numbers, and the seeds of weights and batches."""

    repetition: int
    partition: int
    train: Array
    validation: Array
    test: Array
    weights: int
    loader_seed: int


def seeds(seed: int, repetitions: int) -> tuple[list[int], int]:
    """The seeds of the repetitions, and that of the intervals."""
    import numpy

    state = numpy.random.RandomState(seed)
    drawn = state.randint(0, MOST_SEED, size=repetitions, dtype=numpy.int64)
    return drawn.tolist(), int(state.randint(0, MOST_SEED, dtype=numpy.int64))


def folds_of(y: Array, seed: int, repetition: int, folds: int, fraction: float) -> Iterator[Fold]:
    """The folds of one repetition; fraction: of the validation rows in those for training."""
    import numpy

    state = numpy.random.RandomState(seed)
    for_balance, for_folds = state.randint(0, MOST_SEED, size=2, dtype=numpy.int64)
    for_weights, for_loaders = state.randint(0, MOST_SEED, size=(2, folds), dtype=numpy.int64)
    # The original draws the delay of its progress bar here.
    state.random_sample()
    rows = balanced(y, int(for_balance))
    fold_of = stratified(y[rows], int(for_folds), folds)
    for partition in range(folds):
        others = numpy.flatnonzero(fold_of != partition)
        state.shuffle(others)
        validation = ceil(fraction * others.size)
        yield Fold(
            repetition=repetition, partition=partition, train=rows[others[validation:]],
            validation=rows[others[:validation]], test=rows[fold_of == partition],
            weights=int(for_weights[partition]), loader_seed=int(for_loaders[partition]),
        )  # fmt: skip


def balanced(y: Array, seed: int) -> Array:
    """Row numbers with equally many rows of each class, drawn without replacement."""
    import numpy

    state = numpy.random.RandomState(seed)
    size = int(numpy.bincount(y).min())
    return numpy.concatenate(
        [
            state.choice(numpy.flatnonzero(y == place), size=size, replace=False)
            for place in range(int(y.max()) + 1)
        ]
    )


def stratified(y: Array, seed: int, folds: int) -> Array:
    """The fold of each row, as scikit-learn's StratifiedKFold(folds, shuffle=True) chooses it.

    y: classes in order of their first row.
    """
    import numpy

    state = numpy.random.RandomState(seed)
    classes = int(y.max()) + 1
    in_order = numpy.sort(y)
    counts = [numpy.bincount(in_order[first::folds], minlength=classes) for first in range(folds)]
    found = numpy.empty(len(y), numpy.int64)
    for place in range(classes):
        drawn = numpy.arange(folds).repeat([count[place] for count in counts])
        state.shuffle(drawn)
        found[y == place] = drawn
    return found
