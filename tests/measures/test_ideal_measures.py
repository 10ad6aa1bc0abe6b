"""Measures of the C/W/L framework, Compat, Q, nCG and nDCG with the best possible ideal ranking."""

from __future__ import annotations

import gzip
import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastrank as fr
from fastrank.errors import EvaluationError, MeasureError

# Of ir_measures 0.4.3 with cwl-eval 1.0.12 and its provider compat, and of pyNTCIREVAL 0.0.3 (Q).
PEERS = json.loads(
    gzip.decompress((Path(__file__).parents[1] / "recorded/measures/peers.json.gz").read_bytes())
)["cases"]
QRELS = {"q": {"a": 3, "b": 1, "c": 0, "d": 2, "e": 3}}
RUN = {"q": dict(zip("bxaec", [5.0, 4.0, 3.0, 2.0, 1.0], strict=True))}
RANKINGS = st.lists(st.sampled_from([-1, 0, 1, 2, 3, None]), min_size=1, max_size=12)
MISSED = st.lists(st.integers(0, 3), max_size=6)


def ranked(grades: list[int | None], missed: list[int]) -> tuple[Any, Any]:
    """One query whose ranking has these grades (None: unjudged), with others not retrieved."""
    judged = {f"d{i:02}": grade for i, grade in enumerate(grades) if grade is not None}
    judged |= {f"m{i}": grade for i, grade in enumerate(missed)} | {"zero": 0}
    return {"q": judged}, {"q": {f"d{i:02}": 100.0 - i for i in range(len(grades))}}


@pytest.mark.parametrize("case", PEERS)
def test_values_are_those_of_other_programs(case: dict[str, Any]) -> None:
    """To the last bit for Compat and Q; numpy adds those of cwl_eval in another order."""
    scores = fr.evaluate(case["qrels"], case["run"], list(case["values"]))

    for measure, expected in case["values"].items():
        exact = measure.startswith(("Compat", "Q"))
        found = dict(zip(scores.queries, scores[measure], strict=True))
        for query in found:
            tolerance = 0.0 if exact else 1e-14
            assert found[query] == pytest.approx(expected[query], rel=tolerance, abs=0), measure


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        # Of cwl-eval 1.0.12 and ir_measures 0.4.3, where max_rel is the highest grade.
        ("SDCG@5", 0.42870185423738655), ("INST", 0.3330781528433992),
        ("INSQ", 0.28858995142529104), ("BPM@5", 0.4444444444444444),
        ("NERR8@5", 0.4285714285714286), ("NERR9@5", 0.3571428571428571),
        ("NERR10", 0.4080996884735203), ("NERR11", 0.34177215189873417),
        ("Compat", 0.32845922332174704), ("Compat(p=0.8)", 0.2570657299899177),
        # By hand: the gains are 1 0 3 3 0, those of the ideal ranking 3 3 2 1 0.
        ("nCG@1", 1 / 3), ("nCG@3", 4 / 8), ("nCG@10", 7 / 9),
        ("Q", (2 / 4 + (2 + 4) / (3 + 8) + (3 + 7) / (4 + 9)) / 4),
        ("Q@3", (2 / 4 + (2 + 4) / (3 + 8)) / 3),
        ("Q(beta=0)", (1 / 1 + 2 / 3 + 3 / 4) / 4),
        ("Q(gains={1:0.25,2:0.5,3:0.75})@1", (1 + 0.25) / (1 + 0.75)),
        ("nDCG(ideal='max')@2", 1 / (3 + 3 / math.log2(3))),
        ("nDCG(ideal='max',max_grade=4)@2", 1 / (4 + 4 / math.log2(3))),
        ("nDCG(ideal='max',dcg='exp-log2',max_grade=4)@2", 1 / (15 + 15 / math.log2(3))),
        ("nDCG(ideal='max',gains={1:0.5,3:0.75})@1", 0.5 / 0.75),
        # The third document: b, a and e are retrieved, a and e first in the ideal ranking.
        ("Compat(p=0,depth=1)", 0.0), ("Compat(normalize=False,p=1,depth=3)", (0 + 0 + 1 / 3) / 3),
    ],
)  # fmt: skip
def test_worked_examples(measure: str, value: float) -> None:
    found = fr.evaluate(QRELS, RUN, measure).mean

    assert list(found.values()) == [pytest.approx(value, rel=1e-14)]


@settings(max_examples=30, deadline=None)
@given(RANKINGS, MISSED, st.integers(1, 14))
def test_ndcg_of_the_best_ideal_is_that_of_numpy(
    grades: list[int | None], missed: list[int], k: int
) -> None:
    qrels, run = ranked(grades, missed)
    discounts = 1 / np.log2(np.arange(2, k + 2))
    gains = np.array([max(grade or 0, 0) for grade in grades][:k])

    found = fr.evaluate(qrels, run, f"nDCG(ideal='max',max_grade=3)@{k} SDCG(max_rel=3)@{k}").mean

    expected = (gains * discounts[: len(gains)]).sum() / (3 * discounts.sum())
    assert list(found.values()) == pytest.approx([expected, expected], rel=1e-13)


