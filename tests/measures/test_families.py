"""Measures beyond trec_eval: worked examples, slow obvious twins, pytrec_eval and ir_measures."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from typing import Any

import pytest
import pytrec_eval

import fastrank as fr
from fastrank.data.texts import joined
from fastrank.measures.families import FAMILIES
from tests.helpers.parsing import parse_qrels, parse_run, write_trec_run

Nested = dict[str, dict[str, float]]
SEEDS = range(8)


def read(qrels: Nested, run: Nested) -> tuple[fr.Qrels, fr.Run]:
    """The nouns for dicts, through text."""
    judgments = [f"{q} 0 {d} {grade}\n" for q, own in qrels.items() for d, grade in own.items()]
    results = [f"{q} Q0 {d} 0 {score!r} t\n" for q, own in run.items() for d, score in own.items()]
    return parse_qrels("".join(judgments).encode()), parse_run("".join(results).encode())


def mean(qrels: Nested, run: Nested, measure: str, **options: Any) -> float:
    """The summary of one measure."""
    return fr.evaluate(*read(qrels, run), [measure], **options).mean[str(fr.parse_measure(measure))]


def ranked(*grades: int | None, more: tuple[int, ...] = ()) -> tuple[Nested, Nested]:
    """One query whose ranking has these grades (None: unjudged), with `more` not retrieved."""
    judged = {f"d{i}": grade for i, grade in enumerate(grades) if grade is not None}
    judged |= {f"m{i}": grade for i, grade in enumerate(more)}
    return {"q": judged}, {"q": {f"d{i}": 100.0 - i for i in range(len(grades))}}


def inputs(seed: int) -> tuple[Nested, Nested]:
    """Several queries with ties, unjudged and negative documents, one without anything relevant."""
    rng = random.Random(seed)
    documents = [f"d{i:02}" for i in range(30)]
    qrels: Nested = {}
    run: Nested = {}
    for number in range(7):
        own = rng.sample(documents, rng.randrange(2, 20))
        grades = [0] if number == 3 else [-1, 0, 0, 1, 2, 3]
        qrels[f"q{number}"] = {doc: rng.choice(grades) for doc in own} | {own[0]: 0}
        retrieved = rng.sample(documents, rng.randrange(1, 30))
        run[f"q{number}"] = {doc: float(rng.randrange(12)) for doc in retrieved}
    return qrels, run


# --- worked examples ---


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("AP", (1 / 1 + 2 / 3) / 2),
        ("AP@1", 1 / 2),
        ("AP(denominator=min_k)@1", 1.0),
        ("AP(denominator=relevant_retrieved)@1", 1.0),
        ("P@5", 2 / 5),
        ("P(denominator=retrieved)@5", 2 / 3),
        ("P(denominator=retrieved)@2", 1 / 2),
        ("R@1", 1 / 2),
        ("RCap@1", 1.0),
        ("HitRatio@1", 1 / 2),
        ("HitRatio(average=micro,denominator=relevant_retrieved)@1", 1 / 2),
        ("Success@1", 1.0),
        ("RBP(p=0.5)", 0.5 * (1 + 0.25)),
        ("RBP(p=0.5)@2", 0.5),
        ("PercentileRank", (0 / 2 + 2 / 2) / 2),
        ("PercentileRank(denominator=retrieved)", (1 / 3 + 3 / 3) / 2),
        ("PercentileRank(denominator=relevant)", (1 / 2 + 3 / 2) / 2),
        ("FirstRank", 1.0),
        ("MedianRank", 1.0),
    ],
)
def test_relevant_not_relevant(measure: str, value: float) -> None:
    """The ranking (relevant, not, relevant) with R = 2."""
    assert mean(*ranked(1, 0, 1), measure) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(("measure", "value"), [("RR@3", 0.0), ("RR@10", 0.25), ("RR_4", 0.25)])
def test_reciprocal_rank_is_cut(measure: str, value: float) -> None:
    """The first hit at rank 4."""
    assert mean(*ranked(0, 0, None, 1), measure) == value


def test_expected_reciprocal_rank_of_its_paper() -> None:
    """Chapelle et al. 2009: a reader stops at grade g of 4 with probability (2^g - 1) / 16."""
    first, second, third = 15 / 16, 3 / 16, 1 / 16
    expected = first + (1 - first) * second / 2 + (1 - first) * (1 - second) * third / 3

    assert mean(*ranked(4, 2, 1, 0), "ERR@3") == pytest.approx(expected, rel=1e-15)
    assert mean(*ranked(4, 2, 1, 0), "ERR@2") == pytest.approx(
        first + (1 - first) * second / 2, rel=1e-15
    )
    # The highest grade is that of all judgments, or the one given.
    assert mean(*ranked(1, more=(3,)), "ERR") == 1 / 8
    assert mean(*ranked(1), "ERR(max_grade=4)") == 1 / 16
    assert mean(*ranked(1), "ERR") == 1 / 2


def test_a_grade_above_the_scale_is_refused() -> None:
    with pytest.raises(
        fr.EvaluationError, match=r"5 of document d1 of query 'q' is above max_grade=4"
    ):
        mean(*ranked(1, 5), "ERR(max_grade=4)")
    with pytest.raises(fr.EvaluationError, match="max_grade=2000: expected at most 1023"):
        mean(*ranked(1, 2000), "ERR")


def test_exponential_gains_of_burges() -> None:
    """2^g - 1 over log2(rank + 1), by the best ranking (grades 3, 1)."""
    found = 1 / math.log2(2) + 7 / math.log2(4)
    best = 7 / math.log2(2) + 1 / math.log2(3)

    assert mean(*ranked(1, 0, 3), "nDCG(dcg='exp-log2')@10") == found / best
    assert mean(*ranked(1, 0, 3), "nDCG(gains={1:1,3:7})") == found / best
    with pytest.raises(fr.EvaluationError, match=r"2000 of document d1 of .* the gain 2\^grade"):
        mean(*ranked(1, 2000), "nDCG(dcg='exp-log2')")


@pytest.mark.parametrize("measure", ["nDCG(dcg='exp-log2')", "nDCG(gains={1023:1e308})"])
def test_gains_whose_sum_is_infinite_are_refused(measure: str) -> None:
    """Divided by such a sum, the best ranking would have 0."""
    with pytest.raises(fr.EvaluationError, match="too large"):
        mean(*ranked(1023, 1023, 1023), measure)


@pytest.mark.parametrize("measure", ["ndcg", "nDCG@3", "ERR", "G", "Compat", "INST"])
def test_negative_grades_with_fractions_have_no_gain(measure: str) -> None:
    scores = fr.evaluate({"q": {"a": -0.5, "b": -2.5}}, {"q": {"a": 2.0, "b": 1.0}}, measure)

    assert list(scores.mean.values()) == [0.0]


def test_fractional_gains_are_ordered_as_they_are() -> None:
    """ndcg.1=0.9,2=0.4 of trec_eval takes gains less than 1 apart for equal."""
    gains = "{1:0.25,2:0.75,3:0.5}"
    best = 0.75 / math.log2(2) + 0.5 / math.log2(3) + 0.25 / math.log2(4)
    found = 0.25 / math.log2(2) + 0.75 / math.log2(3) + 0.5 / math.log2(4)

    assert mean(*ranked(1, 2, 3), f"nDCG(gains={gains})") == found / best
    assert mean(*ranked(2, 3, 1), f"nDCG(gains={gains})") == 1.0
    with pytest.raises(fr.EvaluationError, match="the range of the gains is too large"):
        mean(*ranked(1, 2), "nDCG(gains={1:1e-300,2:1e300})")


TINY = (
    {"q1": {"a": 1}, "q2": {"d": 1}},
    {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}},
)


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("Judged@10", 0.25),
        ("Judged(average=micro)@10", 1 / 3),
        ("Unjudged(denominator=k)@10", 0.1),
        ("Judged(denominator=k)@10", 0.05),
        ("Unjudged(average=micro)", 2 / 3),
        ("Unjudged", 0.75),
    ],
)
def test_peers_differ_on_the_judged_share(measure: str, value: float) -> None:
    """ir_measures, Pyserini and trec_eval on q1 (judged, unjudged) and q2 (unjudged)."""
    assert mean(*TINY, measure) == pytest.approx(value, rel=1e-15)


# --- the same kernel as a measure of trec_eval, the same bits ---

SAME = {
    "AP": "map", "AP@7": "map_cut_7", "nDCG": "ndcg", "nDCG@7": "ndcg_cut_7", "P@7": "P_7",
    "R@7": "recall_7", "RCap@7": "relative_P_7", "Success@7": "success_7", "RR": "recip_rank",
    "Bpref": "bpref", "infAP": "infAP", "Rprec": "Rprec", "IPrec@0.1": "iprec_at_recall_0.10",
    "SetP": "set_P", "SetR": "set_recall", "SetAP": "set_map", "SetF(beta=2)": "set_F_2",
    "SetP(relative=True)": "set_relative_P", "NumRet": "num_ret", "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret", "HitRatio@7": "recall_7", "NumQ": "num_q",
    "nDCG(gains={1:5,2:9})": "ndcg.1=5,2=9", "Unjudged(denominator=k)@5": "unj_5",
    "RBP(gain=graded,p=0.9)": "rbp",
}  # fmt: skip


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("trec_eval_version", ["9.0.8", "10.0"])
def test_what_trec_eval_has_under_another_name_has_its_bits(
    level: int, complete: bool, trec_eval_version: str
) -> None:
    qrels, run = inputs(level)
    del run["q5"]
    options = {
        "relevance_level": level,
        "missing": "zero" if complete else "skip",
        "trec_eval_version": trec_eval_version,
    }
    nouns = read(qrels, run)

    for own, trec in SAME.items():
        # The original's sums under -c: grades above 0 whatever the level, a placeholder document.
        if complete and (
            own in ("NumRel", "NumRet") or (own, trec_eval_version) == ("infAP", "10.0")
        ):
            continue
        name, trec_name = str(fr.parse_measure(own)), str(fr.parse_measure(trec))
        ours = fr.evaluate(*nouns, [name], **options)
        theirs = fr.evaluate(*nouns, [trec_name], **options)
        assert list(ours.mean.values()) == list(theirs.mean.values()), own
        if own != "NumQ":
            assert ours[name].tolist() == theirs[theirs.names[0]].tolist(), own


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_level_and_judged_only_of_one_measure_are_those_of_pytrec_eval(
    level: int, judged_only: bool, seed: int
) -> None:
    """Whatever the level of the evaluation."""
    qrels, run = inputs(seed)
    pairs = {
        "AP": "map", "P@5": "P_5", "R@5": "recall_5", "Success@5": "success_5", "RR": "recip_rank",
        "Rprec": "Rprec", "SetP": "set_P", "SetAP": "set_map", "IPrec@0.5": "iprec_at_recall_0.50",
        "NumRelRet": "num_rel_ret",
    }  # fmt: skip
    expected = pytrec_eval.RelevanceEvaluator(
        qrels, set(pairs.values()), relevance_level=level, judged_docs_only_flag=judged_only
    ).evaluate(run)
    flag = ",judged_only=True" if judged_only else ""

    for own, trec in pairs.items():
        name, at, value = own.partition("@")
        measure = f"{name}(rel={level}{flag}){at}{value}"
        for other in (1, 2):
            scores = fr.evaluate(*read(qrels, run), [measure], relevance_level=other)
            # As texts, because both have NaN where -J leaves nothing of a ranking.
            theirs = [repr(float(expected[query][trec])) for query in scores.queries]
            assert list(map(repr, scores[measure].tolist())) == theirs, measure


@pytest.mark.parametrize("seed", SEEDS)
def test_ir_measures_agrees(seed: int) -> None:
    """On what its providers here can compute; RR@k is the official MS MARCO evaluation."""
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = inputs(seed)
    # MS MARCO's code and Judged break ties by ascending id: ours have none.
    run = {q: {d: s + i / 64 for i, (d, s) in enumerate(own.items())} for q, own in run.items()}
    texts = [
        "AP(rel=2)@5", "RR@3", "RR(rel=2)@10", "nDCG@5", "nDCG(gains={1:4,2:0})@5", "Judged@5",
        "P(rel=2)@5", "R(rel=3)@4", "nDCG(judged_only=True)@3", "SetF(beta=2.0,rel=2)",
        "Bpref(rel=2)", "NumRet(rel=2)", "Success(rel=3)@2",
    ]  # fmt: skip
    # One by one: with several, it may compute one nDCG with the gains of another.
    found = {
        (str(metric.measure), metric.query_id): metric.value
        for text in texts
        for metric in ir_measures.iter_calc([ir_measures.parse_measure(text)], qrels, run)
    }

    for text in texts:
        scores = fr.evaluate(*read(qrels, run), [text])
        name = str(fr.parse_measure(text))
        theirs = str(ir_measures.parse_measure(text))
        for query, value in zip(scores.queries, scores[name], strict=True):
            assert value == pytest.approx(found[theirs, query], rel=1e-12), (text, query)


# --- slow obvious twins ---


def ordered(own: dict[str, float]) -> list[str]:
    """Documents by score, then by id, both descending."""
    return sorted(own, key=lambda doc: (own[doc], doc), reverse=True)


def sentence_transformers_ap(docs: list[str], relevant: set[str], k: int) -> float:
    """MAP@k of its InformationRetrievalEvaluator, line by line."""
    num_correct = 0
    sum_precisions = 0.0
    for rank, doc in enumerate(docs[:k]):
        if doc in relevant:
            num_correct += 1
            sum_precisions += num_correct / (rank + 1)
    return sum_precisions / min(k, len(relevant)) if relevant else 0.0


def flag_embedding_recall_cap(docs: list[str], relevant: set[str], k: int) -> float:
    """R_cap@k: hits over min(k, R)."""
    denominator = min(len(relevant), k)
    return sum(doc in relevant for doc in docs[:k]) / denominator if relevant else 0.0


def retrieved_ap(docs: list[str], relevant: set[str], k: int) -> float:
    """The mean of the precisions at the relevant ranks."""
    ranks = [i for i, doc in enumerate(docs[:k], 1) if doc in relevant]
    return sum(n / rank for n, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0


def rank_biased(docs: list[str], relevant: set[str], k: int) -> float:
    return 0.2 * sum(0.8**i for i, doc in enumerate(docs[:k]) if doc in relevant)


def reciprocal(docs: list[str], relevant: set[str], k: int) -> float:
    return next((1 / i for i, doc in enumerate(docs[:k], 1) if doc in relevant), 0.0)


TWINS: dict[str, Callable[[list[str], set[str], int], float]] = {
    "AP(denominator='min_k')@{k}": sentence_transformers_ap,
    "AP(denominator='relevant_retrieved')@{k}": retrieved_ap,
    "RCap@{k}": flag_embedding_recall_cap,
    "RBP@{k}": rank_biased,
    "RR@{k}": reciprocal,
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("form", TWINS)
def test_values_are_those_of_the_obvious_twin(form: str, seed: int) -> None:
    qrels, run = inputs(seed)

    for k in (1, 3, 10, 100):
        name = form.format(k=k)
        scores = fr.evaluate(*read(qrels, run), [name])
        for query, value in zip(scores.queries, scores[name], strict=True):
            relevant = {doc for doc, grade in qrels[query].items() if grade >= 1}
            expected = TWINS[form](ordered(run[query]), relevant, k)
            assert value == pytest.approx(expected, rel=1e-12), (name, query)


def first_ranks(qrels: Nested, run: Nested, missing: str) -> list[float]:
    """Of every judged query that has one; with "worst" infinite where it was not retrieved."""
    found = []
    for query, grades in qrels.items():
        docs = ordered(run.get(query, {}))
        relevant = {doc for doc, grade in grades.items() if grade >= 1}
        ranks = [i for i, doc in enumerate(docs, 1) if doc in relevant]
        if ranks or (relevant and missing == "worst"):
            found.append(min(ranks, default=math.inf))
    return found


def percentiles(qrels: Nested, run: Nested, denominator: str, missing: str) -> list[list[float]]:
    """The percentiles of the relevant documents of every query."""
    found = []
    for query, grades in qrels.items():
        docs = ordered(run.get(query, {}))
        relevant = {doc for doc, grade in grades.items() if grade >= 1}
        divide = {
            "span": lambda i, n, r: (i - 1) / (n - 1) if n > 1 else 0.0,
            "retrieved": lambda i, n, r: i / n,
            "relevant": lambda i, n, r: i / r,
        }[denominator]
        ranks = [i for i, doc in enumerate(docs, 1) if doc in relevant]
        own = [divide(i, len(docs), len(relevant)) for i in ranks]
        own += [1.0] * (len(relevant - set(docs)) if missing == "worst" else 0)
        found.append(own)
    return found


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("missing", ["ignore", "worst"])
@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("trec_eval_version", ["9.0.8", "10.0"])
def test_ranks_and_percentiles_are_pooled_as_defined(
    seed: int, missing: str, complete: bool, trec_eval_version: str
) -> None:
    """A query missing from the run takes part if all are averaged over: nothing was retrieved."""
    qrels, run = inputs(seed)
    del run["q5"]
    options = {"missing": "zero" if complete else "skip", "trec_eval_version": trec_eval_version}
    judged = qrels if complete else {query: qrels[query] for query in run}

    ranks = first_ranks(judged, run, missing)
    assert mean(qrels, run, f"FirstRank(unretrieved={missing})", **options) == pytest.approx(
        sum(ranks) / len(ranks)
    )
    assert mean(qrels, run, f"MedianRank(unretrieved={missing})", **options) == statistics.median(
        ranks
    )
    for denominator in ("span", "retrieved", "relevant"):
        found = percentiles(judged, run, denominator, missing)
        pairs = [value for own in found for value in own]
        form = f"PercentileRank(denominator={denominator},unretrieved={missing},average=%s)"
        assert mean(qrels, run, form % "micro", **options) == pytest.approx(sum(pairs) / len(pairs))
        means = [sum(own) / len(own) for own in found if own]
        assert mean(qrels, run, form % "macro", **options) == pytest.approx(sum(means) / len(means))


@pytest.mark.parametrize("trec_eval_version", ["9.0.8", "10.0"])
def test_hits_and_judged_documents_are_pooled_over_what_was_retrieved(
    trec_eval_version: str,
) -> None:
    """A query missing from the run has none, whether or not all queries are averaged over."""
    qrels, run = inputs(1)
    del run["q5"]
    tops = {query: ordered(own)[:3] for query, own in run.items()}
    hits = [doc for query, top in tops.items() for doc in top if qrels[query].get(doc, 0) >= 1]
    anywhere = [doc for query in run for doc in run[query] if qrels[query].get(doc, 0) >= 1]
    judged = [doc for query, top in tops.items() for doc in top if qrels[query].get(doc, -1) >= 0]
    options = [
        {"trec_eval_version": trec_eval_version, "missing": "zero" if complete else "skip"}
        for complete in (False, True)
    ]

    for own in options:
        assert mean(
            qrels, run, "HitRatio(average=micro,denominator=relevant_retrieved)@3", **own
        ) == len(hits) / len(anywhere)
        assert mean(qrels, run, "Judged(average=micro)@3", **own) == len(judged) / sum(
            map(len, tops.values())
        )


def test_a_query_without_a_value_has_none() -> None:
    """NaN, and no part in the summary; if no query has one the summary is NaN too."""
    qrels = {"q1": {"a": 0}, "q2": {"b": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"x": 2.0, "b": 1.0}}
    names = [
        "PercentileRank",
        "FirstRank",
        "MedianRank",
        "HitRatio(average='micro',denominator='relevant_retrieved')@1",
    ]

    scores = fr.evaluate(*read(qrels, run), names)

    assert [scores[name][0] for name in names] == pytest.approx([math.nan] * 4, nan_ok=True)
    assert [scores.mean[name] for name in names] == [1.0, 2.0, 2.0, 0.0]
    for name in names:
        assert math.isnan(mean({"q1": {"a": 0}}, {"q1": {"a": 1.0}}, name))


def test_counts_are_summed_over_all_judged_queries_if_asked() -> None:
    qrels, run = {"q1": {"a": 1}, "q2": {"b": 2, "c": 1}}, {"q1": {"a": 1.0}}

    for trec_eval_version in ("9.0.8", "10.0"):
        options = {"missing": "zero", "trec_eval_version": trec_eval_version}
        assert mean(qrels, run, "NumRel", **options) == 3
        assert mean(qrels, run, "NumRel(rel=2)", **options) == 1
        assert mean(qrels, run, "NumRet", **options) == 1


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_measure_can_be_computed_from_a_file(family: Any, tmp_path: Any) -> None:
    """By default and with each choice of its options; as from a run in memory."""
    qrels, run = inputs(2)
    path = tmp_path / "run"
    judgments, in_memory = read(qrels, run)
    write_trec_run(in_memory, path)
    given = [f"{option.name}=3" for option in family.options.values() if option.needed]
    given = [text.replace("recall=3", "recall=0.3") for text in given]
    texts = {
        f"{family.name}({','.join({*given, f'{option.name}={choice}'})})"
        for option in family.options.values()
        for choice in (option.choices or (("True", "False") if option.kind == "flag" else ()))
        if choice != "k" or option.name != "denominator"
    } | {f"{family.name}({','.join(given)})"}
    if family.name == "nDCG":
        texts = {f"{text}@3" for text in texts}
    if family.needs in ("strata", "subtopics"):
        own = [b"xy"[i % 2 : i % 2 + 1] for i in range(len(judgments.docs))]
        column = {"strata": "strata", "subtopics": "groups"}[family.needs]
        judgments = judgments.changed(**{column: joined(b"".join(own), own)})
    if family.name == "HitRatio":
        texts = {"HitRatio@3", "HitRatio(average=micro,denominator=relevant_retrieved)@3"}

    streamed, held = (fr.evaluate(judgments, one, sorted(texts)) for one in (path, in_memory))

    for name, value in held.mean.items():
        assert streamed.mean[name] == pytest.approx(value, nan_ok=True)


def test_of_zscores_there_is_a_mean(trec_eval: Any) -> None:
    """Ranks 1 and 2 are (1 - 0.5) / 0.25 and (2 - 0.5) / 0.25 from the reference."""
    files = {
        "qrels": b"q1 0 a 1\nq2 0 b 1\n",
        "run": b"q1 Q0 a 1 1 t\nq2 Q0 x 1 2 t\nq2 Q0 b 2 1 t\n",
        "zscores": b"q1 FirstRank 0.5 0.25\nq2 FirstRank 0.5 0.25\n",
    }

    found = trec_eval("-m", "FirstRank", "-Z", "zscores", "qrels", "run", files=files)

    assert found.stdout.decode().split() == ["ZFirstRank", "all", "4.0000"]
