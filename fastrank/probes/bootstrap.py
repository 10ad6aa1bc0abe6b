"""Bootstrap intervals of means, as scipy.stats.bootstrap computes them with method BCa."""

from __future__ import annotations

from statistics import NormalDist

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]

RESAMPLES = 10_000
LEVEL = 0.99
NORMAL = NormalDist()


class MeanIntervals:
    """Intervals of means of samples, all resampled with the same seed.

    The statistic is the difference between the mean of a sample and that of a resample, as in
    Ulysses SentEval; the bounds of the difference are added to the mean.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._drawn: dict[int, Array] = {}

    def interval(self, values: Array) -> tuple[float, float]:
        """The bounds at level 0.99 for float64[values]; NaN if all values are equal."""
        import numpy

        count = len(values)
        if count == 1:
            return float(values[0]), float(values[0])
        mean = values.mean()
        found = mean - values[self._resamples(count)].mean(axis=1)
        # `mean - mean` is 0 for the sample itself.
        below, equal = int((found < 0.0).sum()), int((found == 0.0).sum())
        share = (below + below + equal) / (2 * RESAMPLES)
        total = values.sum()
        left_out = mean - numpy.array(
            [numpy.delete(values, place).mean() for place in range(count)]
        )
        apart = (count - 1) * (left_out.mean() - left_out)
        spread = (apart**2).sum() / count**2
        if not (0.0 < share < 1.0 and spread > 0.0 and total == total):
            return float("nan"), float("nan")
        bias = NORMAL.inv_cdf(share)
        skew = float((apart**3).sum() / count**3 / spread**1.5 / 6)
        tail = NORMAL.inv_cdf((1 - LEVEL) / 2)
        bounds = []
        for z in (tail, -tail):
            moved = bias + z
            at = NORMAL.cdf(bias + moved / (1 - skew * moved))
            bounds.append(float(mean + numpy.percentile(found, 100 * at)))
        return bounds[0], bounds[1]

    def _resamples(self, count: int) -> Array:
        """Row numbers of the resamples, int64[resamples, count]."""
        import numpy

        if count not in self._drawn:
            state = numpy.random.RandomState(self._seed)
            shape = (RESAMPLES, count)
            self._drawn[count] = state.randint(0, count, shape, dtype=numpy.int64)
        return self._drawn[count]
