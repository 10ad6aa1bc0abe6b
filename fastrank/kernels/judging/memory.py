"""The join of a run with its judgments: which rank holds which grade.

What leaves this module is all that a measure may know of a query. A document is *listed* with
its rank and grade when it is in the qrels; a negative grade (in the pool, but not judged)
becomes -2. Documents outside the qrels have grade -1 and are listed only when asked for: the
measures can tell where they stand from the gaps between the listed ranks.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.judging.judged_documents import (
    GIVEN_UP,
    find_hits,
    make_keys,
    rank_by_counting,
)
from fastrank.kernels.judging.listing import count_judgments, list_hits
from fastrank.kernels.texts.text import (
    compare,
    equal,
    hash_text,
    hash_text_inside,
    slot_of,
    sort_by,
    sort_if_needed_by,
    sort_texts,
    table_mask,
)
from fastrank.native.codes import (
    FINE,
    LARGER_ID_FIRST,
    LIST_UNJUDGED,
    MAX_RETRIEVED,
    QRELS_REPEAT,
    REFUSE_NAN,
    RUN_REPEATS,
    SCORE_IS_NAN,
    SINGLE_PRECISION,
    TIE_DIRECTION,
)
from fastrank.native.declare import helper, kernel

U = np.uint64


@helper
def by_score_then_id(a, b, data):
    """Higher score first; equal scores by id, in the direction that `data` says.

    Direction 0 leaves them as they stand: the sort is stable.
    """
    keys, base, text, starts, lengths, direction = data
    if keys[a] > keys[b]:
        return -1
    if keys[a] < keys[b]:
        return 1
    if direction == 0:
        return 0
    a, b = base + a, base + b
    return direction * compare(text, starts[a], lengths[a], text, starts[b], lengths[b])


sort_ranking = sort_by(by_score_then_id)
sort_ranking_if_needed = sort_if_needed_by(by_score_then_id)


@helper
def rank_documents(
    text, starts, lengths, scores, base, count, single, direction, keys, order, scratch
):
    """order[:count] = the documents base, base + 1, ... of one query, best first, from 0."""
    stop = base + count
    for i in range(count):
        order[i] = i
    data = (keys, base, text, starts, lengths, direction)
    if not make_keys(scores[base:stop], count, single, keys):
        # No total order: the outcome depends on the order before, by id, and on the merging.
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


@helper
def hash_documents(run, first, stop, inside, hashes):
    """Hashes of documents first to stop - 1, for `judge_scores`.

    If they are `inside`, at least 8 bytes of text come behind each.
    """
    text, starts, lengths = run
    if inside:
        for i in range(first, stop):
            hashes[U(i)] = np.int64(hash_text_inside(text, starts[U(i)], lengths[U(i)]))
    else:
        for i in range(first, stop):
            hashes[U(i)] = np.int64(hash_text(text, starts[U(i)], lengths[U(i)]))


@helper
def judge_scores(run, scores, results, judgments, first, judged, options, work, hits, problem):
    """Rank the results of a query and find the judged ones: hits = (ranks, rows from `first`).

    `work` is scratch, as judge.py makes it, and the hashes of the results. problem[0] becomes FINE,
    or what is wrong. Returns the number of hits.
    """
    text, starts, lengths = run
    words, judged_hashes, places, index, keys, hashes = work
    ranks, rows = hits
    single, direction = options[SINGLE_PRECISION] != 0, options[TIE_DIRECTION]
    problem[0] = FINE
    if options[REFUSE_NAN]:
        for i in range(results):
            if scores[i] != scores[i]:
                problem[0], problem[1] = SCORE_IS_NAN, i
                return 0
    # Counting breaks ties by trec_eval's rule.
    counted = direction == LARGER_ID_FIRST and not options[LIST_UNJUDGED]
    if counted and make_keys(scores, results, single, keys):
        scratch = (words, judged_hashes, places, index)
        found = find_hits(run, hashes, results, judgments, first, judged, scratch, hits)
        if found != GIVEN_UP and rank_by_counting(run, keys, results, hits, found):
            return found
    rank_documents(text, starts, lengths, scores, 0, results, single, direction, keys, places, rows)
    kept = min(results, options[MAX_RETRIEVED])
    problem[0] = join(judgments, first, judged, run, 0, places, kept, words, rows, problem)
    return collect_hits(rows, kept, options, ranks) if problem[0] == FINE else 0


@helper
def judge_query(i, run, scores, results, qrels, query, options, work, rows, judged, problem):
    """Judge the results of one query: query number i of the columns `judged`, ended so far by it.

    `qrels` are the columns of the judgments, `query` the query's number there. problem[0] becomes
    FINE, or what is wrong.
    """
    text, query_offsets, starts, lengths, grades = qrels
    offsets, ranks, codes, grade_offsets, values, counts, num_ret, num_rel, num_rel_ret = judged
    first, stop = query_offsets[query], query_offsets[query + 1]
    listed, distinct = offsets[i], grade_offsets[i]
    # Hits are collected where they will be listed; listing only ever drops some.
    hits = (ranks[listed:], rows)
    found = judge_scores(
        run,
        scores,
        results,
        (text, starts, lengths),
        first,
        stop - first,
        options,
        work,
        hits,
        problem,
    )
    if problem[0] != FINE:
        return
    levels, num_rel[i], problem[0] = count_judgments(
        grades[first:stop], options, i == 0, values[distinct:], counts[distinct:]
    )
    if problem[0] != FINE:
        return
    kept = min(results, options[MAX_RETRIEVED])
    more, num_ret[i], num_rel_ret[i] = list_hits(
        hits, found, kept, grades[first:stop], options, ranks[listed:], codes[listed:]
    )
    offsets[i + 1], grade_offsets[i + 1] = listed + more, distinct + levels


@kernel(
    "int64(uint8[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " uint8[::1], int64[::1], int64[::1], int64[::1], float64[::1],"
    " int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int32[::1], int32[::1], int64[::1],"
    " float64[::1], int64[::1], int64[::1],"
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
    words,
    judged_hashes,
    places,
    numbers,
    links,
    clock,
    keys,
    hashes,
    rows,
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
    qrels = (qrels_text, qrels_offsets, qrels_starts, qrels_lengths, grades)
    work = (words, judged_hashes, places, (numbers, links, clock), keys, hashes)
    judged = (
        offsets,
        ranks,
        codes,
        grade_offsets,
        grade_values,
        grade_counts,
        num_ret,
        num_rel,
        num_rel_ret,
    )
    for i in range(len(judgments)):
        first, stop = run_offsets[rankings[i]], run_offsets[rankings[i] + 1]
        run = (run_text, run_starts[first:stop], run_lengths[first:stop])
        # Judged by several groups, a ranking comes several times in a row.
        if i == 0 or rankings[i] != rankings[i - 1]:
            hash_documents(run, 0, stop - first, False, hashes)
        judge_query(
            i,
            run,
            scores[first:stop],
            stop - first,
            qrels,
            judgments[i],
            options,
            work,
            rows,
            judged,
            problem,
        )
        if problem[0] == RUN_REPEATS or problem[0] == SCORE_IS_NAN:
            problem[1], problem[2] = first + problem[1], first + problem[2]
        if problem[0] != FINE:
            return i
    return len(judgments)
