"""Work on judgments: merge those of several judges, compare two versions, find what is unjudged."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator
from statistics import fmean

from fastrank.analysis.judges.labels import (
    judge_names,
    judged,
    judgments_of,
    pairs_of,
    rows_of,
    whole,
)
from fastrank.common.arguments import DEFAULT_VERSION, at_least, check_choice, check_version
from fastrank.common.messages import counted, first_few
from fastrank.core.formats.inputs import are_named, as_run, run_names
from fastrank.core.formats.qrels import Qrels
from fastrank.core.matching.rankings import rank_documents
from fastrank.core.results.table import Table, distinct, table_of_rows
from fastrank.errors import GroupError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastrank.common.choices import Conflicts, Prefer, TrecEvalVersion, UnjudgedBy
    from fastrank.core.formats.inputs import QrelsLike, RunsLike

# How many conflicts an error lists.
LISTED = 10


def _majority(grades: Sequence[float]) -> float:
    """The most frequent grade; of several, the first judge's that gave one of them."""
    counts = Counter(grades)
    most = max(counts.values())
    return next(grade for grade in grades if counts[grade] == most)


# How the grades of several judges become one.
PREFERENCES: dict[str, Callable[[Sequence[float]], float]] = {
    "first": lambda grades: grades[0],
    "max": max,
    "min": min,
    "mean": fmean,
    "majority": _majority,
}


def merge_qrels(
    qrels: Sequence[QrelsLike], prefer: Prefer = "first", *, conflicts: Conflicts = "resolve"
) -> Qrels:
    """Merge the judgments of several judges into one.

    qrels: the judgments of each judge, as `evaluate` takes them.
    prefer: the grade of a pair that several judged: that of the "first" judge, the "max", the
        "min", the "mean", which may have a fraction, or the "majority" (of equally frequent grades,
        the first judge's). A negative grade means unjudged, and counts only if no judge gave
        another one.
    conflicts: "resolve", or "error" to refuse pairs with different grades.

    Raises GroupError, which counts the conflicts and lists the first ones; InputError for
    preferences; TypeError for what is not a list; and what reading judgments raises.

    >>> a, b = {"q1": {"d1": 2, "d2": 0}}, {"q1": {"d1": 1}, "q2": {"d3": 1}}
    >>> fr.merge_qrels([a, b], "max").to_dict()
    {'q1': {'d1': 2, 'd2': 0}, 'q2': {'d3': 1}}
    >>> fr.merge_qrels([a, b], conflicts="error")
    Traceback (most recent call last):
    fastrank.errors.GroupError: 1 pair has different grades: query 'q1', document 'd1': 2 and 1
    """
    return merged(qrels, prefer, conflicts)[0]


def merged(qrels: Sequence[QrelsLike], prefer: Prefer, conflicts: Conflicts) -> tuple[Qrels, int]:
    """The merged judgments, and how many pairs have different grades."""
    check_choice("prefer", prefer, tuple(PREFERENCES))
    check_choice("conflicts", conflicts, ("resolve", "error"))
    if not isinstance(qrels, (list, tuple)):
        raise TypeError(f"qrels: expected a list of judgments, found {type(qrels).__name__}")
    grades: dict[str, dict[str, list[float]]] = {}
    for source, name in zip(qrels, judge_names(qrels), strict=True):
        for query, document, grade in rows_of(source, name):
            grades.setdefault(query, {}).setdefault(document, []).append(grade)
    for documents in grades.values():
        for document, votes in documents.items():
            # A negative grade means unjudged.
            documents[document] = [grade for grade in votes if grade >= 0] or votes[:1]
    clashes = [
        f"query {query!r}, document {document!r}: {' and '.join(f'{grade:g}' for grade in votes)}"
        for query, documents in grades.items()
        for document, votes in documents.items()
        if len(set(votes)) > 1
    ]
    if conflicts == "error" and clashes:
        raise GroupError(
            f"{counted(len(clashes), 'pair')} {'has' if len(clashes) == 1 else 'have'} different"
            f" grades: {first_few(clashes, LISTED, count=True)}"
        )
    choose = PREFERENCES[prefer]
    merged_grades = {
        query: {document: whole(choose(votes)) for document, votes in documents.items()}
        for query, documents in grades.items()
    }
    return Qrels.from_dict(merged_grades), len(clashes)


