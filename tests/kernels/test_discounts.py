"""The table of discounts."""

from decimal import Decimal
from math import inf, nextafter

from fastrank.kernels.measures.gains import DISCOUNTS


def test_listed_discounts_are_the_doubles_next_to_the_logarithms() -> None:
    for rank, found in enumerate(DISCOUNTS.tolist()):
        exact = Decimal(rank + 1).ln() / Decimal(2).ln()
        error = abs(Decimal(found) - exact)
        for other in (nextafter(found, -inf), nextafter(found, inf)):
            assert error <= abs(Decimal(other) - exact)
