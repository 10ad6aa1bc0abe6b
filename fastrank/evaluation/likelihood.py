"""The negative log-likelihood of relevant documents under the scores of what was retrieved."""

from __future__ import annotations

from fastrank.arguments import DEFAULT_COMPAT, check_choice, finite
from fastrank.data.columns import as_array
from fastrank.data.grade_scale import lowest_code
from fastrank.data.preferences import Preferences
from fastrank.errors import InputError, OptionError
from fastrank.evaluation.no_queries import no_queries_error
from fastrank.evaluation.scoring import to_scores
from fastrank.judging.evaluation_options import (
    EVALUATION,
    DepthOptions,
    FilterOptions,
    evaluation_options,
)
from fastrank.judging.judged import QueryError
from fastrank.judging.matching import match_run
from fastrank.judging.needs import JudgingOptions
from fastrank.judging.rankings import judge_rankings
from fastrank.keywords import takes, with_defaults
from fastrank.measures.binding import BoundMeasure
from fastrank.measures.trec import Measure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt
    from typing_extensions import Unpack

    from fastrank.scores.scores import Scores

# How several positives of a query count, and those that were not retrieved.
POSITIVES = ("mean", "alone", "marginal")
UNRETRIEVED = ("ignore", "lowest", "worst")
NAME = "NLL"


class LikelihoodOptions(DepthOptions, FilterOptions, total=False):
    """Which documents are relevant, and which are retrieved."""


@takes(LikelihoodOptions, EVALUATION)
def negative_log_likelihood(
    qrels: Any,
    run: Any,
    *,
    temperature: float = 1.0,
    positives: str = "mean",
    unretrieved: str = "ignore",
    **options: Unpack[LikelihoodOptions],
) -> Scores:
    """How unlikely a run's scores make the relevant documents: the training loss of DPR, as NLL.

    A retrieved document with score s has the probability exp(s / t) / Z, where t is the
    temperature and Z the sum of exp(s / t) over all retrieved documents of the query. The value
    of a query is -log of the probability of its relevant document, in nats; lower is better. The
    mean is over the queries that have a value, the others are NaN.

    qrels, run: what `evaluate` takes. temperature: what scores are divided by, above 0.
    positives: several relevant documents of a query count as the "mean" of their -log; "alone":
        likewise, but each competes only with what is not relevant, as in training with one
        positive and its negatives; "marginal": as -log of the sum of their probabilities.
    unretrieved: a relevant document that was not retrieved is left out ("ignore"; a query of
        which none was retrieved has no value), scores as the last one retrieved ("lowest", a
        lower bound), or has probability 0 ("worst", which makes "mean" and "alone" infinite).
        With "ignore", runs that retrieve different documents do not compare.
    **options: see `LikelihoodOptions`.

    Scores are 64-bit floats, and so is the sum, which cannot overflow. Sources: Karpukhin et al.,
    EMNLP 2020, equation 2; "marginal": Lee, Chang and Toutanova, ACL 2019.

    Raises what `evaluate` raises; EvaluationError for a ranking with a NaN too.

    >>> run = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 5.0, "d3": 5.0}}
    >>> found = fr.negative_log_likelihood({"q1": {"d1": 1}, "q2": {"d3": 1}}, run)
    >>> found["NLL"].tolist()
    [0.31326168751822286, 0.6931471805599453]
    >>> print(found)
    NLL  0.5032
    """
    from fastrank.data.texts import memory_of
    from fastrank.formats.inputs import as_qrels, as_run

    checked = evaluation_options(with_defaults(negative_log_likelihood, options))
    check_choice("positives", positives, POSITIVES)
    check_choice("unretrieved", unretrieved, UNRETRIEVED)
    divisor = finite("temperature", temperature)
    if divisor <= 0.0:
        raise OptionError("temperature", f"expected a number above 0, found {temperature}")
    judgments, taken = as_qrels(qrels, compat=checked.compat), as_run(run, compat=checked.compat)
    if isinstance(judgments, Preferences):
        raise InputError(judgments.source, "expected judgments with grades, found preferences")
    # A grade below 0 is none, whatever the level.
    checked = checked.changed(relevance_level=max(checked.relevance_level, 0))
    taken, matched, found = match_run(judgments, taken, checked)
    queries = judgments.queries.take(matched.judgments)
    if not queries:
        raise no_queries_error(judgments.queries, taken.queries)
    how = JudgingOptions(
        relevance_level=lowest_code(judgments, checked.relevance_level),
        max_retrieved=checked.max_retrieved,
        judged_only=False, list_unjudged=False, single_precision=False, collection_size=0,
        # Of equal scores none is first here, and this order is the one that refuses a NaN.
        ties="given",
    )  # fmt: skip
    try:
        judged = judge_rankings(judgments, taken, matched, how)
    except QueryError as failure:
        raise failure.error(NAME, queries[failure.place]) from None

    import numpy

    offsets, ranks, grades, _, _, _, num_ret, num_rel, *_ = map(as_array, judged.columns[:9])
    values = numpy.empty(len(queries))
    # What two scores differ by may be infinite, and then so is the loss.
    with numpy.errstate(over="ignore"):
        for i, ranking in enumerate(matched.rankings):
            first, stop_row = taken.offset_column[ranking], taken.offset_column[ranking + 1]
            # The rank says which score it was: documents have no names here.
            scores = numpy.sort(taken.scores[first:stop_row])[::-1][: num_ret[i]] / divisor
            if not numpy.isfinite(scores).all():
                reason = "a score, divided by the temperature, is infinite"
                raise QueryError(i, reason).error(NAME, queries[i])
            own = slice(offsets[i], offsets[i + 1])
            hits = ranks[own][grades[own] >= how.relevance_level] - 1
            values[i] = _value(scores, hits, int(num_rel[i]) - len(hits), positives, unretrieved)
    columns: list[Any] = [memory_of(values)]
    return to_scores(judgments, found.changed(judged=judged), [_bound()], checked, columns, [None])


