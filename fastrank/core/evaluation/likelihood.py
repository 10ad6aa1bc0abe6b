"""The negative log-likelihood of the relevant documents under a run's scores."""

from __future__ import annotations

from fastrank.common.arguments import DEFAULT_VERSION, check_choice, finite
from fastrank.common.keywords import takes, with_defaults
from fastrank.core.data.columns import as_array
from fastrank.core.evaluation.scoring import scores_of_values
from fastrank.core.evaluation.unshared_ids import no_queries_error
from fastrank.core.formats.qrels import Preferences, lowest_code
from fastrank.core.formats.tables.values import as_rows, check_integers, check_scores, to_int64
from fastrank.core.matching.judged import QueryError
from fastrank.core.matching.keywords import (
    EVALUATION,
    DepthOptions,
    FilterOptions,
    evaluation_options,
)
from fastrank.core.matching.plan import Plan
from fastrank.core.matching.queries import match_run
from fastrank.core.matching.rankings import judge_rankings
from fastrank.core.measures.bound import BoundMeasure
from fastrank.core.measures.trec import Measure
from fastrank.errors import ArrayError, InputError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt
    from typing_extensions import Unpack

    from fastrank.common.choices import Positives, Unretrieved
    from fastrank.core.formats.inputs import QrelsLike, RunLike
    from fastrank.core.scores.scores import Scores

# How to combine several relevant documents of a query, and how to treat unretrieved ones.
POSITIVES = ("mean", "alone", "marginal")
UNRETRIEVED = ("ignore", "lowest", "worst")
NAME = "NLL"


class LikelihoodOptions(DepthOptions, FilterOptions, total=False):
    """Which documents count as relevant, and which as retrieved."""


@takes(LikelihoodOptions, EVALUATION)
def negative_log_likelihood(
    qrels: QrelsLike,
    run: RunLike,
    *,
    temperature: float = 1.0,
    positives: Positives = "mean",
    unretrieved: Unretrieved = "ignore",
    **options: Unpack[LikelihoodOptions],
) -> Scores:
    """Compute the negative log-likelihood (NLL) of the relevant documents, DPR's training loss.

    A retrieved document with score s has the probability exp(s / t) / Z, where t is the
    temperature and Z the sum of exp(s / t) over all retrieved documents of the query. The value
    of a query is -log of the probability of its relevant document, in nats; lower is better. The
    mean is over the queries that have a value; the others are NaN.

    qrels, run: as `evaluate` takes them. Or run is a matrix of scores, an array or a tensor of
        floats[queries, documents], and qrels has the column of the relevant document of each row.
    temperature: the divisor of the scores, above 0.
    positives: how to combine several relevant documents of a query. "mean": the mean of their -log
        probabilities; "alone": the same, but each competes only with nonrelevant documents, as in
        training with one positive and its negatives; "marginal": -log of the sum of their
        probabilities.
    unretrieved: how to treat relevant documents that were not retrieved. "ignore": skip them (a
        query that retrieves none has no value; runs that retrieve different documents are not
        comparable); "lowest": give them the score of the last retrieved document, which yields a
        lower bound; "worst": give them probability 0, which makes "mean" and "alone" infinite.
    **options: see `LikelihoodOptions`.

    Computed in 64-bit floats, without overflow. Sources: Karpukhin et al., EMNLP 2020, equation 2;
    "marginal": Lee, Chang and Toutanova, ACL 2019.

    Raises what `evaluate` raises, and EvaluationError for a ranking with a NaN score.

    >>> run = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 5.0, "d3": 5.0}}
    >>> scores = fr.negative_log_likelihood({"q1": {"d1": 1}, "q2": {"d3": 1}}, run)
    >>> scores["NLL"].tolist()
    [0.31326168751822286, 0.6931471805599453]
    >>> print(scores)
    NLL  0.5032
    >>> import numpy
    >>> matrix = numpy.array([[2.0, 1.0], [5.0, 5.0]])
    >>> print(fr.negative_log_likelihood([0, 1], matrix))
    NLL  0.5032
    """
    from fastrank.core.data.texts import memory_of
    from fastrank.core.formats.inputs import as_qrels, as_run

    checked = evaluation_options(with_defaults(negative_log_likelihood, options))
    check_choice("positives", positives, POSITIVES)
    check_choice("unretrieved", unretrieved, UNRETRIEVED)
    divisor = finite("temperature", temperature)
    if divisor <= 0.0:
        raise OptionError("temperature", f"expected a number above 0, found {temperature}")
    if getattr(run, "ndim", 0) == 2 and hasattr(run, "dtype"):
        qrels, run = _of_matrix(qrels, run)
    judgments, taken = (
        as_qrels(qrels, trec_eval_version=checked.trec_eval_version),
        as_run(run, trec_eval_version=checked.trec_eval_version),
    )
    if isinstance(judgments, Preferences):
        raise InputError(judgments.source, "expected judgments with grades, found preferences")
    # A negative grade means not judged, whatever the level.
    checked = checked.changed(relevance_level=max(checked.relevance_level, 0))
    taken, matched, judged_run = match_run(judgments, taken, checked)
    queries = judgments.queries.take(matched.judgments)
    if not queries:
        raise no_queries_error(judgments.queries, taken.queries)
    # The order of equal scores does not matter here; "given" rejects NaN scores.
    level = lowest_code(judgments, checked.relevance_level)
    how = checked.changed(relevance_level=level, trec_eval_version="10.0", ties="given")
    try:
        judged = judge_rankings(judgments, taken, matched, how)
    except QueryError as failure:
        raise failure.error(NAME, queries[failure.place]) from None

    import numpy

    offsets, ranks, grades, _, _, _, num_ret, num_rel, *_ = map(as_array, judged.columns[:9])
    values = numpy.empty(len(queries))
    # The difference of two scores may be infinite, and so may the loss.
    with numpy.errstate(over="ignore"):
        for i, ranking in enumerate(matched.rankings):
            first, stop_row = taken.offset_column[ranking], taken.offset_column[ranking + 1]
            # Ranks select the scores: document ids are not available here.
            scores = numpy.sort(taken.scores[first:stop_row])[::-1][: num_ret[i]] / divisor
            if not numpy.isfinite(scores).all():
                reason = "a score divided by the temperature is infinite"
                raise QueryError(i, reason).error(NAME, queries[i])
            rows = slice(offsets[i], offsets[i + 1])
            hits = ranks[rows][grades[rows] >= level] - 1
            values[i] = _value(scores, hits, int(num_rel[i]) - len(hits), positives, unretrieved)
    plan = Plan(judgments, [_bound()], checked)
    judged_run = judged_run.changed(judged=judged)
    return scores_of_values(plan, judged_run, queries, [memory_of(values)], [None])


