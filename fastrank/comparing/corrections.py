"""p-values adjusted for several comparisons."""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.comparing.paired import Floats


def adjust(p: Floats, correction: str) -> Floats:
    """Adjusted p-values, in the order of p. NaN stays NaN, and counts as no comparison.

    Sources: Bonferroni; Holm, Scandinavian Journal of Statistics 6, 1979; Hochberg, Biometrika 75,
    1988; Benjamini and Hochberg (bh), JRSS B 57, 1995; Benjamini and Yekutieli (by), Annals of
    Statistics 29, 2001.
    """
    adjusted = np.full(len(p), np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    m = len(order)
    place = np.arange(1, m + 1)
    ascending = p[order]
    if correction == "bonferroni":
        found = m * ascending
    elif correction == "holm":
        found = np.maximum.accumulate((m - place + 1) * ascending)
    elif correction == "hochberg":
        found = _least_from_here((m - place + 1) * ascending)
    elif correction in ("bh", "by"):
        factor = (1.0 / place).sum() if correction == "by" else 1.0
        found = _least_from_here(ascending * (m / place) * factor)
    else:
        found = ascending
    adjusted[order] = np.minimum(1.0, found)
    return adjusted


def _least_from_here(values: Floats) -> Floats:
    return np.minimum.accumulate(values[::-1])[::-1]
