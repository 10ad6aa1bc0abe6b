"""The orders of documents with equal scores, against every order that pytrec_eval evaluates."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.core.matching.keywords import TIES
from fastrank.core.matching.options import BY_GRADE
from fastrank.core.measures.families import FAMILY_BY_NAME
from fastrank.core.measures.trec import MEASURES as TREC_MEASURES
from fastrank.errors import MeasureError
from tests.helpers.parsing import parse_prefs, parse_qrels, parse_qrels_jg, parse_run
from tests.helpers.strategies import examples
from tests.helpers.tables import giving
from tests.helpers.tie_orders import (
    BOUNDED,
    GRADES,
    KNOWN,
    KNOWN_UNCUT,
    RESULTS,
    every_order,
    nouns,
    values,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.helpers.tie_orders import Grades, Results


def computed(grades: Grades, results: Results, measures: Any, **options: Any) -> dict[str, float]:
    return fr.evaluate(*nouns(grades, results), measures, **options).mean


WAYS = st.one_of(
    st.fixed_dictionaries({"relevance_level": st.sampled_from([1, 2])}),
    st.fixed_dictionaries({"depth": st.integers(1, 6)}),
    st.just({"judged_only": True}),
)


@given(RESULTS, GRADES, WAYS)
@examples(150)
def test_average_is_the_mean_over_every_order(results, grades, way):
    depth = way.get("depth")
    measures = KNOWN if depth else KNOWN_UNCUT
    theirs: dict[str, Any] = {"relevance_level": way.get("relevance_level", 1)}
    theirs["judged_docs_only_flag"] = way.get("judged_only", False)
    orders = values(every_order(results, depth), grades, measures, **theirs)

    found = computed(grades, results, measures, ties="average", **way)

    for name, value in found.items():
        mean = sum(order[name] for order in orders) / len(orders)
        assert value == pytest.approx(mean, abs=1e-12), name


@given(RESULTS, GRADES, st.sampled_from([1, 2]), st.sampled_from([None, 1, 2, 3]))
@examples(100)
def test_best_and_worst_are_the_extremes_over_every_order(results, grades, level, depth):
    orders = values(every_order(results, depth), grades, BOUNDED, relevance_level=level)
    options = {"relevance_level": level, "depth": depth}

    best = computed(grades, results, BOUNDED, ties="best", **options)
    worst = computed(grades, results, BOUNDED, ties="worst", **options)

    assert len(best) > 40
    for name in best:
        assert best[name] == pytest.approx(max(order[name] for order in orders), abs=1e-12), name
        assert worst[name] == pytest.approx(min(order[name] for order in orders), abs=1e-12), name


approx, LOG_3 = pytest.approx, math.log2(3)
A1, AB = {"a": 1}, [("a", 1.0), ("b", 1.0)]
ABCD = {"a": 3, "b": 1, "x": 2}, [("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 0.0)]
LARGE = [(f"d{i}", 1.0) for i in range(3000)]
HARMONIC = sum(1 / rank for rank in range(1, 3001))
CLOSE = [("a", 1.00000001), ("b", 1.0)]
# The relevant document of group g1 stands first in one order, that of g2 in the other.
GROUPS = parse_qrels_jg(b"q g1 a 1\nq g2 b 1\nq g2 c 1\n")
GROUPS_RUN = parse_run(b"q Q0 b 1 1 t\nq Q0 a 1 1 t\nq Q0 c 1 1 t\n")


def average(grades: Grades, results: Results, measures: Any, **options: Any) -> dict[str, float]:
    return computed(grades, results, measures, ties="average", **options)


def of_groups(ties: Any, measures: str = "map_avgjg") -> dict[str, float]:
    return fr.evaluate(GROUPS, GROUPS_RUN, measures, ties=ties).mean


def expected_dcg() -> float:
    found = average(*ABCD, "ideal_dcg ndcg")
    return found["ndcg"] * found["ideal_dcg"]


def harmonic_mean(measures: str) -> dict[str, float]:
    """Of n tied documents with one relevant, the mean reciprocal rank is H(n) / n."""
    return average({"d7": 1}, LARGE, measures)


test_values_with_ties_are_as_described = giving("""
# the expected dcg is that of ndcg before it is divided
average(*ABCD, "dcg")["dcg"] => approx(expected_dcg())
# custom gains have an expected value: grade 1 is worth 4, and stands at rank 1 or 2
average(A1, AB, "dcg.1=4") => approx({"dcg_1=4": (4 + 4 / LOG_3) / 2})
# large groups neither overflow nor take long
harmonic_mean("recip_rank map") => approx({"recip_rank": HARMONIC / 3000, "map": HARMONIC / 3000})
harmonic_mean("success.10 P.10") => approx({"success_10": 10 / 3000, "P_10": 1 / 3000})
average({f"d{i}": 1 for i in range(2000)}, LARGE, "success.1") => approx({"success_1": 2 / 3})
# scores tie that are one 32-bit float at 9.0.8
average(A1, CLOSE, "recip_rank") => {"recip_rank": 0.75}
computed({"b": 1}, CLOSE, "recip_rank", ties="best") => {"recip_rank": 1.0}
average({"b": 1}, CLOSE, "recip_rank", trec_eval_version="10.0") => {"recip_rank": 0.5}
computed({"b": 1}, CLOSE, "recip_rank", ties="best", trec_eval_version="10.0")
  => {"recip_rank": 0.5}
