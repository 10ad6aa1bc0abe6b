"""Confidence intervals of means and of mean differences."""

from __future__ import annotations

import numpy as np

from fastrank.comparing.paired import Moments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.comparing.paired import Floats

    Bounds = tuple[Floats, Floats]


def t_interval(found: Moments, level: float) -> Bounds:
    """mean -+ t * sd / sqrt(n), with the quantile of Student's t for n - 1 degrees of freedom."""
    from scipy.special import stdtrit

    n = found.n
    with np.errstate(invalid="ignore", divide="ignore"):
        half = stdtrit(np.maximum(n - 1.0, 0.0), 1 - (1 - level) / 2) * found.sd / np.sqrt(n)
    return found.mean - half, found.mean + half


def all_the_same(n: int, *, successes: bool, level: float) -> tuple[float, float]:
    """The interval of Clopper and Pearson for n of n successes, or for none.

    Source: Clopper and Pearson, Biometrika 26(4), 1934.
    """
    bound = ((1 - level) / 2) ** (1 / n)
    return (bound, 1.0) if successes else (0.0, 1.0 - bound)
