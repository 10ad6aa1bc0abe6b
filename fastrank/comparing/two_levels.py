"""The bootstrap over data sets and over the queries of each."""

from __future__ import annotations

import numpy as np

from fastrank.comparing.blocks import resampled_sums
from fastrank.native import kernels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.comparing.options import Settings
    from fastrank.comparing.paired import Floats, Paired

# The words for the seeds of the data sets; the kernels use those of 1, 2 and 3.
PURPOSE = 5


def two_level_means(paired: Paired, settings: Settings, resamples: int) -> Floats:
    """The means of the systems in each resample, float64[systems, resamples].

    A resample draws data sets with replacement, and for each draw of a data set its queries anew.
    Data sets without a mean of every system are not drawn. Source: Davison and Hinkley, 'Bootstrap
    methods and their application', 1997, section 3.8.
    """
    datasets = [rows for rows in paired.within or () if rows.shape[1]]
    draws = "draw_with_replacement"
    counts = resampled_sums(
        np.eye(len(datasets)), draws, resamples, settings.seed, settings.threads
    ).astype(np.int64)
    found = np.zeros((len(paired.values), resamples))
    seeds = _seeds(settings.seed, len(datasets))
    for rows, own, seed in zip(datasets, counts, seeds, strict=True):
        sums = resampled_sums(rows, draws, int(own.sum()), seed, settings.threads)
        drawn = own > 0
        starts = (np.cumsum(own) - own)[drawn]
        found[:, drawn] += np.add.reduceat(sums / rows.shape[1], starts, axis=1)
    return found / len(datasets)


def _seeds(seed: int, count: int) -> list[int]:
    """A seed for each data set, so that their draws are independent."""
    halves = np.empty(2 * count, np.int64)
    kernels.random_words(seed, PURPOSE, 0, halves)
    return [(high << 31) + (low >> 1) for high, low in halves.reshape(-1, 2).tolist()]
