"""What a misspelled measure is answered with."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.core.measures.custom import CUSTOM
from fastrank.core.measures.families import FAMILY_BY_NAME, MEASURES
from fastrank.core.measures.notation import parse_measure
from fastrank.core.measures.suggestions import METRICS, SYNONYMS
from fastrank.core.measures.trec import BY_NAME
from fastrank.errors import MeasureError
from tests.helpers.paths import REPOSITORY
from tests.helpers.tables import named

QRELS = {"q": {"d1": 2, "d2": 0, "d3": 1}}
RUN = {"q": {"d1": 0.5, "d2": 0.75, "d4": 0.25}}
# What measures are called in ranx, ir_measures, MTEB, torchmetrics, BEIR, TF-Ranking, CatBoost,
# LightGBM, scikit-learn and trec_eval's own measures with something appended.
PEERS = """
hit_rate@10 hole@10 dcg@10 dcg_cut.10 P_IA HR@10 rbp@10 precision_at_10 mrr_at_10 top_k_accuracy@10
f1@10 R_10 r-precision recall_cap@10 hits@10 ndcg_burges@10 dcg_burges@10 rbp.80 rbp.95 map-l2 hits
alpha_nDCG@10 ERR_IA@20 NRBP nNRBP StRecall@10 AP_IA BPM INST INSQ SDCG@10 NERR8@10 Compat@10
nauc_at_10 hit_rate_at_10 accuracy_at_10 recall_at_10 map_at_10 RetrievalMAP RetrievalMRR
RetrievalFallOut RetrievalAUROC NormalizedDCG ndcg_score dcg_score label_ranking_average_precision
coverage_error PrecisionAt:top=10 RecallAt PFound QuerySoftMax pre@10 ndcg@10- map@10- ARP OPA PWA
mpr medr mapk map_k ndcg@k MAP@all Recall@ P@ set_F@10 utility@3 11pt_avg@5 ndcg.10 map.10 iprec
interpolated_precision average_precison recipRank Succes@5 Acuracy@1 nDGC@10 percntile_rank
median_rnk Jdged@10 unjudgd@5 ndcg_cuts.10 P.5x 10 @10 p-value _ . ( ) [] @ () map( AP(@5
"""
NAMES = sorted({measure.name for measure in MEASURES} | set(FAMILY_BY_NAME))


def suggested(text: str) -> list[str]:
    """The names suggested for one that is none; none if it is a measure."""
    try:
        parse_measure(text)
    except MeasureError as error:
        found = re.search(r"; did you mean (.*)\?$", str(error))
        return re.split(r", | or ", found[1]) if found else []
    return []


@pytest.mark.parametrize("name", ["F(beta=2)@2", "f2@2", "F_beta(beta=2.0)@2"])
def test_f_with_a_beta_is_answered_with_what_computes_it(name):
    """5 P R / (4 P + R) with precision 1/2 and recall 1/3 of the first two."""
    with pytest.raises(MeasureError) as caught:
        fr.evaluate(QRELS, RUN, name)
    measure, depth = re.findall(r"; .* with beta 2 use (\S+) with depth=(\d)$", str(caught.value))[
        0
    ]

    qrels = {"q": {"d1": 1, "d3": 1, "d5": 1}}
    value = fr.evaluate(qrels, RUN, measure, depth=int(depth)).mean[measure]
    assert value == pytest.approx(5 * (1 / 2) * (1 / 3) / (4 * (1 / 2) + 1 / 3))


def evaluates(name: str) -> bool:
    """Whether a measure can be computed; one for other judgments can be bound."""
    spec = parse_measure(name)
    if spec.name in ("all_prefs", "prefs", "qrels_jg"):
        return True
    bound = None if spec.name in ("official", "set", "all_trec") else spec.bind("9.0.8")
    others = ("preferences", "groups", "strata", "subtopics")
    if bound is not None and bound.measure.needs in others:
        return True
    scores = fr.evaluate(QRELS, RUN, name)
    return bool(scores.mean) or bool(scores.names) or name == "runid"


@pytest.mark.parametrize("text", PEERS.split())
def test_every_suggestion_for_a_name_of_a_peer_is_a_measure(text):
    assert all(map(evaluates, suggested(text)))


@st.composite
def _misspelled(draw: st.DrawFn) -> str:
    """A measure's name with letters changed, and perhaps a cutoff after it."""
    letters = list(draw(st.sampled_from(NAMES)))
    for _ in range(draw(st.integers(1, 2))):
        place = draw(st.integers(0, len(letters) - 1))
        letters[place : place + draw(st.integers(0, 1))] = draw(st.sampled_from("aRx_1"))
    end = st.sampled_from(["", "@10", ".10", "_10", "@k", "(rel=2)", "(rel=2)@5"])
    return "".join(letters) + draw(end)


@given(_misspelled())
def test_every_suggestion_for_a_misspelling_is_a_measure(text):
    assert all(map(evaluates, suggested(text)))


SUGGESTED = """
P_5: P_05
P@5: prec@5 Prec@5 pre@5 precison@5 PrecisionAt:top=5
P@10: precision
P: prec getPrecision
R@10: rec@10 RecallAt:top=10
Success@10: top_10_accuracy acc@10 accuracy@10 s@10 S@10 hit
Success@1: top1_accuracy acc@1 Accuracy@1 Acuracy@1 accuracy@1 answer_recall@1
nDCG@10: nDGC@10 cosine_ndcg@10 NDCG:top=10
nDCG: ndcg_score retrieval_normalized_dcg
nDCG(dcg='exp-log2')@10: ndcg_burges@10 ndcg_exp@10
nDCG(gains={1:0})@5: ndcg@5-l2
nDCG(gains={1:0,2:0})@10: ndcg@10-l3
nDCG(gains={1:0,2:3,3:7,4:15})@10: ndcg_burges@10-l2
DCG(dcg='exp-log2')@10: dcg_burges@10
ndcg_cut.10: ndcg_cut@10
ndcg_cut_5: ndcg_cut_05
ndcg: ndgc
map_cut.5: map_cut@5 map.5
map: mpa
recall.5: recal@5
recip_rank: recip_rankk
bpref: bpreff
ERR@5: err.5
AP: average_precision_score apk mapk meanAP avep avg_precision retrieval_map getMAP average_precison
AP: label_ranking_average_precision_score
AP@100: cosine_map@100
AP(rel=2)@100: map@100-l2
AP(rel=2): map-l2
RR@10: recip_rank_cut_10
RR: RetrievalMRR retrieval_reciprocal_rank label_ranking_mrr
RR(rel=2)@10: mrr@10-l2
P(rel=2)@5: precision@5-l2
Success(rel=2)@5: hit_rate@5-l2
SetP(rel=2): precision-l2
SetR(rel=2): recall-l2
SetR: tpr sensitivity recall_score
SetP: precision_score
F1(rel=2): f1-l2
F1: f_score fscore f_measure F-Measure
SetF: fbeta_score
Rprec(rel=2): r-precision-l2 r_precision-l2
Rprec: retrieval_r_precision
Bpref(rel=2): bpref-l2
RBP(p=0.95): rbp.95 RBP.95
RBP(p=0.80): rbp.80
RBP(p=0.5): rbp.5
RBP(rel=2,p=0.80): rbp.80-l2
RBP: rank_biased_precision Rbp
RBP@10: rbp@10
DCG: dcg_score
ideal_dcg: idcg
alpha_nDCG@20: andcg@20
StRecall@10: s-recall@10
MedianRank: MedR medr
FirstRank: MnR meanr mean_rank
PercentileRank: mpr mean_percentile_rank percntile_rank
num_rel_ret: num_hits
num_rel: num_relevant
fastrank.tasks.matthews: mcc
fastrank.tasks.spearman: spearman spearmanr
fastrank.tasks.pearson: pearson
fastrank.tasks.f1: macro_f1
utility: utility@3
11pt_avg: 11pt_avg@5
"""
AUC = "auc AUC roc_auc ROC-AUC auroc AUROC roc_auc_score retrieval_auroc RetrievalAUROC QueryAUC"


@pytest.mark.parametrize(("name", "measure"), named(SUGGESTED))
def test_a_name_of_another_library_is_told_the_right_measure_first(name, measure):
    with pytest.raises(MeasureError) as caught:
        parse_measure(name)

    remedy = re.search(
        r"(?:did you mean|for example|use|: expected) (?!p=)(\S+?)[?,]?(?= |$)", str(caught.value)
    )
    assert remedy is not None
    assert remedy[1] == measure
    assert measure.startswith("fastrank.") or evaluates(measure)


@pytest.mark.parametrize("name", AUC.split())
def test_names_of_the_area_under_the_curve_mean_it(name):
    assert suggested(name)[:1] in (["AUC"], []), "[] if it is understood"


def test_only_existing_measures_are_synonyms():
    for meant in SYNONYMS.values():
        for measure in meant:
            name = measure.partition("(")[0]
            assert name in FAMILY_BY_NAME or name in BY_NAME


def test_every_metric_of_labels_is_told():
    api = (REPOSITORY / "docs" / "api" / "metrics.md").read_text("utf-8")
    functions = set(re.findall(r"^::: fastrank\.tasks\.([a-z]\w*)$", api, re.MULTILINE))

    assert functions == set(METRICS.values())


def test_a_measure_of_the_users_is_suggested_too():
    fr.measure(lambda ranking: 1.0, name="novelty_of_list")
    try:
        assert suggested("novelty_of_lst@3")[0] == "novelty_of_list@3"
    finally:
        del CUSTOM["novelty_of_list"]


@pytest.mark.parametrize(
    "name", ["miss_rate", "missrate@5", "failure@10", "irrelevant@5", "nonrel"]
)
def test_names_that_mean_the_reverse_are_not_suggested(name):
    with pytest.raises(MeasureError, match=r"lists all$"):
        fr.evaluate(QRELS, RUN, name)


def test_hits_are_a_number_of_documents_in_ranx():
    with pytest.raises(
        MeasureError, match=r"in ranx, P@5 times 5 .* queries with one is Success@5$"
    ):
        fr.evaluate(QRELS, RUN, "hits@5")
