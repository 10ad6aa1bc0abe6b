"""The networks of SentEval: logistic regressions and perceptrons of one hidden layer.

Networks with equal numbers of training rows see the rows in the same order, from equal initial
weights. Therefore they are trained together: the networks of several folds as a stack of matrix
products, those of several L2 penalties as further columns of each matrix.
"""

from __future__ import annotations

import numpy

from fastrank.data.columns import Frozen
from fastrank.tasks.networks import TorchRandom

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]

single = numpy.float32
# Of the optimizers.
EPSILON = 1e-8


class Training(Frozen):
    """How networks are trained.

    hidden: units, 0 for a logistic regression. dropout: the probability of dropping a hidden unit.
    optimizer: a name in OPTIMIZERS. batch: rows per step. passes: over the training rows
    between two checks of the accuracy on the validation rows. tenacity: the checks without
    improvement after which training goes on, in total. max_passes: no training after these. seed:
    of weights and orders.
    """

    hidden: int
    dropout: float
    optimizer: str
    batch: int
    passes: int
    tenacity: int
    max_passes: int
    seed: int


def predicted(weights: list[Array], penalties: int, inputs: Array, fold: int) -> Array:
    """The class of each row by each network of a fold, int64[rows, penalties]."""
    logits, _ = forward([one[fold : fold + 1] for one in weights], inputs[None], penalties)
    classes: Array = logits[0].argmax(-1).T
    return classes


def with_ones(vectors: Array) -> Array:
    """The rows with a further column of ones, whose weights are the biases."""
    return numpy.concatenate([vectors, numpy.ones((*vectors.shape[:-1], 1), single)], axis=-1)


def train(
    inputs: Array,
    y: Array,
    classes: int,
    train_rows: Array,
    valid_rows: list[Array],
    penalties: Array,
    training: Training,
    random: numpy.random.RandomState,
) -> tuple[list[Array], Array]:
    """Train a network for each fold and penalty; return the best weights and their accuracies.

    inputs: float32[rows, features + 1] of `with_ones`. y: int64[rows]. train_rows: int64[folds,
    training rows]. valid_rows: of each fold. penalties: float[folds, penalties], L2. random: gives
    the orders. The accuracies are float64[folds, penalties] on the validation rows.
    """
    folds, count = penalties.shape
    weights = initial_weights(inputs.shape[1] - 1, classes, folds, count, training)
    decay = _decay_of(weights, penalties, training.hidden or classes)
    optimizer = Optimizer(training.optimizer, weights, decay)
    dropped = _Dropout(training) if training.hidden and training.dropout else None
    best = [one.copy() for one in weights]
    accuracies = numpy.full((folds, count), -1.0)
    misses = numpy.zeros((folds, count), numpy.int64)
    active = numpy.ones((folds, count), bool)
    # Folds whose networks are all done leave the stack.
    left, rows_left = numpy.arange(folds), train_rows
    one_hot = numpy.eye(classes, dtype=single)
    passes = 0
    while len(left) and passes <= training.max_passes:
        for _ in range(training.passes):
            order = random.permutation(train_rows.shape[1])
            for start in range(0, len(order), training.batch):
                rows = rows_left[:, order[start : start + training.batch]]
                gradients = _gradients(weights, inputs[rows], one_hot[y[rows]], count, dropped)
                optimizer.step(weights, gradients)
        passes += training.passes
        for place, fold in enumerate(left):
            valid = valid_rows[fold]
            right = predicted(weights, count, inputs[valid], place) == y[valid, None]
            accuracy = right.sum(0) / len(valid)
            better = active[fold] & (accuracy > accuracies[fold])
            worse = active[fold] & ~better
            accuracies[fold, better] = accuracy[better]
            for kept, now in zip(best, weights, strict=True):
                _of_penalties(kept[fold], count)[..., better] = _of_penalties(now[place], count)[
                    ..., better
                ]
            active[fold] &= ~(worse & (misses[fold] >= training.tenacity))
            misses[fold] += worse
        going = numpy.asarray(active[left].any(axis=1))
        if not going.all():
            left, rows_left = left[going], rows_left[going]
            weights = [one[going] for one in weights]
            optimizer.keep(going)
    return best, accuracies


def initial_weights(
    width: int, classes: int, folds: int, penalties: int, training: Training
) -> list[Array]:
    """The weights from which torch's Linear starts with this seed, for each fold and penalty.

    The first layer is float32[folds, width + 1, penalties * units], the second, if there is one,
    float32[folds, penalties, hidden + 1, classes].
    """
    random = TorchRandom(training.seed)

    def layer(inputs: int, units: int) -> Array:
        bound = inputs**-0.5
        weights = random.uniform((units, inputs), bound)
        return numpy.concatenate([weights.T, random.uniform((1, units), bound)])

    first = numpy.tile(layer(width, training.hidden or classes), penalties)
    weights = [numpy.repeat(first[None], folds, axis=0)]
    if training.hidden:
        second = layer(training.hidden, classes)
        shape = (folds, penalties, *second.shape)
        weights.append(numpy.broadcast_to(second, shape).copy())
    return weights


