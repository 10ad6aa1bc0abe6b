"""The expected value over all orders of tied documents, found by trying all orders of a few."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.core.measures.families import MEASURES
from fastrank.core.measures.over_ties import has_expected_value
from fastrank.core.measures.selection import Selection
from fastrank.errors import MeasureError
from tests.core.measures.test_best_values import name_of

# The grades of documents; -1 stands for one that is not judged.
GRADES = (-2, -1, 0, 1, 3)
# How many documents share each score, from the top.
GROUPS = ((4,), (1, 3), (3, 1), (2, 2), (1, 1, 2))
VARIANTS = (
    "utility.1,2,3,4 rbp.p=.5,1=2 dcg.1=2 ndcg.1=3,2=9 Rprec_mult.0.2,1,1.5 AP@1 AP@2 AP(rel=2)"
    " AP(judged_only=True) AP(denominator='min_k')@2 AP(denominator='relevant_retrieved')"
    " AP(denominator='relevant_retrieved')@2 RR@2 RR(rel=2)@2 RR(judged_only=True) P@2"
    " P(denominator='retrieved')@1 P(denominator='retrieved')@9 P(judged_only=True,rel=2)@2"
    " HitRatio@2 F1@2 F1(judged_only=True)"
    " HitRatio(average='micro',denominator='relevant_retrieved')@2 Success@2 DCG@2"
    " DCG(dcg='exp-log2')@3 DCG(gains={1:.25,2:.5}) nDCG@3 nDCG(gains={1:5})@2"
    " nDCG(judged_only=True)@2 nDCG(dcg='exp-log2')@3 nDCG(ideal='retrieved')@2"
    " nDCG(ideal='retrieved') nDCG(ideal='max')@3 RBP(p=.5)@2 RBP(gain='graded')@3 RBP(gain='raw')"
    " RBP(rel=2) RBP(judged_only=True) ReciprocalHitRank@2 Judged@2 Judged(denominator='k')@3"
    " Judged(negative='unjudged')@2 Unjudged@2 Unjudged(negative='judged')@2 Hole@3 Bpref(rel=2)"
    " SetF(beta=3) SetP(relative=True) NumRet(rel=2) PairAccuracy@2 FirstRank(unretrieved='worst')"
    " PercentileRank(unretrieved='worst') PercentileRank(average='macro')"
    " PercentileRank(denominator='retrieved') PercentileRank(denominator='relevant')"
    " PercentileRank(denominator='index',rel=2) FullRecall@2 FullRecall(judged_only=True)@2"
    " Evidence(n=2)@2 Evidence(n=3,rel=0)@3 LastRank(unretrieved='worst') RBP(residual=True)"
    " RBP(residual=True,p=0.5)@3"
)
NAMES = [
    name_of(measure)
    for measure in MEASURES
    if measure.kernel and measure.over_ties and measure.needs != "ties"
]


@functools.cache
def _rankings() -> tuple[Any, Any, Any, Any, Any]:
    """Tied rankings; all orders of each; and the places of their rankings among the tied."""
    qrels: dict[str, dict[str, int]] = {}
    tied: dict[str, dict[str, float]] = {}
    all_qrels: dict[str, dict[str, int]] = {}
    orders: dict[str, dict[str, float]] = {}
    places = []
    rankings = itertools.product(GROUPS, *[GRADES] * sum(GROUPS[0]))
    # All would take seconds for each measure; 7 divides nothing here.
    for groups, *grades in itertools.islice(rankings, 0, None, 7):
        query = f"{len(tied):05}"
        judged = {f"d{i}": grade for i, grade in enumerate(grades) if grade != -1}
        qrels[query] = {**judged, "x": len(tied) % 2, "y": 0}
        docs = iter(range(len(grades)))
        split = [[f"d{next(docs)}" for _ in range(size)] for size in groups]
        tied[query] = {doc: -float(i) for i, group in enumerate(split) for doc in group}
        for order in itertools.product(*map(itertools.permutations, split)):
            places.append(len(tied) - 1)
            one = f"{len(places):06}"
            all_qrels[one] = qrels[query]
            orders[one] = {doc: -float(i) for i, doc in enumerate(itertools.chain(*order))}
    nouns = fr.Qrels.from_dict, fr.Run.from_dict
    return (
        *(make(one) for make, one in zip(nouns, (qrels, tied), strict=True)),
        *(make(one) for make, one in zip(nouns, (all_qrels, orders), strict=True)),
        np.array(places),
    )


@pytest.mark.parametrize("depth", [None, 2])
@pytest.mark.parametrize("name", [*NAMES, *VARIANTS.split()])
def test_the_expected_value_is_the_mean_over_all_orders(name, depth):
    qrels, tied, all_qrels, orders, places = _rankings()
    (bound,) = Selection([name]).bind("9.0.8")
    if not has_expected_value(bound, is_cut=depth is not None):
        with pytest.raises(MeasureError, match=r"ties='average'.* does not support"):
            fr.evaluate(qrels, tied, name, ties="average", depth=depth)
        return

    found = fr.evaluate(qrels, tied, name, ties="average", depth=depth)

    every = fr.evaluate(all_qrels, orders, name, depth=depth)
    for own in found.names:
        sums = np.bincount(places, weights=every[own])
        np.testing.assert_allclose(found[own], sums / np.bincount(places), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", [*NAMES, *VARIANTS.split()])
def test_where_nothing_ties_it_is_the_value_to_the_last_bit(name):
    *_, all_qrels, orders, _ = _rankings()
    (bound,) = Selection([name]).bind("9.0.8")
    if not has_expected_value(bound, is_cut=False):
        pytest.skip("has no expected value")

    found = fr.evaluate(all_qrels, orders, name, ties="average")

    every = fr.evaluate(all_qrels, orders, name)
    for own in found.names:
        np.testing.assert_array_equal(found[own], every[own])
