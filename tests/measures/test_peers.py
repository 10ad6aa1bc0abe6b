"""Numbers of other libraries: scikit-learn and ir_measures run, ranx and LightGBM recorded."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from sklearn.metrics import dcg_score, ndcg_score

import fastrank as fr

SEEDS = range(8)


def labelled(seed: int) -> tuple[list[list[int]], list[list[float]]]:
    """Labels and scores of several queries, with and without ties."""
    rng = random.Random(seed)
    labels = [[rng.choice([0, 0, 1, 2, 3]) for _ in range(7)] for _ in range(6)]
    scores = [[float(rng.randrange(4 if seed % 2 else 1000)) for _ in row] for row in labels]
    return labels, scores


@pytest.mark.parametrize("seed", SEEDS)
def test_dcg_is_that_of_scikit_learn(seed: int) -> None:
    labels, scores = labelled(seed)

    found = fr.evaluate_labels(
        labels,
        scores,
        "DCG@3 dcg DCG dcg(dcg='exp-log2')@3",
        ties="average",
        trec_eval_version="10.0",
    )

    exponential = [[2**label - 1 for label in row] for row in labels]
    assert found.mean["DCG@3"] == pytest.approx(dcg_score(labels, scores, k=3), rel=1e-12)
    assert found.mean["DCG"] == pytest.approx(dcg_score(labels, scores), rel=1e-12)
    assert found.mean["DCG"] == found.mean["dcg"]
    assert found.mean["dcg(dcg='exp-log2')@3"] == pytest.approx(
        dcg_score(exponential, scores, k=3), rel=1e-12
    )


def test_gains_of_dcg_are_what_they_say() -> None:
    """Not scaled, as those of a quotient may be."""
    found = fr.evaluate_labels([[1, 2]], [[2.0, 1.0]], "DCG(gains={1:0.25,2:0.5})@2")

    assert next(iter(found.mean.values())) == 0.25 + 0.5 / math.log2(3)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("ties", ["given", "average"])
def test_ndcg_of_what_was_retrieved_is_that_of_scikit_learn(seed: int, ties: str) -> None:
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


def test_ndcg_of_what_was_retrieved_at_a_depth() -> None:
    """The best ranking is of the documents before the cut, where only one has a gain."""
    qrels = {"q": {"a": 1, "b": 3, "c": 2}}
    run = {"q": {"n": 4.0, "a": 3.0, "b": 2.0, "c": 1.0}}

    found = fr.evaluate(qrels, run, "nDCG(ideal='retrieved')", depth=2).mean

    assert next(iter(found.values())) == pytest.approx(ndcg_score([[0, 1]], [[4.0, 3.0]]))


@pytest.mark.parametrize("seed", SEEDS)
def test_f1_is_that_of_ranx(seed: int) -> None:
    """_f1 of ranx 0.3.21: precision at k is divided by k, without k by what was retrieved."""
    labels, scores = labelled(seed)
    found = fr.evaluate_labels(labels, scores, "F1@3 f1@20 F1 SetF")

    for row, (grades, own) in enumerate(zip(labels, scores, strict=True)):
        order = sorted(range(len(own)), key=lambda i, own=own: -own[i])
        relevant = sum(grade > 0 for grade in grades)
        for name, k in (("F1@3", 3), ("f1@20", 20), ("F1", len(own))):
            hits = sum(grades[i] > 0 for i in order[:k])
            p, r = hits / k, hits / relevant if relevant else 0.0
            assert found[name][row] == (2 * ((p * r) / (p + r)) if hits else 0.0)
        assert found["F1"][row] == pytest.approx(found["SetF"][row], rel=1e-15)


def test_f1_of_a_short_ranking_is_divided_by_the_cutoff() -> None:
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "n": 1.0}}

    assert fr.evaluate(qrels, run, "F1@10").mean["F1@10"] == 2 * (0.1 * 0.5) / (0.1 + 0.5)


def test_rbp_of_raw_grades_is_that_of_ranx() -> None:
    """The example of ranx 0.3.21: rbp.80 of {a: 3, b: 1, c: 0} is 0.76."""
    qrels, run = {"q": {"a": 3, "b": 1, "c": 0}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}

    found = fr.evaluate(qrels, run, "RBP(gain='raw') RBP(gain='graded') RBP").mean

    values = [pytest.approx(0.76), pytest.approx(0.2533, abs=1e-4), pytest.approx(0.36)]
    assert list(found.values()) == values


def test_the_mapk_of_a_script_for_answer_selection() -> None:
    """The docstring of mapk of aneesh-joshi's similarity scripts: 0.75; the second is skipped."""
    labels = [[0, 1, 0, 1], [0, 0, 0, 0, 1, 0], [0, 1, 0]]
    scores = [[0.1, 0.2, -0.01, 0.4], [0.12, -0.43, 0.2, 0.1, 0.99, 0.7], [0.5, 0.63, 0.92]]
    flat = [label for row in labels for label in row], [score for row in scores for score in row]

    found = fr.evaluate_labels(*flat, "ReciprocalHitRank ARHR@1 AP", group_sizes=[4, 6, 3])

    assert found.mean["ReciprocalHitRank"] == 0.75
    assert found["ARHR@1"].tolist() == [1.0, 1.0, 0.0]
    assert found.mean["AP"] == pytest.approx(2.5 / 3)


