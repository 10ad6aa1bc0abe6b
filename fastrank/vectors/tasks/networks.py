"""Many small networks of one shape, trained together with stacked matrix products in float32."""

from __future__ import annotations

import numpy

from fastrank.core.native import kernels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrank.common.arrays import Array

BATCH_NORM_EPS, BATCH_NORM_MOMENTUM = 1e-5, 0.1
DECAY = 0.01
LONGEST_GRADIENT = 1.0
# The share of the learning rate in the first step.
WARM_UP_START = 0.05


class Networks:
    """Feed-forward classifiers: linear layers, each hidden one with batch norm and ReLU.

    count: the number of networks. sizes: the numbers of features, of units in each hidden layer and
    of outputs. All parameters of a network are a row of `parameters`, float32[count, parameters];
    `statistics` has the running means and variances of batch norm.
    """

    def __init__(self, count: int, sizes: Sequence[int]) -> None:
        self.count, self.sizes = count, tuple(sizes)
        *hidden, outputs = self.sizes[1:]
        shapes: list[tuple[int, ...]] = []
        for before, units in zip(self.sizes, hidden, strict=False):
            shapes += [(units, before), (units,), (units,)]
        shapes += [(outputs, self.sizes[-2]), (outputs,)]
        self._shapes = shapes
        width = sum(int(numpy.prod(shape)) for shape in shapes)
        self.parameters = numpy.zeros((count, width), numpy.float32)
        self.statistics = numpy.zeros((count, 2 * sum(hidden)), numpy.float32)

    def views(self, rows: Array) -> list[Array]:
        """The parameters, or their gradients, by layer, as views of rows."""
        views, start = [], 0
        for shape in self._shapes:
            size = shape[0] * (shape[1] if len(shape) > 1 else 1)
            views.append(rows[:, start : start + size].reshape(len(rows), *shape))
            start += size
        return views

    def layer_statistics(self, rows: Array) -> list[tuple[Array, Array]]:
        """The running mean and variance of each hidden layer, as views of rows."""
        statistics, start = [], 0
        for units in self.sizes[1:-1]:
            statistics.append(
                (rows[:, start : start + units], rows[:, start + units : start + 2 * units])
            )
            start += 2 * units
        return statistics

    def initialize(self, first: int, random: TorchRandom, copies: int = 1) -> None:
        """Draw the initial weights of `copies` equal networks from number `first` on."""
        rows = self.parameters[first : first + copies]
        views = self.views(rows)
        for layer, view in enumerate(views[:-1]):
            if layer % 3 == 0:
                view[:] = random.uniform(view.shape[1:], view.shape[-1] ** -0.5)
            elif layer % 3 == 1:
                view[:] = 1.0
        for _, variance in self.layer_statistics(self.statistics[first : first + copies]):
            variance[:] = 1.0

    def logits(self, first: int, x: Array, copies: int = 1) -> Array:
        """The outputs of some networks for float32[rows, features], in evaluation mode.

        Returns float32[copies, rows, outputs].
        """
        views = self.views(self.parameters[first : first + copies])
        inputs = numpy.broadcast_to(x, (copies, *x.shape))
        layers = self.layer_statistics(self.statistics[first : first + copies])
        for layer, (mean, variance) in enumerate(layers):
            weights, scale, shift = views[3 * layer : 3 * layer + 3]
            outputs = _product(inputs, weights)
            outputs -= mean[:, None]
            outputs *= (scale / numpy.sqrt(variance + numpy.float32(BATCH_NORM_EPS)))[:, None]
            outputs += shift[:, None]
            inputs = numpy.maximum(outputs, 0, out=outputs)
        return _product(inputs, views[-2]) + views[-1][:, None]

    def forward(self, x: Array) -> tuple[Array, list[Array]]:
        """The outputs for float32[count, rows, features] in training mode, and the activations that
        `backward` needs. Updates the running statistics."""
        views = self.views(self.parameters)
        activations: list[Array] = [x]
        rows = x.shape[1]
        for layer, (mean, variance) in enumerate(self.layer_statistics(self.statistics)):
            weights, scale, shift = views[3 * layer : 3 * layer + 3]
            outputs = _product(x, weights)
            center = outputs.mean(axis=1)
            outputs -= center[:, None]
            spread = numpy.einsum("gbu,gbu->gu", outputs, outputs) / numpy.float32(rows)
            for running, now in ((mean, center), (variance, spread * (rows / (rows - 1)))):
                running *= 1 - BATCH_NORM_MOMENTUM
                running += BATCH_NORM_MOMENTUM * now
            inverse = 1 / numpy.sqrt(spread + numpy.float32(BATCH_NORM_EPS))
            outputs *= inverse[:, None]
            x = outputs * scale[:, None]
            x += shift[:, None]
            numpy.maximum(x, 0, out=x)
            activations += [outputs, inverse, x]
        return _product(x, views[-2]) + views[-1][:, None], activations

    def backward(self, activations: list[Array], slope: Array, gradients: Array) -> None:
        """Write the gradients, given those of the outputs, float32[count, rows, outputs]."""
        views, gradient_views = self.views(self.parameters), self.views(gradients)
        numpy.matmul(slope.transpose(0, 2, 1), activations[-1], out=gradient_views[-2])
        slope.sum(axis=1, out=gradient_views[-1])
        for layer in range(len(self.sizes) - 3, -1, -1):
            is_last = layer == len(self.sizes) - 3
            slope = numpy.matmul(slope, views[-2] if is_last else views[3 * layer + 3])
            inputs, normal, inverse, after = activations[3 * layer : 3 * layer + 4]
            slope *= after > 0
            numpy.einsum("gbu,gbu->gu", slope, normal, out=gradient_views[3 * layer + 1])
            slope.sum(axis=1, out=gradient_views[3 * layer + 2])
            rows = numpy.float32(slope.shape[1])
            slope -= (gradient_views[3 * layer + 2] / rows)[:, None]
            slope -= normal * (gradient_views[3 * layer + 1] / rows)[:, None]
            slope *= (views[3 * layer + 1] * inverse)[:, None]
            numpy.matmul(slope.transpose(0, 2, 1), inputs, out=gradient_views[3 * layer])

    def keep(self, numbers: list[int]) -> None:
        """Drop all networks but these."""
        self.parameters, self.statistics = self.parameters[numbers], self.statistics[numbers]
        self.count = len(self.parameters)


