"""Type I error of the tests of `fastrank.compare`, on paired data without a true difference.

    python -m bench.error_rates [DRAWS]

Each draw takes two of the runs in data/, average precision or P@10 of 50 of their queries with
replacement, and swaps the two values of every query with probability 1/2: both systems then have
the same distribution. The share of p <= 0.05 is to be 0.05.
"""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np

import fastrank as fr

QUERIES = 50
TESTS = ("t", "randomization", "wilcoxon", "sign")


def error_rates(measure: str, draws: int) -> dict[str, float]:
    """The share of draws in which each test rejects at the level 0.05."""
    runs = [f"data/{name}.run" for name in ("pixels", "pca", "profile")]
    values = np.stack([own[measure] for own in fr.evaluate("data/digits.qrels", runs, measure)])
    pairs, rng = list(combinations(range(3), 2)), np.random.default_rng(0)
    rejected = dict.fromkeys(TESTS, 0)
    for _ in range(draws):
        chosen = rng.integers(values.shape[1], size=QUERIES)
        both = values[list(pairs[rng.integers(len(pairs))])][:, chosen]
        swapped = np.where(rng.random(QUERIES) < 0.5, both, both[::-1])
        scores = {str(i): {str(q): v for q, v in enumerate(row)} for i, row in enumerate(swapped)}
        for test in TESTS:
            found = fr.compare_scores(
                scores, test=test, interval="none", resamples=999, exact_up_to=20
            )
            rejected[test] += found.significant("value", "0", "1")
    return {test: count / draws for test, count in rejected.items()}


if __name__ == "__main__":
    for measure in ("map", "P_10"):
        rates = error_rates(measure, int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
        print(measure, *(f"{test} {rate:.4f}" for test, rate in rates.items()))
