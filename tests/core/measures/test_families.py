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
from fastrank.core.data.texts import joined
from fastrank.core.measures.families import FAMILIES
from fastrank.core.measures.notation import parse_measure
from tests.helpers.parsing import write_trec_run
from tests.helpers.small import as_read
from tests.helpers.tables import giving, named, refusing

Nested = dict[str, dict[str, float]]
SEEDS = range(8)
VERSIONS = ("9.0.8", "10.0")
MISSING = ("skip", "zero")


def mean(qrels: Nested, run: Nested, measure: str, **options: Any) -> float:
    """The summary of one measure."""
    found = fr.evaluate(*as_read(qrels, run), [measure], **options).mean
    return found[str(parse_measure(measure))]


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


# Worked examples


def ranked(*grades: int | None, more: tuple[int, ...] = ()) -> tuple[Nested, Nested]:
    """One query whose ranking has these grades (None: unjudged), with `more` not retrieved."""
    judged = {f"d{i}": grade for i, grade in enumerate(grades) if grade is not None}
    judged |= {f"m{i}": grade for i, grade in enumerate(more)}
    return {"q": judged}, {"q": {f"d{i}": 100.0 - i for i in range(len(grades))}}


def of(measure: str, *grades: int | None, more: tuple[int, ...] = ()) -> float:
    return mean(*ranked(*grades, more=more), measure)


def tiny(measure: str) -> float:
    """Of q1 (judged, unjudged) and q2 (unjudged), where peers differ on the judged share."""
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}}
    return mean({"q1": {"a": 1}, "q2": {"d": 1}}, run, measure)


def summed(measure: str, version: str) -> float:
    """With a judged query that is missing from the run."""
    qrels, run = {"q1": {"a": 1}, "q2": {"b": 2, "c": 1}}, {"q1": {"a": 1.0}}
    return mean(qrels, run, measure, missing="zero", trec_eval_version=version)


def close(value: float) -> Any:
    return pytest.approx(value, rel=1e-15)


LOG = math.log2
BURGES = (1 / LOG(2) + 7 / LOG(4)) / (7 / LOG(2) + 1 / LOG(3))
FRACTIONS = "nDCG(gains={1:0.25,2:0.75,3:0.5})"
BY_FRACTIONS = (0.25 / LOG(2) + 0.75 / LOG(3) + 0.5 / LOG(4)) / (
    0.75 / LOG(2) + 0.5 / LOG(3) + 0.25 / LOG(4)
)
NEGATIVE = {"q": {"a": -0.5, "b": -2.5}}, {"q": {"a": 2.0, "b": 1.0}}
MICRO = "HitRatio(average=micro,denominator=relevant_retrieved)@1"

test_worked_examples = giving("""
# the highest grade of expected reciprocal rank is that of all judgments, or the one given
of("ERR", 1, more=(3,)) => 1 / 8
of("ERR", 1) => 1 / 2
# exponential gains of Burges: 2^g - 1 over log2(rank + 1), by the best ranking (grades 3, 1)
of("nDCG(dcg='exp-log2')@10", 1, 0, 3) => BURGES
of("nDCG(gains={1:1,3:7})", 1, 0, 3) => BURGES
# fractional gains are ordered as they are; ndcg.1=0.9,2=0.4 of trec_eval takes them for equal
of(FRACTIONS, 1, 2, 3) => BY_FRACTIONS
of(FRACTIONS, 2, 3, 1) => 1.0
# negative grades with fractions have no gain
set(fr.evaluate(*NEGATIVE, "ndcg nDCG@3 ERR G Compat INST").mean.values()) => {0.0}
# peers differ on the judged share
tiny("Judged(average=micro)@10") => close(1 / 3)
tiny("Unjudged(average=micro)") => close(2 / 3)
tiny("Unjudged") => close(0.75)
# counts are summed over all judged queries if asked
[summed("NumRel", version) for version in VERSIONS] => [3, 3]
[summed("NumRel(rel=2)", version) for version in VERSIONS] => [1, 1]
[summed("NumRet", version) for version in VERSIONS] => [1, 1]
""")

test_grades_and_gains_that_are_too_large_are_refused = refusing(r"""EvaluationError
# a grade is above the scale
of("ERR(max_grade=4)", 1, 5) => grade 5 of document d1 of query 'q' is above max_grade=4
of("ERR", 1, 2000) => max_grade=2000: expected at most 1023
# a gain is too large
of("nDCG(dcg='exp-log2')", 1, 2000) =>
  grade 2000 of document d1 of query 'q' is too large for the gain 2^grade - 1
# gains whose sum is infinite: divided by such a sum, the best ranking would have 0
of("nDCG(dcg='exp-log2')", 1023, 1023, 1023) =>
  grade 1023 of document d0 of query 'q' is too large for the gain 2^grade - 1
of("nDCG(gains={1023:1e308})", 1023, 1023, 1023) =>
  the gain 1e+308 is too large: the sum of gains would be infinite
# the range of the gains is too large
of("nDCG(gains={1:1e-300,2:1e300})", 1, 2) =>
  the range of the gains is too large to distinguish the closest of them
""")

