"""The orders of documents with equal scores, against every order that pytrec_eval evaluates."""

from __future__ import annotations

import math
from typing import Any

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.judging.keywords import TIES
from fastrank.judging.options import BY_GRADE
from fastrank.measures.families import FAMILY_BY_NAME
from fastrank.measures.trec import MEASURES as TREC_MEASURES
from tests.helpers.parsing import (
    parse_prefs,
    parse_qrels,
    parse_qrels_jg,
    parse_run,
    write_trec_run,
)
from tests.helpers.strategies import exactly, examples
from tests.helpers.tie_orders import (
    BOUNDED,
    GRADES,
    KNOWN,
    KNOWN_UNCUT,
    RESULTS,
    every_order,
    groups,
    nouns,
    values,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.helpers.tie_orders import Grades, Results


def computed(
    grades: Grades, results: Results, measures: str | list[str], **options: Any
) -> dict[str, float]:
    return fr.evaluate(*nouns(grades, results), measures, **options).mean


@given(RESULTS, GRADES, st.sampled_from([1, 2]))
@examples(150)
def test_average_is_the_mean_over_every_order(results: Results, grades: Grades, level: int) -> None:
    orders = values(every_order(results), grades, KNOWN_UNCUT, relevance_level=level)

    found = computed(grades, results, KNOWN_UNCUT, ties="average", relevance_level=level)

    for name, value in found.items():
        mean = sum(order[name] for order in orders) / len(orders)
        assert value == pytest.approx(mean, abs=1e-12), name


@given(RESULTS, GRADES, st.integers(1, 6))
@examples(100)
def test_average_at_a_depth_is_the_mean_of_rankings_cut_there(
    results: Results, grades: Grades, depth: int
) -> None:
    orders = values(every_order(results, depth), grades, KNOWN)

    found = computed(grades, results, KNOWN, ties="average", depth=depth)

    for name, value in found.items():
        mean = sum(order[name] for order in orders) / len(orders)
        assert value == pytest.approx(mean, abs=1e-12), name


@given(RESULTS, GRADES)
@examples(100)
def test_average_of_judged_documents_only(results: Results, grades: Grades) -> None:
    orders = values(every_order(results), grades, KNOWN_UNCUT, judged_docs_only_flag=True)

    found = computed(grades, results, KNOWN_UNCUT, ties="average", judged_only=True)

    for name, value in found.items():
        mean = sum(order[name] for order in orders) / len(orders)
        assert value == pytest.approx(mean, abs=1e-12), name


@given(RESULTS, GRADES, st.sampled_from([1, 2]), st.sampled_from([None, 1, 2, 3]))
@examples(150)
def test_best_and_worst_are_the_extremes_over_every_order(
    results: Results, grades: Grades, level: int, depth: int | None
) -> None:
    orders = values(every_order(results, depth), grades, BOUNDED, relevance_level=level)
    options = {"relevance_level": level, "depth": depth}

    best = computed(grades, results, BOUNDED, ties="best", **options)
    worst = computed(grades, results, BOUNDED, ties="worst", **options)

    assert len(best) > 40
    for name in best:
        assert best[name] == pytest.approx(max(order[name] for order in orders), abs=1e-12), name
        assert worst[name] == pytest.approx(min(order[name] for order in orders), abs=1e-12), name


def _code(grades: Grades, doc: str) -> int:
    """Documents outside the judgments stand between grade 0 and negative grades."""
    return max(grades.get(doc, -1), -2) if grades.get(doc, 0) >= 0 else -2


@pytest.mark.parametrize("ties", ["docno_asc", "given", "best", "worst"])
@given(results=RESULTS, grades=GRADES, judged_only=st.booleans(), depth=st.integers(1, 7))
@examples(60)
def test_every_measure_sees_the_same_order(
    ties: str, results: Results, grades: Grades, judged_only: bool, depth: int
) -> None:
    """Bit for bit what pytrec_eval gives that order."""
    ranking = []
    for group in groups(results):
        if ties == "docno_asc":
            group.sort()
        elif ties != "given":
            group.sort(key=lambda doc: _code(grades, doc), reverse=ties == "best")
        ranking += group
    names = sorted(pytrec_eval.supported_measures - {"runid", "num_q", "relstring"})
    (expected,) = values(
        [ranking[:depth]], grades, " ".join(names), judged_docs_only_flag=judged_only
    )

    scores = fr.evaluate(
        *nouns(grades, results), names, ties=ties, judged_only=judged_only, depth=depth
    )

    for name in scores:
        assert exactly(float(scores[name][0])) == exactly(expected[name]), name


@given(RESULTS, GRADES)
@examples(60)
def test_where_nothing_ties_all_orders_are_one(results: Results, grades: Grades) -> None:
    """To the bit, of the expected value, too."""
    apart = [(doc, score + i / 16) for i, (doc, score) in enumerate(results)]
    expected = computed(grades, apart, KNOWN + " dcg num_ret num_rel ideal_dcg num_q")

    for ties in TIES:
        assert expected == computed(
            grades, apart, KNOWN + " dcg num_ret num_rel ideal_dcg num_q", ties=ties
        )


def test_the_expected_dcg_is_that_of_ndcg_before_it_is_divided() -> None:
    grades, results = {"a": 3, "b": 1, "x": 2}, [("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 0.0)]

    found = computed(grades, results, "dcg ideal_dcg ndcg", ties="average")

    assert found["dcg"] == pytest.approx(found["ndcg"] * found["ideal_dcg"])


def test_custom_gains_have_an_expected_value() -> None:
    """Grade 1 is worth 4, and stands at rank 1 or 2: (4 + 4 / log2(3)) / 2."""
    found = computed({"a": 1}, [("a", 1.0), ("b", 1.0)], "dcg.1=4", ties="average")

    assert found["dcg_1=4"] == pytest.approx(3.2618595071429146)


def test_large_groups_neither_overflow_nor_take_long() -> None:
    """Of n tied documents with one relevant, the mean reciprocal rank is H(n) / n."""
    results = [(f"d{i}", 1.0) for i in range(3000)]
    harmonic = sum(1 / rank for rank in range(1, 3001))

    found = computed({"d7": 1}, results, "recip_rank map success.10 P.10", ties="average")
    many = computed({f"d{i}": 1 for i in range(2000)}, results, "success.1,5", ties="average")

    assert found["recip_rank"] == pytest.approx(harmonic / 3000)
    assert found["map"] == pytest.approx(harmonic / 3000)
    assert found["success_10"] == pytest.approx(10 / 3000)
    assert found["P_10"] == pytest.approx(1 / 3000)
    assert many["success_1"] == pytest.approx(2 / 3)


def test_scores_tie_that_are_one_32_bit_float_at_9_0_8() -> None:
    results = [("a", 1.00000001), ("b", 1.0)]

    assert computed({"a": 1}, results, "recip_rank", ties="average") == {"recip_rank": 0.75}
    assert computed({"b": 1}, results, "recip_rank", ties="best") == {"recip_rank": 1.0}
    for ties in ("average", "best"):
        found = computed({"b": 1}, results, "recip_rank", ties=ties, trec_eval_version="10.0")
        assert found == {"recip_rank": 0.5}


@pytest.mark.parametrize(
    "measure", [m.name for m in TREC_MEASURES if m.needs in ("ranking", "gains", "unit gains")]
)
def test_average_is_exact_or_refused(measure: str) -> None:
    """Never approximated, never the value of one order."""
    qrels, run = nouns({"a": 1}, [("a", 1.0), ("b", 1.0)])
    known = {m.name for m in TREC_MEASURES if m.over_ties}

    if measure in known:
        fr.evaluate(qrels, run, measure, ties="average")
        return
    with pytest.raises(fr.MeasureError, match=f"does not support '{measure}.*'; it supports "):
        fr.evaluate(qrels, run, measure, ties="average")


def test_a_file_is_ranked_as_a_run_in_memory_is(tmp_path: Any) -> None:
    """Also among several."""
    grades, results = {"a": 1, "b": 0, "c": 2}, [("b", 1.0), ("c", 1.0), ("a", 1.0), ("d", 2.0)]
    qrels, run = nouns(grades, results)
    path = tmp_path / "run"
    write_trec_run(run, path)

    for ties in TIES:
        found = fr.evaluate(qrels, [run, path, str(path)], "map ndcg", ties=ties)
        assert found[0].mean == found[1].mean == found[2].mean
    assert len({fr.evaluate(qrels, path, "ndcg", ties=t).mean["ndcg"] for t in TIES}) >= 4


@pytest.mark.parametrize("ties", [ties for ties in TIES if ties != "docno_desc"])
def test_a_score_that_is_no_number_has_no_place_among_ties(ties: str) -> None:
    qrels = parse_qrels(b"q 0 a 1\n")
    run = parse_run(b"q Q0 a 1 1 t\nq Q0 b 1 nan t\n", strict=False)

    with pytest.raises(fr.EvaluationError, match=r"score of document b, line 2 .* is NaN"):
        fr.evaluate(qrels, run, "map", ties=ties)


@pytest.mark.parametrize("ties", ["docno_asc", "given"])
def test_judgment_groups_rank_tied_documents_by_id_or_line(ties: str) -> None:
    """The relevant document of group g1 stands first in one order, that of g2 in the other."""
    qrels = parse_qrels_jg(b"q g1 a 1\nq g2 b 1\nq g2 c 1\n")
    run = parse_run(b"q Q0 b 1 1 t\nq Q0 a 1 1 t\nq Q0 c 1 1 t\n")
    expected = {"docno_asc": (1 + (1 / 2 + 2 / 3) / 2) / 2, "given": (1 / 2 + (1 + 2 / 3) / 2) / 2}

    found = fr.evaluate(qrels, run, "map_avgjg", ties=ties)

    assert found.mean["map_avgjg"] == pytest.approx(expected[ties])


@pytest.mark.parametrize("ties", BY_GRADE)
def test_judgment_groups_have_no_order_by_grade(ties: str) -> None:
    qrels = parse_qrels_jg(b"q g1 a 1\n")

    with pytest.raises(fr.OptionError, match="groups give a document several grades"):
        fr.evaluate(qrels, parse_run(b"q Q0 a 1 1 t\n"), "map_avgjg Rprec_mult_avgjg", ties=ties)


@pytest.mark.parametrize("ties", [ties for ties in TIES if ties != "docno_desc"])
def test_preferences_have_trec_evals_order_only(ties: str) -> None:
    preferences = parse_prefs(b"q g s a 2\nq g s b 1\n")

    with pytest.raises(fr.OptionError, match=r"ties: found .* preferences support only"):
        fr.evaluate(preferences, parse_run(b"q Q0 a 1 1 t\n"), "prefs_simp", ties=ties)


def test_no_closed_form_for_judged_documents_of_a_cut_ranking() -> None:
    qrels, run = nouns({"a": 1}, [("a", 1.0)])

    with pytest.raises(fr.OptionError, match="does not support judged_only with a depth"):
        fr.evaluate(qrels, run, "map", ties="average", judged_only=True, depth=1)


@given(RESULTS, GRADES, st.sampled_from([None, 1, 2, 3]))
@examples(50)
def test_no_order_is_better_than_best_for_graded_gains(
    results: Results, grades: Grades, depth: int | None
) -> None:
    """Or worse than worst."""
    measures = ["ERR", "ERR@2", "RBP(gain='raw')", "RBP(gain='graded',p=0.5)@2"]
    orders = [
        computed(grades, [(doc, -float(i)) for i, doc in enumerate(order)], measures, depth=depth)
        for order in every_order(results)
    ]

    found = fr.tie_report(*nouns(grades, results), measures, depth=depth).measures

    for name in measures:
        values = [order[name] for order in orders]
        assert found[name].worst == pytest.approx(min(values), abs=1e-12)
        assert found[name].best == pytest.approx(max(values), abs=1e-12)


@given(RESULTS, GRADES, st.sampled_from([1, 2, 3, 9]))
@examples(60)
def test_average_of_rr_at_k_is_its_mean_over_all_orders(
    results: Results, grades: Grades, k: int
) -> None:
    orders = [[grades.get(doc, 0) >= 1 for doc in order[:k]] for order in every_order(results)]
    expected = sum(1 / (1 + order.index(True)) for order in orders if True in order) / len(orders)

    found = computed(grades, results, f"RR@{k} RR(rel=2)@{k} RR", ties="average")

    assert found[f"RR@{k}"] == pytest.approx(expected, rel=1e-12)
    plain = computed(grades, results, "recip_rank", ties="average")
    assert found["RR"] == plain["recip_rank"]
    stricter = computed(grades, results, f"RR@{k}", ties="average", relevance_level=2)
    assert found[f"RR(rel=2)@{k}"] == stricter[f"RR@{k}"]


@given(RESULTS, GRADES)
@examples(60)
def test_average_of_exponential_ndcg_is_its_mean_over_all_orders(
    results: Results, grades: Grades
) -> None:
    def gain(doc: str) -> float:
        return 2.0 ** max(grades.get(doc, 0), 0) - 1

    def dcg(docs: Any) -> float:
        return sum(gain(doc) / math.log2(rank) for rank, doc in enumerate(docs[:3], 2))

    ideal = dcg(sorted(grades, key=gain, reverse=True))
    orders = [dcg(order) for order in every_order(results)]

    found = computed(grades, results, "nDCG(dcg='exp-log2')@3", ties="average")

    expected = sum(orders) / len(orders) / ideal if ideal else 0.0
    assert list(found.values()) == [pytest.approx(expected, rel=1e-12)]


@pytest.mark.parametrize("measure", ["AP", "nDCG", "P"])
def test_no_closed_form_for_measures_of_judged_documents_at_a_depth(measure: str) -> None:
    qrels, run = nouns({"a": 1}, [("a", 1.0), ("b", 1.0)])

    with pytest.raises(fr.MeasureError, match="with a depth does not support"):
        fr.evaluate(qrels, run, f"{measure}(judged_only=True)@10", ties="average", depth=1)


@pytest.mark.parametrize(
    "measure",
    ["set_map", "bpref", "binG", "AP(denominator='relevant_retrieved')", "nDCG(ideal='retrieved')"],
)
def test_a_depth_that_may_cut_a_tie_is_refused_where_what_is_retrieved_counts(measure: str) -> None:
    with pytest.raises(fr.MeasureError, match="ties='average' with a depth does not support"):
        computed({"a": 1}, [("a", 1.0), ("b", 1.0)], measure, ties="average", depth=1)


def test_of_a_set_the_average_is_of_the_measures_that_have_one() -> None:
    qrels, run = nouns({"a": 1, "b": 0}, [("a", 1.0), ("b", 1.0)])
    scores = fr.evaluate(qrels, run, ties="average")

    assert scores.mean["map"] == 0.75
    assert scores.mean["bpref"] == 0.5
    assert scores.mean["num_rel_ret"] == 1.0
    assert "gm_map" not in scores.mean
    with pytest.raises(fr.MeasureError, match=r"does not support 'gm_map'; it supports .*AP, "):
        fr.evaluate(qrels, run, "official gm_map", ties="average")


@pytest.mark.parametrize("depth", [None, 3])
def test_the_error_names_measures_that_are_supported(depth: int | None) -> None:
    qrels, run = nouns({"a": 1, "b": 0}, [("a", 1.0), ("b", 1.0)])
    with pytest.raises(fr.MeasureError) as caught:
        fr.evaluate(qrels, run, "infAP", ties="average", depth=depth)
    names = (
        str(caught.value)
        .partition("; it supports ")[2]
        .removesuffix(", and trec_eval's names of these")
    )

    for name in names.split(", "):
        cutoff = FAMILY_BY_NAME[name].options.get("cutoff")
        measure = f"{name}@1" if cutoff is not None and cutoff.needed else name
        fr.evaluate(qrels, run, measure, ties="average", depth=depth)


def test_counts_that_are_no_integers_are_printed_with_decimals() -> None:
    scores = fr.evaluate(
        *nouns({"a": 1}, [("a", 1.0), ("b", 1.0)]), "num_ret num_rel_ret", ties="average", depth=1
    )

    assert [line.split("\t")[2] for line in scores.to_trec().splitlines()] == ["1", "0.5000"]
