"""Names of measures in every notation: what they mean, how they print, what a typo gets."""

from __future__ import annotations

import pickle
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

import fastrank as fr
from fastrank.core.measures.families import FAMILIES
from fastrank.core.measures.measure_options import Family, Option
from fastrank.core.measures.notation import parse_measure, split_measures
from fastrank.core.measures.trec import MEASURES as TREC_MEASURES
from fastrank.core.measures.trec import NICKNAMES
from fastrank.errors import MeasureError
from tests.helpers.parsing import parse_qrels, parse_run
from tests.helpers.tables import giving, named, rows

QRELS = parse_qrels(b"q 0 a 2\nq 0 b 0\nq 0 c 1\nq 0 d 1\n")
RUN = parse_run(b"q Q0 b 1 9 t\nq Q0 a 2 8 t\nq Q0 x 3 7 t\nq Q0 c 4 6 t\n")


# For each measure the names that mean it in pytrec_eval, ranx, ir_measures, BEIR, MTEB,
# sentence-transformers, scikit-learn, torchmetrics, trectools, CatBoost, recommendation and papers.
UNDERSTOOD = """
P@5: precision@5 precision_at_5 precision_5 precision5 P5 p@5 p5 p_5 Precision@5
P.5: P_5
R@10: recall@10 recall_at_10 Recall10 r@10 R10 Recall@10 R_10
recall.10: recall_10
Success@5: hit@5 HR@5 hr@5 hit_rate@5 hitrate@5 hit_at_5 success@5 success_at_5 HitRate@5
success.5: success_5 Success.5
nDCG@10: ndcg_at_10 NDCG10 ndcg10 NDCG@10 ndcg@10 nDCG_10 ndcg_10 Ndcg@10 nDCG10
nDCG: normalized_discounted_cumulative_gain NormalizedDCG NDCG nDCG(dcg="log2")
ndcg_cut.10: ndcg_cut_10 NDCG_cut_10
AP: mean_average_precision average_precision MeanAveragePrecision mAP MAP ap
map: map
AP@100: map@100 MAP@100 mAP@100 map_at_100 map_100 ap@100 AP(cutoff=100)
RR: MRR mrr mean_reciprocal_rank reciprocal_rank ReciprocalRank rr
RR@10: mrr_10 mrr@10 MRR@10 mrr_at_10 MRR10 recip_rank@10 rr@10 RR_10 MRR_10
Rprec: r-precision rprec r_precision R-Prec RPrecision R_precision Rprec()
F1: f1_score f1
F1@10: f1@10 f1_at_10
DCG@10: dcg@10
ERR@20: err@20
ERR: err expected_reciprocal_rank
alpha_nDCG@20: alpha-nDCG@20 alpha_ndcg@20 \u03b1-nDCG@20
ERR_IA@20: err_ia@20 ERR-IA@20
bpref: bpref
gm_map: gmap GMAP
infAP: infap inf_ap
RCap@10: recall_cap@10 R_cap@10 rcap@10
Judged@10: judged@10
Hole@10: hole@10 hole_10
Q: q_measure q qmeasure
Compat: compat compatibility
RBP@10: RBP_10 RBP10
P.5,10: P.10,5
P.10: P_10
recall.1000: recall_1000
iprec_at_recall.0.10: iprec_at_recall_0.10
set_F.0.5: set_F_0.5
ndcg.1=3,2=9: ndcg_1=3,2=9
official: OFFICIAL
AP(rel=2)@100: AP(rel=2)@100
R@5: Recall@5
Bpref: BPref BPREF
P(rel=2,judged_only=True)@10: P(rel=2,judged_only=True)@10
nDCG(dcg='exp-log2')@20: nDCG(dcg='exp-log2')@20
SetF(beta=2): SetF(beta=2.0)
SetP(relative=True): SetRelP
IPrec@0.1: IPrec@0.1
RBP: RBP(p=0.80)
HitRatio@10: hit_ratio_10
Success@10: HitRate@10 hit@10 hit_rate@10 HR@10
PercentileRank: percentile_rank
nDCG(dcg='exp-log2')@10: ndcg(dcg='exp-log2')@10
AP@10: map@10
R@100: recall@100
P@10: p@10 P10 precision_at_10
rbp: rbp
rbp.p=0.5: rbp_p=0.5
RR@3: reciprocal_rank@3
map_cut.5,10: Map_Cut.5,10
map_cut.5: MAP_CUT_5
recall: RECALL
SDCG@5: SDCG_5
Q@3: Q_3
nCG@3: ncg@3
INST: inst
NERR8@5: nerr8_5
BPM@5: bpm@5
"""
WITH_BLANKS = {
    "P.5, 10": "P.5,10",
    "ndcg.1=3, 2=9": "ndcg.1=3,2=9",
    " nDCG @ 10 ": "nDCG@10",
    "MAP( rel = 2 ) @ 100": "AP(rel=2)@100",
    "nDCG(gains={2:9, 1:3, 0:0})@5": "nDCG(gains={1:3,2:9})@5",
}


