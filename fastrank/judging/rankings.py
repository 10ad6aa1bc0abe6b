"""Rankings of a run in memory, judged by grades: of a query, of its groups, or of any query.

The orders of tied documents that depend on grades (`best`, `worst` and `average`) are made here:
the judged documents are found first, then what ties with them. The other orders only compare two
results, which all judges do.
"""

from __future__ import annotations

import math

import numpy as np

from fastrank.arguments import DEFAULT_VERSION
from fastrank.data.columns import Frozen
from fastrank.data.qrels import Graded, Qrels, split_groups
from fastrank.data.run import Run
from fastrank.data.texts import Texts, interning, take
from fastrank.judging.judged import (
    Judged,
    QueryError,
    judging_scratch,
    room_for_judged,
    room_for_ties,
)
from fastrank.judging.queries import MatchedQueries, repeated_lines, what_is_wrong
from fastrank.native import codes, kernels, records
from fastrank.native.buffers import filled, zeros
from fastrank.native.records.rankings import TiedGainedRankings, TiedRankings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from fastrank.judging.needs import JudgingOptions

# Deeper than any ranking: the cut comes after ties are settled.
UNCUT = 2**62


class JudgedGroups(Frozen):
    """Rankings judged once per judgment group; those of query i are offsets[i] : offsets[i + 1]."""

    __slots__ = ("judged", "offsets")

    judged: Judged
    offsets: Any


def judge_rankings(
    qrels: Qrels, run: Run, matched: MatchedQueries, options: JudgingOptions
) -> Judged:
    """Judge the matched rankings. Raises QueryError at the first query that cannot be judged.

    A repeated document, in a ranking or in a query's judgments, cannot.
    """
    deepest = kernels.widest(run.offset_column)
    listed = kernels.count_picked(run.offset_column, matched.rankings)
    problem = zeros("q", 3)
    rankings = room_for_judged(qrels, matched.judgments, listed, options).columns
    ties = room_for_ties(len(matched), listed)
    done = kernels.judge_rankings(
        qrels.columns,
        run.columns,
        matched.columns,
        options.codes(),
        judging_scratch(deepest, kernels.widest(qrels.offset_column)),
        records.RankingsAndTies(rankings=rankings, ties=ties),
        problem,
    )
    if problem[0] != codes.FINE:
        raise QueryError(
            done, what_is_wrong(problem, qrels, run), repeated=repeated_lines(problem, run),
            source=str(qrels.source) if problem[0] == codes.QRELS_REPEAT else "",
        )  # fmt: skip
    return Judged(columns=rankings, ties=ties)


def judge_groups(
    qrels: Qrels, run: Run, matched: MatchedQueries, options: JudgingOptions
) -> JudgedGroups:
    """Judge each matched ranking by every group of its judgments. Raises QueryError."""
    split, group_offsets = split_groups(qrels)
    judgments: list[int] = []
    rankings: list[int] = []
    offsets = [0]
    for query, ranking in zip(matched.judgments, matched.rankings, strict=True):
        own = range(group_offsets[query], group_offsets[query + 1])
        judgments += own
        rankings += [ranking] * len(own)
        offsets.append(len(judgments))
    units = MatchedQueries(judgments=filled("q", judgments), rankings=filled("q", rankings))
    try:
        judged = judge_rankings(split, run, units, options)
    except QueryError as stop:
        place = sum(first <= stop.place for first in offsets) - 1
        raise QueryError(place, str(stop)) from None
    return JudgedGroups(judged=judged, offsets=filled("q", offsets))


def rejudge(
    judged: Judged, *, level: int | None, judged_only: bool, placeholders: Iterable[int] = (),
    call: Callable[..., Any] | None = None,
) -> Judged:  # fmt: skip
    """The same rankings with another relevance level, or with only their judged documents.

    placeholders: the places of rankings of a placeholder document, which become empty. call: is
    called instead of the kernel, with its name and arguments.
    """
    rankings, queries = judged.columns, len(judged)
    wanted = rankings.level if level is None else level
    derived = rankings.changed(
        offsets=zeros("q", queries + 1),
        ranks=zeros("q", len(rankings.ranks)),
        grades=zeros("q", len(rankings.ranks)),
        num_ret=zeros("q", queries),
        num_rel=zeros("q", queries),
        num_rel_ret=zeros("q", queries),
        level=wanted,
    )
    given = rankings, wanted, judged_only, derived
    if call is None:
        kernels.judge_otherwise(*given)
    else:
        call("judge_otherwise", *given)
    for place in placeholders:
        derived.num_ret[place] = 0
    return Judged(columns=derived)


def empty_rankings(qrels: Qrels | Graded, queries: Any, options: JudgingOptions) -> Judged:
    """Empty rankings for the given queries of the judgments."""
    if isinstance(qrels, Graded):
        qrels = _with_texts(qrels)
    options = options.changed(stop_if_none_judged=False)
    return judge_rankings(qrels, *without_results(queries), options)


def without_results(queries: Any) -> tuple[Run, MatchedQueries]:
    """A run with one empty ranking, matched with the given queries of the judgments."""
    nothing = Texts(b"", zeros("q", 0), zeros("q", 0))
    run = Run(
        queries=nothing, docs=nothing, tag_bytes=b"", source="", offset_column=zeros("q", 2),
        score_column=zeros("d", 0),
    )  # fmt: skip
    return run, MatchedQueries(judgments=queries, rankings=zeros("q", len(queries)))


