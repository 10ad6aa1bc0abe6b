"""Names of measures in every notation: what they mean, how they print, what a typo gets."""

from __future__ import annotations

import pickle
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

import fastrank as fr
from fastrank.measures.families import FAMILIES
from fastrank.measures.measure_options import Family, Option
from fastrank.measures.notation import split_measures
from fastrank.measures.selection import Selection
from fastrank.measures.trec import MEASURES as TREC_MEASURES
from fastrank.measures.trec import NICKNAMES
from tests.helpers.parsing import parse_qrels, parse_run

QRELS = parse_qrels(b"q 0 a 2\nq 0 b 0\nq 0 c 1\nq 0 d 1\n")
RUN = parse_run(b"q Q0 b 1 9 t\nq Q0 a 2 8 t\nq Q0 x 3 7 t\nq Q0 c 4 6 t\n")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("map", "map"),
        ("P.10,5", "P.5,10"),
        ("P.5, 10", "P.5,10"),
        ("ndcg.1=3, 2=9", "ndcg.1=3,2=9"),
        ("P_10", "P.10"),
        ("ndcg_cut_10", "ndcg_cut.10"),
        ("ndcg_cut.10", "ndcg_cut.10"),
        ("recall_1000", "recall.1000"),
        ("iprec_at_recall_0.10", "iprec_at_recall.0.10"),
        ("set_F_0.5", "set_F.0.5"),
        ("ndcg_1=3,2=9", "ndcg.1=3,2=9"),
        ("official", "official"),
        ("nDCG@10", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        (" nDCG @ 10 ", "nDCG@10"),
        ("AP(rel=2)@100", "AP(rel=2)@100"),
        ("MAP( rel = 2 ) @ 100", "AP(rel=2)@100"),
        ("AP(cutoff=100)", "AP@100"),
        ("MRR", "RR"),
        ("Precision@5", "P@5"),
        ("Recall@5", "R@5"),
        ("BPref", "Bpref"),
        ("P(rel=2,judged_only=True)@10", "P(rel=2,judged_only=True)@10"),
        ("nDCG(dcg='exp-log2')@20", "nDCG(dcg='exp-log2')@20"),
        ('nDCG(dcg="log2")', "nDCG"),
        ("nDCG(gains={2:9, 1:3, 0:0})@5", "nDCG(gains={1:3,2:9})@5"),
        ("SetF(beta=2)", "SetF(beta=2)"),
        ("SetF(beta=2.0)", "SetF(beta=2)"),
        ("SetRelP", "SetP(relative=True)"),
        ("IPrec@0.1", "IPrec@0.1"),
        ("RBP(p=0.80)", "RBP"),
        ("RR_10", "RR@10"),
        ("hit_ratio_10", "HitRatio@10"),
        ("HitRate@10", "Success@10"),
        ("percentile_rank", "PercentileRank"),
        ("Rprec()", "Rprec"),
        ("ndcg@10", "nDCG@10"),
        ("ndcg(dcg='exp-log2')@10", "nDCG(dcg='exp-log2')@10"),
        ("map@10", "AP@10"),
        ("mrr@10", "RR@10"),
        ("mrr", "RR"),
        ("recall@100", "R@100"),
        ("precision@5", "P@5"),
        ("p@10", "P@10"),
        ("hit@10", "Success@10"),
        ("hit_rate@10", "Success@10"),
        ("HR@10", "Success@10"),
        ("hole@10", "Hole@10"),
        ("RBP_10", "RBP@10"),
        ("RBP", "RBP"),
        ("rbp", "rbp"),
        ("rbp_p=0.5", "rbp.p=0.5"),
        ("err@20", "ERR@20"),
        ("recall_cap@10", "RCap@10"),
        ("R_cap@10", "RCap@10"),
        ("nDCG10", "nDCG@10"),
        ("P10", "P@10"),
        ("R_10", "R@10"),
        ("ndcg_10", "nDCG@10"),
        ("MRR_10", "RR@10"),
        ("precision_at_10", "P@10"),
        ("mrr_at_10", "RR@10"),
        ("r-precision", "Rprec"),
        ("reciprocal_rank@3", "RR@3"),
        ("GMAP", "gm_map"),
        ("BPREF", "Bpref"),
        ("Map_Cut.5,10", "map_cut.5,10"),
        ("MAP_CUT_5", "map_cut.5"),
        ("OFFICIAL", "official"),
        ("RECALL", "recall"),
    ],
)
def test_every_notation_is_understood_and_printed_in_one_way(text: str, canonical: str) -> None:
    assert str(fr.parse_measure(text)) == canonical
    assert fr.parse_measure(canonical) == fr.parse_measure(text)