@pytest.mark.parametrize(("text", "canonical"), [*named(UNDERSTOOD), *WITH_BLANKS.items()])
def test_every_notation_is_understood_and_printed_in_one_way(text, canonical):
    assert str(parse_measure(text)) == str(parse_measure(canonical)) == canonical
    assert parse_measure(canonical) == parse_measure(text)


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
        or (("graded" in text or "raw" in text) and ("rel" in text or "residual" in text))
    )
    try:
        return parse_measure(text)
    except MeasureError:
        if not excluded:
            raise
        return None


@given(_texts())
def test_parsing_inverts_printing(text):
    found = _parsed(text)

    if found is not None:
        assert parse_measure(str(found)) == found
        assert hash(parse_measure(str(found))) == hash(found)
        assert str(parse_measure(str(found))) == str(found)


@given(st.lists(_texts().filter(_parsed), max_size=4))
def test_a_text_of_measures_is_split_between_them(texts):
    assert list(map(parse_measure, split_measures("  ".join(texts)))) == list(
        map(parse_measure, texts)
    )


@pytest.mark.parametrize("name", [*(measure.name for measure in TREC_MEASURES), *NICKNAMES])
def test_all_names_of_trec_eval_parse(name):
    assert str(parse_measure(name)) == name


@given(st.text(st.sampled_from("PRnDCGAmap_@.(){}=:,' 0159"), max_size=12))
def test_any_other_text_is_a_measure_error(text):
    """Nothing else is raised, and what parses prints as something that parses."""
    try:
        found = parse_measure(text)
    except MeasureError:
        return
    assert parse_measure(str(found)) == found


TYPOS = """
dcg.5 => for a cutoff use DCG@5
ndcg.1 => expected grade=gain pairs such as 1=3, found '1'; for a cutoff use ndcg_cut.1
P. => improper measure in parameter 'P': nothing after the point
P.5,5 => duplicate cutoffs detected in 'P.5,5': 5 appears twice
iprec_at_recall.0.5,.50 => 'iprec_at_recall.0.5,.50': 0.5 appears twice
P_0 => whole number of at least 1
P_05 => did you mean P_5?
P.5x => expected a whole number of at least 1, found '5x'
P@0 => expected a whole number of at least 1
P@-3 => expected a whole number of at least 1
P@2.5 => expected a whole number of at least 1
P(rel=2) => P requires cutoff
AP(foo=1) => unknown option 'foo'; AP accepts cutoff, rel, judged_only, denominator
AP(rel=1,rel=2) => rel is given twice
AP(rel=high) => rel=high: expected a number
AP(rel=1e10) => rel=1e10: expected a number that fits into 32 bits
AP(2) => expected option=value, found '2'
AP(rel=2 => expected )
SetP@5 => SetP takes no cutoff
RBP(p=1.5) => expected a number from 0 to 1
RBP(p=nan) => expected a number from 0 to 1
AP(denominator='max') => expected 'relevant' or 'min_k' or 'relevant_retrieved'
Judged(denominator='k') => needs a cutoff
HitRatio(average='micro')@5 => average='micro' needs denominator='relevant_retrieved'
nDCG(dcg='exp-log2',gains={1:2}) => both set
RBP(gain='graded',rel=2) => rel and gain cannot be combined
nDCG(gains={1:2,1:3}) => grade 1 appears twice
hits@10 => the share of queries with one is Success@10
top_k_accuracy@10 => Success@10
ndcg_cut@10 => nDCG@10
mpa => unknown measure 'mpa'; did you mean map, AP or P_IA@10?
set_F@10 => 'set_F@10': SetF takes no cutoff
P.18446744073709551621 => expected a whole number of at least 1, found '18446744073709551621'
recip_rank.10 => recip_rank takes no parameters; for a cutoff use RR@10
recip_rank.5,10 => recip_rank takes no parameters; for cutoffs use RR@5 RR@10
nDCG.1,5,10 => found '1'; for cutoffs use ndcg_cut.1,5,10
official.5 => official takes no parameters
set_F.x => expected a number, found 'x'
iprec_at_recall.0.1,x => expected a number, found 'x'
utility.1,1,,0 => expected a number, found ''
ndcg.1=x => expected a number, found 'x'
ndcg.1=2=3 => expected grade=gain pairs such as 1=3, found '1=2=3'
ndcg.1x=3 => expected grade=gain pairs such as 1=3, found '1x=3'
ndcg.p=0.5 => expected grade=gain pairs such as 1=3, found 'p=0.5'
rbp.p=x => expected a number, found 'x'
ndcg_rel_p=0.5 => expected grade=gain pairs such as 1=3, found 'p=0.5'
set_F_1_0 => set_F
Rbp => expected RBP or rbp, which are different measures
rBP => expected RBP or rbp, which are different measures
rbp@10 => expected RBP@10 or rbp, which are different measures
rbp_10 => expected RBP@10 or rbp, which are different measures
rbp(p=0.5)@10 => expected RBP(p=0.5)@10 or rbp, which are different measures
RBP.p=0.5 => expected RBP or rbp.p=0.5, which are different measures
NUM_REL => expected NumRel or num_rel, which are different measures
numrel(rel=2) => expected NumRel(rel=2) or num_rel, which are different measures
'' => unknown measure ''
"""