class AdamW:
    """AdamW as torch computes it, with clipped gradients and a linear warm-up.

    settings: learning rate, beta1 and beta2 of each network. warm_up: the number of steps.
    """

    def __init__(
        self, networks: Networks, settings: Sequence[tuple[float, float, float]], warm_up: int
    ) -> None:
        self._networks, self._warm_up = networks, warm_up
        self._settings = numpy.array(settings, numpy.float64)
        shape = networks.parameters.shape
        self.gradients = numpy.zeros(shape, numpy.float32)
        self._first = numpy.zeros(shape, numpy.float32)
        self._second = numpy.zeros(shape, numpy.float32)
        self._step, self._factor = 0, WARM_UP_START

    def step(self) -> None:
        """Change the parameters by the gradients."""
        self._step += 1
        rates, firsts, seconds = self._settings.T
        rates = rates * self._factor
        lengths = numpy.sqrt(numpy.einsum("gp,gp->g", self.gradients, self.gradients))
        coefficients = (
            numpy.minimum(1.0, LONGEST_GRADIENT / (lengths + 1e-6)),
            1 - firsts,
            1 - seconds,
            seconds,
            1 - rates * DECAY,
            -rates / (1 - firsts**self._step),
            numpy.sqrt(1 - seconds**self._step),
        )
        kernels.step_of_adam(
            self._networks.parameters.reshape(-1),
            self.gradients.reshape(-1),
            self._first.reshape(-1),
            self._second.reshape(-1),
            numpy.stack(coefficients, axis=1).astype(numpy.float32).reshape(-1),
        )
        if self._step <= self._warm_up:
            slope = 1.0 - WARM_UP_START
            self._factor *= 1.0 + slope / (self._warm_up * WARM_UP_START + (self._step - 1) * slope)

    def keep(self, numbers: list[int]) -> None:
        """Drop the state of all networks but these."""
        self._settings = self._settings[numbers]
        self.gradients = self.gradients[numbers]
        self._first, self._second = self._first[numbers], self._second[numbers]


def _product(x: Array, weights: Array) -> Array:
    """x @ weights.T for each network."""
    product: Array = numpy.matmul(x, weights.transpose(0, 2, 1))
    return product


# A float32 takes the low 24 bits of a word.
FLOAT_BITS = 24


class TorchRandom:
    """The stream of words of `torch.Generator().manual_seed(seed)`."""

    def __init__(self, seed: int) -> None:
        self._state = numpy.random.RandomState(seed & 0xFFFFFFFF)

    def words(self, count: int) -> Array:
        """The next words as uint32[count]."""
        return numpy.frombuffer(self._state.bytes(4 * count), "<u4")

    def uniform(self, shape: tuple[int, ...], bound: float) -> Array:
        """The values with which `tensor.uniform_(-bound, bound)` fills a float32 tensor."""
        low, high = numpy.float32(-bound), numpy.float32(bound)
        bits = self.words(int(numpy.prod(shape))) & numpy.uint32((1 << FLOAT_BITS) - 1)
        drawn = bits.astype(numpy.float32) * numpy.float32(2.0**-FLOAT_BITS)
        values: Array = (drawn * (high - low) + low).reshape(shape)
        return values

    def epoch_words(self, epochs: int, rows: int) -> Array:
        """The words of the permutations that a shuffling DataLoader uses, uint32[epochs, rows - 1].

        In each epoch the loader draws an int64, which is two words, a permutation, and a second
        permutation that it does not use.
        """
        drawn = self.words(epochs * 2 * rows).reshape(epochs, 2 * rows)
        return drawn[:, 2 : rows + 1]


def permutations(words: Array) -> Array:
    """Permutations as by `torch.randperm`, from uint32[count, rows - 1]: int32[count, rows]."""
    count, steps = words.shape
    rows = steps + 1
    left = numpy.arange(rows, 1, -1, dtype=numpy.uint32)
    chosen = (words % left).astype(numpy.intp).T + numpy.arange(steps)[:, None]
    # A row for each position, so that every step works on contiguous memory.
    table = numpy.empty((rows, count), numpy.int32)
    table[:] = numpy.arange(rows)[:, None]
    flat = table.reshape(-1)
    chosen *= count
    chosen += numpy.arange(count)
    for row, source in zip(table, chosen, strict=False):
        taken = flat[source]
        flat[source] = row
        row[:] = taken
    orders: Array = table.T
    return orders
