"""Steps of AdamW for several networks."""

from __future__ import annotations

import numpy as np

from fastrank.core.native.compiling.compiler import float32
from fastrank.core.native.declare import instruction, kernel

EPSILON = np.float32(1e-8)
COEFFICIENTS = 7


def _root(builder, x):
    # Numba calls `sqrtf`, which keeps loops from being vectorized.
    return builder.call(builder.module.declare_intrinsic("llvm.sqrt", [x.type]), [x])


@instruction(float32(float32), _root)
def root(x):
    """The square root in single precision."""
    return np.sqrt(x)


@kernel("void(float32[::1], float32[::1], float32[::1], float32[::1], float32[::1])")
def step_of_adam(parameters, gradients, first, second, coefficients):
    """Change the parameters of networks, and the moments of their gradients, by one step.

    coefficients: seven per network. What its gradients are multiplied by, 1 - beta1, 1 - beta2,
    beta2, 1 - decay, -rate / (1 - beta1**t), sqrt(1 - beta2**t). Rounded as in torch: every
    operation is in single precision.
    """
    networks = len(coefficients) // COEFFICIENTS
    width = len(parameters) // networks
    for network in range(networks):
        base = COEFFICIENTS * network
        clip, new, new_square = coefficients[base], coefficients[base + 1], coefficients[base + 2]
        old_square, shrinkage = coefficients[base + 3], coefficients[base + 4]
        rate, scale = coefficients[base + 5], coefficients[base + 6]
        start, stop = network * width, (network + 1) * width
        # Indices from 0 on: numba checks whether others are negative, which prevents vectorization.
        weights, slopes = parameters[start:stop], gradients[start:stop]
        means, squares = first[start:stop], second[start:stop]
        for i in range(len(weights)):
            slope = slopes[i] * clip
            mean = means[i] + (slope - means[i]) * new
            square = squares[i] * old_square + slope * new_square * slope
            means[i], squares[i] = mean, square
            weights[i] = weights[i] * shrinkage + mean * rate / (root(square) / scale + EPSILON)
