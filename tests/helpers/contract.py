"""What the cases of `fastrank conformance` should and should not give.

Right values are pytrec_eval's, that is trec_eval 9.0.8's. Wrong values are those of the measures
below with one mistake, which are written as people write them and share nothing with fastrank.
"""

from __future__ import annotations

from math import log2
from typing import Any

import pytrec_eval

from tests.helpers.paths import REPOSITORY

FILE = REPOSITORY / "fastrank/analysis/conformance/cases.json"
Grades = dict[str, int]
Results = list[list[Any]]
# Of pytrec_eval; reciprocal ranks have no cutoff there.
NAMES = {
    "precision": "P",
    "recall": "recall",
    "hit_rate": "success",
    "average_precision": "map_cut",
    "ndcg": "ndcg_cut",
}
# The measures of one query whose means are asked for.
MEANS = {
    "mean_recall": "recall",
    "mrr": "reciprocal_rank",
    "map": "average_precision",
    "mean_ndcg": "ndcg",
}
# What replaces the repetitions of a document, by the policy.
POLICIES = ("repetitions are removed", "repetitions are not relevant")


def right_values(case: dict[str, Any]) -> dict[str, float | None]:
    """The right values of a case by their source; None where an error is right, too."""
    rankings = by_query(case, "ranking").values()
    if any(len({document for document, _ in ranking}) < len(ranking) for ranking in rankings):
        return {policy: _trec_eval(case, policy) for policy in POLICIES} | {"an error": None}
    # Ids that are numbers in JSON.
    numbers = any(not isinstance(document, str) for ranking in rankings for document, _ in ranking)
    return {"trec_eval": _trec_eval(case)} | ({"an error": None} if numbers else {})


def by_query(case: dict[str, Any], key: str) -> dict[str, Any]:
    """The judgments or rankings of a case."""
    return case[key] if case["measure"] in MEANS else {"q": case[key]}  # type: ignore[no-any-return]


def _trec_eval(case: dict[str, Any], policy: str = "") -> float:
    """The mean over the judged queries; those without results count as 0, as with -c."""
    judgments, rankings = by_query(case, "judgments"), by_query(case, "ranking")
    measure = MEANS.get(case["measure"], case["measure"])
    cutoff = case["k"]
    run = {query: _scores(ranking, policy) for query, ranking in rankings.items()}
    name = f"{NAMES[measure]}.{cutoff}" if measure in NAMES else "recip_rank"
    if measure not in NAMES:
        run = {query: _first(scores, cutoff) for query, scores in run.items()}
    values = pytrec_eval.RelevanceEvaluator(judgments, {name}).evaluate(run)
    of_queries = [sum(values.get(query, {}).values()) for query in judgments]
    return sum(of_queries) / len(of_queries)


def _first(scores: dict[str, float], cutoff: int) -> dict[str, float]:
    order = sorted(scores, key=lambda document: (scores[document], document), reverse=True)
    return {document: scores[document] for document in order[:cutoff]}


def _scores(ranking: Results, policy: str) -> dict[str, float]:
    scores: dict[str, float] = {}
    for rank, (document, score) in enumerate(ranking):
        if str(document) not in scores:
            scores[str(document)] = score
        elif policy == POLICIES[1]:
            scores[f"repetition {rank}"] = score
    return scores


def wrong_values(case: dict[str, Any], mistakes: dict[str, Any]) -> dict[str, float | None]:
    """What the case gives with each mistake that changes its value; None: no value."""
    right = [value for value in right_values(case).values() if value is not None]
    wrong: dict[str, float | None] = {}
    for mistake in mistakes:
        try:
            number = value(case, mistake)
        except (ZeroDivisionError, KeyError, IndexError):
            wrong[mistake] = None
        else:
            if all(abs(number - own) > 1e-9 for own in right):
                wrong[mistake] = round(number, 6)
    return wrong


def value(case: dict[str, Any], mistake: str = "") -> float:
    """What a case gives with a mistake, or with none."""
    if case["measure"] not in MEANS:
        return _of_query(case["measure"], case["k"], case["judgments"], case["ranking"], mistake)
    judgments, rankings, k = case["judgments"], case["ranking"], case["k"]
    measure = MEANS[case["measure"]]
    queries = list(judgments)
    if mistake == "missing-query-left-out":
        queries = [query for query in queries if query in rankings]
    elif mistake == "no-results-fail":
        [rankings[query] for query in queries]
    elif mistake == "unjudged-query-fails":
        [judgments[query] for query in rankings]
    elif mistake == "nothing-relevant-left-out":
        queries = [query for query in queries if max(judgments[query].values()) > 0]
    if mistake == "mean-of-all-documents" and measure == "recall":
        relevant = {(q, d) for q in queries for d, grade in judgments[q].items() if grade > 0}
        top = {(q, d) for q, ranking in rankings.items() for d, _ in ranking[:k]}
        return len(relevant & top) / len(relevant)
    values = [
        _of_query(measure, k, judgments[query], rankings.get(query, []), mistake)
        for query in queries
    ]
    if mistake == "mean-over-hits":
        values = [value for value in values if value > 0]
    if mistake == "unjudged-query-counts":
        values += [0.0 for query in rankings if query not in judgments]
    return sum(values) / len(values)


