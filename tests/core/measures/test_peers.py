"""Numbers of other libraries: scikit-learn and ir_measures run, ranx and LightGBM recorded."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from sklearn.metrics import dcg_score, ndcg_score

import fastrank as fr
from fastrank.errors import OptionError
from tests.helpers.small import grades, scores
from tests.helpers.tables import giving

SEEDS = range(8)


def labelled(seed: int) -> tuple[list[list[int]], list[list[float]]]:
    """Labels and scores of several queries, with and without ties."""
    rng = random.Random(seed)
    labels = [[rng.choice([0, 0, 1, 2, 3]) for _ in range(7)] for _ in range(6)]
    scores = [[float(rng.randrange(4 if seed % 2 else 1000)) for _ in row] for row in labels]
    return labels, scores


@pytest.mark.parametrize("seed", SEEDS)
def test_dcg_and_ndcg_are_those_of_scikit_learn(seed):
    """Which averages the gain of documents with equal scores."""
    labels, scores = labelled(seed)
    names, options = "DCG@3 dcg DCG dcg(dcg='exp-log2')@3 ndcg_cut.3 ndcg", {"ties": "average"}

    found = fr.evaluate_labels(labels, scores, names, trec_eval_version="10.0", **options)

    exponential = [[2**label - 1 for label in row] for row in labels]
    every, first = dcg_score(labels, scores), dcg_score(labels, scores, k=3)
    expected = [first, every, every, dcg_score(exponential, scores, k=3)]
    expected += [ndcg_score(labels, scores, k=k) for k in (3, None)]
    assert list(found.mean.values()) == pytest.approx(expected, rel=1e-12)
    assert found.mean["DCG"] == found.mean["dcg"]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("ties", ["given", "average"])
def test_ndcg_of_what_was_retrieved_is_that_of_scikit_learn(seed, ties):
    """Of the 5 best results, 2 of the 9 judged documents of each query are never among them."""
    labels, scores = labelled(seed)
    if ties == "given":
        scores = [[score + i / 100 for i, score in enumerate(row)] for row in scores]
    qrels = {
        str(q): {str(d): grade for d, grade in enumerate(row)} | {"x": 3, "y": 1}
        for q, row in enumerate(labels)
    }
    run = {
        str(q): {str(d): score for d, score in enumerate(row)} | {"unjudged": 1.5}
        for q, row in enumerate(scores)
    }
    names = "nDCG(ideal='retrieved')@3 nDCG(ideal='retrieved')"

    found = fr.evaluate(qrels, run, names, ties=ties, trec_eval_version="10.0")

    for q, query in enumerate(found.queries):
        truth, predicted = [*labels[q], 0], [*scores[q], 1.5]
        for name, k in zip(found.names, (3, None), strict=True):
            theirs = ndcg_score([truth], [predicted], k=k)
            assert found[name][q] == pytest.approx(theirs, rel=1e-12), (query, name)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_judged_is_that_of_ir_measures_where_grades_are_negative(k):
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = grades("1 a=1 spam=-2"), scores("1 a=2 spam=1 n=0.5")

    theirs = ir_measures.calc_aggregate([ir_measures.Judged @ k], qrels, run)
    ours = fr.evaluate(qrels, run, f"Judged@{k} Unjudged(negative='judged')@{k}").mean

    assert ours[f"Judged@{k}"] == theirs[ir_measures.Judged @ k]
    assert sum(ours.values()) == 1.0


def of(measures: str, qrels: str, run: str, **options: Any) -> list[float]:
    """The means of measures."""
    return list(fr.evaluate(grades(qrels), scores(run), measures, **options).mean.values())


def labels(measures: str, own: Any, scores: Any, **options: Any) -> list[Any]:
    return list(fr.evaluate_labels(own, scores, measures, **options).mean.values())


def each(measure: str, **options: Any) -> Any:
    """The values per query: q1 has a relevant document, q2 none, q3 none and no results."""
    return fr.evaluate(grades(QRELS), scores(RUN), measure, **options)[measure].tolist()


approx, LOG_3 = pytest.approx, math.log2(3)
QRELS, RUN = "1 a=1 b=0; 2 a=0; 3 a=0", "1 b=2 a=1; 2 a=1"
# The docstring of mapk of aneesh-joshi's similarity scripts: 0.75; the second query is skipped.
SKIPPED = (
    [0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0],
    [0.1, 0.2, -0.01, 0.4, 0.12, -0.43, 0.2, 0.1, 0.99, 0.7, 0.5, 0.63, 0.92],
)
PERCENTILES = "PercentileRank(denominator='index') PercentileRank(denominator='retrieved')"
TWO = [1, 0, 0, 0], [1.0, 2.0, 2.0, 1.0]
MISSING: Any = {"missing": "zero", "trec_eval_version": "10.0"}

test_values_are_those_of_other_programs_or_their_definitions = giving("""
# gains of dcg are what they say, not scaled as those of a quotient may be
labels("DCG(gains={1:0.25,2:0.5})@2", [[1, 2]], [[2.0, 1.0]]) => [0.25 + 0.5 / LOG_3]
# nDCG of what was retrieved at a depth: the best ranking is of the documents before the cut
of("nDCG(ideal='retrieved')", "q a=1 b=3 c=2", "q n=4 a=3 b=2 c=1", depth=2)
  => approx([ndcg_score([[0, 1]], [[4.0, 3.0]])])