# judgment groups rank tied documents by id or line
of_groups("docno_asc")["map_avgjg"] => approx((1 + (1 / 2 + 2 / 3) / 2) / 2)
of_groups("given")["map_avgjg"] => approx((1 / 2 + (1 + 2 / 3) / 2) / 2)
""")

NAN = parse_run(b"q Q0 a 1 1 t\nq Q0 b 1 nan t\n", strict=False)
QRELS, PREFERENCES = parse_qrels(b"q 0 a 1\n"), parse_prefs(b"q g s a 2\nq g s b 1\n")
REFUSED = {
    "a score that is no number has no place among ties": (
        [ties for ties in TIES if ties != "docno_desc"],
        lambda ties: fr.evaluate(QRELS, NAN, "map", ties=ties),
        "EvaluationError: .*score of document b, line 2 .* is NaN",
    ),
    "judgment groups have no order by grade": (
        BY_GRADE,
        lambda ties: of_groups(ties, "map_avgjg Rprec_mult_avgjg"),
        "OptionError: .*groups give a document several grades",
    ),
    "preferences have the order of trec_eval only": (
        [ties for ties in TIES if ties != "docno_desc"],
        lambda ties: fr.evaluate(PREFERENCES, GROUPS_RUN, "prefs_simp", ties=ties),
        "OptionError: .*ties: found .* preferences support only",
    ),
    "no closed form for judged documents of a cut ranking": (
        ["average"],
        lambda ties: computed(A1, AB, "map", ties=ties, judged_only=True, depth=1),
        "OptionError: .*does not support judged_only with a depth",
    ),
    "no closed form for measures of judged documents at a depth": (
        ["AP", "nDCG", "P"],
        lambda name: average(A1, AB, f"{name}(judged_only=True)@10", depth=1),
        "MeasureError: .*with a depth does not support",
    ),
    "a depth may cut a tie where what is retrieved counts": (
        ["set_map", "bpref", "binG", "AP(denominator='relevant_retrieved')"]
        + ["nDCG(ideal='retrieved')"],
        lambda name: average(A1, AB, name, depth=1),
        "MeasureError: ties='average' with a depth does not support",
    ),
}


@pytest.mark.parametrize(
    ("why", "one"), [(why, one) for why, (some, *_) in REFUSED.items() for one in some]
)
def test_what_has_no_order_or_no_expected_value_is_refused(why, one):
    _, call, words = REFUSED[why]

    with pytest.raises(fr.FastrankError) as caught:
        call(one)

    assert re.match(words, f"{type(caught.value).__name__}: {caught.value}")


@pytest.mark.parametrize(
    "measure", [m.name for m in TREC_MEASURES if m.needs in ("ranking", "gains", "unit gains")]
)
def test_average_is_exact_or_refused(measure):
    if measure in {m.name for m in TREC_MEASURES if m.over_ties}:
        average(A1, AB, measure)
        return
    with pytest.raises(MeasureError, match=f"does not support '{measure}.*'; it supports "):
        average(A1, AB, measure)


def test_of_a_set_the_average_is_of_the_measures_that_have_one():
    qrels, run = nouns({"a": 1, "b": 0}, AB)
    scores = fr.evaluate(qrels, run, ties="average")

    assert scores.mean["map"] == 0.75
    assert scores.mean["bpref"] == 0.5
    assert scores.mean["num_rel_ret"] == 1.0
    assert "gm_map" not in scores.mean
    with pytest.raises(MeasureError, match=r"does not support 'gm_map'; it supports .*AP, "):
        fr.evaluate(qrels, run, "official gm_map", ties="average")


@pytest.mark.parametrize("depth", [None, 3])
def test_the_error_names_measures_that_are_supported(depth):
    with pytest.raises(MeasureError) as caught:
        average(A1, AB, "infAP", depth=depth)
    _, _, names = str(caught.value).partition("; it supports ")

    for name in names.removesuffix(", and trec_eval's names of these").split(", "):
        needed = [own for own in FAMILY_BY_NAME[name].options.values() if own.needed]
        given = ",".join(f"{own.name}=1" for own in needed)
        average(A1, AB, f"{name}({given})" if given else name, depth=depth)


def test_counts_that_are_no_integers_are_printed_with_decimals():
    scores = fr.evaluate(*nouns(A1, AB), "num_ret num_rel_ret", ties="average", depth=1)

    assert [line.split("\t")[2] for line in scores.to_trec().splitlines()] == ["1", "0.5000"]
