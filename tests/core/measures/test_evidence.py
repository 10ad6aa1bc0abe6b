"""Whether all evidence is found, as an obvious function has it, and what RBP leaves open."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pytest

import fastrank as fr
from tests.helpers.tables import giving, refusing

DOCS = "abcdefgh"
NAMES = (
    "FullRecall({p})@{k} FullRecall({p}) Evidence(n=2,{p})@{k} LastRank({p})"
    " LastRank(unretrieved='worst',{p})"
)


def obvious(pieces: dict[str, set[str]], ranking: list[str], k: int) -> list[float]:
    """The values of NAMES. pieces: the documents that carry each piece of evidence."""
    ranks = {doc: rank for rank, doc in enumerate(ranking, 1)}
    first = [min((ranks.get(doc, math.inf) for doc in docs), default=0) for docs in pieces.values()]
    last = max(first, default=math.nan)
    return [
        float(bool(first) and last <= k),
        float(bool(first) and last < math.inf),
        float(sum(rank <= k for rank in first) >= 2),
        math.nan if last == math.inf else last,
        last,
    ]


@pytest.mark.parametrize("seed", range(20))
def test_evidence_is_found_as_an_obvious_function_finds_it(seed):
    rng = random.Random(seed)
    rows = [(topic, doc, rng.randrange(2)) for topic in "xyz" for doc in rng.sample(DOCS, 3)]
    ranking = rng.sample(DOCS, rng.randrange(1, 9))
    run = {"q": {doc: -float(rank) for rank, doc in enumerate(ranking)}}
    topics, docs, grades = (list(column) for column in zip(*rows, strict=True))
    judgments = fr.Qrels.from_arrays(["q"] * 9, docs, grades, subtopics=topics)
    carried = {
        name: {doc for topic, doc, grade in rows if topic == name and grade} for name in "xyz"
    }
    plain = {doc: max(grade for _, own, grade in rows if own == doc) for doc in docs}
    single = {doc: {doc} for doc, grade in plain.items() if grade}

    for k in (1, 3, 9):
        for pieces, qrels, own in (
            ("subtopics", judgments, {name: docs for name, docs in carried.items() if docs}),
            ("documents", {"q": plain}, single),
        ):
            found = fr.evaluate(qrels, run, NAMES.format(k=k, p=f"pieces='{pieces}'")).lists()
            expected = obvious(own, ranking, k)
            assert [own[0] for own in found.values()] == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(("size", "relevant", "k"), [(5, 3, 4), (60, 30, 31), (5000, 2500, 2600)])
def test_expected_values_of_large_ties_are_those_of_the_hypergeometric_distribution(
    size, relevant, k
):
    qrels = {"q": {f"d{i}": int(i < relevant) for i in range(size)}}
    run = {"q": {f"d{i}": 1.0 for i in range(size)}}
    n = relevant * k // size
    ways = [math.comb(relevant, i) * math.comb(size - relevant, k - i) for i in range(relevant + 1)]

    found = fr.evaluate(qrels, run, f"FullRecall@{k} Evidence(n={n})@{k}", ties="average").mean

    whole = math.comb(size, k)
    expected = [float(Fraction(sum(own), whole)) for own in (ways[relevant:], ways[n:])]
    assert list(found.values()) == pytest.approx(expected, rel=1e-11)


# By rank: relevant, unjudged, not relevant, relevant, unjudged, relevant.
JUDGED = {"q": {"a": 2, "b": 0, "c": 1, "d": 1, "e": 0}}
RANKED = {"q": {doc: -float(rank) for rank, doc in enumerate("axbcyd")}}


def mean(names: Any, qrels: Any = JUDGED, run: Any = RANKED, **options: Any) -> list[float]:
    return list(fr.evaluate(qrels, run, names, **options).mean.values())


def residual(p: float) -> list[float]:
    names = [f"RBP(residual=True,p={p})@{k}" for k in (1, 2, 4, 6)]
    return mean([*names, f"RBP(residual=True,p={p})"])


def close(*expected: float) -> Any:
    return pytest.approx(list(expected), abs=1e-14, rel=0)


def bounds(unjudged: int) -> list[float]:
    """RBP and its sum with the residual, or RBP if all unjudged documents have this grade."""
    complete = {"q": {**JUDGED["q"], **dict.fromkeys("xy", unjudged)}}
    tail = {"q": {**RANKED["q"], **{f"t{i}": -10.0 - i for i in range(300)}}}
    complete["q"] |= {f"t{i}": unjudged for i in range(300)}
    return mean("RBP", complete, tail)


test_values_of_evidence_are_as_described = giving("""
# of cwl-eval 1.0.12, of the ranking cut at 1, 2, 4 and 6
residual(0.5) => close(0.5, 0.5, 0.3125, 0.296875, 0.296875)
residual(0.8) => close(0.8, 0.8, 0.5696, 0.504064, 0.504064)
residual(0.95) => close(0.95, 0.95, 0.86200625, 0.8233172031249999, 0.8233172031249999)
# it is what RBP gains if everything unknown is relevant
bounds(0) => close(*mean("RBP"))
bounds(1) => close(sum(mean("RBP RBP(residual=True)")))
# unlike rbp_resid of trec_eval, it is not 0 if all are judged
mean("RBP(residual=True)", {"q": {"a": 1}}, {"q": {"a": 1.0}}) => close(0.8)
# without results nothing is known
mean("RBP(residual=True)", {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 1.0}}, missing="zero") =>
  close(0.9)
# a query with too little evidence, or none, has not found it
mean("Evidence(n=9)@5 Evidence(n=2)", {"q": {"a": 1, "b": 1}}) => [0.0, 1.0]
mean("Evidence(n=1) FullRecall", {"q": {"a": 0}}) => [0.0, 0.0]
math.isnan(*mean("LastRank", {"q": {"a": 0}})) => True
# other levels of relevance
mean("FullRecall(rel=2)@1 LastRank(rel=2) FullRecall(rel=2)") => [1.0, 1.0, 1.0]
""")

test_measures_of_evidence_refuse = refusing("""MeasureError
# a rank has one weight, whatever the gain
mean("RBP(residual=True,gain='raw')") =>
  'RBP(gain='raw',residual=True)': gain and residual cannot be combined; a rank has one weight
# the number of pieces has no default
mean("Evidence@5") => 'Evidence@5': Evidence requires n (how many pieces are enough)
# judgments have no subtopics
mean("FullRecall(pieces='subtopics')@5") =>
  'FullRecall(pieces='subtopics')@5' needs judgments with subtopics: ...
""")
