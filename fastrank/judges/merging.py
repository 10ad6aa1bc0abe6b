"""Work on judgments: merge those of several judges, compare two versions, find what is unjudged."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator
from statistics import fmean

from fastrank.arguments import DEFAULT_VERSION, at_least, check_choice, check_version
from fastrank.data.qrels import Qrels
from fastrank.errors import GroupError
from fastrank.formats.inputs import are_named, as_run, run_names
from fastrank.judges.labels import judge_names, judgments_of
from fastrank.judging.rankings import rank_documents
from fastrank.messages import counted, first_few
from fastrank.scores.tables import Table, distinct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from fastrank.choices import Conflicts, Prefer, TrecEvalVersion, UnjudgedBy
    from fastrank.formats.inputs import QrelsLike, RunsLike

    # The grades of each query's documents, in the order of the judges; a pair with different ones.
    Grades = dict[str, dict[str, list[float]]]
    Conflict = tuple[str, str, list[float]]
    Judged = dict[str, set[str]]
    Rankings = dict[str, list[str]]
    Change = tuple[str, str, str, float | None, float | None]

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
        the first judge's).
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
    check_choice("prefer", prefer, tuple(PREFERENCES))
    check_choice("conflicts", conflicts, ("resolve", "error"))
    return resolved(*merged(qrels), prefer, conflicts)


def resolved(grades: Grades, found: list[Conflict], prefer: Prefer, conflicts: Conflicts) -> Qrels:
    """Judgments from the grades of several judges; arguments as `merged` returns them."""
    if conflicts == "error" and found:
        shown = [
            f"query {query!r}, document {document!r}: {' and '.join(f'{own:g}' for own in given)}"
            for query, document, given in found[:LISTED]
        ]
        verb = "has" if len(found) == 1 else "have"
        raise GroupError(
            f"{counted(len(found), 'pair')} {verb} different grades:"
            f" {first_few([*shown, *[''] * (len(found) - len(shown))], LISTED, count=True)}"
        )
    choose = PREFERENCES[prefer]
    return Qrels.from_dict({
        query: {document: _whole(choose(given)) for document, given in documents.items()}
        for query, documents in grades.items()
    })  # fmt: skip


def _whole(grade: float) -> float:
    """An integer if the grade is one."""
    return int(grade) if grade == int(grade) else grade


def merged(qrels: Sequence[QrelsLike]) -> tuple[Grades, list[Conflict]]:
    """The grades of each pair in the order of the judges, and the pairs with different grades."""
    if not isinstance(qrels, (list, tuple)):
        raise TypeError(f"qrels: expected a list of judgments, found {type(qrels).__name__}")
    grades: Grades = {}
    for given, name in zip(qrels, judge_names(qrels, None), strict=True):
        for query, documents in judgments_of(given, name).items():
            own = grades.setdefault(query, {})
            for document, grade in documents.items():
                own.setdefault(document, []).append(grade)
    conflicts = [
        (query, document, given)
        for query, documents in grades.items()
        for document, given in documents.items()
        if len(set(given)) > 1
    ]
    return grades, conflicts


def diff_qrels(a: QrelsLike, b: QrelsLike) -> Table:
    """What changed between two versions of judgments: a row for each pair that differs.

    a, b: the earlier and the later judgments, as `evaluate` takes them.

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
    first, second = (judgments_of(given, name) for given, name in ((a, "a"), (b, "b")))
    rows: list[Change] = []
    for query in sorted(first.keys() | second.keys(), key=os.fsencode):
        old, new = first.get(query, {}), second.get(query, {})
        for document in sorted(old.keys() | new.keys(), key=os.fsencode):
            before, after = old.get(document), new.get(document)
            if before != after:
                change = "added" if before is None else "removed" if after is None else "changed"
                rows.append((change, query, document, before, after))
    names = ("change", "query", "document", "old", "new")
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]
    return Table(columns=dict(zip(names, columns, strict=True)))


def unjudged(
    qrels: QrelsLike,
    runs: RunsLike,
    k: int = 10,
    *,
    by: UnjudgedBy = "pair",
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
    >>> print(fr.unjudged(judgments, {"bm25": run}))
    run    query      rank  document
    -----  -------  ------  ----------
    bm25   q1            2  d2
    >>> print(fr.unjudged(judgments, {"bm25": run}, by="run"))
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
    rows = [
        row
        for name, rankings in named_rankings(runs, depth, version)
        for row in HOLES[by](name, rankings, judgments)
    ]
    names = [name.format(k=depth) for name in HEADERS[by]]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]
    return Table(columns=dict(zip(names, columns, strict=True)))


def named_rankings(
    runs: RunsLike, depth: int, version: TrecEvalVersion
) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """The name of each run, and {query: the first documents, best first}, queries in byte order."""
    if are_named(runs):
        names, given = list(map(str, runs)), list(runs.values())
    else:
        given = list(runs) if isinstance(runs, (list, tuple, Iterator)) else [runs]
        files = run_names(given)
        names = distinct(name or f"run {place}" for place, name in enumerate(files, 1))
    for name, run in zip(names, given, strict=True):
        scores = as_run(run, trec_eval_version=version).to_dict()
        yield (
            name,
            {
                query: [
                    document
                    for document, _ in rank_documents(
                        list(scores[query].items()),
                        {},
                        ties="docno_desc",
                        trec_eval_version=version,
                    )[:depth]
                ]
                for query in sorted(scores, key=os.fsencode)
            },
        )


def _pairs(name: str, rankings: Rankings, judgments: Judged) -> Iterator[tuple[Any, ...]]:
    for query, documents in rankings.items():
        for rank, document in enumerate(documents, 1):
            if query in judgments and document not in judgments[query]:
                yield name, query, rank, document


def _queries(name: str, rankings: Rankings, judgments: Judged) -> Iterator[tuple[Any, ...]]:
    for query, documents in rankings.items():
        if query in judgments:
            judged = sum(document in judgments[query] for document in documents)
            yield name, query, judged / len(documents), len(documents) - judged


def _run(name: str, rankings: Rankings, judgments: Judged) -> Iterator[tuple[Any, ...]]:
    rows = list(_queries(name, rankings, judgments))
    mean = fmean(share for _, _, share, _ in rows) if rows else math.nan
    yield name, len(rows), mean, sum(holes for *_, holes in rows)


HOLES: dict[str, Callable[[str, Rankings, Judged], Iterator[tuple[Any, ...]]]] = {
    "pair": _pairs,
    "query": _queries,
    "run": _run,
}
HEADERS = {
    "pair": ("run", "query", "rank", "document"),
    "query": ("run", "query", "judged@{k}", "unjudged"),
    "run": ("run", "queries", "judged@{k}", "unjudged"),
}
