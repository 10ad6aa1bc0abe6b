"""AUC and GAUC against scikit-learn, and PairAccuracy over every order of ties."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import fastrank as fr
from fastrank.errors import MeasureError
from tests.helpers.tables import giving
from tests.helpers.tie_orders import nouns

TIES: tuple[Any, ...] = ("given", "best", "worst", "average")
BY_ORDER = ("docno_desc", "docno_asc", *TIES)
NEW: Any = {"trec_eval_version": "10.0"}


def cases(count: int, *, seed: int) -> Any:
    """Labels and scores of queries of several lengths, half of the scores tied."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, count)
    labels = [rng.choice([0, 0, 0.5, 1, 2], size) for size in sizes]
    kinds = [rng.integers(0, 4, size) / 4 for size in sizes], [rng.normal(size=n) for n in sizes]
    return labels, [kinds[i % 2][i] for i in range(count)]


def area(labels: Any, scores: Any, level: float = 1) -> float:
    """Scikit-learn's, NaN for labels of one class."""
    relevant = labels >= level
    if relevant.all() or not relevant.any():
        return math.nan
    return float(roc_auc_score(relevant, scores))


def per_query(scores: fr.Scores, measure: str) -> list[float]:
    return [values[measure] for values in scores.to_dict().values()]


@pytest.mark.parametrize("level", [0.5, 1, 2])
def test_auc_is_that_of_scikit_learn_per_query_in_any_order_of_ties(level):
    labels, scores = cases(150, seed=1)
    expected = [area(*own, level) for own in zip(labels, scores, strict=True)]
    own = f"AUC(rel={level})" if level != 0.5 else "AUC"

    for ties in TIES:
        for name, other in (("AUC", level), (own, 1 if level != 0.5 else level)):
            options: Any = {"ties": ties, "relevance_level": other, **NEW}
            found = fr.evaluate_labels(labels, scores, name, **options)
            name = found.names[0]

            assert per_query(found, name) == pytest.approx(expected, abs=1e-12, nan_ok=True)
            assert found.mean[name] == pytest.approx(np.nanmean(expected), abs=1e-12)
    assert sum(map(math.isnan, expected)) > 8


@pytest.mark.parametrize("weight", ["retrieved", "relevant"])
def test_gauc_is_the_mean_of_auc_weighted_by_documents(weight):
    labels, scores = cases(150, seed=3)
    total = weights = 0.0
    for own, predicted in zip(labels, scores, strict=True):
        value = area(own, predicted)
        if not math.isnan(value):
            count = len(own) if weight == "retrieved" else (own >= 1).sum()
            total, weights = total + count * value, weights + count

    name = "GAUC" if weight == "retrieved" else "GAUC(weight='relevant')"
    found = fr.evaluate_labels(labels, scores, [name, "AUC"], **NEW)

    assert found.mean[name] == pytest.approx(total / weights, abs=1e-12)
    assert per_query(found, name) == pytest.approx(per_query(found, "AUC"), nan_ok=True)


def test_other_measures_have_the_values_that_they_have_without_auc():
    labels, scores = cases(200, seed=4)
    names = "RR P@3 nDCG@5 AP PairAccuracy"
    alone = fr.evaluate_labels(labels, scores, names)

    both = fr.evaluate_labels(labels, scores, f"AUC {names}")

    assert {name: both.mean[name] for name in alone.mean} == alone.mean


RESULTS = [("a", 3.0), ("b", 2.0), ("x", 2.0), ("c", 2.0), ("d", 1.0), ("e", 1.0)]
GRADES = {"a": 0, "b": 1, "c": 0, "d": 2, "e": -1, "f": 1}


@pytest.mark.parametrize("ties", BY_ORDER)
def test_auc_of_a_run_is_over_the_retrieved_documents(ties):
    relevant = [GRADES.get(doc, 0) >= 1 for doc, _ in RESULTS]
    judged = [(GRADES[doc] >= 1, score) for doc, score in RESULTS if GRADES.get(doc, -1) >= 0]

    found = fr.evaluate(*nouns(GRADES, RESULTS), "AUC AUC(judged_only=True)", ties=ties).mean

    every = roc_auc_score(relevant, [score for _, score in RESULTS])
    of_judged = roc_auc_score(*zip(*judged, strict=True))
    assert list(found.values()) == pytest.approx([every, of_judged])


def labels(*given: Any, **options: Any) -> dict[str, float]:
    return dict(fr.evaluate_labels(*given, **options).mean)


NAN = pytest.approx({"AUC": math.nan, "GAUC": math.nan}, nan_ok=True)
CLOSE = [[1, 0]], [[0.1 + 1e-12, 0.1]], "AUC"
VECTORS = np.eye(3, dtype=np.float32)
SEARCH = VECTORS[:1], VECTORS, {"0": {"0": 1, "1": 1}}, "AUC PairAccuracy"

test_values_are_as_described = giving("""
# queries of one class alone have no mean
labels([[1, 1], [0, 0]], [[1, 2], [1, 2]], "AUC GAUC") => NAN
# scores tie as the version compares them: as 32-bit floats, or as doubles, as in scikit-learn
labels(*CLOSE) => {"AUC": 0.5}
labels(*CLOSE, **NEW) => {"AUC": 1.0}
# searches take the ties of what was found
fr.evaluate_embeddings(*SEARCH, k=3).mean => {"AUC": 0.75, "PairAccuracy": 0.5}
""")


def test_a_depth_is_refused_because_it_may_cut_a_tie():
    with pytest.raises(MeasureError, match="'AUC' does not support a depth"):
        fr.evaluate(*nouns(GRADES, RESULTS), "AUC", depth=3)


def test_a_tie_report_shows_that_no_order_of_ties_changes_auc():
    report = fr.tie_report(*nouns(GRADES, RESULTS), "AUC GAUC")

    for found in report.measures.values():
        assert found.value == found.worst == found.best == found.expected