# The same kernel as a measure of trec_eval, the same bits

SAME = """
map: AP
map_cut_7: AP@7
ndcg: nDCG
ndcg_cut_7: nDCG@7
ndcg.1=5,2=9: nDCG(gains={1:5,2:9})
P_7: P@7
recall_7: R@7 HitRatio@7
relative_P_7: RCap@7
success_7: Success@7
recip_rank: RR
bpref: Bpref
infAP: infAP
Rprec: Rprec
iprec_at_recall_0.10: IPrec@0.1
set_P: SetP
set_recall: SetR
set_map: SetAP
set_F_2: SetF(beta=2)
set_relative_P: SetP(relative=True)
num_ret: NumRet
num_rel: NumRel
num_rel_ret: NumRelRet
num_q: NumQ
unj_5: Unjudged(denominator=k)@5
rbp: RBP(gain=graded,p=0.9)
"""


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("version", VERSIONS)
def test_what_trec_eval_has_under_another_name_has_its_bits(level, missing, version):
    qrels, run = inputs(level)
    del run["q5"]
    options: Any = {"relevance_level": level, "missing": missing, "trec_eval_version": version}
    nouns = as_read(qrels, run)

    for own, trec in named(SAME):
        # The original's sums under -c: grades above 0 whatever the level, a placeholder document.
        summed = own in ("NumRel", "NumRet") or (own, version) == ("infAP", "10.0")
        if missing == "zero" and summed:
            continue
        name, trec_name = str(parse_measure(own)), str(parse_measure(trec))
        ours = fr.evaluate(*nouns, [name], **options)
        theirs = fr.evaluate(*nouns, [trec_name], **options)
        assert list(ours.mean.values()) == list(theirs.mean.values()), own
        if own != "NumQ":
            assert ours[name].tolist() == theirs[theirs.names[0]].tolist(), own


LEVELS = """
map: AP
P_5: P@5
recall_5: R@5
success_5: Success@5
recip_rank: RR
Rprec: Rprec
set_P: SetP
set_map: SetAP
iprec_at_recall_0.50: IPrec@0.5
num_rel_ret: NumRelRet
"""
BY_LEVEL = dict(named(LEVELS))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("judged_only", [False, True])
@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_level_and_judged_only_of_one_measure_are_those_of_pytrec_eval(level, judged_only, seed):
    qrels, run = inputs(seed)
    theirs: Any = {"relevance_level": level, "judged_docs_only_flag": judged_only}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(BY_LEVEL.values()), **theirs)
    expected = evaluator.evaluate(run)
    flag = ",judged_only=True" if judged_only else ""
    parts = {own: own.partition("@") for own in BY_LEVEL}
    names = {f"{name}(rel={level}{flag}){at}{k}": own for own, (name, at, k) in parts.items()}

    for other in (1, 2):
        scores = fr.evaluate(*as_read(qrels, run), list(names), relevance_level=other)
        for measure, own in names.items():
            # As texts, because both have NaN where -J leaves nothing of a ranking.
            wanted = [repr(float(expected[query][BY_LEVEL[own]])) for query in scores.queries]
            assert list(map(repr, scores[measure].tolist())) == wanted, measure


# Pooled over the queries


def ordered(own: dict[str, float]) -> list[str]:
    """Documents by score, then by id, both descending."""
    return sorted(own, key=lambda doc: (own[doc], doc), reverse=True)


def relevant_ranks(qrels: Nested, run: Nested) -> list[tuple[list[int], int, int, int]]:
    """Of every judged query: ranks of relevant documents, retrieved, relevant, not retrieved."""
    found = []
    for query, grades in qrels.items():
        docs = ordered(run.get(query, {}))
        relevant = {doc for doc, grade in grades.items() if grade >= 1}
        ranks = [i for i, doc in enumerate(docs, 1) if doc in relevant]
        found.append((ranks, len(docs), len(relevant), len(relevant - set(docs))))
    return found


