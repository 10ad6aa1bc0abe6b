"""Pairs of vectors: their similarities, and the thresholds that separate two labels."""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.simd.sums import LANES, sum_differences, sum_products
from fastrank.core.native.declare import kernel


@kernel("void(float32[::1], float32[::1], int64, int64, int64, float32[::1], float32[::1])")
def products_of_pairs(left, right, width, first, last, cosines, products):
    """Cosine and dot product of rows first : last; one without room for its values is left out.

    The sums are doubles, rounded once to float32. The cosine with a zero vector is 0.
    """
    blocks = width // LANES
    for row in range(first, last):
        product, squares, other_squares = sum_products(left, right, row * width, blocks)
        for i in range(row * width + blocks * LANES, (row + 1) * width):
            x, y = np.float64(left[i]), np.float64(right[i])
            product += x * y
            squares += x * x
            other_squares += y * y
        if len(cosines) > 0:
            lengths = np.sqrt(squares * other_squares)
            cosines[row] = product / lengths if lengths > 0.0 else product
        if len(products) > 0:
            products[row] = product


@kernel("void(float32[::1], float32[::1], int64, int64, int64, float32[::1], float32[::1])")
def distances_of_pairs(left, right, width, first, last, euclidean, manhattan):
    """Negative Euclidean and Manhattan distance of rows first : last, as in products_of_pairs."""
    blocks = width // LANES
    for row in range(first, last):
        squares, absolute = sum_differences(left, right, row * width, blocks)
        for i in range(row * width + blocks * LANES, (row + 1) * width):
            difference = np.float64(left[i]) - np.float64(right[i])
            squares += difference * difference
            absolute += abs(difference)
        if len(euclidean) > 0:
            euclidean[row] = -np.sqrt(squares)
        if len(manhattan) > 0:
            manhattan[row] = -absolute


@kernel("int64(float32[::1], uint8[::1], int64[::1])")
def keys_of_scores(scores, labels, keys):
    """A key per score, ascending with it, with the label as its lowest bit.

    The other bits are those of the float, of which negative ones descend. Returns how many labels
    are 1.
    """
    bits = scores.view(np.int32)
    positives = 0
    for i in range(len(scores)):
        value = np.int64(bits[i])
        if value < 0:
            # -0.0 is 0.0.
            value = -(value & np.int64(0x7FFFFFFF))
        keys[i] = value * 2 + labels[i]
        positives += labels[i]
    return positives


@kernel("int64(int64[::1], int64, int64, float64[::1], int64[::1])")
def sweep_thresholds(keys, positives, extremes, terms, best):
    """Average precision and the best cuts of ascending keys, of which `positives` have label 1.

    terms: room for an item per key, also the memory of the keys itself; gets the terms of the
    average precision. Returns how many there are. best: of the best accuracy and then the best F1,
    the number of labels 1 and of all labels from the cut on, the score (a key without its label)
    from which the cut is made and the one below it. With the number -1 there is no cut, or it is
    above all scores. Without `extremes`, the lowest score is not a cut. Of equally good cuts the
    highest is the best.
    """
    count = len(keys)
    negatives = count - positives
    most, highest = negatives if extremes else np.int64(-1), -1.0
    best[0], best[4] = -1, -1
    reached, last, below = positives, np.int64(0), np.int64(0)
    recall = 1.0
    groups = 0
    while last < count:
        first = last
        score = keys[first] >> 1
        ones = 0
        while last < count and keys[last] >> 1 == score:
            ones += keys[last] & 1
            last += 1
        size = count - first
        is_cut = extremes != 0 or first > 0
        correct = 2 * reached - size + negatives
        # A cut above all scores comes first.
        if is_cut and (correct > most or (correct == most and best[0] >= 0)):
            most = correct
            best[0], best[1], best[2], best[3] = reached, size, score, below
        term = 0.0
        # Other cuts have a lower F1 than the next higher one.
        if ones > 0 or (is_cut and last == count and best[4] < 0):
            precision = reached / size
            rest = (reached - ones) / positives
            term = (recall - rest) * precision
            if is_cut:
                f1 = 0.0
                if reached > 0:
                    f1 = 2.0 * precision * recall / (precision + recall)
                if f1 >= highest:
                    highest = f1
                    best[4], best[5], best[6], best[7] = reached, size, score, below
            recall = rest
        terms[groups] = term
        groups += 1
        reached -= ones
        below = score
    return groups