def slow_compat(qrels: dict[str, int], run: dict[str, float], p: float, depth: int) -> float:
    """Clarke's definition with sets."""
    ranking = sorted(run, key=lambda doc: -run[doc])
    ideal = [doc for doc in qrels if qrels[doc] > 0]
    ideal.sort(key=lambda doc: (-qrels[doc], ranking.index(doc) if doc in run else len(run)))

    def overlap(one: list[str], other: list[str]) -> float:
        shares = [len({*one[:i]} & {*other[:i]}) / i for i in range(1, depth + 1)]
        return sum(p**i * share for i, share in enumerate(shares))

    return overlap(ranking, ideal) / overlap(ideal, ideal) if ideal else 0.0


@settings(max_examples=30, deadline=None)
@given(RANKINGS, MISSED, st.integers(1, 30))
def test_compat_is_the_overlap_with_the_ideal_ranking(
    grades: list[int | None], missed: list[int], depth: int
) -> None:
    qrels, run = ranked(grades, missed)

    found = fr.evaluate(qrels, run, f"Compat(p=0.9,depth={depth})").mean

    expected = slow_compat(qrels["q"], run["q"], 0.9, depth)
    assert list(found.values()) == pytest.approx([expected], rel=1e-12)


def test_grades_with_fractions_count() -> None:
    """Half of all grades: only what depends on the scale of grades changes."""
    halved = {"q": {doc: grade / 2 for doc, grade in QRELS["q"].items()}}
    names = "SDCG@5 INST Compat nCG@3 nDCG(ideal='max')@5"

    whole, fractions = (fr.evaluate(own, RUN, names).mean for own in (QRELS, halved))

    assert fractions == pytest.approx(whole, rel=1e-14)
    assert fr.evaluate(halved, RUN, "Q@1").mean["Q@1"] == (1 + 0.5) / (1 + 1.5)


def test_grades_outside_of_the_scale_are_clipped() -> None:
    found = fr.evaluate(QRELS, RUN, "SDCG(min_rel=1,max_rel=2)@3").mean

    assert list(found.values()) == [pytest.approx(0.5 / (1 + 1 / math.log2(3) + 0.5))]


def test_repeated_evaluations_are_equal() -> None:
    """The memory of the last run serves again."""
    names = "Q Q(gains={1:0.5})@3 nDCG(ideal='max')@3 SDCG@3 Compat nCG@2 NERR11"
    evaluator = fr.Evaluator(QRELS, names)
    other = {"q": {"d": 2.0, "a": 1.0}}

    for run in (RUN, other, RUN, RUN, other):
        assert evaluator.evaluate(run).mean == fr.evaluate(QRELS, run, names).mean


@pytest.mark.parametrize(
    ("measure", "same"),
    [("SDCG_5", "SDCG@5"), ("Q_3", "Q@3"), ("ncg@3", "nCG@3"), ("qmeasure", "Q"), ("inst", "INST"),
     ("compat", "Compat"), ("nerr8_5", "NERR8@5"), ("bpm@5", "BPM@5")],
)  # fmt: skip
def test_both_notations(measure: str, same: str) -> None:
    assert fr.parse_measure(measure) == fr.parse_measure(same)


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("nDCG(ideal='max')", "needs a cutoff"),
        ("nDCG(max_grade=3)@5", "max_grade=3 needs ideal='max'"),
        ("SDCG", "requires cutoff"),
        ("INST(T=0)", "expected a number above 0"),
        ("Compat(p=2)", "expected a number from 0 to 1"),
    ],
)
def test_options_that_make_no_sense_are_refused(measure: str, words: str) -> None:
    with pytest.raises(MeasureError, match=words):
        fr.evaluate(QRELS, RUN, measure)


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("SDCG(min_rel=3,max_rel=2)@5", "min_rel=3: expected less than max_rel, 2"),
        ("INST(min_rel=3)", "min_rel=3: expected less than the highest grade, 3"),
        ("nDCG(ideal='max',max_grade=2)@5", "is above max_grade=2"),
    ],
)
def test_scales_that_do_not_fit_are_refused(measure: str, words: str) -> None:
    with pytest.raises(EvaluationError, match=words):
        fr.evaluate(QRELS, RUN, measure)


def test_queries_without_relevant_documents_may_count_as_best() -> None:
    names = "Q nCG@3 Compat SDCG@3"

    found = fr.evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, names, no_relevant="one").mean

    assert found == {"Q": 1.0, "nCG@3": 1.0, "Compat": 1.0, "SDCG@3": 1.0}


def test_ndcg_of_the_best_ideal_has_an_expected_value_over_ties() -> None:
    qrels, tied = {"q": {"a": 2, "b": 1, "c": 0}}, {"q": dict.fromkeys("abc", 1.0)}
    name = "nDCG(ideal='max')@2"

    expected = [
        fr.evaluate(qrels, {"q": dict(zip(order, (3.0, 2.0, 1.0), strict=True))}, name).mean[name]
        for order in itertools.permutations("abc")
    ]

    found = fr.evaluate(qrels, tied, name, ties="average").mean[name]
    assert found == pytest.approx(sum(expected) / len(expected), rel=1e-14)
