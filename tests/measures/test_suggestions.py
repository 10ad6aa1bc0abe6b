"""What a misspelled measure is answered with."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.measures.custom import CUSTOM
from fastrank.measures.families import FAMILY_BY_NAME, MEASURES

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
        fr.parse_measure(text)
    except fr.MeasureError as error:
        found = re.search(r"; did you mean (.*)\?$", str(error))
        return re.split(r", | or ", found[1]) if found else []
    return []


def evaluates(name: str) -> bool:
    """Whether a measure can be computed; one for other judgments can be bound."""
    spec = fr.parse_measure(name)
    if spec.name in ("all_prefs", "prefs", "qrels_jg"):
        return True
    bound = None if spec.name in ("official", "set", "all_trec") else spec.bind("9.0.8")
    others = ("preferences", "groups", "strata", "subtopics")
    if bound is not None and bound.measure.needs in others:
        return True
    scores = fr.evaluate(QRELS, RUN, name)
    return bool(scores.mean) or bool(scores.names) or name == "runid"


@pytest.mark.parametrize("text", PEERS.split())
def test_every_suggestion_for_a_name_of_a_peer_is_a_measure(text: str) -> None:
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
def test_every_suggestion_for_a_misspelling_is_a_measure(text: str) -> None:
    assert all(map(evaluates, suggested(text)))


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("top_k_accuracy@10", "Success@10"),
        ("accuracy@1", "Success@1"),
        ("hits@10", "Success@10"),
        ("nDGC@10", "nDCG@10"),
        ("ndcg_burges@10", "nDCG(dcg='exp-log2')@10"),
        ("map_cut@5", "map_cut.5"),
        ("average_precison", "AP"),
        ("percntile_rank", "PercentileRank"),
        ("utility@3", "utility"),
    ],
)
def test_the_first_suggestion_is_what_is_meant(text: str, first: str) -> None:
    assert suggested(text)[0] == first


def test_a_measure_of_the_users_is_suggested_too() -> None:
    fr.measure(lambda ranking: 1.0, name="novelty_of_list")
    try:
        assert suggested("novelty_of_lst@3")[0] == "novelty_of_list@3"
    finally:
        del CUSTOM["novelty_of_list"]


def test_a_known_measure_with_a_wrong_parameter_is_not_replaced_by_another() -> None:
    assert suggested("11pt_avg@5") == ["11pt_avg"]
