"""The rankings of runs in memory, judged by grades, by judgment groups, and with ties by grade.

The orders of tied documents that depend on grades (`best`, `worst` and `average`) are made here:
the judged documents are found first, then what ties with them. The other orders only compare two
results.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.core.data.texts import Texts, encoded, text_table
from fastrank.core.formats.qrels import Graded, Qrels, split_groups
from fastrank.core.formats.run import Run
from fastrank.core.matching.filters import rows_of_queries, taken_texts
from fastrank.core.matching.judged import (
    Judged,
    QueryError,
    Tied,
    judging_scratch,
    room_for_judged,
    room_for_ties,
)
from fastrank.core.matching.queries import repeated_lines, what_is_wrong
from fastrank.core.native import codes, kernels, records
from fastrank.core.native.buffers import columns, filled, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy.typing as npt

    from fastrank.core.matching.options import Options
    from fastrank.core.native.record import Int64Array, Offsets

# Deeper than any ranking: the cut comes after ties are settled.
NO_CUTOFF = 2**62


def judge_rankings(qrels: Qrels, run: Run, matched: records.Matched, options: Options) -> Judged:
    """Judge the matched rankings. Raises QueryError at the first query that cannot be judged.

    A repeated document, in a ranking or in a query's judgments, cannot.
    """
    deepest = kernels.widest(run.offset_column)
    listed = kernels.count_picked(run.offset_column, matched.rankings)
    problem = zeros("q", 3)
    rankings = room_for_judged(qrels, matched.judgments, listed, options).columns
    ties = room_for_ties(len(matched.judgments), listed)
    done = kernels.judge_rankings(
        qrels.columns,
        run.columns,
        matched,
        options.codes(),
        judging_scratch(deepest, kernels.widest(qrels.offset_column)),
        records.RankingsAndTies(rankings=rankings, ties=ties),
        problem,
    )
    if problem[0] != codes.FINE:
        raise QueryError(
            done,
            what_is_wrong(problem, qrels, run),
            repeated=repeated_lines(problem, run),
            source=str(qrels.source) if problem[0] == codes.QRELS_REPEAT else "",
        )
    return Judged(columns=rankings, ties=ties)


def judge_groups(
    qrels: Qrels, run: Run, matched: records.Matched, options: Options
) -> tuple[Judged, Offsets]:
    """Judge each matched ranking by every group of its judgments. Raises QueryError.

    Those of ranking i are offsets[i] : offsets[i + 1], which come second.
    """
    split, group_offsets = split_groups(qrels)
    judgments, offsets = rows_of_queries(group_offsets, matched.judgments)
    rankings = [
        ranking
        for ranking, (first, stop) in zip(matched.rankings, pairwise(offsets), strict=True)
        for _ in range(first, stop)
    ]
    units = records.Matched(judgments=judgments, rankings=filled("q", rankings))
    try:
        judged = judge_rankings(split, run, units, options)
    except QueryError as stop:
        query = sum(first <= stop.place for first in offsets) - 1
        raise QueryError(query, str(stop)) from None
    return judged, offsets


def rejudge(
    judged: Judged,
    call: Callable[..., object],
    *,
    level: int | None,
    judged_only: bool,
    placeholders: Iterable[int],
) -> Judged:
    """The same rankings with another relevance level, or with only their judged documents.

    call: calls a kernel, given its name and arguments. placeholders: the places of rankings of a
    placeholder document, which become empty.
    """
    rankings, queries = judged.columns, len(judged)
    new_level = rankings.level if level is None else level
    listed = len(rankings.ranks)
    arrays = columns("q", queries + 1, *[listed] * 2, *[queries] * 3)
    names = ("offsets", "ranks", "grades", "num_ret", "num_rel", "num_rel_ret")
    derived = rankings.changed(level=new_level, **dict(zip(names, arrays, strict=True)))
    call("list_otherwise", rankings, new_level, NO_CUTOFF, judged_only, derived)
    for i in placeholders:
        derived.num_ret[i] = 0
    return Judged(columns=derived)


def without_results(queries: Int64Array) -> tuple[Run, records.Matched]:
    """A run with one empty ranking, matched with the given queries of the judgments."""
    nothing = Texts(b"", zeros("q", 0), zeros("q", 0))
    run = Run(
        queries=nothing,
        docs=nothing,
        tag_bytes=b"",
        source="",
        offset_column=zeros("q", 2),
        score_column=zeros("d", 0),
    )
    return run, records.Matched(judgments=queries, rankings=zeros("q", len(queries)))


def with_generated_ids(judgments: Graded) -> Qrels:
    """The same judgments with generated, unique document ids."""
    rows = range(len(judgments.grade_column))
    ids = b"".join(b"%08x" % row for row in rows)
    docs = Texts(ids, filled("q", [8 * row for row in rows]), filled("q", [8] * len(rows)))
    return Qrels(
        queries=judgments.queries,
        docs=docs,
        groups=docs,
        source="",
        offset_column=judgments.offset_column,
        grade_column=judgments.grade_column,
        scale=judgments.scale,
    )


def judge_by_all_queries(
    qrels: Qrels, run: Run, matched: records.Matched, options: Options
) -> records.Rankings | Tied:
    """Judge the matched rankings; documents that are judged for any query get grade 0.

    Each ranking is judged by its own documents of that kind: not by all of them, which may be
    as many as there are judgments.
    """
    offsets = zeros("q", len(matched.judgments) + 1)
    order = zeros("q", kernels.count_picked(run.offset_column, matched.rankings))
    kernels.known_rows(text_table(qrels.docs), run.columns, matched.rankings, order, offsets)
    docs = taken_texts(run.docs, order[: offsets[len(matched.judgments)]])
    annotated = Qrels(
        queries=taken_texts(qrels.queries, matched.judgments),
        docs=docs,
        groups=docs,
        source=qrels.source,
        offset_column=offsets,
        grade_column=zeros("q", len(docs)),
    )
    numbers = filled("q", list(range(len(matched.judgments))))
    again = records.Matched(judgments=numbers, rankings=matched.rankings)
    options = options.changed(relevance_level=0, list_unjudged=False, original=False)
    if options.ties == "average":
        return judge_ties(annotated, run, again, options)
    return judge_rankings(annotated, run, again, options).columns


def judge_ties(qrels: Qrels, run: Run, matched: records.Matched, options: Options) -> Tied:
    """Judge the matched rankings with ties settled by grade.

    Raises QueryError as `judge_rankings` does.

    A document may not be twice in a ranking, behind the cut either.
    """
    uncut = options.changed(max_retrieved=NO_CUTOFF, judged_only=False)
    return settle_ties(judge_rankings(qrels, run, matched, uncut), options)


def settle_ties(judged: Judged, options: Options) -> Tied:
    """Settle the ties of uncut rankings by grade, in their memory."""
    rankings, ties = judged.columns, judged.ties
    assert ties is not None
    listed = rankings.offsets[len(judged)]
    bounds = records.TieBounds(lows=zeros("q", listed), highs=zeros("q", listed))
    kernels.bound_ties(rankings, ties, bounds)
    if options.ties == "average":
        if options.judged_only:
            kernels.drop_unjudged(rankings, bounds)
        for i, count in enumerate(rankings.num_ret):
            rankings.num_ret[i] = min(count, options.max_retrieved)
    else:
        unjudged_below = options.relevance_level if options.unjudged_between else 0
        kernels.order_ties(
            options.ties == "best", int(unjudged_below), rankings, bounds, zeros("q", listed)
        )
        depth, judged_only = options.max_retrieved, options.judged_only
        kernels.list_otherwise(rankings, rankings.level, depth, judged_only, rankings)
    return Tied(judged=judged, lows=bounds.lows, highs=bounds.highs)


def rank_documents(
    results: Sequence[tuple[str, float]],
    grades: Mapping[str, float],
    *,
    ties: str,
    trec_eval_version: str,
) -> list[tuple[str, float]]:
    """Sort (document, score), best first.

    results: in the order of the lines. grades: of the judged documents. ties: as in `evaluate`.
    """
    ordered = list(results)
    if ties != "given":
        ordered.sort(key=_id_bytes, reverse=ties != "docno_asc")
    if ties in ("best", "worst"):
        sign = -1 if ties == "best" else 1
        ordered.sort(key=lambda result: sign * grades.get(result[0], -math.inf))
    scores = np.array([score for _, score in ordered], float)
    order = np.argsort(-compared_scores(scores, trec_eval_version), kind="stable")
    return [ordered[i] for i in order]


def compared_scores(
    scores: npt.NDArray[np.float64], trec_eval_version: str
) -> npt.NDArray[np.float64]:
    """Scores as trec_eval compares them: as 32-bit floats in 9.0.8."""
    if trec_eval_version != DEFAULT_VERSION:
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(float)


def _id_bytes(result: tuple[str, float]) -> bytes:
    return encoded(result[0])
