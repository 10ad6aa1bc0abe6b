"""Student's t distribution: critical values and p-values."""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def critical_t(df: Any, alpha: float) -> Any:
    """What |t| exceeds with probability alpha; df: the degrees of freedom, or an array of them."""
    from scipy.special import stdtrit

    return stdtrit(df, 1 - alpha / 2)


def p_of_t(statistic: Any, df: Any) -> Any:
    """The two-sided p-value of a t statistic, or of an array of them."""
    from scipy.special import stdtr

    return 2.0 * stdtr(df, -np.abs(statistic))