DIVIDED: dict[str, Callable[[int, int, int], float]] = {
    "span": lambda i, n, r: (i - 1) / (n - 1) if n > 1 else 0.0,
    "retrieved": lambda i, n, r: i / n,
    "relevant": lambda i, n, r: i / r,
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("unretrieved", ["ignore", "worst"])
@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("version", VERSIONS)
def test_ranks_and_percentiles_are_pooled_as_defined(seed, unretrieved, missing, version):
    """A query missing from the run takes part if all are averaged over: nothing was retrieved."""
    qrels, run = inputs(seed)
    del run["q5"]
    judged = qrels if missing == "zero" else {query: qrels[query] for query in run}
    queries, worst = relevant_ranks(judged, run), unretrieved == "worst"

    def found(form: str) -> float:
        measure = form.replace(")", f"unretrieved={unretrieved})")
        return mean(qrels, run, measure, missing=missing, trec_eval_version=version)

    ranks = [min(own, default=math.inf) for own, _, r, _ in queries if own or (r and worst)]
    assert found("FirstRank()") == pytest.approx(sum(ranks) / len(ranks))
    assert found("MedianRank()") == statistics.median(ranks)
    for denominator, divide in DIVIDED.items():
        shares = [
            [divide(i, n, r) for i in own] + [1.0] * (left if worst else 0)
            for own, n, r, left in queries
        ]
        pairs = [value for own in shares for value in own]
        means = [sum(own) / len(own) for own in shares if own]
        form = f"PercentileRank(denominator={denominator},average=%s,)"
        assert found(form % "micro") == pytest.approx(sum(pairs) / len(pairs))
        assert found(form % "macro") == pytest.approx(sum(means) / len(means))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("missing", MISSING)
def test_hits_and_judged_documents_are_pooled_over_what_was_retrieved(missing, version):
    """A query missing from the run has none, whether or not all queries are averaged over."""
    qrels, run = inputs(1)
    del run["q5"]
    tops = {query: ordered(own)[:3] for query, own in run.items()}

    def count(lists: Any, least: int) -> int:
        return sum(qrels[query].get(doc, -1) >= least for query in run for doc in lists[query])

    def found(measure: str) -> float:
        return mean(qrels, run, measure, missing=missing, trec_eval_version=version)

    hits = found("HitRatio(average=micro,denominator=relevant_retrieved)@3")
    assert hits == count(tops, 1) / count(run, 1)
    assert found("Judged(average=micro)@3") == count(tops, 0) / sum(map(len, tops.values()))


def test_a_query_without_a_value_has_none():
    """NaN, and no part in the summary; if no query has one the summary is NaN too."""
    qrels = {"q1": {"a": 0}, "q2": {"b": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"x": 2.0, "b": 1.0}}
    names = ["PercentileRank", "FirstRank", "MedianRank", str(parse_measure(MICRO))]

    scores = fr.evaluate(*as_read(qrels, run), names)

    assert [scores[name][0] for name in names] == pytest.approx([math.nan] * 4, nan_ok=True)
    assert [scores.mean[name] for name in names] == [1.0, 2.0, 2.0, 0.0]
    for name in names:
        assert math.isnan(mean({"q1": {"a": 0}}, {"q1": {"a": 1.0}}, name))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_measure_can_be_computed_from_a_file(family, tmp_path):
    path = tmp_path / "run"
    judgments, in_memory = as_read(*inputs(2))
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
    if family.needs in ("strata", "subtopics") or "pieces" in family.options:
        own = [b"xy"[i % 2 : i % 2 + 1] for i in range(len(judgments.docs))]
        column = "strata" if family.needs == "strata" else "groups"
        judgments = judgments.changed(**{column: joined(b"".join(own), own)})
    if family.name == "HitRatio":
        texts = {"HitRatio@3", "HitRatio(average=micro,denominator=relevant_retrieved)@3"}

    streamed, held = (fr.evaluate(judgments, one, sorted(texts)) for one in (path, in_memory))

    for name, value in held.mean.items():
        assert streamed.mean[name] == pytest.approx(value, nan_ok=True)


def test_of_zscores_there_is_a_mean(trec_eval):
    """Ranks 1 and 2 are (1 - 0.5) / 0.25 and (2 - 0.5) / 0.25 from the reference."""
    files = {
        "qrels": b"q1 0 a 1\nq2 0 b 1\n",
        "run": b"q1 Q0 a 1 1 t\nq2 Q0 x 1 2 t\nq2 Q0 b 2 1 t\n",
        "zscores": b"q1 FirstRank 0.5 0.25\nq2 FirstRank 0.5 0.25\n",
    }

    found = trec_eval("-m", "FirstRank", "-Z", "zscores", "qrels", "run", files=files)

    assert found.stdout.decode().split() == ["ZFirstRank", "all", "4.0000"]
