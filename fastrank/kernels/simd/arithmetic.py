"""C's arithmetic where Python's refuses: logarithms of what is not positive, conversion to long."""

from __future__ import annotations

import math

import numpy as np

from fastrank.native.declare import helper


@helper
def nonpositive_logarithm(x):
    """-inf at 0, and below it (or of NaN) the NaN that the processor makes, sign included."""
    return -np.inf if x == 0.0 else np.float64(x - x) / (x - x)


@helper
def log_or_nan(x):
    return math.log(x) if x > 0.0 else nonpositive_logarithm(x)


@helper
def log2_or_nan(x):
    return math.log2(x) if x > 0.0 else nonpositive_logarithm(x)


@helper
def to_integer(x):
    """C's conversion of a double to long on x86-64: the smallest long when out of range."""
    if x >= -9223372036854775808.0 and x < 9223372036854775808.0:
        return np.int64(x)
    return np.int64(-9223372036854775807) - np.int64(1)
