"""Comparisons of the runs in data/, and of made-up values."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

import fastrank as fr
from tests.helpers.paths import REPOSITORY

DATA = REPOSITORY / "data"
NAMES = ("pixels", "pca", "profile")
MEASURES = "map P.10 recip_rank ndcg_cut.10"


@lru_cache
def data_scores() -> dict[str, fr.Scores]:
    """The scores of the three runs in data/."""
    evaluator = fr.Evaluator(DATA / "digits.qrels", MEASURES)
    return {name: evaluator.evaluate(DATA / f"{name}.run") for name in NAMES}


def compare_data(**options: Any) -> fr.types.Comparison:
    """The three runs in data/, compared."""
    return fr.compare_scores(data_scores(), **options)


def scores_of(rows: npt.ArrayLike) -> dict[str, dict[str, float]]:
    """Systems a, b, ... with these values for queries q000, q001, ..."""
    return {
        chr(ord("a") + i): {f"q{q:03d}": float(value) for q, value in enumerate(row)}
        for i, row in enumerate(np.asarray(rows, float))
    }


def compared(rows: npt.ArrayLike, **options: Any) -> fr.types.Comparison:
    """Systems a, b, ... with these values, compared."""
    return fr.compare_scores(scores_of(rows), **options)


def pair_of(first: npt.ArrayLike, second: npt.ArrayLike, **options: Any) -> fr.types.Pair:
    """Two systems with these values, compared."""
    both = [np.asarray(first, float), np.asarray(second, float)]
    return compared(np.stack(both), **options).pair("value", "a", "b")


def random_rows(systems: int, queries: int, seed: int = 0) -> npt.NDArray[np.float64]:
    """Values between 0 and 1 that are alike within a query."""
    rng = np.random.default_rng(seed)
    return np.clip(rng.random(queries) + 0.2 * rng.standard_normal((systems, queries)), 0, 1)
