"""A test that the user gives as a function of two arrays."""

from __future__ import annotations

import numpy as np

from fastrank.comparing.tested import Tested
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.options import Settings
    from fastrank.comparing.paired import Paired


def user_test(paired: Paired, settings: Settings) -> Tested:
    """The p-values of a function of the values of both systems, float64[queries] each.

    Identical systems have p = 1, whatever the function returns. Raises OptionError if its result is
    not a probability.
    """
    p = np.ones(len(paired))
    for pair in range(len(paired)):
        if not paired.n[pair]:
            p[pair] = np.nan
        elif paired.unequal[pair]:
            p[pair] = _p_value(settings.function(*paired.both(pair)), settings.test)
    return Tested(paired.difference, p)


def _p_value(result: Any, name: str) -> float:
    value = getattr(result, "pvalue", result)
    if isinstance(value, (tuple, list)):
        value = value[1] if len(value) > 1 else None
    try:
        p = float(value)
    except (TypeError, ValueError):
        p = np.nan
    if not 0.0 <= p <= 1.0:
        raise OptionError("test", f"{name}: expected a p-value from 0 to 1, found {result!r}")
    return p
