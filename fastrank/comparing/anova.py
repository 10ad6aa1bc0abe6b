"""Two-way analysis of variance: systems and queries, one value for each combination."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.comparing.paired import Floats


class Source(NamedTuple):
    """A source of variance: its name, sum of squares, and degrees of freedom."""

    name: str
    squares: float
    df: int

    @property
    def mean_square(self) -> float:
        """The sum of squares divided by the degrees of freedom, NaN for none."""
        return self.squares / self.df if self.df else float("nan")


def two_way(values: Floats) -> list[Source]:
    """The sources systems, queries and residual of values, float64[systems, queries]."""
    k, n = values.shape
    # The order of the systems would change the last bits of sums.
    values = values[np.lexsort(values.T)]
    mean = values.mean()
    systems = float(n * ((values.mean(axis=1) - mean) ** 2).sum())
    queries = float(k * ((values.mean(axis=0) - mean) ** 2).sum())
    residuals = values - values.mean(axis=1)[:, None] - values.mean(axis=0)[None, :] + mean
    return [
        Source("systems", systems, k - 1),
        Source("queries", queries, n - 1),
        Source("residual", float((residuals**2).sum()), (n - 1) * (k - 1)),
    ]