def test_the_percentile_of_the_code_of_sdr() -> None:
    """Its index starts at 0, and is divided by the number of results."""
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"n": 4.0, "a": 3.0, "m": 2.0, "b": 1.0}}

    found = fr.evaluate(
        qrels, run, "PercentileRank(denominator='index') PercentileRank(denominator='retrieved')"
    )

    assert list(found.mean.values()) == [(1 / 4 + 3 / 4) / 2, (2 / 4 + 4 / 4) / 2]


def test_judged_is_that_of_ir_measures_where_grades_are_negative() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = {"1": {"a": 1, "spam": -2}}, {"1": {"a": 2.0, "spam": 1.0, "n": 0.5}}

    for k in (1, 2, 3):
        theirs = ir_measures.calc_aggregate([ir_measures.Judged @ k], qrels, run)
        ours = fr.evaluate(qrels, run, f"Judged@{k} Unjudged(negative='judged')@{k}").mean
        assert ours[f"Judged@{k}"] == theirs[ir_measures.Judged @ k]
        assert sum(ours.values()) == 1.0


def test_a_negative_grade_may_be_no_judgment() -> None:
    qrels, run = {"1": {"a": 1, "spam": -2}}, {"1": {"a": 2.0, "spam": 1.0}}

    found = fr.evaluate(qrels, run, "Judged(negative='unjudged')@2 Unjudged@2").mean

    assert list(found.values()) == [0.5, 0.5]


# --- queries without relevant documents that count as 1 ---


def test_lightgbm_counts_a_query_without_relevant_documents_as_one() -> None:
    """ndcg@2 of LightGBM 4.7, XGBoost 3.2 and CatBoost 1.2.10, recorded: 0.81546."""
    labels, scores = [1, 0, 0, 0], [1.0, 2.0, 2.0, 1.0]

    found = fr.evaluate_labels(
        labels, scores, "ndcg(dcg='exp-log2')@2 map(denominator='min_k')@2", group_sizes=[2, 2],
        no_relevant="one",
    )  # fmt: skip

    assert found.mean["ndcg(dcg='exp-log2')@2"] == pytest.approx(0.81546, abs=1e-5)
    assert found.mean["map(denominator='min_k')@2"] == 0.75


QRELS = {"1": {"a": 1, "b": 0}, "2": {"a": 0}, "3": {"a": 0}}
RUN = {"1": {"b": 2.0, "a": 1.0}, "2": {"a": 1.0}}


@pytest.mark.parametrize("measure", ["map", "P_1", "recip_rank", "ndcg", "bpref", "RR@1", "SetF"])
def test_one_is_the_value_of_queries_for_which_nothing_is_relevant(measure: str) -> None:
    zero = fr.evaluate(QRELS, RUN, measure)[measure]
    one = fr.evaluate(QRELS, RUN, measure, no_relevant="one")[measure]

    assert one.tolist() == [zero[0], 1.0]


@pytest.mark.parametrize("measure", ["num_rel_ret", "utility", "DCG@1", "Judged", "FirstRank"])
def test_one_is_no_value_of_what_has_no_best_value_or_another_one(measure: str) -> None:
    zero = fr.evaluate(QRELS, RUN, measure)
    one = fr.evaluate(QRELS, RUN, measure, no_relevant="one")

    assert one[measure].tolist() == pytest.approx(zero[measure].tolist(), nan_ok=True)


def test_one_goes_by_the_level_of_the_measure() -> None:
    qrels = {"1": {"a": 1}}
    found = fr.evaluate(qrels, RUN, "P@1 P(rel=2)@1 nDCG(gains={1:0})", no_relevant="one").mean

    assert found["P@1"] == 0.0
    assert found["P(rel=2)@1"] == 1.0
    assert found["nDCG(gains={1:0})"] == 1.0


def test_a_query_without_results_stays_zero() -> None:
    found = fr.evaluate(
        QRELS, RUN, "AP", no_relevant="one", missing="zero", trec_eval_version="10.0"
    )

    assert found.mean["AP"] == pytest.approx((0.5 + 1.0 + 0.0) / 3)


@pytest.mark.parametrize("how", ["file", "arrays", "dict"])
def test_one_is_one_on_every_path(how: str, tmp_path: Any) -> None:
    if how == "arrays":
        found = fr.evaluate_arrays(
            [{0: 1}, {0: 0}], [[1, 0], [0, 2]], None, "map", no_relevant="one"
        )
    else:
        path = tmp_path / "run"
        path.write_text("1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n2 Q0 a 1 1 t\n")
        found = fr.evaluate(QRELS, RUN if how == "dict" else str(path), "map", no_relevant="one")

    assert found["map"].tolist() == [0.5, 1.0]


def test_groups_of_judgments_have_no_one() -> None:
    qrels = fr.Qrels.from_dict({"1": {"a": 1}})

    with pytest.raises(fr.OptionError, match="judgment groups"):
        fr.evaluate(qrels, RUN, "map_avgjg", no_relevant="one")
