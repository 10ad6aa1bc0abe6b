"""The optimizers of SentEval's classifiers, as torch computes them."""

from __future__ import annotations

import numpy

from fastrank.arguments import check_choice
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]

single = numpy.float32


def _adam(
    weights: Array, gradient: Array, state: tuple[Array, Array], step: int, lr: float, eps: float
) -> None:
    mean, square = state
    # In place from here on: these arrays are the largest of a step, and allocation takes longer
    # than arithmetic.
    mean += single(1 - 0.9) * (gradient - mean)
    _decayed_square(square, gradient, 0.999)
    root = numpy.sqrt(square)
    root /= single((1 - 0.999**step) ** 0.5)
    root += single(eps)
    numpy.divide(mean, root, out=root)
    root *= single(lr / (1 - 0.9**step))
    weights -= root


def _rmsprop(
    weights: Array,
    gradient: Array,
    state: tuple[Array, Array],
    _: int,
    lr: float,
    alpha: float,
    eps: float,
) -> None:
    square = state[0]
    kept = gradient.copy()
    _decayed_square(square, gradient, alpha)
    weights -= single(lr) * (kept / (numpy.sqrt(square) + single(eps)))


def _adagrad(
    weights: Array,
    gradient: Array,
    state: tuple[Array, Array],
    step: int,
    lr: float,
    lr_decay: float,
    eps: float,
) -> None:
    square = state[0]
    square += gradient * gradient
    rate = single(lr / (1 + (step - 1) * lr_decay))
    weights -= rate * (gradient / (numpy.sqrt(square) + single(eps)))


def _sgd(
    weights: Array,
    gradient: Array,
    state: tuple[Array, Array],
    _: int,
    lr: float,
    momentum: float,
) -> None:
    velocity = state[0]
    velocity *= single(momentum)
    velocity += gradient
    weights -= single(lr) * velocity


def _decayed_square(square: Array, gradient: Array, decay: float) -> None:
    """Update a running mean of squares; overwrites the gradient."""
    square *= single(decay)
    gradient *= gradient
    gradient *= single(1 - decay)
    square += gradient


# The update of each method, and its options with torch's defaults; None is required.
METHODS: dict[str, tuple[Callable[..., None], dict[str, float | None]]] = {
    "adam": (_adam, {"lr": 1e-3, "eps": 1e-8}),
    "rmsprop": (_rmsprop, {"lr": 1e-2, "alpha": 0.99, "eps": 1e-8}),
    "sgd": (_sgd, {"lr": None, "momentum": 0.0}),
    "adagrad": (_adagrad, {"lr": 1e-2, "lr_decay": 0.0, "eps": 1e-10}),
}


class Optimizer:
    """Updates of the weights of networks that are trained together.

    text: a method of METHODS, with options as in "sgd,lr=0.1". weights: arrays whose first axis
    counts networks. decay: for each of these arrays, the L2 penalty, broadcastable to it.
    """

    def __init__(self, text: str, weights: list[Array], decay: list[Array]) -> None:
        self._update, self._options = parsed(text)
        self._state = [(numpy.zeros_like(one), numpy.zeros_like(one)) for one in weights]
        self._decay = decay
        self._steps = 0

    def step(self, weights: list[Array], gradients: list[Array]) -> None:
        """Update the weights in place; overwrites the gradients."""
        self._steps += 1
        parts = zip(weights, gradients, self._state, self._decay, strict=True)
        for one, gradient, state, decay in parts:
            gradient += decay * one
            self._update(one, gradient, state, self._steps, **self._options)

    def keep(self, networks: Array) -> None:
        """Keep only some of the networks."""
        self._state = [(first[networks], second[networks]) for first, second in self._state]
        self._decay = [decay[networks] for decay in self._decay]


def parsed(text: str) -> tuple[Callable[..., None], dict[str, float]]:
    """The update and options of an optimizer such as "adam" or "sgd,lr=0.1".

    Raises OptionError for unknown methods and options.
    """
    if not isinstance(text, str):
        raise TypeError(f"optimizer: expected a str, found {type(text).__name__}")
    method, *given = text.split(",")
    check_choice("optimizer", method, tuple(METHODS))
    update, defaults = METHODS[method]
    options = dict(defaults)
    for part in given:
        name, _, value = part.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if name not in defaults or not 0.0 <= number < float("inf"):
            expected = ", ".join(f"{option}=NUMBER" for option in defaults)
            raise OptionError("optimizer", f"expected {method} with {expected}, found {part!r}")
        options[name] = number
    found = {}
    for name, one in options.items():
        if one is None:
            raise OptionError("optimizer", f"{method} needs {name}, as in '{method},{name}=0.1'")
        found[name] = one
    return update, found
