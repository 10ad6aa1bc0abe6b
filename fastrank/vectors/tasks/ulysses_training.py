"""Train the classifiers of Ulysses SentEval: a grid search for each fold, then the classifier."""

from __future__ import annotations

from itertools import pairwise, product
from math import inf

import numpy

from fastrank.core.data.columns import Frozen
from fastrank.core.native.threads import MOST_THREADS, in_threads, processors
from fastrank.vectors.tasks.networks import AdamW, Networks, TorchRandom, permutations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from fastrank.common.arrays import Array

    Part = tuple[Array, Array]

EPOCH_KEYS = ("loss_per_epoch_train", "loss_per_epoch_eval", "metric_per_epoch_eval")
TEST_KEYS = ("loss_test", "metric_test")
SERIES = (*EPOCH_KEYS, *TEST_KEYS)
# Learning rate, beta1 and beta2; the first of equally good points is used.
GRID = list(product((5e-4, 1e-3, 2e-3), (0.8, 0.9), (0.99, 0.999)))
GRID_EPOCHS = 8
# AdamW's defaults, which apply if no point of the grid has a metric.
DEFAULT_POINT = GRID.index((1e-3, 0.9, 0.999))
# Epochs whose batches are drawn at once.
DRAWN_EPOCHS = 8
# The size of the networks that are trained together and their batches, in bytes: a part of the
# cache.
STACK_BYTES = 4 << 20


class Settings(Frozen):
    """How to train. metric: a function of logits and classes."""

    hidden: tuple[int, ...]
    classes: int
    metric: Callable[[Array, Array], float]
    batch_size: int
    epochs: int
    patience: int
    min_improvement: float

    @property
    def outputs(self) -> int:
        """The number of outputs of a network: one for two classes."""
        return 1 if self.classes == 2 else self.classes


class FoldData:
    """The scaled features and classes of the parts of a fold, and the results of training.

    series: {key: values by epoch, or one value}, with the keys of SERIES. is_far: whether some
    features are very large.
    """

    def __init__(self, parts: Sequence[Part], weights: int, loader_seed: int) -> None:
        self.train, self.validation, self.test = parts
        self.weights, self.loader = weights, TorchRandom(loader_seed)
        self.is_far = False
        self.point = DEFAULT_POINT
        self.series: dict[str, list[float]] = {key: [] for key in SERIES}

    def add(self, keys: Sequence[str], *values: float) -> None:
        """Append a value to each of these series."""
        for key, value in zip(keys, values, strict=True):
            self.series[key].append(value)


def train(folds: Sequence[FoldData], settings: Settings) -> None:
    """Choose the parameters of each fold, train its classifier, and fill in its `series`."""
    _in_threads(_search, _groups(folds, settings, len(GRID)), settings)
    _in_threads(_fit, _groups(folds, settings, 1), settings)


def _in_threads(
    work: Callable[[list[FoldData], Settings], None],
    groups: list[list[FoldData]],
    settings: Settings,
) -> None:
    waiting = iter(groups)

    def until_none_waits(_: int) -> None:
        try:
            for group in waiting:
                work(group, settings)
        except BaseException:
            # The other threads end with their groups.
            list(waiting)
            raise

    in_threads(until_none_waits, min(processors(), MOST_THREADS, len(groups)))


