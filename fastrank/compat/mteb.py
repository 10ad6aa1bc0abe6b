"""The metrics of MTEB's retrieval tasks: the same values to the last bit, several times as fast.

>>> from fastrank.compat.mteb import calculate_retrieval_scores
>>> qrels, results = {"q1": {"d1": 1}}, {"q1": {"d1": 0.5, "d2": 0.75}}
>>> scores = calculate_retrieval_scores(results, qrels, [1, 10])
>>> scores.ndcg, scores.mrr
({'NDCG@1': 0.0, 'NDCG@10': 0.63093}, {'MRR@1': 0.0, 'MRR@10': 0.5})

Names, arguments, keys and their order are those of `mteb._evaluators.retrieval_metrics` in MTEB
2.26, which need not be installed. The values that MTEB takes from pytrec_eval are those of
`fastrank.compat.pytrec_eval`: scores are compared as 32-bit floats. MRR, R_cap, Hole and Accuracy
compare doubles. Documents with equal scores are ranked by descending id. Intentional differences:

- Numbers are of type float where MTEB has some of numpy. Bits are those of numpy 2 and pandas 3.1.
- A cutoff that is given twice counts once; MTEB doubles most means.
- A query of the results without judgments, which is mostly a KeyError or an IndexError in MTEB, and
  results without queries raise InputError, the former also a KeyError. A NaN score raises
  ValueError where it is ranked, and an id that is not a str TypeError in all functions.
- What arranges such values for a task is not here: `make_score_dict`, `evaluate_p_mrr_change`,
  `max_over_subqueries` and `paired_accuracy`. Import these from MTEB.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from fastrank.common.arguments import at_least
from fastrank.common.messages import brief
from fastrank.compat.pytrec_eval import RelevanceEvaluator
from fastrank.core.evaluation.evaluator import evaluate
from fastrank.errors import InputError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import numpy.typing as npt

    Floats: TypeAlias = npt.NDArray[np.float64]
    Judgments: TypeAlias = Mapping[str, Mapping[str, int]]
    Results: TypeAlias = Mapping[str, Mapping[str, float]]
    Means: TypeAlias = dict[str, float]

__all__ = [
    "RetrievalEvaluationResult",
    "calculate_pmrr",
    "calculate_retrieval_scores",
    "confidence_scores",
    "evaluate_abstention",
    "hole",
    "mrr",
    "nauc",
    "recall_cap",
    "robustness_at_10",
    "top_k_accuracy",
]

logger = logging.getLogger(__name__)

EXPECTED = "expected {query: {document: number}} with ids of type str, found"

# MTEB's names for the measures of pytrec_eval, in its order.
TITLES = {"ndcg_cut": "NDCG", "map_cut": "MAP", "recall": "Recall", "P": "P", "success": "HitRate"}
ABSTENTION_RATES = np.linspace(0, 1, 11)[:-1]


class RetrievalEvaluationResult(NamedTuple):
    """What `calculate_retrieval_scores` returns.

    all_scores: {query: {measure: value}}, with the names of pytrec_eval. ndcg, map, recall,
    precision, hit_rate: means by names such as `NDCG@10`, rounded to five decimals. mrr: means, not
    rounded. naucs, naucs_mrr: by names such as `nAUC_NDCG@10_max`.
    """

    all_scores: dict[str, dict[str, float]]
    ndcg: Means
    map: Means
    recall: Means
    precision: Means
    naucs: Means
    mrr: Means
    naucs_mrr: Means
    hit_rate: Means


class UnjudgedQueryError(InputError, KeyError):
    """The results have a query without judgments."""


def calculate_retrieval_scores(
    results: Results, qrels: Judgments, k_values: Sequence[int], skip_first_result: bool = False
) -> RetrievalEvaluationResult:
    """All metrics of a retrieval task.

    results: {query: {document: score}}. qrels: {query: {document: grade}}, for all queries of the
    results. k_values: the cutoffs. skip_first_result: drop the best document of each query; of
    equal ones the first in the dict.

    Raises InputError for queries without judgments and results without queries, TypeError for ids
    that are not str, scores that are not numbers and grades that are not integers, ValueError for
    NaN and for a cutoff below 1.
    """
    cutoffs = _check(qrels, results, k_values)
    if skip_first_result:
        results = {
            query: dict(sorted(docs.items(), key=itemgetter(1), reverse=True)[1:])
            for query, docs in results.items()
        }
    listed = ",".join(map(str, cutoffs))
    evaluator = RelevanceEvaluator(qrels, {f"{measure}.{listed}" for measure in TITLES})
    scores = evaluator.evaluate(results)
    values = itemgetter(*(f"{measure}_{k}" for measure in TITLES for k in cutoffs))
    columns = zip(*map(values, scores.values()), strict=True)
    by_title = [{f"{title}@{k}": next(columns) for k in cutoffs} for title in TITLES.values()]
    ndcg, average_precision, recall, precision, hit_rate = (
        {name: round(_mean(column), 5) for name, column in by_name.items()} for by_name in by_title
    )
    reciprocals = mrr(qrels, results, cutoffs)
    ranked = dict(chain.from_iterable(by_name.items() for by_name in by_title[:4]))
    naucs = evaluate_abstention(results, {**ranked, **reciprocals})
    naucs_mrr = {name: naucs.pop(name) for name in list(naucs) if name.startswith("nAUC_MRR@")}
    means = {name: _mean(column) for name, column in reciprocals.items()}
    return RetrievalEvaluationResult(
        scores, ndcg, average_precision, recall, precision, naucs, means, naucs_mrr, hit_rate
    )


def mrr(qrels: Judgments, results: Results, k_values: Sequence[int]) -> dict[str, list[float]]:
    """`MRR@k`: the reciprocal ranks of the queries, in the order of the results (`RR@k`).

    >>> from fastrank.compat import mteb
    >>> mteb.mrr({"q1": {"a": 1}}, {"q1": {"a": 0.5, "b": 0.5}}, [1, 2])
    {'MRR@1': [0.0], 'MRR@2': [0.5]}
    """
    return {f"MRR@{k}": column for k, column in _columns("RR", qrels, results, k_values).items()}


def recall_cap(
    qrels: Judgments, results: Results, k_values: Sequence[int]
) -> dict[str, list[float | None]]:
    """`R_cap_at_k`: relevant documents in the first k, divided by at most k (`RCap@k`).

    None for a query without a relevant document.
    """
    columns = _columns("RCap", qrels, results, k_values)
    relevant = [max(qrels[query].values()) > 0 for query in results]
    return {
        f"R_cap_at_{k}": [v if known else None for v, known in zip(column, relevant, strict=True)]
        for k, column in columns.items()
    }


def hole(qrels: Judgments, results: Results, k_values: Sequence[int]) -> dict[str, list[float]]:
    """`Hole_at_k`: documents in the first k not judged for any query, divided by k (`Hole@k`)."""
    judged = dict.fromkeys(chain.from_iterable(qrels.values()), 0)
    # Queries without judgments count, too, and grades do not.
    zeros = {query: dict.fromkeys(docs, 0) for query, docs in qrels.items() if docs}
    columns = _columns("Hole", dict.fromkeys(results, judged) | zeros, results, k_values)
    return {f"Hole_at_{k}": column for k, column in columns.items()}


def top_k_accuracy(
    qrels: Judgments, results: Results, k_values: Sequence[int]
) -> dict[str, list[float]]:
    """`Accuracy@k`: a 1.0 for each query with a relevant document in the first k (`Success@k`)."""
    columns = _columns("Success", qrels, results, k_values)
    # As in MTEB, a cutoff is named when the first query succeeds at it.
    successes: dict[str, list[float]] = {}
    for row in zip(*columns.values(), strict=True):
        for k in (k for k, value in zip(columns, row, strict=True) if value):
            successes.setdefault(f"Accuracy@{k}", []).append(1.0)
    return successes


def calculate_pmrr(
    original_run: Results, new_run: Results, changed_qrels: Mapping[str, Sequence[str]]
) -> float:
    """p-MRR: how much the documents that an instruction makes irrelevant lose rank, -1 to 1.

    changed_qrels: {query: documents}, whose results are `QUERY-og` in the original run and
    `QUERY-changed` in the new one; other queries are logged and ignored. A document that was not
    retrieved has the rank after the last.

    Raises InputError if no query has such documents. Source: Weller et al., FollowIR, 2024.
    """
    changes = {}
    for query, docs in changed_qrels.items():
        before, after = original_run.get(f"{query}-og"), new_run.get(f"{query}-changed")
        if before is None or after is None:
            logger.warning("query %s is not in both runs: not in p-MRR", query)
        elif ids := list(docs):
            changes[query] = list(map(_change, _ranks(before, ids), _ranks(after, ids)))
    if not changes:
        reason = "expected {query: documents} for queries of both runs, found none"
        raise InputError("changed_qrels", reason)
    queries = sorted(changes)
    # As pandas adds groups that are in order, and others.
    mean = _mean_of_rest_first if queries == list(changes) else _compensated_mean
    return float(np.mean([mean(changes[query]) for query in queries]))


def robustness_at_10(
    qrels: Judgments,
    results: Results,  # noqa: ARG001
    scores: Mapping[str, Mapping[str, float]],
) -> float:
    """The mean over queries of the least `ndcg_cut_10` of their instructions, `QUERY_...`.

    scores: values by query, as `all_scores`. Source: Oh et al., INSTRUCTIR, 2024.
    """
    least: dict[str, float] = {}
    for instruction in qrels:
        query, value = instruction.split("_")[0], scores[instruction]["ndcg_cut_10"]
        least[query] = min(least.get(query, value), value)
    return _mean(list(least.values()))


def confidence_scores(sim_scores: Sequence[float]) -> Means:
    """How sure a model is of a ranking: `max`, its best score, `std`, the standard deviation of the
    scores, and `diff1`, how far the best is above the second; 0 if there are no such scores.

    Source: Gisserot-Boukhlef et al., TMLR 2024 (https://arxiv.org/abs/2402.12997).
    """
    best, second = (*sorted(sim_scores)[:-3:-1], 0.0, 0.0)[:2]
    spread = float(np.std(sim_scores)) if sim_scores else 0.0
    return {"max": best, "std": spread, "diff1": best - second if len(sim_scores) > 1 else 0.0}


def nauc(
    conf_scores: Floats, metrics: Floats, abstention_rates: Floats = ABSTENTION_RATES
) -> float:
    """The normalized area under the curve of a metric over shares of queries left unanswered.

    conf_scores, metrics: float64[queries], what decides which queries are left out first, and the
    values that the others have; for equal confidences, their mean. abstention_rates: two or more
    ascending shares. Raises InputError for other numbers of values, OptionError for other rates.

    0 where the confidence does not help, 1 for the best possible, NaN if all values are equal.
    Source: Gisserot-Boukhlef et al., TMLR 2024 (https://arxiv.org/abs/2402.12997).
    """
    _check_count("metrics", metrics, len(conf_scores))
    rates = np.asarray(abstention_rates)
    if len(rates) < 2 or (np.diff(rates) < 0).any():
        reason = f"expected two or more ascending shares, found {brief(rates.tolist())}"
        raise OptionError("abstention_rates", reason)
    return float(_naucs([np.asarray(conf_scores)], np.array([metrics]), rates)[0, 0])


def evaluate_abstention(results: Results, metric_scores: Mapping[str, Sequence[float]]) -> Means:
    """`nauc` of each metric by each of the `confidence_scores`: `nAUC_METRIC_CONFIDENCE`.

    metric_scores: {metric: values of the queries}, in the order of the results; of several
    types, they are computed as doubles. Raises InputError if there are not as many, or no results.
    """
    if not results:
        raise InputError("results", f"{EXPECTED} no query")
    for name, column in metric_scores.items():
        _check_count(f"metric_scores, {name}", column, len(results))
    confidences = _confidences(results)
    metrics = np.array(list(metric_scores.values()))
    values = _naucs(list(confidences.values()), metrics, ABSTENTION_RATES)
    names = (f"nAUC_{metric}_{kind}" for metric in metric_scores for kind in confidences)
    return dict(zip(names, values.ravel().tolist(), strict=True))


def _check(qrels: Judgments, results: Results, k_values: Sequence[int]) -> list[int]:
    """The cutoffs, each once."""
    for name, nested in (("qrels", qrels), ("results", results)):
        if not isinstance(nested, Mapping):
            raise TypeError(f"{name}: {EXPECTED} {type(nested).__name__}")
    if not results:
        raise InputError("results", f"{EXPECTED} no query")
    for query, docs in results.items():
        # Looking at each document takes a third of the time.
        first = next(iter(docs), query) if isinstance(docs, Mapping) else None
        if not (isinstance(query, str) and isinstance(first, str)):
            raise TypeError(f"results: {EXPECTED} {brief({query: docs})}")
        if not qrels.get(query):
            reason = "expected judgments of each query, found none; leave such queries out"
            raise UnjudgedQueryError(f"results, query {query!r}", reason)
    cutoffs = list(dict.fromkeys(k_values))
    if not cutoffs:
        raise OptionError("k_values", "expected cutoffs such as [1, 10], found none")
    for cutoff in cutoffs:
        at_least("k_values", cutoff, 1)
    return cutoffs


def _check_count(name: str, values: Sequence[float] | Floats, count: int) -> None:
    if len(values) != count:
        raise InputError(name, f"expected {count} values, one per query, found {len(values)}")


def _columns(
    measure: str, qrels: Judgments, results: Results, k_values: Sequence[int]
) -> dict[int, list[float]]:
    """The values of a measure at each cutoff in the order of the results, which rank by doubles."""
    names = {k: f"{measure}@{k}" for k in _check(qrels, results, k_values)}
    relevant = {
        query: {doc: int(grade > 0) for doc, grade in docs.items()} for query, docs in qrels.items()
    }
    scores = evaluate(relevant, results, list(names.values()), trec_eval_version="10.0")
    rows = {query: row for row, query in enumerate(scores.queries)}
    values, order = scores.lists(), list(map(rows.__getitem__, results))
    return {k: list(map(values[name].__getitem__, order)) for k, name in names.items()}


def _ranks(run: Mapping[str, float], docs: Sequence[str]) -> list[int]:
    """The ranks of documents, from 1; of those that are not in the run, the one after the last."""
    ranking = sorted(run, key=lambda doc: (run[doc], doc), reverse=True)
    ranks = {doc: rank for rank, doc in enumerate(ranking, 1)}
    return [ranks.get(doc, len(run) + 1) for doc in docs]


def _change(before: int, after: int) -> float:
    """How much a document rose (below 0) or fell (above) from one rank to the other."""
    if before >= after:
        return (1 / before) / (1 / after) - 1
    return 1 - (1 / after) / (1 / before)


def _mean(column: Sequence[float]) -> float:
    # The built-in sum, as in MTEB, whose bits depend on Python's version.
    return sum(column) / len(column)


def _mean_of_rest_first(column: list[float]) -> float:
    return float(np.add.reduceat(column, [0])[0]) / len(column)


def _compensated_mean(column: list[float]) -> float:
    """The mean by Kahan's summation."""
    total = lost = 0.0
    for value in column:
        term = value - lost
        lost = (total + term) - total - term
        total += term
    return total / len(column)


def _confidences(results: Results) -> dict[str, Floats]:
    """The `confidence_scores` of all queries, float64[queries] for each kind."""
    rankings = list(results.values())
    kinds = {type(next(iter(docs.values()))) for docs in rankings if docs}
    numbers = chain.from_iterable(docs.values() for docs in rankings)
    # Where the first score is a double, numpy makes doubles of all.
    is_float = kinds <= {float, np.float64}
    scores = np.fromiter(numbers, float) if is_float else np.array([np.nan])
    if np.isnan(scores).any():
        each = [confidence_scores(list(docs.values())) for docs in rankings]
        return {kind: np.array([row[kind] for row in each]) for kind in ("max", "std", "diff1")}
    lengths = np.array(list(map(len, rankings)), int)
    starts = np.cumsum(lengths) - lengths
    best, spread, lead = np.zeros((3, len(rankings)))
    # Rankings of one length are rows of a matrix, which numpy adds as it adds each of them.
    for length in set(lengths.tolist()) - {0}:
        rows = np.flatnonzero(lengths == length)
        matrix = scores[starts[rows, np.newaxis] + np.arange(length)]
        best[rows], spread[rows] = matrix.max(axis=1), matrix.std(axis=1)
        if length > 1:
            matrix[np.arange(len(rows)), matrix.argmax(axis=1)] = -np.inf
            lead[rows] = best[rows] - matrix.max(axis=1)
    return {"max": best, "std": spread, "diff1": lead}


def _naucs(confidences: list[Floats], metrics: Floats, rates: Floats) -> Floats:
    """`nauc` of each metric, float64[metrics, queries], by each confidence, float64[queries]."""
    values = np.full((len(metrics), len(confidences)), np.nan)
    if metrics.size:
        oracle = _abstention_curves(metrics, metrics, rates)
        flat, highest = oracle[:, 0] * (rates[-1] - rates[0]), _areas(oracle, rates)
        for i, confidence in enumerate(confidences):
            gain = _areas(_abstention_curves(confidence[np.newaxis], metrics, rates), rates) - flat
            np.divide(gain, highest - flat, out=values[:, i], where=highest != flat)
    return values


def _abstention_curves(confidences: Floats, metrics: Floats, rates: Floats) -> Floats:
    """The mean of each metric over the queries that are left at each rate, float64[metrics, rates].

    confidences: of each metric, or one row for all of them.
    """
    order = np.argsort(confidences, axis=1, kind="stable")
    ascending = np.take_along_axis(confidences, order, axis=1)
    values = np.take_along_axis(metrics, np.broadcast_to(order, metrics.shape), axis=1)
    is_first = np.ones(metrics.shape, bool)
    is_first[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
    firsts = np.flatnonzero(is_first)
    sizes = np.diff(firsts, append=values.size)
    means = np.add.reduceat(values.ravel(), firsts) / sizes
    values = np.repeat(means, sizes).reshape(metrics.shape)
    count = metrics.shape[1]
    left_out = [min(round(rate * count), count - 1) for rate in rates]
    return np.stack([values[:, first:].mean(axis=1) for first in left_out], axis=1)


def _areas(curves: Floats, rates: Floats) -> Floats:
    """The areas under curves over the rates, by the trapezoidal rule."""
    areas: Floats = (np.diff(rates) * (curves[:, 1:] + curves[:, :-1]) / 2.0).sum(axis=1)
    return areas