def diff_qrels(a: QrelsLike, b: QrelsLike) -> Table:
    """What changed between two versions of judgments: a row for each pair that differs.

    a, b: the earlier and the later judgments, as `evaluate` takes them. A negative grade means
        unjudged.

    change: "added", "removed" or "changed". old, new: the grades, None where there is none. Rows
    are in byte order of queries and documents. Raises InputError for preferences, and what reading
    judgments raises.

    >>> print(fr.diff_qrels({"q1": {"d1": 2, "d2": 0}}, {"q1": {"d1": 1}, "q2": {"d3": 1}}))
    change    query    document      old    new
    --------  -------  ----------  -----  -----
    changed   q1       d1              2      1
    removed   q1       d2              0
    added     q2       d3                     1
    """
    first, second = (
        pairs_of(judged(judgments_of(source, name))) for source, name in ((a, "a"), (b, "b"))
    )
    rows = []
    pairs = first.keys() | second.keys()
    for pair in sorted(pairs, key=lambda pair: tuple(map(os.fsencode, pair))):
        old, new = first.get(pair), second.get(pair)
        if old != new:
            change = "added" if old is None else "removed" if new is None else "changed"
            rows.append((change, *pair, old, new))
    return table_of_rows(("change", "query", "document", "old", "new"), rows)


def unjudged(
    qrels: QrelsLike,
    runs: RunsLike,
    k: int = 10,
    *,
    by: UnjudgedBy = "run",
    trec_eval_version: TrecEvalVersion = DEFAULT_VERSION,
) -> Table:
    """The holes in judgments: documents in the top k of runs that nobody judged.

    qrels: the judgments, as `evaluate` takes them. A negative grade means unjudged.
    runs: a list of runs or {name: run}, each as `evaluate` takes it.
    k: the number of first results of each query, in trec_eval's order.
    by: "pair": a row for each run, query and unjudged document with its rank; "query": for each run
        and query its share of judged documents among the results in the top k, and the number of
        the others; "run": for each run the mean of these shares, and the sum of these numbers.
    trec_eval_version: scores are compared as 32-bit floats ("9.0.8") or doubles ("10.0").

    Only queries that have judgments and results count. Runs are in their order, queries in byte
    order, documents by rank. Raises OptionError for invalid options, and what reading raises.

    >>> judgments, run = {"q1": {"d1": 1}}, {"q1": {"d1": 2.5, "d2": 1.5}}
    >>> print(fr.unjudged(judgments, {"bm25": run}, by="pair"))
    run    query      rank  document
    -----  -------  ------  ----------
    bm25   q1            2  d2
    >>> print(fr.unjudged(judgments, {"bm25": run}))
    run      queries    judged@10    unjudged
    -----  ---------  -----------  ----------
    bm25           1       0.5000           1
    """
    check_choice("by", by, tuple(HOLES))
    depth, version = at_least("k", k, 1), check_version(trec_eval_version)
    judgments = {
        query: {document for document, grade in documents.items() if grade >= 0}
        for query, documents in judgments_of(qrels, "qrels").items()
    }
    rows: list[tuple[object, ...]] = []
    for name, rankings in named_rankings(runs, depth, version):
        judged = {
            query: documents
            for query, documents in rankings.items()
            if documents and query in judgments
        }
        holes = [
            (name, query, rank, document)
            for query, documents in judged.items()
            for document, rank in documents.items()
            if document not in judgments[query]
        ]
        missing = Counter(query for _, query, *_ in holes)
        shares = {
            query: (len(documents) - missing[query]) / len(documents)
            for query, documents in judged.items()
        }
        if by == "pair":
            rows += holes
        elif by == "query":
            rows += [(name, query, share, missing[query]) for query, share in shares.items()]
        else:
            mean = fmean(shares.values()) if shares else math.nan
            rows.append((name, len(judged), mean, len(holes)))
    table = table_of_rows([name.format(k=depth) for name in HOLES[by]], rows)
    # Pairs are a sheet for assessors.
    return table.changed(is_data=by == "pair")


def named_rankings(
    runs: RunsLike, depth: int, version: TrecEvalVersion = DEFAULT_VERSION
) -> Iterator[tuple[str, dict[str, dict[str, int]]]]:
    """The name of each run, and the ranks of its first documents, queries in byte order.

    {query: {document: rank}}, best first.
    """
    if are_named(runs):
        names, sources = list(map(str, runs)), list(runs.values())
    else:
        sources = list(runs) if isinstance(runs, (list, tuple, Iterator)) else [runs]
        names = distinct(
            name or f"run {number}" for number, name in enumerate(run_names(sources), 1)
        )
    for name, run in zip(names, sources, strict=True):
        scores = as_run(run, trec_eval_version=version).to_dict()
        rankings = {}
        for query in sorted(scores, key=os.fsencode):
            ranked = rank_documents(
                list(scores[query].items()), {}, ties="docno_desc", trec_eval_version=version
            )
            rankings[query] = {doc: rank for rank, (doc, _) in enumerate(ranked[:depth], 1)}
        yield name, rankings


# The columns of holes.
HOLES = {
    "pair": ("run", "query", "rank", "document"),
    "query": ("run", "query", "judged@{k}", "unjudged"),
    "run": ("run", "queries", "judged@{k}", "unjudged"),
}