def _values(option: Option) -> st.SearchStrategy[Any]:
    lowest = 1e-300 if option.kind == "positive" else 0
    numbers = st.floats(lowest, 1 if option.kind == "share" else 1e300)
    gains = st.dictionaries(st.integers(-5, 2**31 - 1), numbers, max_size=4)
    return {
        "rank": st.integers(1, 2**31 - 1),
        "grade": st.integers(-5, 2**31 - 1),
        "flag": st.booleans(),
        "choice": st.sampled_from(option.choices or ("",)),
        "gains": gains.map(lambda own: tuple(own.items())),
    }.get(option.kind, numbers)


@st.composite
def _texts(draw: st.DrawFn) -> str:
    """A measure with options, some of them given, in any order and with blanks in between."""
    family: Family = draw(st.sampled_from(FAMILIES))
    gap = st.sampled_from(["", " ", "  "])
    written = []
    for option in draw(st.permutations(list(family.options.values()))):
        if option.needed or draw(st.booleans()):
            text = option.write(draw(_values(option)))
            written.append(f"{draw(gap)}{option.name}{draw(gap)}={draw(gap)}{text}{draw(gap)}")
    return f"{family.name}{draw(gap)}({','.join(written)})"


def _is_bound(text: str) -> bool:
    """Whether ideal='max' has a cutoff, and max_grade has ideal='max'."""
    blanks_removed = text.replace(" ", "")
    return "ideal='max'" in blanks_removed and "cutoff=" in blanks_removed


def _parsed(text: str) -> fr.types.MeasureSpec | None:
    """None for options that exclude each other."""
    excluded = (
        ("denominator" in text and "'k'" in text)
        or (text.startswith("HitRatio") and ("micro" in text) != ("relevant_" in text))
        or ("dcg" in text and "gains" in text)
        or (text.startswith("nDCG") and ("max" in text) and not _is_bound(text))
        or (("graded" in text or "raw" in text) and "rel" in text)
    )
    try:
        return fr.parse_measure(text)
    except fr.MeasureError:
        if not excluded:
            raise
        return None


@given(_texts())
def test_parsing_inverts_printing(text: str) -> None:
    found = _parsed(text)

    if found is not None:
        assert fr.parse_measure(str(found)) == found
        assert hash(fr.parse_measure(str(found))) == hash(found)
        assert str(fr.parse_measure(str(found))) == str(found)


@given(st.lists(_texts().filter(_parsed), max_size=4))
def test_a_text_of_measures_is_split_between_them(texts: list[str]) -> None:
    assert list(map(fr.parse_measure, split_measures("  ".join(texts)))) == list(
        map(fr.parse_measure, texts)
    )


@pytest.mark.parametrize("name", [*(measure.name for measure in TREC_MEASURES), *NICKNAMES])
def test_all_names_of_trec_eval_parse(name: str) -> None:
    assert str(fr.parse_measure(name)) == name


