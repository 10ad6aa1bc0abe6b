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

RUN = {"q1": {"d1": 2.0, "d2": 1.0, "d3": -0.5}, "q2": {"d1": 5.0, "d3": 5.0}}
QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1}}


def nll(qrels: Any = QRELS, run: Any = RUN, **how: Any) -> list[float]:
    found: list[float] = fr.negative_log_likelihood(qrels, run, **how)["NLL"].tolist()
    return found


def probability(score: float, scores: list[float], temperature: float = 1.0) -> float:
    """The definition, with sums that are exact to the last bit."""
    return math.exp(score / temperature) / math.fsum(math.exp(s / temperature) for s in scores)


def test_a_positive_costs_minus_the_log_of_its_share_of_the_exponentials() -> None:
    one = -math.log(probability(2.0, [2.0, 1.0, -0.5]))

    assert nll() == pytest.approx([one, math.log(2)], rel=1e-15)


def test_it_is_the_loss_that_dpr_trains_with() -> None:
    """Its BiEncoderNllLoss: log_softmax over the scores, nll_loss of the positive."""
    torch = pytest.importorskip("torch")
    scores = torch.randn(8, 20, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    gold = torch.arange(8) % 20
    loss = torch.nn.functional.nll_loss(torch.log_softmax(scores, dim=1), gold, reduction="mean")
    run = {str(q): {str(d): s for d, s in enumerate(row)} for q, row in enumerate(scores.tolist())}
    qrels = {str(q): {str(d): 1} for q, d in enumerate(gold.tolist())}

    found = fr.negative_log_likelihood(qrels, run)

    assert found.mean["NLL"] == pytest.approx(loss.item(), rel=1e-14)


def test_it_is_scipys_log_softmax() -> None:
    special = pytest.importorskip("scipy.special")
    scores = np.random.default_rng(3).normal(scale=30, size=(5, 40))
    run = {str(q): {str(d): s for d, s in enumerate(row)} for q, row in enumerate(scores.tolist())}

    found = nll({str(q): {str(q): 1} for q in range(5)}, run)

    wanted = -special.log_softmax(scores, axis=1)[range(5), range(5)]
    assert found == pytest.approx(wanted.tolist(), rel=1e-14)


def test_scores_are_divided_by_the_temperature() -> None:
    one = -math.log(probability(2.0, [2.0, 1.0, -0.5], 0.5))

    assert nll(temperature=0.5)[0] == pytest.approx(one, rel=1e-14)


def test_large_scores_neither_overflow_nor_vanish() -> None:
    run = {"q1": {"d1": 1e300, "d2": 1e300}, "q2": {"d1": -4000.0, "d3": -5000.0}}

    assert nll(QRELS, run) == [math.log(2), 1000.0]


@pytest.mark.parametrize("positives", ["mean", "alone", "marginal"])
def test_a_difference_beyond_the_largest_float_is_an_infinite_loss(positives: str) -> None:
    """Not NaN, which would leave the query out of the mean."""
    run = {"q1": {"d1": 1e308, "d2": 1e308, "d3": -1e308, "d4": -1e308}}

    def loss(*relevant: str) -> float:
        return nll({"q1": dict.fromkeys(relevant, 1)}, run, positives=positives)[0]

    assert loss("d3") == loss("d3", "d4") == math.inf
    assert loss("d1") == math.log(2)


def test_a_positive_that_is_all_but_certain_still_costs_something() -> None:
    assert nll({"q1": {"d1": 1}}, {"q1": {"d1": 50.0, "d2": 0.0}}) == [math.exp(-50.0)]


SEVERAL = {"q1": {"d1": 1, "d3": 2}}


def test_several_positives_are_the_mean_of_theirs() -> None:
    scores = [2.0, 1.0, -0.5]
    one, other = (-math.log(probability(score, scores)) for score in (2.0, -0.5))

    assert nll(SEVERAL) == pytest.approx([(one + other) / 2], rel=1e-14)


def test_or_each_competes_with_what_is_not_relevant_alone() -> None:
    one, other = (-math.log(probability(score, [score, 1.0])) for score in (2.0, -0.5))

    assert nll(SEVERAL, positives="alone") == pytest.approx([(one + other) / 2], rel=1e-14)


def test_or_their_probabilities_add_up() -> None:
    scores = [2.0, 1.0, -0.5]
    both = probability(2.0, scores) + probability(-0.5, scores)

    assert nll(SEVERAL, positives="marginal") == pytest.approx([-math.log(both)], rel=1e-14)


UNSEEN = {"q1": {"d1": 1, "d8": 1}, "q2": {"d9": 1}}


def test_what_was_not_retrieved_is_left_out_and_leaves_no_value_alone() -> None:
    found = fr.negative_log_likelihood(UNSEEN, RUN)

    values = found["NLL"].tolist()
    assert values[0] == nll()[0]
    assert math.isnan(values[1])
    assert found.mean["NLL"] == values[0]


def test_or_it_scores_as_the_last_one_retrieved() -> None:
    first = -math.log(probability(2.0, [2.0, 1.0, -0.5, -0.5]))
    last = -math.log(probability(-0.5, [2.0, 1.0, -0.5, -0.5]))

    found = nll(UNSEEN, unretrieved="lowest")

    assert found == pytest.approx([(first + last) / 2, math.log(3)], rel=1e-14)


def test_or_it_is_impossible() -> None:
    assert nll(UNSEEN, unretrieved="worst") == [math.inf, math.inf]
    both = nll(UNSEEN, unretrieved="worst", positives="marginal")
    assert both == [pytest.approx(nll()[0]), math.inf]


def test_a_query_without_relevant_documents_has_no_value() -> None:
    found = fr.negative_log_likelihood({"q1": {"d1": 0}, "q2": {"d3": 1}}, RUN)

    assert math.isnan(found["NLL"][0])
    assert found.mean == {"NLL": math.log(2)}
    assert found.counts["no_relevant_queries"] == 1


def test_depth_cuts_what_was_retrieved() -> None:
    one = -math.log(probability(2.0, [2.0, 1.0]))

    assert nll(depth=2)[0] == pytest.approx(one, rel=1e-15)


def test_excluded_documents_take_no_part() -> None:
    one = -math.log(probability(2.0, [2.0, -0.5]))

    found = fr.negative_log_likelihood(QRELS, RUN, exclude={"q1": ["d2"]})

    assert found["NLL"][0] == pytest.approx(one, rel=1e-15)
    assert found.counts["excluded"] == 1


def test_scores_that_are_one_c_float_stay_two() -> None:
    run = {"q1": {"d1": 1.0, "d2": 1.00000001}}

    assert nll({"q1": {"d1": 1}}, run)[0] > math.log(2)


def test_the_result_is_like_any_other() -> None:
    found = fr.negative_log_likelihood(QRELS, fr.Run.from_dict(RUN, tag="dpr"))

    assert found.queries == ["q1", "q2"]
    assert fr.table(found).names == ["run", "NLL"]
    assert found.to_trec().startswith("NLL")
    groups = found.by_group({"q1": "a", "q2": "b"})
    assert groups["b"].mean == {"NLL": math.log(2)}


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6), temperature=st.sampled_from([0.05, 1.0, 7.0]),
    positives=st.sampled_from(["mean", "alone", "marginal"]), depth=st.integers(1, 12),
)  # fmt: skip
def test_it_is_its_definition(seed: int, temperature: float, positives: str, depth: int) -> None:
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(10)]
    run = {"q": {doc: rng.choice([-1.0, 0.0, 0.25, 1.0, 1.5]) for doc in docs}}
    qrels = {"q": {doc: rng.choice([0, 1]) for doc in rng.sample(docs, 4)}}
    ranked = sorted(run["q"].values(), reverse=True)[:depth]
    # Which of several documents with the score at the cut are kept does not depend on the value.
    kept = sorted(run["q"].items(), key=lambda item: -item[1])[:depth]
    own = [score for doc, score in kept if qrels["q"].get(doc)]
    rest = [score for doc, score in kept if not qrels["q"].get(doc)]

    found = nll(qrels, run, temperature=temperature, positives=positives, depth=depth)[0]

    if not own:
        assert math.isnan(found)
        return
    shares = [probability(score, ranked, temperature) for score in own]
    alone = [probability(score, [*rest, score], temperature) for score in own]
    wanted = {
        "mean": sum(-math.log(share) for share in shares) / len(own),
        "alone": sum(-math.log(share) for share in alone) / len(own),
        "marginal": -math.log(sum(shares)),
    }[positives]
    assert found == pytest.approx(wanted, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"temperature": 0}, "temperature: expected a number above 0, found 0"),
        ({"temperature": float("nan")}, "temperature: expected a finite number, found nan"),
        ({"positives": "first"}, "positives: expected one of 'mean', 'alone', 'marginal'"),
        ({"unretrieved": "zero"}, "unretrieved: expected one of 'ignore', 'lowest', 'worst'"),
        ({"depth": -1}, "depth: expected 1 or more, found -1"),
    ],
)
def test_impossible_options_are_named(how: dict[str, Any], message: str) -> None:
    with pytest.raises(fr.OptionError) as error:
        fr.negative_log_likelihood(QRELS, RUN, **how)

    assert str(error.value).startswith(message)


def test_a_score_without_a_probability_is_an_error() -> None:
    with pytest.raises(fr.EvaluationError, match="query 'q1': a score divided by"):
        fr.negative_log_likelihood(QRELS, {"q1": {"d1": math.inf}})
    with pytest.raises(fr.EvaluationError, match="query 'q1': a score divided by"):
        fr.negative_log_likelihood(QRELS, {"q1": {"d1": 1e10}}, temperature=1e-300)


def test_no_query_in_common_is_an_error() -> None:
    with pytest.raises(fr.NoQueriesError):
        fr.negative_log_likelihood(QRELS, {"q9": {"d1": 1.0}})
