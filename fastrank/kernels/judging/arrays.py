"""Rankings given as arrays, judged: one row of integer ids and scores per query."""

from __future__ import annotations

from fastrank.kernels.judging.integer_ranks import rank_hits
from fastrank.kernels.judging.judged_ids import HAS_NEGATIVE, find_judged
from fastrank.kernels.judging.rankings import list_hits
from fastrank.native.codes import (
    FINE,
    LEVEL,
    LIST_UNJUDGED,
    MAX_RETRIEVED,
    NEGATIVE_ID,
    RUN_REPEATS,
    SCORE_IS_NAN,
)
from fastrank.native.declare import helper, kernel
from fastrank.native.records import Hits

PADDING = -1


@helper
def copy_documents(ids, scores, own_ids, own_scores):
    """Copy the documents of a row without padding; how many, and the place of an id below -1."""
    kept = 0
    for i in range(len(ids)):
        if ids[i] < PADDING:
            return 0, i
        own_ids[kept] = ids[i]
        if len(scores) > 0:
            own_scores[kept] = scores[i]
        kept += ids[i] != PADDING
    return kept, -1


@helper
def list_all(hits, found, count):
    """Make hits of all documents, those that are not judged with the row -1."""
    places, rows = hits
    h = found - 1
    for i in range(count - 1, -1, -1):
        if h >= 0 and places[h] == i:
            places[i], rows[i] = i, rows[h]
            h -= 1
        else:
            places[i], rows[i] = i, -1


@helper
def judge_row(ids, scores, own_scores, judged, table, rows, options, scratch, hits, problem):
    """Rank the documents of a row of the arrays, and find the judged ones, and if asked the others.

    own_scores is memory for the scores. Rows of hits that are not judged become -1. Returns how
    many hits, and how many were retrieved; problem[0] becomes FINE, or what is wrong with the
    documents at problem[2] and problem[3].
    """
    problem[0] = FINE
    unique = rows.unique != 0
    count = len(ids)
    while count > 0 and ids[count - 1] == PADDING:
        count -= 1
    ids, keys = ids[:count], scores[:count]
    found = find_judged(ids, keys, judged, table, unique, scratch, hits)
    if found == HAS_NEGATIVE:
        count, negative = copy_documents(ids, keys, scratch.ids, own_scores)
        if negative >= 0:
            problem[0], problem[2] = NEGATIVE_ID, negative
            return 0, 0
        ids, keys = scratch.ids[:count], own_scores[:count]
        found = find_judged(ids, keys, judged, table, unique, scratch, hits)
    if rows.in_order:
        keys = own_scores[:0]
    elif rows.ascending:
        for i in range(count):
            own_scores[i] = -keys[i]
        keys = own_scores[:count]
    if found < 0:
        place = -1 - found
        other = 0
        while ids[other] != ids[place] or other == place:
            other += 1
        problem[0], problem[2], problem[3] = RUN_REPEATS, min(place, other), max(place, other)
        return 0, count
    if options[LIST_UNJUDGED]:
        list_all(hits, found, count)
        found = count
    place = rank_hits(ids, keys, hits, found, scratch)
    if place >= 0:
        problem[0], problem[2] = SCORE_IS_NAN, place
    return found, count


@helper
def list_absent(hits, options):
    """The placeholder that stands for the results of a query without any: one unjudged document."""
    ranks, rows = hits
    if options[LIST_UNJUDGED]:
        ranks[0], rows[0] = 1, -1
    return options[LIST_UNJUDGED], 1


@helper
def judge_rows(rows, scores, picks, qrels, options, scratch, judged, problem):
    """Judge the picked rows of the arrays by the judgments of their queries.

    Returns how many rankings there are then, at the first problem, whose place among the picks
    becomes problem[1], or at the end. A query without results is left out, or evaluated with a
    placeholder and then noted as -1 - query.
    """
    evaluated, done, rankings = judged
    width = rows.width
    with_scores = min(len(scores.scores), 1)
    for i in range(len(picks.rows)):
        query, first = picks.queries[i], picks.rows[i] * width
        start, stop = qrels.offsets[query], qrels.offsets[query + 1]
        hits = Hits(rankings.ranks[rankings.offsets[done] :], scratch.rows)
        evaluated[done] = query
        found = results = 0
        if picks.rows[i] >= 0:
            found, results = judge_row(
                rows.ids[first : first + width],
                scores.scores[first * with_scores : (first + width) * with_scores],
                scores.scratch,
                qrels.docs[start:stop],
                qrels.tables[qrels.table_offsets[query] : qrels.table_offsets[query + 1]],
                rows, options, scratch, hits, problem,
            )  # fmt: skip
            problem[1] = i
            if problem[0] != FINE:
                return done
        if results == 0:
            if not rows.with_absent:
                continue
            found, results = list_absent(hits, options)
            evaluated[done] = -1 - query
        copy_grades(qrels, query, options, done, rankings)
        kept = min(results, options[MAX_RETRIEVED])
        list_hits(hits, found, kept, qrels.grades[start:stop], options, done, rankings)
        done += 1
    problem[0] = FINE
    return done


@helper
def copy_grades(qrels, query, options, i, rankings):
    """The distinct grades of a query become those of ranking i."""
    first, stop = qrels.grade_offsets[query], qrels.grade_offsets[query + 1]
    own = rankings.grade_offsets[i]
    rankings.num_rel[i] = 0
    for v in range(first, stop):
        grade, count = qrels.grade_values[v], qrels.grade_counts[v]
        rankings.grade_values[own], rankings.grade_counts[own] = grade, count
        if grade >= options[LEVEL]:
            rankings.num_rel[i] += count
        own += 1
    rankings.grade_offsets[i + 1] = own


@kernel(
    "int64(IdRows, SingleScores, RowPicks, IdQrels, int64[::1], RowScratch, JudgedRows, int64[::1])"
)
def judge_single_arrays(rows, scores, picks, qrels, options, scratch, judged, problem):
    """`judge_rows` for scores of single precision."""
    return judge_rows(rows, scores, picks, qrels, options, scratch, judged, problem)


@kernel(
    "int64(IdRows, DoubleScores, RowPicks, IdQrels, int64[::1], RowScratch, JudgedRows, int64[::1])"
)
def judge_double_arrays(rows, scores, picks, qrels, options, scratch, judged, problem):
    """`judge_rows` for scores of double precision."""
    return judge_rows(rows, scores, picks, qrels, options, scratch, judged, problem)