@given(st.text(st.sampled_from("PRnDCGAmap_@.(){}=:,' 0159"), max_size=12))
def test_any_other_text_is_a_measure_error(text: str) -> None:
    """Nothing else is raised, and what parses prints as something that parses."""
    try:
        found = fr.parse_measure(text)
    except fr.MeasureError:
        return
    assert fr.parse_measure(str(found)) == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ndcg.10", "ndcg_cut.10"),
        ("P_0", "whole number of at least 1"),
        ("P_05", "did you mean P_5?"),
        ("P.5x", "expected a whole number of at least 1, found '5x'"),
        ("P@0", "expected a whole number of at least 1"),
        ("P@-3", "expected a whole number of at least 1"),
        ("P@2.5", "expected a whole number of at least 1"),
        ("P(rel=2)", "P requires cutoff"),
        ("nDGC@10", "nDCG"),
        ("AP(foo=1)", "unknown option 'foo'; AP accepts cutoff, rel, judged_only, denominator"),
        ("AP(rel=1,rel=2)", "rel is given twice"),
        ("AP(rel=high)", "rel=high: expected a number"),
        ("AP(rel=1e10)", "rel=1e10: expected a number that fits into 32 bits"),
        ("AP(2)", "expected option=value, found '2'"),
        ("AP(rel=2", "expected )"),
        ("SetP@5", "SetP takes no cutoff"),
        ("RBP(p=1.5)", "expected a number from 0 to 1"),
        ("RBP(p=nan)", "expected a number from 0 to 1"),
        ("AP(denominator='max')", "expected 'relevant' or 'min_k' or 'relevant_retrieved'"),
        ("Judged(denominator='k')", "needs a cutoff"),
        ("HitRatio(average='micro')@5", "average='micro' needs denominator='relevant_retrieved'"),
        ("nDCG(dcg='exp-log2',gains={1:2})", "both set"),
        ("RBP(gain='graded',rel=2)", "rel and gain cannot be combined"),
        ("nDCG(gains={1:2,1:3})", "grade 1 appears twice"),
        ("hits@10", "Success@10 or R@10?"),
        ("Accuracy@1", "Success@1"),
        ("Acuracy@1", "Success@1"),
        ("top_k_accuracy@10", "Success@10"),
        ("ndcg_cut@10", "nDCG@10"),
        ("precision", "'precision': P requires cutoff"),
        ("precision", "for example P@10"),
        ("set_F@10", "'set_F@10': SetF takes no cutoff"),
        ("rbp.95", "use RBP(p=0.95), or for graded judgments RBP(p=0.95,gain='raw')"),
        ("rbp.80-l2", "use RBP(rel=2,p=0.80)"),
        (
            "P.18446744073709551621",
            "expected a whole number of at least 1, found '18446744073709551621'",
        ),
        ("recip_rank.10", "recip_rank takes no parameters; for a cutoff use RR@10"),
        ("map.10", "map takes no parameters; for a cutoff use map_cut.10"),
        ("recip_rank.5,10", "recip_rank takes no parameters; for cutoffs use RR@5 RR@10"),
        ("nDCG.1,5,10", "found '1'; for cutoffs use ndcg_cut.1,5,10"),
        ("official.5", "official takes no parameters"),
        ("set_F.x", "expected a number, found 'x'"),
        ("iprec_at_recall.0.1,x", "expected a number, found 'x'"),
        ("utility.1,1,,0", "expected a number, found ''"),
        ("ndcg.1=x", "expected a number, found 'x'"),
        ("ndcg.1x=3", "expected grade=gain pairs such as 1=3, found '1x=3'"),
        ("ndcg.p=0.5", "expected grade=gain pairs such as 1=3, found 'p=0.5'"),
        ("rbp.p=x", "expected a number, found 'x'"),
        ("ndcg_rel_p=0.5", "expected grade=gain pairs such as 1=3, found 'p=0.5'"),
        ("set_F_1_0", "set_F"),
        ("", "unknown measure ''"),
    ],
)
def test_a_typo_is_told_with_what_may_be_meant(text: str, words: str) -> None:
    with pytest.raises(fr.MeasureError) as caught:
        fr.parse_measure(text)

    assert words in str(caught.value)


def test_the_trec_eval_command_reads_parameters_as_trec_eval_does() -> None:
    """`-m recip_rank.10` is recip_rank there, and `-m set_F.x` has the parameter 0."""
    selection = Selection(["recip_rank.10", "set_F.x", "ndcg.1=x"], original=True)

    assert [own.names for own in selection.bind("9.0.8")] == [
        [b"recip_rank"], [b"ndcg_1=x"], [b"set_F_x"],
    ]  # fmt: skip


def test_notations_can_be_mixed_and_values_are_named_as_asked_for() -> None:
    scores = fr.evaluate(QRELS, RUN, "map P.1,2 AP P_3 nDCG@2 ndcg_cut_2 AP(rel = 2) @ 2")

    assert scores.names == [
        "map", "P_1", "P_2", "AP", "P_3", "nDCG@2", "ndcg_cut_2", "AP(rel=2)@2",
    ]  # fmt: skip
    assert scores.mean["AP"] == scores.mean["map"]
    assert scores.mean["AP(rel=2)@2"] == 0.5


