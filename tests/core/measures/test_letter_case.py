"""Measures whose names differ only in case or separators: the same values, or refused."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import pytest

import fastrank as fr
from fastrank.core.measures.families import FAMILY_BY_NAME, LOOKALIKES
from fastrank.core.measures.trec import BY_NAME, spelling

random.seed(5)
QRELS = {
    f"q{i}": {f"d{j}": random.choice((-1, 0, 0.5, 1, 2, 3)) for j in range(random.randint(1, 40))}
    for i in range(30)
}
RUN = {
    query: {f"d{j}": random.random() for j in random.sample(range(60), 30)}
    for query in [*QRELS][:25]
}
NAMES = (*BY_NAME, *(name for name, own in FAMILY_BY_NAME.items() if own.needs != "strata"))
ALIKE = [pair for pair in combinations(dict.fromkeys(NAMES), 2) if len({*map(spelling, pair)}) == 1]


def differ(a: str, b: str, options: dict[str, Any]) -> bool:
    """Whether the means differ; those that need a cutoff have one."""

    def cut(name: str) -> str:
        if name in FAMILY_BY_NAME and FAMILY_BY_NAME[name].name in ("R", "P", "Success"):
            return f"{name}@7"
        return f"{name}.7" if name in BY_NAME and BY_NAME[name].takes == "cutoffs" else name

    one, other = ([*fr.evaluate(QRELS, RUN, cut(own), **options).mean.values()] for own in (a, b))
    return one != other


OPTIONS: list[dict[str, Any]] = [
    {},
    {"relevance_level": 2},
    {"missing": "zero", "relevance_level": 2},
    {"depth": 10, "judged_only": True},
    {"no_relevant": "one"},
    {"trec_eval_version": "10.0"},
]


@pytest.mark.parametrize(("a", "b"), ALIKE)
def test_measures_with_similar_names_are_the_same_or_lookalikes(a, b):
    assert any(differ(a, b, options) for options in OPTIONS) == (spelling(a) in LOOKALIKES)