def _value(
    scores: npt.NDArray[Any], hits: npt.NDArray[Any], absent: int, positives: str, unretrieved: str
) -> float:
    """The value of one query: its scores, best first, the places of the positives, and how many
    positives are not among them."""
    import numpy

    if unretrieved == "lowest" and absent and len(scores):
        # They take part with a score of their own, like documents at the end of the ranking.
        hits = numpy.concatenate([hits, numpy.arange(len(scores), len(scores) + absent)])
        scores = numpy.concatenate([scores, numpy.full(absent, scores[-1])])
        absent = 0
    if not len(hits):
        return float("inf") if absent and unretrieved == "worst" else float("nan")
    if absent and unretrieved == "worst" and positives != "marginal":
        return float("inf")
    if positives == "alone":
        rest = numpy.delete(scores, hits)
        alone = [_log_sum(numpy.append(rest, own) - own) for own in scores[hits]]
        return float(numpy.mean(alone))
    # Only differences count. Beside the best score nothing is lost of the others.
    scores = scores - scores[0]
    whole, retrieved = _log_sum(scores), scores[hits]
    if positives == "marginal":
        return whole - _log_sum(retrieved)
    return float(numpy.mean(whole - retrieved))


def _log_sum(scores: npt.NDArray[Any]) -> float:
    """The logarithm of the sum of the exponentials."""
    import numpy

    best = scores.argmax()
    if numpy.isinf(scores[best]):
        return float(scores[best])
    rest = numpy.exp(numpy.delete(scores, best) - scores[best])
    return float(scores[best] + numpy.log1p(rest.sum()))


def _bound() -> BoundMeasure:
    measure = Measure(
        name=NAME, kernel="", on="custom", takes="", default=(), average="defined", sets=(),
        since=DEFAULT_COMPAT, help=(negative_log_likelihood.__doc__ or "").partition("\n")[0],
    )  # fmt: skip
    return BoundMeasure(
        measure=measure, names=[NAME.encode()], canonical=[NAME.encode()], numbers=[], pairs=[],
        width=1, options={},
    )  # fmt: skip
