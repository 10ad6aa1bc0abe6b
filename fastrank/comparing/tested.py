"""What a test gives for every pair."""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Tested:
    """The results of a test: one value for each pair.

    p: NaN if the test does not apply. exact: whether p is computed rather than simulated or
    approximated. notes: {pair: note}. general: notes on all pairs.
    """

    def __init__(
        self,
        statistic: Any,
        p: Any,
        *,
        df: Any = np.nan,
        exact: Any = True,
        notes: dict[int, str] | None = None,
        general: list[str] | None = None,
    ) -> None:
        self.statistic, self.p = statistic, p
        self.df = np.broadcast_to(np.asarray(df, float), p.shape)
        self.exact = np.broadcast_to(np.asarray(exact, bool), p.shape)
        self.notes, self.general = notes or {}, general or []
