"""Rankings given as arrays, judged: one row of integer ids and scores per query."""

from __future__ import annotations

from fastrank.kernels.judging.integer_ranks import rank_hits
from fastrank.kernels.judging.judged_ids import HAS_NEGATIVE, find_judged
from fastrank.kernels.judging.listing import list_hits
from fastrank.native.codes import (
    ASCENDING_SCORES,
    FINE,
    IN_ORDER,
    LEVEL,
    LIST_UNJUDGED,
    MAX_RETRIEVED,
    NEGATIVE_ID,
    NONE_JUDGED,
    RUN_REPEATS,
    SCORE_IS_NAN,
    STOP_IF_NONE_JUDGED,
    UNIQUE,
    WIDTH,
    WITH_ABSENT,
)
from fastrank.native.declare import helper, kernel

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
def judge_row(ids, scores, judged, table, layout, options, work, hits, problem):
    """Rank the documents of a row of the arrays, and find the judged ones, and if asked the others.

    hits = (ranks, rows of the judgments or -1). Returns how many, and how many were retrieved;
    problem[0] becomes FINE, or what is wrong with the documents at problem[2] and problem[3].
    """
    indices, marks, own_ids, own_scores, order, scratch, more_scratch = work
    problem[0] = FINE
    unique, rooms = layout[UNIQUE] != 0, (scratch, more_scratch)
    count = len(ids)
    while count > 0 and ids[count - 1] == PADDING:
        count -= 1
    ids, keys = ids[:count], scores[:count]
    found = find_judged(ids, keys, judged, table, unique, indices, marks, hits, rooms)
    if found == HAS_NEGATIVE:
        count, negative = copy_documents(ids, keys, own_ids, own_scores)
        if negative >= 0:
            problem[0], problem[2] = NEGATIVE_ID, negative
            return 0, 0
        ids, keys = own_ids[:count], own_scores[:count]
        found = find_judged(ids, keys, judged, table, unique, indices, marks, hits, rooms)
    if layout[IN_ORDER]:
        keys = own_scores[:0]
    elif layout[ASCENDING_SCORES]:
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
    place = rank_hits(ids, keys, hits, found, order, scratch, more_scratch)
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
def judge_rows(
    ids, scores, rows, queries, done, qrels, layout, options, work, hit_rows, judged, problem
):
    """Judge rows of the arrays: rows[i] (or none: -1) by the judgments of query queries[i].

    `done` rankings are in the columns `judged` already. Returns how many are then, at the first
    problem, whose place i becomes problem[1], or at the end. A query without results is left out,
    or evaluated with a placeholder and then noted as -1 - query.
    """
    offsets, docs, grades, table_offsets, tables, grade_offsets, values, counts = qrels
    (
        evaluated, listed_offsets, ranks, codes, level_offsets, levels, level_counts, num_ret,
        num_rel, num_rel_ret,
    ) = judged  # fmt: skip
    width = layout[WIDTH]
    with_scores = min(len(scores), 1)
    for i in range(len(rows)):
        query, first = queries[i], rows[i] * width
        start, stop = offsets[query], offsets[query + 1]
        listed = listed_offsets[done]
        hits = (ranks[listed:], hit_rows)
        evaluated[done] = query
        found = results = 0
        if rows[i] >= 0:
            found, results = judge_row(
                ids[first : first + width],
                scores[first * with_scores : (first + width) * with_scores],
                docs[start:stop],
                tables[table_offsets[query] : table_offsets[query + 1]],
                layout, options, work, hits, problem,
            )  # fmt: skip
            problem[1] = i
            if problem[0] != FINE:
                return done
        if results == 0:
            if not layout[WITH_ABSENT]:
                continue
            found, results = list_absent(hits, options)
            evaluated[done] = -1 - query
        level_start, level_stop = grade_offsets[query], grade_offsets[query + 1]
        if level_stop == level_start and options[STOP_IF_NONE_JUDGED] and done == 0:
            problem[0], problem[1] = NONE_JUDGED, i
            return done
        level = level_offsets[done]
        num_rel[done] = 0
        for v in range(level_start, level_stop):
            levels[level], level_counts[level] = values[v], counts[v]
            if values[v] >= options[LEVEL]:
                num_rel[done] += counts[v]
            level += 1
        kept = min(results, options[MAX_RETRIEVED])
        more, num_ret[done], num_rel_ret[done] = list_hits(
            hits, found, kept, grades[start:stop], options, ranks[listed:], codes[listed:]
        )
        listed_offsets[done + 1], level_offsets[done + 1] = listed + more, level
        done += 1
    problem[0] = FINE
    return done


@kernel(
    "int64(int64[::1], float32[::1], int64[::1], int64[::1], int64,"
    " int64[::1], int64[::1], int64[::1], int64[::1], int32[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " uint16[::1], uint16[::1], int32[::1], int32[::1], int64[::1],"
    " int64[::1], int64[::1], float32[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1])"
)
def judge_single_arrays(
    ids, scores, rows, queries, done,
    offsets, docs, grades, table_offsets, tables,
    grade_offsets, values, counts, layout, options,
    places, links, more_places, more_links, clock,
    marks, own_ids, own_scores, order, scratch, more_scratch, hit_rows,
    evaluated, listed_offsets, ranks, codes, level_offsets, levels, level_counts,
    num_ret, num_rel, num_rel_ret, problem,
):  # fmt: skip
    """`judge_rows` for scores of single precision."""
    qrels = (offsets, docs, grades, table_offsets, tables, grade_offsets, values, counts)
    indices = (places, links, more_places, more_links, clock)
    work = (indices, marks, own_ids, own_scores, order, scratch, more_scratch)
    judged = (
        evaluated, listed_offsets, ranks, codes, level_offsets, levels, level_counts, num_ret,
        num_rel, num_rel_ret,
    )  # fmt: skip
    return judge_rows(
        ids, scores, rows, queries, done, qrels, layout, options, work, hit_rows, judged, problem
    )


@kernel(
    "int64(int64[::1], float64[::1], int64[::1], int64[::1], int64,"
    " int64[::1], int64[::1], int64[::1], int64[::1], int32[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " uint16[::1], uint16[::1], int32[::1], int32[::1], int64[::1],"
    " int64[::1], int64[::1], float64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1])"
)
def judge_double_arrays(
    ids, scores, rows, queries, done,
    offsets, docs, grades, table_offsets, tables,
    grade_offsets, values, counts, layout, options,
    places, links, more_places, more_links, clock,
    marks, own_ids, own_scores, order, scratch, more_scratch, hit_rows,
    evaluated, listed_offsets, ranks, codes, level_offsets, levels, level_counts,
    num_ret, num_rel, num_rel_ret, problem,
):  # fmt: skip
    """`judge_rows` for scores of double precision."""
    qrels = (offsets, docs, grades, table_offsets, tables, grade_offsets, values, counts)
    indices = (places, links, more_places, more_links, clock)
    work = (indices, marks, own_ids, own_scores, order, scratch, more_scratch)
    judged = (
        evaluated, listed_offsets, ranks, codes, level_offsets, levels, level_counts, num_ret,
        num_rel, num_rel_ret,
    )  # fmt: skip
    return judge_rows(
        ids, scores, rows, queries, done, qrels, layout, options, work, hit_rows, judged, problem
    )
