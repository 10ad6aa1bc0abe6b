"""Whether a higher grade further up cannot lower a value, found by trying all small rankings."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.core.measures.families import MEASURES
from fastrank.core.measures.over_ties import has_range
from fastrank.core.measures.selection import Selection
from tests.core.measures.test_best_values import name_of

# Negative and unjudged ones stand for documents below all judged ones, in this order.
GRADES = (-2, -1, 0, 1, 3)
LENGTH = 4
# The grades of the judged documents that are not retrieved.
OTHERS = ((), (1,), (3, 0), (2, 2, -2))
# Of these no counterexample is known here, and no proof either.
UNPROVED = (
    "utility G ndcg_rel Rndcg num_nonrel_judged_ret rbp unj Judged Unjudged Hole"
    " ReciprocalHitRank PairAccuracy Q Compat BPM INST NERR8 NERR9 NERR10 NERR11"
    " AP(denominator='min_k')@2 AP(denominator='relevant_retrieved') P(denominator='retrieved')@3"
    " nDCG(ideal='retrieved')@2 Compat(normalize=False)"
    " HitRatio(average='micro',denominator='relevant_retrieved')@2"
)
VARIANTS = (
    "P.1,2,3 recall.2 Rprec_mult.0.2,1,1.05,2 set_F.0.5 success.2,3 AP@2 AP(rel=2) NumRet(rel=2)"
    " nDCG(ideal='max')@2 nDCG(dcg='exp-log2')@3 RBP(gain='graded')@3 RBP(gain='raw') F1@2"
    " SetP(relative=True) SetF(beta=2) ERR@2 RR@2 IPrec(rel=2)@0.5 infAP(rel=2)"
    " Judged(denominator='k')@2 FullRecall@2 Evidence(n=2)@2 RBP(residual=True)@2"
)


@functools.cache
def _rankings() -> tuple[fr.Qrels, fr.Run]:
    """All rankings of grades, each as a query, for each of the sets of other documents."""
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for others, *grades in itertools.product(OTHERS, *[GRADES] * LENGTH):
        query = f"{len(qrels):05}"
        run[query] = {f"d{rank}": -float(rank) for rank in range(LENGTH)}
        judged = {f"d{rank}": grade for rank, grade in enumerate(grades) if grade != -1}
        # Without a judgment of at least 0, trec_eval refuses a query.
        qrels[query] = {**judged, **{f"x{i}": own for i, own in enumerate(others)}, "y": 0}
    return fr.Qrels.from_dict(qrels), fr.Run.from_dict(run)


def _never_falls(values: Any) -> bool:
    """Whether no value is lower when a grade changes places with a lower one just above it."""
    by_grade = values.reshape(len(OTHERS), *[len(GRADES)] * LENGTH)
    lower, higher = np.triu_indices(len(GRADES), 1)
    for above in range(1, LENGTH):
        pairs = np.moveaxis(by_grade, (above, above + 1), (0, 1))
        before, after = pairs[lower, higher], pairs[higher, lower]
        if not ((after >= before - 1e-12) | np.isnan(after) & np.isnan(before)).all():
            return False
    return True


NAMES = [
    name_of(measure)
    for measure in MEASURES
    if measure.kernel
    and measure.average not in ("", "geometric")
    and measure.needs not in ("groups", "preferences", "strata", "subtopics")
]


@pytest.mark.parametrize(
    "name", [*NAMES, *VARIANTS.split(), *(own for own in UNPROVED.split() if "(" in own)]
)
def test_a_value_falls_unless_its_record_says_that_it_cannot(name):
    (bound,) = Selection([name]).bind("9.0.8")

    scores = fr.evaluate(*_rankings(), name)

    cannot_fall = all(_never_falls(scores[own]) for own in scores.names)
    unproved = {name, bound.measure.name} & {*UNPROVED.split()}
    assert bound.measure.monotone == (cannot_fall and not unproved)


@pytest.mark.parametrize("name", ["gm_map", "gm_bpref"])
def test_the_logarithm_of_a_value_falls_as_the_value_does(name):
    (bound,) = Selection([name]).bind("9.0.8")
    (plain,) = Selection([name.removeprefix("gm_")]).bind("9.0.8")

    assert bound.measure.monotone == plain.measure.monotone
    assert has_range(bound)
