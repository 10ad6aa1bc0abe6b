"""Whether 1 is the best value of a measure, found by trying all rankings of a few documents."""

from __future__ import annotations

import functools
import itertools
import re
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.core.measures.families import MEASURES
from fastrank.core.measures.selection import Selection
from tests.helpers.paths import REPOSITORY

# Grades of all documents, fewer and more of them relevant than the cutoffs.
JUDGMENTS = ({"a": 1}, {"a": 2, "b": 0}, {"a": 2, "b": 1, "c": 0}, dict.fromkeys("abcd", 3))
# What a measure with options needs at least, and what decides over its best value.
NEEDED = {"IPrec": "IPrec@0.5", "Evidence": "Evidence(n=1)"}
VARIANTS = (
    "map P.1,2 recall.2 Rprec_mult.0.2,1,1.05,1.2,2 set_F.0.5 G.1=3 ndcg.1=3,2=9 ndcg_cut.2"
    " map_cut.2 relative_P.2 success.1 rbp.p=0.5 P@1 P(denominator='retrieved')@9 AP@2"
    " AP(denominator='min_k')@2 AP(denominator='relevant_retrieved')@2 RR(rel=2)@2"
    " DCG(gains={1:0})@1 nDCG@2 nDCG(dcg='exp-log2')@2 nDCG(gains={1:5,2:7})@2"
    " nDCG(ideal='retrieved')@2 nDCG(ideal='max')@2 ERR@2 ERR(max_grade=4) RBP@2"
    " RBP(gain='graded') RBP(gain='raw') Q@2 Q(beta=0.1) nCG@3 Compat(normalize=False)"
    " Compat(depth=3) SDCG@3 BPM(T=3)@2 INST(T=2) NERR8@3 NERR9@3 SetP(relative=True) SetF(beta=2)"
    " F1@2 HitRatio@1 HitRatio(average='micro',denominator='relevant_retrieved')@2"
    " FullRecall@2 Evidence(n=2)@2 RBP(residual=True)@2"
)
# Their ideal ranking is not the best one.
MAY_EXCEED_ONE = ("alpha_nDCG@1", "nERR_IA@1", "nNRBP")
# Counts that are 0 or 1 for these judgments.
COUNT_AT_MOST_ONE = ("num_nonrel_judged_ret",)
# The deepest rank of these is 1000.
DEEP = ("INSQ", "INST", "P")


def name_of(measure: fr.types.Measure) -> str:
    options = getattr(measure, "options", {})
    needs_cutoff = "cutoff" in options and options["cutoff"].needed
    return NEEDED.get(measure.name, f"{measure.name}@1" if needs_cutoff else measure.name)


def _names(*needs: str) -> list[str]:
    """The measures that need something, each with the parameters that it requires."""
    return [
        name_of(measure)
        for measure in MEASURES
        if measure.needs in needs and measure.kernel and measure.average not in ("", "geometric")
    ]


PLAIN = {measure.needs for measure in MEASURES} - {"subtopics", "strata", "preferences", "groups"}


def _declared(name: str) -> list[bool]:
    """By value of a measure, whether its record says that 1 is the best."""
    (bound,) = Selection([name]).bind("9.0.8")
    return [bound.reaches_one(place) for place in range(len(bound.names))]


def _is_one(scores: fr.Scores) -> list[bool]:
    """By value of a measure, whether its best is 1."""
    best = [max(scores[name].tolist(), default=0.0) for name in scores.names]
    return [value == pytest.approx(1.0, abs=1e-12) for value in best]


@functools.cache
def _rankings() -> tuple[Any, Any]:
    """The judgments and all rankings of their documents or some of them, each as a query."""
    qrels, run = {}, {}
    for place, grades in enumerate(JUDGMENTS):
        for size in range(1, len(grades) + 1):
            for order in itertools.permutations(grades, size):
                query = f"{place} {''.join(order)}"
                qrels[query], run[query] = grades, {doc: -float(i) for i, doc in enumerate(order)}
    many = dict.fromkeys(map(str, range(1000)), 3)
    return qrels | {"many": many}, run | {"many": dict.fromkeys(many, 0.0)}


def _describes_better_values(name: str) -> bool:
    (bound,) = Selection([name]).bind("9.0.8")
    return bound.measure.better == "higher" and bound.measure.average == "mean"