def _of_matrix(columns: object, matrix: object) -> tuple[QrelsLike, RunLike]:
    """Judgments and a run, of columns of relevant documents and of scores. Raises ArrayError."""
    table = check_scores("run", as_rows("run", matrix, 2))
    relevant = to_int64("qrels", check_integers("qrels", as_rows("qrels", columns, 1)))
    rows, width = table.shape
    if len(relevant) != rows:
        raise ArrayError("qrels", f"expected {rows} columns, one per row, found {len(relevant)}")
    outside = ((relevant < 0) | (relevant >= width)).nonzero()[0].tolist()
    if outside:
        reason = f"expected a column from 0 to {width - 1}, found {relevant[outside[0]]}"
        raise ArrayError("qrels", reason, outside[0])
    run = {row: dict(enumerate(scores)) for row, scores in enumerate(table.tolist())}
    return {row: {column: 1} for row, column in enumerate(relevant.tolist())}, run


def _value(
    scores: npt.NDArray[Any], hits: npt.NDArray[Any], absent: int, positives: str, unretrieved: str
) -> float:
    """The value of one query.

    scores: best first. hits: the indexes of the relevant documents. absent: the number of relevant
    documents that were not retrieved.
    """
    import numpy

    if unretrieved == "lowest" and absent and len(scores):
        # They count as retrieved, with the score of the last document.
        hits = numpy.concatenate([hits, numpy.arange(len(scores), len(scores) + absent)])
        scores = numpy.concatenate([scores, numpy.full(absent, scores[-1])])
        absent = 0
    if not len(hits):
        return float("inf") if absent and unretrieved == "worst" else float("nan")
    if absent and unretrieved == "worst" and positives != "marginal":
        return float("inf")
    if positives == "alone":
        rest = numpy.delete(scores, hits)
        alone = [_log_sum(numpy.append(rest, score) - score) for score in scores[hits]]
        return float(numpy.mean(alone))
    # Only differences matter; relative to the best score, the others keep their precision.
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
        name=NAME,
        kernel="",
        needs="custom",
        takes="",
        default=(),
        average="defined",
        sets=(),
        since=DEFAULT_VERSION,
        better="lower",
        help=(negative_log_likelihood.__doc__ or "").partition("\n")[0],
    )
    return BoundMeasure(
        measure=measure,
        names=[NAME.encode()],
        canonical=[NAME.encode()],
        numbers=[],
        pairs=[],
        width=1,
        options={},
    )