@pytest.mark.parametrize(("text", "words"), rows(TYPOS))
def test_a_typo_is_told_with_what_may_be_meant(text, words):
    with pytest.raises(MeasureError) as caught:
        parse_measure(text.strip("'") if text == "''" else text)

    assert words in str(caught.value)


PRINTED = "nDCG@10 AP(rel=2)@100 SetF(beta=2) NumRet(rel=1) RR nDCG(gains={1:3})"
SPEC = parse_measure("AP@5")


def objects() -> list[Any]:
    """Measures of ir_measures."""
    ir = pytest.importorskip("ir_measures")
    found = [ir.nDCG @ 10, ir.AP(rel=2) @ 100, ir.SetF(beta=2.0), ir.NumRelRet, ir.RR]
    return [*found, ir.nDCG(gains={1: 3, 0: 0})]


def names(measures: Any) -> list[str]:
    return fr.evaluate(QRELS, RUN, measures).names


test_measures_are_named_as_asked_for = giving("""
# printed names of trec_eval add up, as pytrec_eval has it
names(["P_5", "P_1"]) => ["P_5", "P_1"]
# asking twice computes once
names(["AP@5", "AP @ 5", SPEC]) => ["AP@5"]
# one specification will do
names(SPEC) => ["AP@5"]
# blanks and commas separate measures
names("map, Rprec") => ["map", "Rprec"]
names("map,P.2") => ["map", "P_2"]
names("P.5,10") => ["P_5", "P_10"]
names("P.5, 10,map") => ["P_5", "P_10", "map"]
names("P.5,P.10") => ["P_5", "P_10"]
names("nDCG@5,10") => ["nDCG@5", "nDCG@10"]
names("AP(rel=1,judged_only=True)@1, RR") => ["AP(rel=1,judged_only=True)@1", "RR"]
names("utility.1,-1,0,.5,11pt_avg") => ["utility_1,-1,0,.5", "11pt_avg"]
names("ndcg.1=3,2=9,map") => ["ndcg_1=3,2=9", "map"]
names("nDCG(gains={1:2, 2:5}) @ 2 , map") => ["nDCG(gains={1:2,2:5})@2", "map"]
names(["map, Rprec", "P.1"]) => ["map", "Rprec", "P_1"]
# all cutoffs that were asked for are computed
names("P.5 P.10") => ["P_5", "P_10"]
names("P.10,5 P.5,10") => ["P_5", "P_10"]
names("P_5 P.10") => ["P_5", "P_10"]
names("P.5 P_10 P_5") => ["P_5", "P_10"]
# default cutoffs that were asked for are computed too
{"P_5", "P_7", "P_1000"} <= set(names("P P.7")) => True
{"P_5", "P_7", "P_1000"} <= set(names("P.7 P")) => True
{"P_5", "P_7", "P_1000"} <= set(names("P P_7")) => True
{"P_5", "P_7", "P_1000"} <= set(names("official P_7")) => True
# only a set leaves them to what is said besides: `official P.7` has P_7, as in trec_eval
"P_5" in names("official P.7") => False
# measure objects of ir_measures are understood
[str(parse_measure(one)) for one in objects()] => PRINTED.split()
set(fr.evaluate(QRELS, RUN, objects()).mean) => {str(one) for one in objects()}
# one measure under two names has both
fr.evaluate(QRELS, RUN, "MRR@10 RR@10").mean => {"MRR@10": 0.5, "RR@10": 0.5}
""")


