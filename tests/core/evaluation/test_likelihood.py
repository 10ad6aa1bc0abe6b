"""The negative log-likelihood of the relevant documents under the retrieved scores."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastrank as fr
from tests.helpers.tables import giving, refusing

RUN = {"q1": {"d1": 2.0, "d2": 1.0, "d3": -0.5}, "q2": {"d1": 5.0, "d3": 5.0}}
QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1}}


def nll(qrels: Any = QRELS, run: Any = RUN, **how: Any) -> list[float]:
    found: list[float] = fr.negative_log_likelihood(qrels, run, **how)["NLL"].tolist()
    return found


def share(score: float, *scores: float, temperature: float = 1.0) -> float:
    """The definition, with sums that are exact to the last bit."""
    return math.exp(score / temperature) / math.fsum(math.exp(s / temperature) for s in scores)


def cost(score: float, *scores: float, **how: float) -> float:
    return -math.log(share(score, *scores, **how))


def scores(qrels: Any = QRELS, run: Any = RUN, **how: Any) -> fr.Scores:
    return fr.negative_log_likelihood(qrels, run, **how)


def close(*values: float) -> Any:
    return pytest.approx(list(values), rel=1e-14, nan_ok=True)


def far(*relevant: str, positives: str) -> list[float]:
    """Of relevant documents among scores whose difference is beyond the largest float."""
    run = {"q1": {"d1": 1e308, "d2": 1e308, "d3": -1e308, "d4": -1e308}}
    return nll({"q1": dict.fromkeys(relevant, 1)}, run, positives=positives)


log, inf, nan = math.log, math.inf, math.nan
ONE, OTHER = cost(2.0, 2.0, 1.0, -0.5), cost(-0.5, 2.0, 1.0, -0.5)
BOTH = share(2.0, 2.0, 1.0, -0.5) + share(-0.5, 2.0, 1.0, -0.5)
LARGE = {"q1": {"d1": 1e300, "d2": 1e300}, "q2": {"d1": -4000.0, "d3": -5000.0}}
CERTAIN = {"q1": {"d1": 50.0, "d2": 0.0}}
D1, SEVERAL = {"q1": {"d1": 1}}, {"q1": {"d1": 1, "d3": 2}}
UNSEEN = {"q1": {"d1": 1, "d8": 1}, "q2": {"d9": 1}}
NONE = {"q1": {"d1": 0}, "q2": {"d3": 1}}
ALSO = cost(2.0, 2.0, 1.0, -0.5, -0.5), cost(-0.5, 2.0, 1.0, -0.5, -0.5)
WORST = {"unretrieved": "worst"}
NAMED = scores(run=fr.Run.from_dict(RUN, tag="dpr"))

test_values_are_as_described = giving("""
# a positive costs minus the log of its share of the exponentials
nll() => close(ONE, log(2))
# scores are divided by the temperature
nll(temperature=0.5)[:1] => close(cost(2.0, 2.0, 1.0, -0.5, temperature=0.5))
# large scores neither overflow nor vanish
nll(QRELS, LARGE) => [log(2), 1000.0]
# a difference beyond the largest float is an infinite loss, and not NaN
[far("d3", positives=own)[0] for own in ("mean", "alone", "marginal")] => [inf] * 3
[far("d3", "d4", positives=own)[0] for own in ("mean", "alone", "marginal")] => [inf] * 3
[far("d1", positives=own)[0] for own in ("mean", "alone", "marginal")] => [log(2)] * 3
# a positive that is all but certain still costs something
nll(D1, CERTAIN) => [math.exp(-50.0)]
# several positives are the mean of theirs
nll(SEVERAL) => close((ONE + OTHER) / 2)
# or each competes with what is not relevant alone
nll(SEVERAL, positives="alone") => close((cost(2.0, 2.0, 1.0) + cost(-0.5, -0.5, 1.0)) / 2)
# or their probabilities add up
nll(SEVERAL, positives="marginal") => close(-log(BOTH))
# what was not retrieved is left out and leaves no value alone
nll(UNSEEN) => close(nll()[0], nan)
scores(UNSEEN).mean => {"NLL": nll()[0]}
# or it scores as the last one retrieved
nll(UNSEEN, unretrieved="lowest") => close(sum(ALSO) / 2, log(3))
# or it is impossible
nll(UNSEEN, **WORST) => [inf, inf]
nll(UNSEEN, **WORST, positives="marginal") => close(nll()[0], inf)
# a query without relevant documents has no value
nll(NONE) => close(nan, log(2))
scores(NONE).mean => {"NLL": log(2)}
scores(NONE).counts["no_relevant_queries"] => 1
# depth cuts what was retrieved
nll(depth=2)[:1] => close(cost(2.0, 2.0, 1.0))
# excluded documents take no part
nll(exclude={"q1": ["d2"]})[:1] => close(cost(2.0, 2.0, -0.5))
scores(exclude={"q1": ["d2"]}).counts["excluded"] => 1
# scores that are one C float stay two
nll(D1, {"q1": {"d1": 1.0, "d2": 1.00000001}})[0] > log(2) => True
# the result is like any other
NAMED.queries => ["q1", "q2"]
fr.table(NAMED).names => ["run", "NLL"]
NAMED.to_trec().startswith("NLL") => True
NAMED.by_group({"q1": "a", "q2": "b"})["b"].mean => {"NLL": log(2)}
""")

test_what_has_no_likelihood_is_refused = refusing(r"""OptionError
# options are possible ones
nll(temperature=0) => temperature: expected a number above 0, found 0
nll(temperature=nan) => temperature: expected a finite number, found nan
nll(positives="first") => positives: expected one of 'mean', 'alone', 'marginal', found 'first'
nll(unretrieved="zero") => unretrieved: expected one of 'ignore', 'lowest', 'worst', found 'zero'
nll(depth=-1) => depth: expected 1 or more, found -1
# a score has a probability
nll(QRELS, {"q1": {"d1": inf}}) =>
  EvaluationError: query 'q1': a score divided by the temperature is infinite
