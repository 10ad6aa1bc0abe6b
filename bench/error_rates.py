"""Type I error of the tests of `fastrank.compare`, on paired data without a true difference.

    python -m bench.error_rates [DRAWS]

Each draw takes two of the runs in data/, average precision or P@10 of 50 of their queries with
replacement, and swaps the two values of every query with probability 1/2: both systems then have
the same distribution. The share of p <= 0.05 is to be 0.05. For P@10, which has few values, it also
prints the error rate that an exact randomization test can attain, which is less.
"""

from __future__ import annotations

import sys
from itertools import combinations
from typing import Any

import numpy as np

import fastrank as fr

QUERIES = 50
LEVEL = 0.05
TESTS = ("t", "randomization", "wilcoxon", "sign")


def error_rates(measure: str, draws: int) -> dict[str, float]:
    """The share of draws in which each test rejects at the level 0.05."""
    runs = [f"data/{name}.run" for name in ("pixels", "pca", "profile")]
    values = np.stack([own[measure] for own in fr.evaluate("data/digits.qrels", runs, measure)])
    pairs, rng = list(combinations(range(3), 2)), np.random.default_rng(0)
    rejected, attained = dict.fromkeys(TESTS, 0), 0.0
    for _ in range(draws):
        chosen = rng.integers(values.shape[1], size=QUERIES)
        both = values[list(pairs[rng.integers(len(pairs))])][:, chosen]
        swapped = np.where(rng.random(QUERIES) < 0.5, both, both[::-1])
        scores = {str(i): {str(q): v for q, v in enumerate(row)} for i, row in enumerate(swapped)}
        if measure == "P_10":
            attained += attainable(np.rint(10 * np.abs(swapped[0] - swapped[1])).astype(int))
        for test in TESTS:
            found = fr.compare_scores(
                scores, test=test, interval="none", resamples=999, exact_up_to=20
            )
            rejected[test] += found.significant("value", "0", "1")
    rates = {test: count / draws for test, count in rejected.items()}
    return rates | ({"attainable": attained / draws} if attained else {})


def attainable(sizes: Any) -> float:
    """The largest p-value up to 0.05 that signs of differences of these sizes can have, or 0.

    sizes: whole numbers. Not by fastrank: the distribution of the sum, one difference at a time.
    """
    total = int(sizes.sum())
    chances = np.zeros(2 * total + 1)
    chances[total] = 1.0
    for size in sizes[sizes > 0]:
        chances = (np.roll(chances, size) + np.roll(chances, -size)) / 2
    both = chances[total:] + chances[total::-1]
    p = np.cumsum(both[::-1])
    return float(p[p <= LEVEL + 1e-12].max(initial=0.0))


if __name__ == "__main__":
    for measure in ("map", "P_10"):
        rates = error_rates(measure, int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
        print(measure, *(f"{test} {rate:.4f}" for test, rate in rates.items()))