# F1 of a short ranking is divided by the cutoff
of("F1@10", "q a=1 b=1", "q a=2 n=1") => [2 * (0.1 * 0.5) / (0.1 + 0.5)]
# rbp.80 of raw grades is that of ranx 0.3.21, 0.76
of("RBP(gain='raw') RBP(gain='graded') RBP", "q a=3 b=1 c=0", "q a=3 b=2 c=1")
  => [approx(0.76), approx(0.2533, abs=1e-4), approx(0.36)]
# the mapk of a script for answer selection
labels("ReciprocalHitRank AP", *SKIPPED, group_sizes=[4, 6, 3]) => approx([0.75, 2.5 / 3])
fr.evaluate_labels(*SKIPPED, "ARHR@1", group_sizes=[4, 6, 3]).lists() => {"ARHR@1": [1.0, 1.0, 0.0]}
# the percentile of the code of SDR: its index starts at 0, and is divided by the number of results
of(PERCENTILES, "q a=1 b=1", "q n=4 a=3 m=2 b=1") => [(1 / 4 + 3 / 4) / 2, (2 / 4 + 4 / 4) / 2]
# a negative grade may be no judgment
of("Judged(negative='unjudged')@2 Unjudged@2", "1 a=1 spam=-2", "1 a=2 spam=1") => [0.5, 0.5]
# LightGBM 4.7, XGBoost 3.2 and CatBoost 1.2.10 count a query without relevant documents as one
labels("ndcg(dcg='exp-log2')@2", *TWO, group_sizes=[2, 2], no_relevant="one")
  => approx([0.81546], abs=1e-5)
labels("map(denominator='min_k')@2", *TWO, group_sizes=[2, 2], no_relevant="one") => [0.75]
# one goes by the level of the measure
of("P@1 P(rel=2)@1 nDCG(gains={1:0})", "1 a=1", RUN, no_relevant="one") => [0.0, 1.0, 1.0]
# a query without results stays zero
each("AP", no_relevant="one", **MISSING) => [0.5, 1.0, 0.0]
of("AP", QRELS, RUN, no_relevant="one", **MISSING) => approx([(0.5 + 1.0 + 0.0) / 3])
""")


@pytest.mark.parametrize("measure", ["map", "P_1", "recip_rank", "ndcg", "bpref", "RR@1", "SetF"])
def test_one_is_the_value_of_queries_for_which_nothing_is_relevant(measure):
    assert each(measure, no_relevant="one") == [each(measure)[0], 1.0]


@pytest.mark.parametrize("measure", ["num_rel_ret", "utility", "DCG@1", "Judged", "FirstRank"])
def test_one_is_no_value_of_what_has_no_best_value_or_another_one(measure):
    assert each(measure, no_relevant="one") == pytest.approx(each(measure), nan_ok=True)


def test_groups_of_judgments_have_no_one():
    with pytest.raises(OptionError, match="judgment groups"):
        of("map_avgjg", "1 a=1", RUN, no_relevant="one")
