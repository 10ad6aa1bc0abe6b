"""The results of a query in several runs, with grades and with what each document adds."""

from __future__ import annotations

from typing import NamedTuple

from fastrank.analysis.explaining.explain import parts_of
from fastrank.analysis.explaining.judged_query import JudgedQuery
from fastrank.core.matching.filters import select_queries, select_rankings
from fastrank.core.native.buffers import filled
from fastrank.errors import FastrankError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fastrank.core.formats.qrels import Qrels
    from fastrank.core.formats.run import Run
    from fastrank.core.matching.plan import Plan
    from fastrank.core.measures.bound import BoundMeasure

# How many relevant documents that no run has in the first k are listed at most.
MOST_MISSED = 100


class QueryResults(NamedTuple):
    """The results of runs for a query.

    documents: those in the first k of a run, by their best rank, then the relevant documents that
    no run has there. grades: theirs, None for those without a judgment. ranks: for each run, the
    ranks of the documents in its whole ranking, 0 for those that it did not retrieve. scores: in
    the same form, None for those without a score. adds: {measure: for each run, {place in
    `documents`: what the document adds to the value}}, for measures that can be explained.
    retrieved: the number of results of each run. unjudged: for each run, the first rank in the
    first k whose document has no judgment, or 0. missed: the relevant documents that no run has
    in the first k; of more than MOST_MISSED, only some are in `documents`.
    """

    query: str
    documents: list[str]
    grades: list[float | None]
    ranks: list[list[int]]
    scores: list[list[float | None]]
    adds: dict[str, list[dict[int, float]]]
    retrieved: list[int]
    unjudged: list[int]
    missed: int


def results_of(
    queries: Iterable[str], plan: Plan, runs: Sequence[Run], k: int
) -> Iterator[QueryResults]:
    """The results of judged queries in runs, one query after the other."""
    judgments = plan.judgments
    judged_rows = {query: row for row, query in enumerate(judgments)}
    rankings = [{query: row for row, query in enumerate(run)} for run in runs]
    highest = _query_of_highest(judgments)
    for query in queries:
        # Only the rows that matter; some measures depend on the highest grade of all queries.
        picks = list(dict.fromkeys((judged_rows[query], highest)))
        picked = plan.changed(judgments=select_queries(judgments, filled("q", picks)))
        chosen = [[rows[query]] if query in rows else [] for rows in rankings]
        sides = [
            JudgedQuery(query, picked, select_rankings(run, filled("q", rows)))
            for run, rows in zip(runs, chosen, strict=True)
        ]
        yield _side_by_side(query, sides, plan, k)


def _side_by_side(query: str, sides: list[JudgedQuery], plan: Plan, k: int) -> QueryResults:
    grades = sides[0].grades
    ranks = [{doc: rank for rank, (doc, _) in enumerate(side.docs, 1)} for side in sides]
    shown = {
        doc: min(rank_of.get(doc, len(rank_of) + 1) for rank_of in ranks)
        for side in sides
        for doc, _ in side.docs[:k]
    }
    level = plan.options.relevance_level
    missed = [doc for doc, grade in grades.items() if grade >= level and doc not in shown]
    missed.sort(key=lambda doc: -grades[doc])
    documents = [*sorted(shown, key=shown.__getitem__), *missed[:MOST_MISSED]]
    scores = [dict(side.docs) if plan.options.rank_by == "score" else {} for side in sides]
    unjudged = ([doc not in grades for doc, _ in side.docs[:k]] for side in sides)
    return QueryResults(
        query=query,
        documents=documents,
        grades=[grades.get(doc) for doc in documents],
        ranks=[[rank_of.get(doc, 0) for doc in documents] for rank_of in ranks],
        scores=[[score_of.get(doc) for doc in documents] for score_of in scores],
        adds=_adds(sides, plan.measures, documents),
        retrieved=[len(side.docs) for side in sides],
        unjudged=[flags.index(True) + 1 if any(flags) else 0 for flags in unjudged],
        missed=len(missed),
    )


def _adds(
    sides: list[JudgedQuery], measures: list[BoundMeasure], documents: list[str]
) -> dict[str, list[dict[int, float]]]:
    index_of = {doc: index for index, doc in enumerate(documents)}
    by_measure: dict[str, list[dict[int, float]]] = {}
    for side in sides:
        for name, part in parts_of(side, measures).items():
            shares = {index_of[doc]: add for doc, add in part.shares.items() if doc in index_of}
            by_measure.setdefault(name, []).append(shares)
    return by_measure


def _query_of_highest(judgments: Qrels) -> int:
    """The index of a query with the highest grade of all."""
    codes, offsets = judgments.grade_column, judgments.offset_column
    if not len(codes):
        raise FastrankError(f"{judgments.source}: expected judgments, found none")
    row = max(range(len(codes)), key=codes.__getitem__)
    return next(query for query in range(len(judgments)) if offsets[query + 1] > row)
