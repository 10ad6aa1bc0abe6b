"""What a test gives for every pair."""

from __future__ import annotations

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.options import Settings
    from fastrank.comparing.paired import Floats

SIGNS = {"higher": 1.0, "lower": -1.0, "": 0.0}


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


def gains(better: str, difference: Any, statistic: Any, settings: Settings) -> Floats:
    """How much better the first system of each pair is; 0 if neither counts as better.

    That is so if the test, which is not of means, favors the one with the worse mean. better: which
    values of the measure are.
    """
    gain: Floats = SIGNS[better] * np.asarray(difference)
    if settings.of_medians:
        return np.where(np.sign(statistic) == np.sign(difference), gain, 0.0)
    return gain