def forward(
    weights: list[Array], inputs: Array, penalties: int, dropped: _Dropout | None = None
) -> tuple[Array, Array | None]:
    """The logits, float32[folds, penalties, rows, classes], and the outputs of the hidden layer."""
    folds, rows, _ = inputs.shape
    sums = numpy.matmul(inputs, weights[0]).reshape(folds, rows, penalties, -1)
    sums = sums.transpose(0, 2, 1, 3)
    if len(weights) == 1:
        return sums, None
    if dropped is not None:
        sums = sums * dropped.scale(sums.shape)
    # In this order of axes in memory, of which matmul calls the BLAS.
    hidden = numpy.ones((*sums.shape[:-1], sums.shape[-1] + 1), single)
    outputs = numpy.negative(sums, out=hidden[..., :-1])
    numpy.exp(outputs, out=outputs)
    outputs += single(1)
    numpy.reciprocal(outputs, out=outputs)
    return numpy.matmul(hidden, weights[1]), hidden


def _gradients(
    weights: list[Array], inputs: Array, expected: Array, penalties: int, dropped: _Dropout | None
) -> list[Array]:
    """Gradients of the mean cross entropy; expected: one-hot float32[folds, rows, classes]."""
    logits, hidden = forward(weights, inputs, penalties, dropped)
    folds, _, rows, _ = logits.shape
    slope = logits - logits.max(-1, keepdims=True)
    numpy.exp(slope, out=slope)
    slope /= slope.sum(-1, keepdims=True)
    slope -= expected[:, None]
    slope /= single(rows)
    gradients = []
    if hidden is not None:
        gradients.append(numpy.matmul(hidden.swapaxes(2, 3), slope))
        slope = numpy.matmul(slope, weights[1][:, :, :-1].swapaxes(2, 3))
        outputs = hidden[..., :-1]
        slope *= outputs * (single(1) - outputs)
        if dropped is not None:
            slope *= dropped.last
    columns = slope.transpose(0, 2, 1, 3).reshape(folds, rows, -1)
    return [numpy.matmul(inputs.swapaxes(1, 2), columns), *gradients]


class _Dropout:
    """Random scales of hidden units."""

    def __init__(self, training: Training) -> None:
        self._kept = 1.0 - training.dropout
        self._random = numpy.random.RandomState(training.seed)
        self.last: Array = numpy.empty(0)

    def scale(self, shape: tuple[int, ...]) -> Array:
        """0 or 1 / probability of being kept, the same for each fold and penalty."""
        kept = self._random.random_sample(shape[2:]) < self._kept
        self.last = kept.astype(single) / single(self._kept)
        return self.last


def _decay_of(weights: list[Array], penalties: Array, units: int) -> list[Array]:
    single_penalties = penalties.astype(single)
    shaped = [numpy.repeat(single_penalties, units, axis=1)[:, None]]
    return [*shaped, single_penalties[:, :, None, None]][: len(weights)]


def _of_penalties(layer: Array, penalties: int) -> Array:
    """A view of a layer of one fold whose last axis counts penalties."""
    view: Array = (
        layer.reshape(len(layer), penalties, -1).swapaxes(1, 2)
        if layer.ndim == 2
        else layer.transpose(1, 2, 0)
    )
    return view


def _adam(
    weights: Array, gradient: Array, mean: Array, square: Array, step: int, rate: float
) -> None:
    # In place from here on: these arrays are the largest of a step, and allocation takes longer
    # than arithmetic.
    mean += single(1 - 0.9) * (gradient - mean)
    _decayed_square(square, gradient, 0.999)
    root = numpy.sqrt(square)
    root /= single((1 - 0.999**step) ** 0.5)
    root += single(EPSILON)
    numpy.divide(mean, root, out=root)
    root *= single(rate / (1 - 0.9**step))
    weights -= root


def _rmsprop(
    weights: Array, gradient: Array, _: Array, square: Array, __: int, rate: float
) -> None:
    kept = gradient.copy()
    _decayed_square(square, gradient, 0.99)
    weights -= single(rate) * (kept / (numpy.sqrt(square) + single(EPSILON)))


def _decayed_square(square: Array, gradient: Array, decay: float) -> None:
    """Update a running mean of squares; overwrites the gradient."""
    square *= single(decay)
    gradient *= gradient
    gradient *= single(1 - decay)
    square += gradient


# The optimizers of SentEval's configurations with the learning rates, as torch computes them.
OPTIMIZERS = {"adam": (_adam, 1e-3), "rmsprop": (_rmsprop, 1e-2)}


class Optimizer:
    """Updates of the weights of networks that are trained together.

    name: in OPTIMIZERS. weights: arrays whose first axis counts networks. decay: for each of these
    arrays, the L2 penalty, broadcastable to it.
    """

    def __init__(self, name: str, weights: list[Array], decay: list[Array]) -> None:
        self._update, self._rate = OPTIMIZERS[name]
        self._state = [(numpy.zeros_like(one), numpy.zeros_like(one)) for one in weights]
        self._decay = decay
        self._steps = 0

    def step(self, weights: list[Array], gradients: list[Array]) -> None:
        """Update the weights in place; overwrites the gradients."""
        self._steps += 1
        parts = zip(weights, gradients, self._state, self._decay, strict=True)
        for one, gradient, (mean, square), decay in parts:
            gradient += decay * one
            self._update(one, gradient, mean, square, self._steps, self._rate)

    def keep(self, networks: Array) -> None:
        """Keep only some of the networks."""
        self._state = [(first[networks], second[networks]) for first, second in self._state]
        self._decay = [decay[networks] for decay in self._decay]