def test_values_are_called_what_was_asked_for():
    scores = fr.evaluate(QRELS, RUN, "MRR@10 MAP Recall@100 AP( rel=2 ) @ 2 GMAP map_cut.2 p.2,1")

    names = ["MRR@10", "MAP", "Recall@100", "AP(rel=2)@2", "map_cut_2", "p_1", "p_2"]
    assert scores.names == names
    assert set(scores.mean) == {*names, "GMAP"}
    assert list(scores.to_dict()["q"]) == names
    assert list(scores.to_pandas(wide=True).columns) == ["query", *names]


@pytest.mark.parametrize(
    ("asked", "other"),
    [("MRR@10", "RR@10"), ("RR_10", "mrr@10"), ("MAP", "AP"), ("p.2", "P_2"), ("P_2", "P.2")],
)
def test_values_are_found_by_other_spellings_too(asked, other):
    scores = fr.evaluate(QRELS, RUN, asked)

    assert other not in scores.names
    assert scores[other].tolist() == scores[asked.replace(".", "_")].tolist()
    assert scores.mean[other] == scores.mean[asked.replace(".", "_")]


@pytest.mark.parametrize("name", ["RR@5", "nothing", "official"])
def test_what_was_not_asked_for_is_not_found(name):
    with pytest.raises(KeyError, match="the values per query: MRR@10"):
        fr.evaluate(QRELS, RUN, "MRR@10")[name]
    with pytest.raises(KeyError, match=name):
        fr.evaluate(QRELS, RUN, "MRR@10").mean[name]


@pytest.mark.parametrize("measures", ["", " , ", []])
def test_no_measure_at_all_is_an_error(measures):
    with pytest.raises(MeasureError, match="expected a measure, found none"):
        fr.evaluate(QRELS, RUN, measures)


@pytest.mark.parametrize(
    "measures", ["set_F_2 set_F_3", "set_F.2 set_F.3", "ndcg.1=2 ndcg_1=3", "ndcg ndcg.1=3"]
)
def test_different_parameters_that_cannot_be_had_together_are_refused(measures):
    with pytest.raises(MeasureError, match="only once"):
        fr.evaluate(QRELS, RUN, measures)


def test_a_specification_is_frozen_and_can_be_pickled():
    spec = parse_measure("nDCG(gains={1:3})@10")

    assert pickle.loads(pickle.dumps(spec)) == spec
    with pytest.raises(AttributeError, match="frozen"):
        spec.name = "AP"
    assert repr(spec) == "MeasureSpec('nDCG(gains={1:3})@10')"
    assert spec != "nDCG(gains={1:3})@10"
    assert {spec: 1}[parse_measure("NDCG(gains={1:3}) @ 10")] == 1


FILES = {"qrels": b"q 0 a 2\nq 0 b 0\nq 0 c 1\n", "run": b"q Q0 b 1 9 t\nq Q0 a 2 8 t\n"}


def test_the_trec_eval_command_takes_new_names(trec_eval):
    """After the measures that the original prints, as asked for."""
    arguments = "-q -m nDCG@10 -m RR_1 -m map -m NumRet qrels run"

    found = trec_eval(*arguments.split(), files=FILES)

    assert found.status == 0
    rows = [line.split() for line in found.stdout.decode().splitlines()]
    for query, own in zip(("q", "all"), (rows[:4], rows[4:]), strict=True):
        values = f"map {query} 0.2500 nDCG@10 {query} 0.4796 RR_1 {query} 0.0000 NumRet {query} 2"
        assert [word for row in own for word in row] == values.split()


@pytest.mark.parametrize("name", ["MAP", "MRR", "P_10", "ndcg_cut_10", "Precision@5"])
def test_the_trec_eval_command_refuses_what_the_original_refuses(name, trec_eval):
    """Names of other programs for what it has: exit status 1."""
    assert trec_eval("-m", name, "qrels", "run", files=FILES).status == 1


def test_new_measures_are_in_no_set_of_trec_eval():
    assert {name for family in FAMILIES for name in family.sets} == set()