@pytest.mark.parametrize("name", [*_names(*PLAIN), *VARIANTS.split()])
def test_the_best_value_is_that_of_the_best_ranking(name):
    qrels, run = _rankings()
    if name.partition("(")[0] not in DEEP:
        qrels = {query: grades for query, grades in qrels.items() if query != "many"}

    found = _is_one(fr.evaluate(qrels, run, name))

    if not _describes_better_values(name):
        found = [False] * len(found)
    assert _declared(name) == found


def _has_numbers(name: str) -> bool:
    (bound,) = Selection([name]).bind("9.0.8")
    return not bound.measure.is_text and name not in COUNT_AT_MOST_ONE


@pytest.mark.parametrize("name", [*filter(_has_numbers, [*_names(*PLAIN), *VARIANTS.split()])])
def test_values_are_outside_of_0_to_1_where_the_record_says_so(name):
    (bound,) = Selection([name]).bind("9.0.8")
    qrels, run = _rankings()

    scores = fr.evaluate(qrels, run, name)

    values = np.concatenate([scores[own] for own in scores.names if own in scores])
    outside = np.any((values < 0.0) | (values > 1.0 + 1e-12))
    assert bound.measure.exceeds_one == outside


@pytest.mark.parametrize("name", _names("subtopics"))
def test_the_best_value_of_subtopics_is_that_of_the_best_ranking(name):
    qrels = fr.Qrels.from_arrays(["q"] * 4, list("aabb"), [1, 1, 1, 0], subtopics=list("xyxy"))
    found = fr.evaluate(qrels, {"q": {"a": 2.0, "b": 1.0}}, name)

    assert _declared(name) == _is_one(found) or name in MAY_EXCEED_ONE


@pytest.mark.parametrize("name", ["AP_IA", "P_IA@1", "StRecall"])
def test_one_is_the_value_of_queries_without_relevant_subtopics(name):
    qrels = fr.Qrels.from_arrays(["q", "r"], ["a", "b"], [1, 0], subtopics=["x", "x"])
    run = {"q": {"a": 1.0}, "r": {"b": 1.0}}

    assert fr.evaluate(qrels, run, name, no_relevant="one")[name].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("version", ["9.0.8", "10.0"])
@pytest.mark.parametrize(("name", "geometric"), [("map", "gm_map"), ("bpref", "gm_bpref")])
def test_geometric_means_are_those_of_the_values_per_query(name, geometric, version):
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0}, "q3": {"a": 1}, "q4": {"a": 0}}
    run = {"q1": {"b": 2.0, "a": 1.0, "c": 0.0}, "q2": {"a": 1.0}}
    options: dict[str, Any] = {"missing": "zero", "no_relevant": "one"}

    found = fr.evaluate(qrels, run, [name, geometric], trec_eval_version=version, **options)

    assert found[name][1:].tolist() == [1.0, 0.0, 0.0]
    logarithms = np.log(np.maximum(found[name], 0.00001))
    assert found.mean[geometric] == pytest.approx(np.exp(logarithms.mean()), rel=1e-15)


@pytest.mark.parametrize("name", ["map", "AP", "P_1", "gm_map"])
@pytest.mark.parametrize("version", ["9.0.8", "10.0"])
def test_one_is_not_the_value_of_queries_without_results(name, version):
    options: dict[str, Any] = {"missing": "zero", "trec_eval_version": version}
    given = {"q1": {"a": 1}, "q2": {"a": 0}}, {"q1": {"a": 1.0}}, name

    zero, one = (fr.evaluate(*given, no_relevant=how, **options) for how in ("zero", "one"))

    assert one.mean == zero.mean
    assert one.lists() == zero.lists()


def test_the_measures_whose_best_value_is_not_one_are_documented():
    """On the page of the options, and in the docstrings of the functions that have the option."""
    page = (REPOSITORY / "docs" / "options.md").read_text("utf-8")
    on_page = re.search(r"whose best value is not exactly 1: (.*?)\.\n", page, re.DOTALL)
    docstring = fr.evaluate.__doc__ or ""
    said = re.search(r'"one"\s+leaves out the measures (.*?)\.', docstring, re.DOTALL)
    assert on_page
    assert said

    names = {
        measure.name
        for measure in MEASURES
        if measure.better == "higher"
        and measure.average in ("mean", "geometric")
        and measure.reaches_one is not True
    }
    assert set(re.findall("`([^`]+)`", on_page[1])) == names
    in_brackets = ", ".join(re.findall(r"\(([^)]+)\)", said[1]))
    multiples = {"Rprec_mult", "Rprec_mult_avgjg"}  # Some of their values.
    assert set(re.split(r",\s+", in_brackets)) == names - multiples