def test_printed_names_of_trec_eval_add_up() -> None:
    """As pytrec_eval has it; after a set, which wants the default cutoffs, too."""
    assert fr.evaluate(QRELS, RUN, ["P_5", "P_1"]).names == ["P_5", "P_1"]
    assert "P_7" in fr.evaluate(QRELS, RUN, "official P_7")
    assert "P_1000" in fr.evaluate(QRELS, RUN, "official P_7")


def test_asking_twice_computes_once() -> None:
    scores = fr.evaluate(QRELS, RUN, ["AP@5", "AP @ 5", fr.parse_measure("AP@5")])

    assert scores.names == ["AP@5"]


def test_values_are_called_what_was_asked_for() -> None:
    scores = fr.evaluate(QRELS, RUN, "MRR@10 MAP Recall@100 AP( rel=2 ) @ 2 GMAP map_cut.2 p.2,1")

    names = ["MRR@10", "MAP", "Recall@100", "AP(rel=2)@2", "map_cut_2", "p_1", "p_2"]
    assert scores.names == names
    assert set(scores.mean) == {*names, "GMAP"}
    assert list(scores.to_dict()["q"]) == names
    assert list(scores.to_pandas(wide=True).columns) == ["query", *names]


def test_one_measure_under_two_names_has_both() -> None:
    scores = fr.evaluate(QRELS, RUN, "MRR@10 RR@10")

    assert scores.mean == {"MRR@10": 0.5, "RR@10": 0.5}


@pytest.mark.parametrize(
    ("asked", "other"),
    [("MRR@10", "RR@10"), ("RR_10", "mrr@10"), ("MAP", "AP"), ("p.2", "P_2"), ("P_2", "P.2")],
)
def test_values_are_found_by_other_spellings_too(asked: str, other: str) -> None:
    scores = fr.evaluate(QRELS, RUN, asked)

    assert other not in scores.names
    assert scores[other].tolist() == scores[asked.replace(".", "_")].tolist()
    assert scores.mean[other] == scores.mean[asked.replace(".", "_")]


@pytest.mark.parametrize("name", ["RR@5", "nothing", "official"])
def test_what_was_not_asked_for_is_not_found(name: str) -> None:
    with pytest.raises(KeyError, match="the values per query: MRR@10"):
        fr.evaluate(QRELS, RUN, "MRR@10")[name]
    with pytest.raises(KeyError, match=name):
        fr.evaluate(QRELS, RUN, "MRR@10").mean[name]


@pytest.mark.parametrize(
    ("measures", "names"),
    [
        ("map, Rprec", ["map", "Rprec"]),
        ("map,P.2", ["map", "P_2"]),
        ("P.5,10", ["P_5", "P_10"]),
        ("P.5, 10,map", ["P_5", "P_10", "map"]),
        ("P.5,P.10", ["P_5", "P_10"]),
        ("nDCG@5,10", ["nDCG@5", "nDCG@10"]),
        ("AP(rel=1,judged_only=True)@1, RR", ["AP(rel=1,judged_only=True)@1", "RR"]),
        ("utility.1,-1,0,.5,11pt_avg", ["utility_1,-1,0,.5", "11pt_avg"]),
        ("ndcg.1=3,2=9,map", ["ndcg_1=3,2=9", "map"]),
        ("nDCG(gains={1:2, 2:5}) @ 2 , map", ["nDCG(gains={1:2,2:5})@2", "map"]),
        (["map, Rprec", "P.1"], ["map", "Rprec", "P_1"]),
    ],
)  # fmt: skip
def test_blanks_and_commas_separate_measures(measures: Any, names: list[str]) -> None:
    assert fr.evaluate(QRELS, RUN, measures).names == names


@pytest.mark.parametrize("measures", ["", " , ", []])
def test_no_measure_at_all_is_an_error(measures: Any) -> None:
    with pytest.raises(fr.MeasureError, match="expected a measure, found none"):
        fr.evaluate(QRELS, RUN, measures)


def test_one_specification_will_do() -> None:
    assert fr.evaluate(QRELS, RUN, fr.parse_measure("AP@5")).names == ["AP@5"]


