"""The discount of a rank in DCG and G."""

from __future__ import annotations

import math

import numpy as np

from fastrank.native.declare import helper

# A division and a look-up take a quarter of the time of the C library's log2. Up to here its values
# are the doubles next to the logarithms, so that they are the same wherever the library is built.
LISTED = 1024
DISCOUNTS = np.array([math.log2(rank + 1) for rank in range(LISTED)])


@helper
def discount(rank):
    """log2(rank + 1)."""
    return DISCOUNTS[rank] if rank < LISTED else math.log2(rank + 1)
