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
    QueryTies,
    TiedHits,
    find_hits,
    make_keys,
    note_tie,
    rank_by_counting,
)
from fastrank.kernels.judging.rankings import count_judgments, list_hits
from fastrank.kernels.texts.text import (
    are_equal,
    compare_texts,
    hash_text,
    hash_text_inside,
    part_of,
    slot_of_text,
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
from fastrank.native.records import RankingScratch

U = np.uint64


@helper
def by_score_then_id(a, b, data):
    """Higher score first; equal scores by id, in the direction that `data` says.

    Direction 0 leaves them as they stand: the sort is stable.
    """
    keys, base, docs, direction = data
    if keys[a] > keys[b]:
        return -1
    if keys[a] < keys[b]:
        return 1
    if direction == 0:
        return 0
    return direction * compare_texts(docs, base + a, base + b)


sort_ranking = sort_by(by_score_then_id)
sort_ranking_if_needed = sort_if_needed_by(by_score_then_id)


@helper
def rank_documents(docs, scores, base, count, single, direction, scratch):
    """order[:count] = the documents base, base + 1, ... of one query, best first, from 0."""
    keys, order, merge = scratch
    stop = base + count
    for i in range(count):
        order[i] = i
    data = (keys, base, docs, direction)
    if not make_keys(scores[base:stop], count, single, keys):
        # No total order: the outcome depends on the order before, by id, and on the merging.
        sort_texts(part_of(docs, base, stop), order, count, merge)
        sort_ranking(order, count, merge, data)
    else:
        sort_ranking_if_needed(order, count, merge, data)


@helper
def join(judgments, qrels_first, judged, docs, run_first, order, kept, table, found, problem):
    """found[r] = row of the judgment (from 0) of the document at rank r + 1, or -1.

    judgments, docs: the texts of judged and of ranked documents. Returns FINE, or what is wrong: a
    document twice in the ranking, or twice in the judgments.
    """
    mask = table_mask(judged + kept)
    for slot in range(mask + 1):
        table[slot] = 0
    status = FINE
    for i in range(judged):
        row = qrels_first + i
        slot = slot_of_text(judgments, row, mask)
        while table[slot] != 0:
            other = qrels_first + table[slot] - 1
            if are_equal(judgments, row, judgments, other):
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
        slot = slot_of_text(docs, row, mask)
        while table[slot] != 0:
            known = table[slot]
            if known > 0:
                if are_equal(docs, row, judgments, qrels_first + known - 1):
                    found[r] = known - 1
                    break
            else:
                other = run_first + order[-known - 1]
                if are_equal(docs, row, docs, other):
                    problem[1], problem[2] = min(row, other), max(row, other)
                    return RUN_REPEATS
            slot = (slot + 1) & mask
        table[slot] = -(r + 1)
    return status


@helper
def collect_hits(found, kept, options, ranks):
    """Ranks of the documents to list, and in found[] the rows of their judgments; how many."""
    listed = 0
    for r in range(kept):
        if found[r] >= 0 or options[LIST_UNJUDGED]:
            ranks[listed], found[listed] = r + 1, found[r]
            listed += 1
    return listed


@helper
def note_ties(keys, order, results, hits, found, kept):
    """Note the ties of the hits, which are in the order of their ranks.

    Of what comes behind the first `kept` it is not known whether it is judged.
    """
    low = high = 0
    hits.ties.count[0] = 0
    for h in range(found):
        while high < hits.ranks[h]:
            low, high = high, high + 1
            while high < results and keys[order[high]] == keys[order[low]]:
                high += 1
        if high - low > 1:
            note_tie(hits.ties, low, high)
    has_room = hits.ties.count[0] < len(hits.ties.lows)
    if has_room and 0 < kept < results and keys[order[kept]] == keys[order[kept - 1]]:
        note_tie(hits.ties, kept - 1, kept + 1)


@helper
def hash_documents(docs, first, stop, inside, hashes):
    """Hashes of documents first to stop - 1, for `judge_scores`.

    If they are `inside`, at least 8 bytes of text come behind each.
    """
    text, starts, lengths = docs
    if inside:
        for i in range(first, stop):
            hashes[U(i)] = np.int64(hash_text_inside(text, starts[U(i)], lengths[U(i)]))
    else:
        for i in range(first, stop):
            hashes[U(i)] = np.int64(hash_text(text, starts[U(i)], lengths[U(i)]))


@helper
def judge_scores(docs, scores, results, qrels, query, options, scratch, hits, problem):
    """Rank the results of a query and find the judged ones: their ranks, and judgments from 0.

    `scratch` has the hashes of the results. problem[0] becomes FINE, or what is wrong. Returns the
    number of hits.
    """
    keys = scratch.keys
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
        found = find_hits(docs, results, qrels, query, scratch, hits)
        if found != GIVEN_UP and rank_by_counting(docs, keys, results, hits, found):
            return found
    order, rows = scratch.places, hits.rows
    ranking = RankingScratch(keys, order, rows)
    rank_documents(docs, scores, 0, results, single, direction, ranking)
    first, kept = qrels.offsets[query], min(results, options[MAX_RETRIEVED])
    judged = qrels.offsets[query + 1] - first
    problem[0] = join(qrels.docs, first, judged, docs, 0, order, kept, scratch.table, rows, problem)
    if problem[0] != FINE:
        return 0
    found = collect_hits(rows, kept, options, hits.ranks)
    note_ties(keys, order, results, hits, found, kept)
    return found


@helper
def judge_query(i, docs, scores, results, qrels, query, options, scratch, judged, problem):
    """Judge the results of a query, which becomes query i of the rankings, as the last so far.

    `query` is its place in the judgments. problem[0] becomes FINE, or what is wrong.
    """
    rankings, (offsets, lows, highs) = judged
    grades = qrels.grades[qrels.offsets[query] : qrels.offsets[query + 1]]
    # Hits are collected where they will be listed; listing only ever drops some.
    ties = QueryTies(lows[offsets[i] :], highs[offsets[i] :], offsets[i + 1 :])
    hits = TiedHits(rankings.ranks[rankings.offsets[i] :], scratch.rows, ties)
    found = judge_scores(docs, scores, results, qrels, query, options, scratch, hits, problem)
    offsets[i + 1] += offsets[i]
    if problem[0] == FINE:
        problem[0] = count_judgments(grades, options, i, rankings)
    if problem[0] == FINE:
        list_hits(hits, found, min(results, options[MAX_RETRIEVED]), grades, options, i, rankings)


@kernel("int64(Qrels, Run, Matched, int64[::1], JudgingScratch, RankingsAndTies, int64[::1])")
def judge_rankings(qrels, run, matched, options, scratch, judged, problem):
    """Judge the matched rankings of the run by their judgments, one after the other.

    Stops at the first query with a problem, says which in `problem`, and returns how many
    queries were judged before it.
    """
    judgments, places = matched
    for i in range(len(judgments)):
        first, stop = run.offsets[places[i]], run.offsets[places[i] + 1]
        docs, scores = part_of(run.docs, first, stop), run.scores[first:stop]
        # Judged by several groups, a ranking comes several times in a row.
        if i == 0 or places[i] != places[i - 1]:
            hash_documents(docs, 0, stop - first, False, scratch.hashes)
        judge_query(
            i, docs, scores, stop - first, qrels, judgments[i], options, scratch, judged, problem
        )
        if problem[0] == RUN_REPEATS or problem[0] == SCORE_IS_NAN:
            problem[1], problem[2] = first + problem[1], first + problem[2]
        if problem[0] != FINE:
            return i
    return len(judgments)