def _with_texts(judgments: Graded) -> Qrels:
    """The same judgments with generated, unique document ids."""
    rows = range(len(judgments.grade_column))
    ids = b"".join(b"%08x" % row for row in rows)
    docs = Texts(ids, filled("q", [8 * row for row in rows]), filled("q", [8] * len(rows)))
    return Qrels(
        queries=judgments.queries, docs=docs, groups=docs, source="",
        offset_column=judgments.offset_column, grade_column=judgments.grade_column,
        scale=judgments.scale,
    )  # fmt: skip


def judge_by_all_queries(
    qrels: Qrels, run: Run, matched: MatchedQueries, options: JudgingOptions
) -> dict[str, Judged | Tied]:
    """Judge the matched rankings; documents that are judged for any query get grade 0.

    Returns the field of a JudgedRun.

    Each ranking is judged by its own documents of that kind: not by all there are, of which there
    may be as many as judgments.
    """
    numbered = interning(len(qrels.docs))
    distinct = kernels.intern_texts(qrels.docs.columns, numbered)
    docs = _taken(qrels.docs, numbered.firsts[:distinct])
    known = records.TextTable(texts=docs.columns, table=numbered.table)
    offsets = zeros("q", len(matched) + 1)
    order = zeros("q", kernels.count_picked(run.offset_column, matched.rankings))
    kernels.known_rows(known, run.columns, matched.rankings, order, offsets)
    docs = _taken(run.docs, order[: offsets[len(matched)]])
    named = Qrels(
        queries=_taken(qrels.queries, matched.judgments), docs=docs, groups=docs,
        source=qrels.source, offset_column=offsets, grade_column=zeros("q", len(docs)),
    )  # fmt: skip
    places = filled("q", list(range(len(matched))))
    again = MatchedQueries(judgments=places, rankings=matched.rankings)
    options = options.changed(relevance_level=0, list_unjudged=False, stop_if_none_judged=False)
    if options.ties == "average":
        return {"tied_by_all_queries": judge_ties(named, run, again, options)}
    return {"all_queries": judge_rankings(named, run, again, options)}


def _taken(texts: Texts, rows: memoryview) -> Texts:
    return Texts(texts.buffer, take(texts.starts, rows), take(texts.lengths, rows))


class Tied(Frozen):
    """Rankings with ties ordered by grade, or unordered.

    With ties="average", listed document i has one of the ranks lows[i] + 1 to highs[i], and its
    rank in `judged` has no meaning.
    """

    __slots__ = ("highs", "judged", "lows")

    judged: Judged
    lows: Any
    highs: Any

    def columns(self, judged: Judged) -> TiedRankings:
        """The same as kernels take it.

        judged: the same rankings, with another level of relevance perhaps.
        """
        own = judged.columns
        return TiedRankings(
            offsets=own.offsets, lows=self.lows, highs=self.highs, grades=own.grades,
            grade_offsets=own.grade_offsets, grade_values=own.grade_values,
            grade_counts=own.grade_counts,
            num_ret=own.num_ret, num_rel=own.num_rel, level=own.level,
            collection_size=own.collection_size,
        )  # fmt: skip

    def of_judged(self) -> Tied:
        """What the documents tie with if all that are not judged leave the rankings."""
        import numpy

        own = self.judged.columns
        changed = {
            name: numpy.array(getattr(own, name)) for name in ("offsets", "grades", "num_ret")
        }
        rankings = own.changed(**changed)
        bounds = records.TieBounds(lows=numpy.array(self.lows), highs=numpy.array(self.highs))
        kernels.drop_unjudged(rankings, bounds)
        return Tied(judged=Judged(columns=rankings), lows=bounds.lows, highs=bounds.highs)

    def gained(self, gained: records.GainedRankings) -> TiedGainedRankings:
        """The same with gains, as kernels take it."""
        return TiedGainedRankings(
            offsets=gained.offsets, lows=self.lows, highs=self.highs, gains=gained.gains,
            ideal_offsets=gained.ideal_offsets, ideal_gains=gained.ideal_gains,
            ideal_counts=gained.ideal_counts, num_ret=gained.num_ret, num_rel=gained.num_rel,
        )  # fmt: skip


def judge_ties(qrels: Qrels, run: Run, matched: MatchedQueries, options: JudgingOptions) -> Tied:
    """Judge the matched rankings with ties settled by grade.

    Raises QueryError as `judge_rankings` does.

    A document may not be twice in a ranking, behind the cut either.
    """
    uncut = options.changed(max_retrieved=UNCUT, judged_only=False)
    return settle_ties(judge_rankings(qrels, run, matched, uncut), options)


def settle_ties(judged: Judged, options: JudgingOptions) -> Tied:
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
            options.ties == "best", unjudged_below, rankings, bounds, zeros("q", listed)
        )
        kernels.cut_listing(options.max_retrieved, options.judged_only, rankings)
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
    return [ordered[place] for place in order]


def compared_scores(scores: Any, trec_eval_version: str) -> Any:
    """Scores as trec_eval compares them: as 32-bit floats in 9.0.8."""
    if trec_eval_version != DEFAULT_VERSION:
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(float)


def _id_bytes(result: tuple[str, float]) -> bytes:
    return result[0].encode("utf-8", "surrogateescape")