nll(QRELS, {"q1": {"d1": 1e10}}, temperature=1e-300) =>
  EvaluationError: query 'q1': a score divided by the temperature is infinite
# queries are in common
nll(QRELS, {"q9": {"d1": 1.0}}) =>
  NoQueriesError: the run and the qrels share no query ids (run: 'q9'; qrels: 'q1', 'q2')
# a matrix has the column of a relevant document in each row
scores([0], np.ones((2, 2))) => ArrayError: qrels: expected 2 columns, one per row, found 1
scores([0, 2], np.ones((2, 2))) => ArrayError: qrels[1]: expected a column from 0 to 1, found 2
""")


def of_table(table: Any, gold: Any) -> list[float]:
    """Of a table of scores, and the column of the relevant document of each row."""
    run = {str(q): {str(d): s for d, s in enumerate(row)} for q, row in enumerate(table.tolist())}
    values = nll({str(q): {str(d): 1} for q, d in enumerate(gold)}, run)
    assert nll(gold, table) == values
    return values


def test_it_is_the_loss_that_dpr_trains_with():
    """Its BiEncoderNllLoss: log_softmax over the scores, nll_loss of the positive."""
    torch = pytest.importorskip("torch")
    scores = torch.randn(8, 20, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    gold = torch.arange(8) % 20
    loss = torch.nn.functional.nll_loss(torch.log_softmax(scores, dim=1), gold, reduction="mean")

    assert np.mean(of_table(scores, gold.tolist())) == pytest.approx(loss.item(), rel=1e-14)


def test_it_is_scipys_log_softmax():
    special = pytest.importorskip("scipy.special")
    scores = np.random.default_rng(3).normal(scale=30, size=(5, 40))

    wanted = -special.log_softmax(scores, axis=1)[range(5), range(5)]
    assert of_table(scores, range(5)) == pytest.approx(wanted.tolist(), rel=1e-14)


WAYS = st.fixed_dictionaries(
    {
        "temperature": st.sampled_from([0.05, 1.0, 7.0]),
        "positives": st.sampled_from(["mean", "alone", "marginal"]),
        "depth": st.integers(1, 12),
    }
)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), WAYS)
def test_it_is_its_definition(seed, way):
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(10)]
    run = {"q": {doc: rng.choice([-1.0, 0.0, 0.25, 1.0, 1.5]) for doc in docs}}
    qrels = {"q": {doc: rng.choice([0, 1]) for doc in rng.sample(docs, 4)}}
    # Which of several documents with the score at the cut are kept does not depend on the value.
    kept = sorted(run["q"].items(), key=lambda item: -item[1])[: way["depth"]]
    own = [score for doc, score in kept if qrels["q"].get(doc)]
    rest = [score for doc, score in kept if not qrels["q"].get(doc)]

    found = nll(qrels, run, **way)[0]

    if not own:
        assert math.isnan(found)
        return
    heat = way["temperature"]
    shares = [share(score, *own, *rest, temperature=heat) for score in own]
    alone = [cost(score, *rest, score, temperature=heat) for score in own]
    wanted = {
        "mean": sum(-math.log(one) for one in shares) / len(own),
        "alone": sum(alone) / len(own),
        "marginal": -math.log(sum(shares)),
    }[way["positives"]]
    assert found == pytest.approx(wanted, rel=1e-12, abs=1e-14)