def _groups(folds: Sequence[FoldData], settings: Settings, copies: int) -> list[list[FoldData]]:
    """Folds to train together: with training parts of one shape, and small enough for the cache.

    The shapes differ in rows, and in features where an embedder is fitted on each training part.
    """
    groups: list[list[FoldData]] = []
    by_shape: dict[tuple[int, ...], list[FoldData]] = {}
    for fold in folds:
        by_shape.setdefault(fold.train[0].shape, []).append(fold)
    for (_, features), same in by_shape.items():
        size = max(1, _together(features, settings) // copies)
        groups += [same[first : first + size] for first in range(0, len(same), size)]
    return groups


def _together(features: int, settings: Settings) -> int:
    """How many networks fit into the cache."""
    sizes = (features, *settings.hidden, settings.outputs)
    items = settings.batch_size * max(sizes)
    if settings.hidden:
        # The parameters, gradients and moments.
        items += 4 * sum(before * units for before, units in pairwise(sizes))
    return max(1, STACK_BYTES // (4 * items))


def _search(folds: list[FoldData], settings: Settings) -> None:
    """Train with every point of the grid, and keep the best one of each fold."""
    rows, features = folds[0].train[0].shape
    # Without hidden layers, the calls of numpy for a step take longer than its arithmetic.
    together = _together(features, settings) if settings.hidden else len(GRID)
    best = dict.fromkeys(folds, -inf)
    for first in range(0, len(GRID), together):
        grid = GRID[first : first + together]
        points = len(grid)
        stack = _Stack(folds, settings, grid * len(folds), points)
        words = [fold.loader.epoch_words(points * GRID_EPOCHS, rows) for fold in folds]
        orders = permutations(numpy.concatenate(words))
        orders = orders.reshape(len(folds) * points, GRID_EPOCHS, rows)
        for epoch in range(GRID_EPOCHS):
            stack.epoch(orders[:, epoch])
        for number, fold in enumerate(folds):
            x, y = fold.validation
            for point, logits in enumerate(
                stack.networks.logits(number * points, x, points), first
            ):
                value = settings.metric(_outputs(logits, settings), y)
                if value > best[fold]:
                    best[fold], fold.point = value, point


def _fit(folds: list[FoldData], settings: Settings) -> None:
    """Train the classifiers until the validation loss does not improve, and test them."""
    stack = _Stack(folds, settings, [GRID[fold.point] for fold in folds], 1)
    best = dict.fromkeys(folds, inf)
    count = dict.fromkeys(folds, 0)
    orders: Any = None
    for epoch in range(settings.epochs):
        active = stack.folds
        drawn = epoch % DRAWN_EPOCHS
        if not drawn:
            rows = len(active[0].train[1])
            words = [fold.loader.epoch_words(DRAWN_EPOCHS, rows) for fold in active]
            orders = permutations(numpy.concatenate(words)).reshape(-1, DRAWN_EPOCHS, rows)
        losses = stack.epoch(orders[:, drawn])
        going = []
        for number, fold in enumerate(active):
            loss, metric = stack.evaluated(number, fold.validation)
            fold.add(EPOCH_KEYS, losses[number], loss, metric)
            if _improvement(best[fold], loss) >= settings.min_improvement:
                best[fold], count[fold] = loss, 0
            else:
                count[fold] += 1
            if count[fold] > settings.patience or epoch == settings.epochs - 1:
                fold.add(TEST_KEYS, *stack.evaluated(number, fold.test))
            else:
                going.append(number)
        if not going:
            break
        if len(going) < len(active):
            stack.keep(going)
            orders = orders[going]


def _improvement(best: float, loss: float) -> float:
    """How much smaller a loss is than the best one, relative to this."""
    if best == inf:
        return -0.0 if loss == inf else inf
    return -(loss - best) / (1e-12 + best)


class _Stack:
    """Networks of several folds, each with its rows, and their optimizer."""

    def __init__(
        self,
        folds: list[FoldData],
        settings: Settings,
        points: list[tuple[float, float, float]],
        copies: int,
    ) -> None:
        self.folds, self._settings = folds, settings
        rows, features = folds[0].train[0].shape
        self._batches = rows // settings.batch_size
        self.networks = Networks(len(points), (features, *settings.hidden, settings.outputs))
        for number, fold in enumerate(folds):
            self.networks.initialize(number * copies, TorchRandom(fold.weights), copies)
        self._adam = AdamW(self.networks, points, self._batches // 4)
        if len(folds) == 1:
            self._x, self._y = folds[0].train
        else:
            self._x = numpy.concatenate([fold.train[0] for fold in folds])
            self._y = numpy.concatenate([fold.train[1] for fold in folds])
        self._starts = numpy.arange(len(folds)).repeat(copies)[:, None] * rows
        # Memory that is new in each step takes the system longer to clear than numpy to fill.
        self._batch = numpy.empty((len(points), settings.batch_size, features), numpy.float32)

    def epoch(self, orders: Array) -> list[float]:
        """Train on batches of the rows in these orders; returns the mean loss of each network."""
        size = self._settings.batch_size
        total = numpy.zeros(len(orders))
        if not self._batches:
            return [float("nan")] * len(orders)
        for first in range(0, self._batches * size, size):
            rows = orders[:, first : first + size] + self._starts
            # "clip" writes into `out` directly, "raise" copies.
            x = numpy.take(self._x, rows, 0, self._batch[: len(orders)], "clip")
            y = self._y[rows]
            logits, activations = self.networks.forward(x)
            losses, slope = _losses(logits, y)
            total += losses
            self.networks.backward(activations, slope, self._adam.gradients)
            self._adam.step()
        return (total / self._batches).tolist()  # type: ignore[no-any-return]

    def evaluated(self, number: int, part: Part) -> tuple[float, float]:
        """The loss and the metric of a network for a part of its fold."""
        x, y = part
        logits = self.networks.logits(number, x)
        losses, _ = _losses(logits, y[None])
        return float(losses[0]), self._settings.metric(_outputs(logits[0], self._settings), y)

    def keep(self, numbers: list[int]) -> None:
        """Drop all folds but these."""
        self.folds = [self.folds[number] for number in numbers]
        self._starts = self._starts[numbers]
        self.networks.keep(numbers)
        self._adam.keep(numbers)


def _outputs(logits: Array, settings: Settings) -> Array:
    """The logits of a network as the metrics take them: float32[rows] for two classes."""
    return logits[:, 0] if settings.outputs == 1 else logits


def _losses(logits: Array, y: Array) -> tuple[Array, Array]:
    """The mean loss of each network, and the slopes of its outputs.

    logits: float32[networks, rows, outputs]. y: int64[networks, rows].
    """
    rows = logits.shape[1]
    if logits.shape[2] == 1:
        z = logits[:, :, 0]
        slope = (sigmoid(z) - y) / numpy.float32(rows)
        wide = z.astype(numpy.float64)
        losses = numpy.maximum(wide, 0) - wide * y + numpy.log1p(numpy.exp(-numpy.abs(wide)))
        return losses.mean(axis=1), slope.astype(numpy.float32)[:, :, None]
    shifted = logits - logits.max(axis=2, keepdims=True)
    powers = numpy.exp(shifted)
    sums = powers.sum(axis=2, keepdims=True)
    slope = powers / sums
    columns = y[:, :, None]
    right = numpy.take_along_axis(shifted, columns, 2) - numpy.log(sums)
    numpy.put_along_axis(slope, columns, numpy.take_along_axis(slope, columns, 2) - 1, 2)
    slope /= numpy.float32(rows)
    return -right[:, :, 0].mean(axis=1, dtype=numpy.float64), slope


def matthews(logits: Array, y: Array) -> float:
    """The Matthews correlation of two classes, at least 0.

    logits: float32[rows]. Logits that are all in [0, 1] count as probabilities. The computation is
    in float32.
    """
    positive = (logits if are_probabilities(logits) else sigmoid(logits)) > 0.5
    is_one = y == 1
    tp, fp = int((positive & is_one).sum()), int((positive & ~is_one).sum())
    fn = int(is_one.sum()) - tp
    tn = len(y) - tp - fp - fn
    if not fp + fn:
        return 1.0
    if not tp + tn:
        return 0.0
    single = numpy.float32
    in_class = single(tn + fp), single(fn + tp)
    predicted = single(tn + fn), single(fp + tp)
    rows, right = single(len(y)), single(tp + tn)
    top = right * rows - (in_class[0] * predicted[0] + in_class[1] * predicted[1])
    square = rows * rows
    bottom = (square - (predicted[0] * predicted[0] + predicted[1] * predicted[1])) * (
        square - (in_class[0] * in_class[0] + in_class[1] * in_class[1])
    )
    if not bottom:
        # All rows are in one class, or predicted to be.
        small = numpy.finfo(single).eps
        root = numpy.sqrt(small)
        if not fn + tn:
            top = root * single(tp - fp)
        elif not fp + tn:
            top = root * single(tp - fn)
        elif not tp + fn:
            top = root * single(tn - fp)
        else:
            top = root * single(tn - fn)
        bottom = (single(tp + fp) + small) * (single(tp + fn) + small)
        bottom = bottom * (single(tn + fp) + small) * (single(tn + fn) + small)
    return max(0.0, float(top / numpy.sqrt(bottom)))


def adjusted_macro_f1(logits: Array, y: Array) -> float:
    """Macro F1 of several classes, scaled so that chance is 0, and at least 0.

    logits: float32[rows, classes]. Classes without rows that are not predicted do not count.
    """
    classes = logits.shape[1]
    predicted = logits.argmax(axis=1)
    right = numpy.bincount(y[predicted == y], minlength=classes).astype(numpy.float32)
    total = numpy.bincount(y, minlength=classes) + numpy.bincount(predicted, minlength=classes)
    present = total > 0
    f1 = 2 * right[present] / total[present].astype(numpy.float32)
    mean = (f1 / numpy.float32(present.sum())).sum(dtype=numpy.float32)
    return max(0.0, float((mean - numpy.float32(1 / classes)) / numpy.float32(1 - 1 / classes)))


def are_probabilities(logits: Array) -> bool:
    """Whether torchmetrics takes these logits for probabilities."""
    return bool(((logits >= 0) & (logits <= 1)).all())


def sigmoid(logits: Array) -> Array:
    """The logistic function without overflow, in the type of the logits."""
    shrunk = numpy.exp(-numpy.abs(logits))
    values: Array = numpy.where(logits >= 0, 1, shrunk) / (1 + shrunk)
    return values


LEVELS = 4
# Columns in four registers of eight floats, and parts of the rows for the columns left.
COLUMNS, PARTS = 32, 4
SMALL = 1e-12


def scaled(train: Array, *others: Array) -> list[Array]:
    """The given float32[rows, features], scaled by the mean and deviation of the first."""
    mean = torch_sum(train) / numpy.float32(len(train))
    deviation = train.std(axis=0, ddof=1, dtype=numpy.float64).astype(numpy.float32)
    deviation += numpy.float32(SMALL)
    return [(part - mean) / deviation for part in (train, *others)]


def torch_sum(rows: Array) -> Array:
    """The sums of the columns in float32, added in the order of torch's AVX2 code.

    The rounding of the mean counts: constant columns are divided by 1e-12 after subtracting it.
    """
    count, columns = rows.shape
    together = columns - columns % COLUMNS
    # The last columns are summed as four interleaved parts.
    last = rows[:, together:]
    parts = [_cascade(last[first : count - count % PARTS : PARTS]) for first in range(PARTS)]
    for row in last[count - count % PARTS :]:
        parts[0] += row
    for part in parts[1:]:
        parts[0] += part
    return numpy.concatenate((_cascade(rows[:, :together]), parts[0]))


def _cascade(rows: Array) -> Array:
    """The sums of the columns, with four levels of partial sums."""
    count, columns = rows.shape
    sums = numpy.zeros((LEVELS, columns), numpy.float32)
    power = max(4, (count - 1).bit_length() // LEVELS)
    step = 1 << power
    blocks = count // step
    in_blocks = rows[: blocks * step].reshape(blocks, step, columns)
    of_block = numpy.zeros((blocks, columns), numpy.float32)
    for i in range(step):
        of_block += in_blocks[:, i]
    for block in range(blocks):
        sums[0] += of_block[block]
        done = (block + 1) * step
        for level in range(1, LEVELS):
            sums[level] += sums[level - 1]
            sums[level - 1] = 0.0
            if done & ((step - 1) << (level * power)):
                break
    for row in rows[blocks * step :]:
        sums[0] += row
    for level in range(1, LEVELS):
        sums[0] += sums[level]
    total: Array = sums[0]
    return total