@pytest.mark.parametrize("measures", ["P.5 P.10", "P.10,5 P.5,10", "P_5 P.10", "P.5 P_10 P_5"])
def test_all_cutoffs_that_were_asked_for_are_computed(measures: str) -> None:
    assert fr.evaluate(QRELS, RUN, measures).names == ["P_5", "P_10"]


@pytest.mark.parametrize("measures", ["P P.7", "P.7 P", "P P_7", "official P_7"])
def test_default_cutoffs_that_were_asked_for_are_computed_too(measures: str) -> None:
    """Only a set leaves them to what is said besides: `official P.7` has P_7, as in trec_eval."""
    names = fr.evaluate(QRELS, RUN, measures).names

    assert {"P_5", "P_7", "P_1000"} <= set(names)
    assert "P_5" not in fr.evaluate(QRELS, RUN, "official P.7")


@pytest.mark.parametrize(
    "measures", ["set_F_2 set_F_3", "set_F.2 set_F.3", "ndcg.1=2 ndcg_1=3", "ndcg ndcg.1=3"]
)
def test_different_parameters_that_cannot_be_had_together_are_refused(measures: str) -> None:
    with pytest.raises(fr.MeasureError, match="only once"):
        fr.evaluate(QRELS, RUN, measures)


def test_measure_objects_of_ir_measures_are_understood() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    given_ = [
        ir_measures.nDCG @ 10, ir_measures.AP(rel=2) @ 100, ir_measures.SetF(beta=2.0),
        ir_measures.nDCG(gains={1: 3, 0: 0}), ir_measures.NumRelRet, ir_measures.RR,
    ]  # fmt: skip

    assert [str(fr.parse_measure(measure)) for measure in given_] == [
        "nDCG@10", "AP(rel=2)@100", "SetF(beta=2)", "nDCG(gains={1:3})", "NumRet(rel=1)", "RR",
    ]  # fmt: skip
    assert set(fr.evaluate(QRELS, RUN, given_).mean) == set(map(str, given_))


def test_other_objects_are_refused() -> None:
    with pytest.raises(TypeError, match="expected str, found int"):
        fr.parse_measure(5)


def test_a_specification_is_frozen_and_can_be_pickled() -> None:
    spec = fr.parse_measure("nDCG(gains={1:3})@10")

    assert pickle.loads(pickle.dumps(spec)) == spec
    with pytest.raises(AttributeError, match="frozen"):
        spec.name = "AP"
    assert repr(spec) == "MeasureSpec('nDCG(gains={1:3})@10')"
    assert spec != "nDCG(gains={1:3})@10"
    assert {spec: 1}[fr.parse_measure("NDCG(gains={1:3}) @ 10")] == 1


FILES = {
    "qrels": b"q 0 a 2\nq 0 b 0\nq 0 c 1\n",
    "run": b"q Q0 b 1 9 t\nq Q0 a 2 8 t\n",
}


def test_the_trec_eval_command_takes_new_names(trec_eval: Any) -> None:
    """After the measures that the original prints, as asked for."""
    found = trec_eval(
        "-q", "-m", "nDCG@10", "-m", "RR_1", "-m", "map", "-m", "NumRet", "qrels", "run",
        files=FILES,
    )  # fmt: skip

    assert found.status == 0
    assert [line.split() for line in found.stdout.decode().splitlines()] == [
        ["map", "q", "0.2500"], ["nDCG@10", "q", "0.4796"], ["RR_1", "q", "0.0000"],
        ["NumRet", "q", "2"],
        ["map", "all", "0.2500"], ["nDCG@10", "all", "0.4796"], ["RR_1", "all", "0.0000"],
        ["NumRet", "all", "2"],
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["MAP", "MRR", "P_10", "ndcg_cut_10", "Precision@5"])
def test_the_trec_eval_command_refuses_what_the_original_refuses(name: str, trec_eval: Any) -> None:
    """Names of other programs for what it has: exit status 1."""
    assert trec_eval("-m", name, "qrels", "run", files=FILES).status == 1


def test_new_measures_are_in_no_set_of_trec_eval() -> None:
    assert {name for family in FAMILIES for name in family.sets} == set()