def _of_query(measure: str, k: int, judgments: Grades, results: Results, mistake: str) -> float:
    grades: dict[Any, int] = dict(judgments)
    ranking = [(str(document), score) for document, score in results]
    if mistake == "ids-read-as-numbers" and all(d.isdigit() for d in [*grades, *dict(ranking)]):
        grades = {float(document): grade for document, grade in grades.items()}
        ranking = [(float(document), score) for document, score in ranking]  # type: ignore[misc]
    if mistake == "number-ids-not-found":
        ranking = [(document, score) for document, score in results]
    ties = {
        "ties-in-input-order": lambda document: 0,
        "ties-by-ascending-id": lambda document: [-ord(letter) for letter in str(document)],
        "ties-in-models-favour": lambda document: grades.get(document, 0),
        "ties-against-model": lambda document: -grades.get(document, 0),
    }.get(mistake, str)
    ranking.sort(
        key=lambda result: (result[1], ties(result[0])), reverse=mistake != "scores-ascending"
    )
    documents = [document for document, _ in ranking]
    if mistake != "repetition-counts":
        documents = list(dict.fromkeys(documents))
    if mistake == "unjudged-removed":
        documents = [document for document in documents if document in grades]
    cut = {"last-rank-left-out": k - 1, "one-rank-too-many": k + 1, "cutoff-ignored": 10**6}
    top = documents[: cut.get(mistake, k)]
    if mistake == "no-results-fail":
        top[0]
    if mistake == "unjudged-fails":
        [grades[document] for document in top]
    of_top = [grades.get(document, 0) for document in top]
    if measure == "ndcg":
        return _ndcg(of_top, list(grades.values()), k, mistake)
    counts = {"only-grade-one": lambda g: g == 1}.get(mistake, lambda g: g > 0)
    relevant = sum(map(counts, grades.values()))
    hits = [counts(grade) for grade in of_top]
    if mistake == "judged-is-relevant":
        relevant, hits = len(grades), [document in grades for document in top]
    if relevant == 0:
        return _nothing_relevant(mistake)
    if mistake == "first-relevant-only" and measure in ("hit_rate", "reciprocal_rank"):
        first = next(document for document, grade in grades.items() if grade > 0)
        hits = [document == first for document in top]
    weights = [
        grade * hit if mistake == "grades-summed" else hit
        for grade, hit in zip(of_top, hits, strict=True)
    ]
    total = sum(weights)
    if measure == "recall":
        if mistake == "hit-rate-called-recall":
            return float(total > 0)
        if mistake == "grades-as-weights":
            return sum(of_top) / sum(grades.values())
        divisors = {"precision-called-recall": k, "divided-by-at-most-k": min(k, relevant)}
        return total / divisors.get(mistake, relevant)
    if measure == "precision":
        divisors = {"divided-by-retrieved": len(top), "recall-called-precision": relevant}
        return total / divisors.get(mistake, k)
    if measure == "hit_rate":
        shares = {"hits-counted": total, "recall-called-hit-rate": total / relevant}
        return float(shares.get(mistake, total > 0))
    ranks = [rank for rank, hit in enumerate(hits, 1) if hit]
    if measure == "reciprocal_rank":
        if not ranks:
            return 0.0
        if mistake == "ranks-begin-at-0":
            return 1 / (ranks[0] - 1)
        all_ranks = sum(1 / rank for rank in ranks)
        return {
            "ranks-off-by-one": 1 / (ranks[0] + 1),
            "last-relevant-instead-of-first": 1 / ranks[-1],
            "every-relevant-summed": all_ranks,
            "every-relevant-averaged": all_ranks / len(ranks),
        }.get(mistake, 1 / ranks[0])
    precisions = [sum(weights[:rank]) / rank for rank in range(1, len(weights) + 1)]
    if mistake == "precision-at-every-rank":
        return sum(precisions) / k
    added = sum(precisions[rank - 1] for rank in ranks)
    if mistake == "divided-by-found":
        return added / len(ranks) if ranks else 0.0
    return added / {"divided-by-at-most-k": min(k, relevant), "divided-by-k": k}.get(
        mistake, relevant
    )


def _nothing_relevant(mistake: str) -> float:
    if mistake == "nothing-relevant-fails":
        raise ZeroDivisionError
    return float(mistake == "nothing-relevant-is-one")


def _ndcg(of_top: list[int], grades: list[int], k: int, mistake: str) -> float:
    gain = {
        "exponential-gain": lambda grade: 2.0 ** max(grade, 0) - 1,
        "grades-as-binary": lambda grade: grade > 0,
        "negative-gain": lambda grade: grade,
    }.get(mistake, lambda grade: max(grade, 0))
    discount = {
        "discount-by-log-of-rank": lambda rank: max(log2(rank), 1),
        "discount-off-by-one": lambda rank: log2(rank + 2),
        "discount-by-rank": lambda rank: rank,
        "no-discount": lambda rank: 1,
    }.get(mistake, lambda rank: log2(rank + 1))

    def dcg(grades: list[int]) -> float:
        return sum(gain(grade) / discount(rank) for rank, grade in enumerate(grades, 1))

    ideal = sorted(of_top if mistake == "ideal-of-retrieved" else grades, reverse=True)
    cut = {"ideal-not-cut": 10**6, "ideal-as-short-as-retrieved": len(of_top)}
    if max(grades) <= 0:
        return _nothing_relevant(mistake)
    if mistake == "not-normalized":
        return dcg(of_top)
    if mistake == "ideal-as-binary":
        ideal = [int(grade > 0) for grade in ideal]
    elif mistake == "ideal-always-full":
        ideal = [1] * k
    best = dcg(ideal[: cut.get(mistake, k)])
    return dcg(of_top) / best if best else 0.0
