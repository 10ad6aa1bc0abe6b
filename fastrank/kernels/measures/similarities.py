"""Similarities of pairs of vectors."""

from __future__ import annotations

import numpy as np

from fastrank.kernels.simd.sums import LANES, sum_differences, sum_products
from fastrank.native.declare import kernel


@kernel("void(float32[::1], float32[::1], int64, int64, int64, float32[::1], float32[::1])")
def products_of_pairs(one, other, width, first, last, cosines, products):
    """Cosine and dot product of rows first : last; without room for one of them, it is left out.

    The sums are doubles, rounded once to float32. The cosine with a zero vector is 0.
    """
    blocks = width // LANES
    for row in range(first, last):
        product, squares, other_squares = sum_products(one, other, row * width, blocks)
        for at in range(row * width + blocks * LANES, (row + 1) * width):
            x, y = np.float64(one[at]), np.float64(other[at])
            product += x * y
            squares += x * x
            other_squares += y * y
        if len(cosines) > 0:
            lengths = np.sqrt(squares * other_squares)
            cosines[row] = product / lengths if lengths > 0.0 else product
        if len(products) > 0:
            products[row] = product


@kernel("void(float32[::1], float32[::1], int64, int64, int64, float32[::1], float32[::1])")
def distances_of_pairs(one, other, width, first, last, euclidean, manhattan):
    """Negative Euclidean and Manhattan distance of rows first : last, as in products_of_pairs."""
    blocks = width // LANES
    for row in range(first, last):
        squares, absolute = sum_differences(one, other, row * width, blocks)
        for at in range(row * width + blocks * LANES, (row + 1) * width):
            difference = np.float64(one[at]) - np.float64(other[at])
            squares += difference * difference
            absolute += abs(difference)
        if len(euclidean) > 0:
            euclidean[row] = -np.sqrt(squares)
        if len(manhattan) > 0:
            manhattan[row] = -absolute
