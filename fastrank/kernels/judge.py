"""The join of a run with its judgments: which rank holds which grade.

What leaves this module is all that a measure may know of a query. A document is *listed* with
its rank and grade when it is in the qrels; a negative grade (in the pool, but not judged)
becomes -2. Documents outside the qrels have grade -1 and are listed only when asked for: the
measures can tell where they stand from the gaps between the listed ranks.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.listing import count_judgments, list_hits
from fastrank.kernels.places import (
    FINE,
    LIST_UNJUDGED,
    MAX_RETRIEVED,
    QRELS_REPEAT,
    RUN_REPEATS,
    SINGLE_PRECISION,
)
from fastrank.kernels.text import (
    compare,
    equal,
    slot_of,
    sort_by,
    sort_if_needed_by,
    sort_texts,
    table_mask,
)
from fastrank.native.declare import helper, kernel

# Which of two documents with equal scores ranks first: the one whose id sorts later (trec_eval's
# rule), or, for the preference measures, the one whose id sorts earlier.
LARGER_ID_FIRST, SMALLER_ID_FIRST = -1, 1


@helper
def by_score_then_id(a, b, data):
    """Higher score first; equal scores by id, in the direction that `data` says."""
    keys, base, text, starts, lengths, direction = data
    if keys[a] > keys[b]:
        return -1
    if keys[a] < keys[b]:
        return 1
    a, b = base + a, base + b
    return direction * compare(text, starts[a], lengths[a], text, starts[b], lengths[b])


sort_ranking = sort_by(by_score_then_id)
sort_ranking_if_needed = sort_if_needed_by(by_score_then_id)


@helper
def rank_documents(
    text, starts, lengths, scores, base, count, single, direction, keys, order, scratch
):
    """order[:count] = the documents base, base + 1, ... of one query, best first, from 0."""
    has_nan = False
    for i in range(count):
        # trec_eval 9.0.8 holds scores as C floats, so scores that differ by less tie.
        keys[i] = np.float32(scores[base + i]) if single else scores[base + i]
        has_nan = has_nan or keys[i] != keys[i]
        order[i] = i
    data = (keys, base, text, starts, lengths, direction)
    if has_nan:
        # No total order: the outcome depends on the order before, by id, and on the merging.
        stop = base + count
        sort_texts(text, starts[base:stop], lengths[base:stop], order, count, scratch)
        sort_ranking(order, count, scratch, data)
    else:
        sort_ranking_if_needed(order, count, scratch, data)


@helper
def join(qrels, qrels_first, judged, run, run_first, order, kept, table, found, problem):
    """found[r] = row of the judgment (from 0) of the document at rank r + 1, or -1.

    Returns FINE, or what is wrong: a document twice in the ranking, or twice in the judgments.
    """
    qrels_text, qrels_starts, qrels_lengths = qrels
    run_text, run_starts, run_lengths = run
    mask = table_mask(judged + kept)
    for slot in range(mask + 1):
        table[slot] = 0
    status = FINE
    for i in range(judged):
        row = qrels_first + i
        slot = slot_of(qrels_text, qrels_starts[row], qrels_lengths[row], mask)
        while table[slot] != 0:
            other = qrels_first + table[slot] - 1
            if equal(
                qrels_text,
                qrels_starts[row],
                qrels_lengths[row],
                qrels_text,
                qrels_starts[other],
                qrels_lengths[other],
            ):
                if status == FINE:
                    status = QRELS_REPEAT
                    problem[1], problem[2] = other, row
                break
            slot = (slot + 1) & mask
        if table[slot] == 0:
            table[slot] = i + 1
    # A retrieved document takes its judgment's slot, as a negative rank: met again, it repeats.
    for r in range(kept):
        row = run_first + order[r]
        found[r] = -1
        slot = slot_of(run_text, run_starts[row], run_lengths[row], mask)
        while table[slot] != 0:
            known = table[slot]
            if known > 0:
                other = qrels_first + known - 1
                if equal(
                    run_text,
                    run_starts[row],
                    run_lengths[row],
                    qrels_text,
                    qrels_starts[other],
                    qrels_lengths[other],
                ):
                    found[r] = known - 1
                    break
            else:
                other = run_first + order[-known - 1]
                if equal(
                    run_text,
                    run_starts[row],
                    run_lengths[row],
                    run_text,
                    run_starts[other],
                    run_lengths[other],
                ):
                    problem[1], problem[2] = min(row, other), max(row, other)
                    return RUN_REPEATS
            slot = (slot + 1) & mask
        table[slot] = -(r + 1)
    return status


@helper
def collect_hits(found, kept, options, ranks):
    """Ranks of the documents to list, and in found[] the rows of their judgments; how many."""
    hits = 0
    for r in range(kept):
        if found[r] >= 0 or options[LIST_UNJUDGED]:
            ranks[hits], found[hits] = r + 1, found[r]
            hits += 1
    return hits


@kernel(
    "int64(uint8[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " uint8[::1], int64[::1], int64[::1], int64[::1], float64[::1],"
    " int64[::1], int64[::1], int64[::1],"
    " float64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1])"
)
def judge_rankings(
    qrels_text,
    qrels_offsets,
    qrels_starts,
    qrels_lengths,
    grades,
    run_text,
    run_offsets,
    run_starts,
    run_lengths,
    scores,
    judgments,
    rankings,
    options,
    keys,
    order,
    scratch,
    table,
    offsets,
    ranks,
    codes,
    grade_offsets,
    grade_values,
    grade_counts,
    num_ret,
    num_rel,
    num_rel_ret,
    problem,
):
    """Judge ranking rankings[i] of the run by the judgments judgments[i], for each i in turn.

    Stops at the first query with a problem, says which in `problem`, and returns how many
    queries were judged before it.
    """
    listed = 0
    distinct = 0
    for i in range(len(judgments)):
        qrels_first = qrels_offsets[judgments[i]]
        judged = qrels_offsets[judgments[i] + 1] - qrels_first
        run_first = run_offsets[rankings[i]]
        retrieved = run_offsets[rankings[i] + 1] - run_first
        # Judged by several groups, a ranking comes several times in a row.
        if i == 0 or rankings[i] != rankings[i - 1]:
            rank_documents(
                run_text,
                run_starts,
                run_lengths,
                scores,
                run_first,
                retrieved,
                options[SINGLE_PRECISION] != 0,
                LARGER_ID_FIRST,
                keys,
                order,
                scratch,
            )
        kept = min(retrieved, options[MAX_RETRIEVED])
        problem[0] = join(
            (qrels_text, qrels_starts, qrels_lengths),
            qrels_first,
            judged,
            (run_text, run_starts, run_lengths),
            run_first,
            order,
            kept,
            table,
            scratch,
            problem,
        )
        if problem[0] != FINE:
            return i
        # Hits are collected where they will be listed; listing only ever drops some.
        hits = collect_hits(scratch, kept, options, ranks[listed:])
        own_grades = grades[qrels_first : qrels_first + judged]
        levels, num_rel[i], problem[0] = count_judgments(
            own_grades, options, i == 0, grade_values[distinct:], grade_counts[distinct:]
        )
        if problem[0] != FINE:
            return i
        more, num_ret[i], num_rel_ret[i] = list_hits(
            (ranks[listed:], scratch),
            hits,
            kept,
            own_grades,
            options,
            ranks[listed:],
            codes[listed:],
        )
        distinct += levels
        listed += more
        offsets[i + 1] = listed
        grade_offsets[i + 1] = distinct
    return len(judgments)
