"""The join of a run with its judgments, whose documents are texts: which rank holds which grade.

What leaves this module is all that a measure may know of a query. A document is *listed* with
its rank and grade when it is in the qrels; a negative grade (in the pool, but not judged)
becomes -2. Documents outside the qrels have grade -1 and are listed only when asked for: the
measures can tell where they stand from the gaps between the listed ranks.

Each judged document is looked for by its hash in an index of the results (row_index.py), and the
bytes decide whether it is that. Where a hash is met twice, a score is NaN, or more than judged
documents in trec_eval's order is asked for, all results are ranked and joined.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.matching.rankings import count_judgments, list_hits
from fastrank.core.kernels.matching.ranks import (
    QueryTies,
    TiedHits,
    groups_by,
    make_keys,
    note_tie,
    order_of,
    ranker_by,
    sort_by_place,
    sort_scratch,
    ties_by,
)
from fastrank.core.kernels.matching.row_index import REPEATED, finder_by, index_hashes, places_for
from fastrank.core.kernels.texts.numbers import read_decimal
from fastrank.core.kernels.texts.text import (
    are_equal,
    compare_texts,
    find_slot,
    hash_text,
    hash_text_inside,
    part_of,
    slot_of_text,
    sort_by,
    sort_if_needed_by,
    sort_texts,
    table_mask,
)
from fastrank.core.native.codes import (
    EXACT,
    FINE,
    HARD,
    LARGER_ID_FIRST,
    QRELS_REPEAT,
    RUN_REPEATS,
    SCORE_IS_NAN,
    SORT_BYTES,
    SORT_COLUMNS,
)
from fastrank.core.native.declare import helper, inlined, kernel
from fastrank.core.native.records import RankingScratch, RowIndex

# What the searches below say when they leave a query to the general path.
GIVEN_UP = -1
find_places = finder_by(are_equal)
U = np.uint64


@kernel("void(int64, int64, JudgingSizes)")
def judging_sizes(results, judgments, sizes):
    """The sizes of the memory for judging one query of so many results and judgments at most."""
    # Links are loaded 64 at once, and columns stored up to 12 in excess.
    sizes.positions = max(results, judgments) + 64
    sizes.table = max(table_mask(results + judgments) + 1, SORT_COLUMNS * results + SORT_BYTES)
    # Four places a hash, where fewer hashes meet than in two, while they stay in the second cache.
    size = table_mask(sizes.positions) + 1
    sizes.slots = 2 * size if size <= 1 << 16 else size


@helper
def find_hits(docs, results, qrels, query, scratch, hits):
    """Find the judged documents of a query among its results, the first of `docs`.

    Hits become positions in the results and rows of the query's judgments, in order. The hashes of
    the results are in the scratch. Returns how many, or GIVEN_UP if a document may be repeated.
    """
    text, starts, lengths = qrels.docs
    first, judged = qrels.offsets[query], qrels.offsets[query + 1] - qrels.offsets[query]
    index, columns = scratch.row_index, scratch.positions
    judged_hashes = scratch.judged_hashes[:judged]
    for i in range(judged):
        judged_hashes[i] = np.int64(hash_text(text, starts[first + i], lengths[first + i]))
    if index_hashes(judged_hashes, index, columns) == REPEATED:
        return GIVEN_UP
    hashes = scratch.hashes[:results]
    base = index_hashes(hashes, index, columns)
    if base == REPEATED:
        return GIVEN_UP
    used = RowIndex(index.table[: places_for(hashes, index.table)], index.links, index.clock)
    judged_docs = part_of(qrels.docs, first, first + judged)
    hit_count = find_places(docs, hashes, judged_docs, judged_hashes, base, False, used, hits)
    sort_by_place(hits, hit_count, scratch.table, columns)
    return hit_count


@inlined
def score_of_text(scores, order, i):
    """Score i as it is compared (see `make_keys`), NaN if a slower reader must read it.

    Descending scores need not all be EXACT.
    """
    text, (starts, lengths), single = scores
    status, score = read_decimal(text, starts[i], starts[i] + lengths[i])
    if status & HARD:
        return np.nan
    return np.float64(np.float32(score)) if single else score


# Ranks where all scores are read, and where they descend, as texts.
rank_text_ties = ties_by(compare_texts)
rank_texts = ranker_by(rank_text_ties)
rank_streamed = groups_by(rank_text_ties, score_of_text, True)


@helper
def read_scores(text, scores, results, values, refused):
    """Read all scores; False if one is left to a slower reader, or refused (state.refused)."""
    starts, lengths = scores
    status = EXACT
    for i in range(results):
        score_status, values[i] = read_decimal(text, starts[i], starts[i] + lengths[i])
        status |= score_status
    return status & refused == EXACT


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
def join(judgments, qrels_first, judged, docs, run_first, order, count, table, rows, problem):
    """rows[r] = row of the judgment (from 0) of the document at rank r + 1, or -1.

    judgments, docs: the texts of judged and of ranked documents. Returns FINE, or what is wrong: a
    document twice in the ranking, or twice in the judgments.
    """
    mask = table_mask(judged + count)
    table = table[: mask + 1]
    table[:] = 0
    status = FINE
    for i in range(judged):
        row = qrels_first + i
        slot = find_slot(judgments, row, table, judgments, qrels_first)
        if table[slot] == 0:
            table[slot] = i + 1
        elif status == FINE:
            status = QRELS_REPEAT
            problem[1], problem[2] = qrels_first + table[slot] - 1, row
    # A retrieved document takes its judgment's slot, as a negative rank: met again, it repeats.
    for r in range(count):
        row = run_first + order[r]
        rows[r] = -1
        slot = slot_of_text(docs, row, mask)
        while table[slot] != 0:
            entry = table[slot]
            if entry > 0:
                if are_equal(docs, row, judgments, qrels_first + entry - 1):
                    rows[r] = entry - 1
                    break
            else:
                earlier = run_first + order[-entry - 1]
                if are_equal(docs, row, docs, earlier):
                    problem[1], problem[2] = min(row, earlier), max(row, earlier)
                    return RUN_REPEATS
            slot = (slot + 1) & mask
        table[slot] = -(r + 1)
    return status


@helper
def collect_hits(rows, count, options, ranks):
    """Ranks of the documents to list, and in rows[] those of their judgments; how many."""
    listed = 0
    for r in range(count):
        if rows[r] >= 0 or options.list_unjudged:
            ranks[listed], rows[listed] = r + 1, rows[r]
            listed += 1
    return listed


@helper
def note_ties(keys, order, results, hits, hit_count, depth):
    """Note the ties of the hits, which are in the order of their ranks.

    It is not known which documents behind the first `depth` are judged.
    """
    low = high = 0
    for h in range(hit_count):
        while high < hits.ranks[h]:
            low, high = high, high + 1
            while high < results and keys[order[high]] == keys[order[low]]:
                high += 1
        if high - low > 1:
            note_tie(hits, low, high)
    has_room = hits.ties.count[0] < len(hits.ties.lows)
    if has_room and 0 < depth < results and keys[order[depth]] == keys[order[depth - 1]]:
        note_tie(hits, depth - 1, depth + 1)


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
    single, direction = options.single_precision != 0, options.tie_direction
    problem[0], hits.ties.count[0] = FINE, 0
    if options.refuse_nan:
        for i in range(results):
            if scores[i] != scores[i]:
                problem[0], problem[1] = SCORE_IS_NAN, i
                return 0
    by_rule = direction == LARGER_ID_FIRST and not options.list_unjudged
    if by_rule and make_keys(scores, results, single, keys):
        hit_count = find_hits(docs, results, qrels, query, scratch, hits)
        if hit_count != GIVEN_UP:
            compared, work = keys[:results], sort_scratch(scratch.table, results)
            rank_texts(docs, compared, order_of(compared), single, hits, hit_count, work)
            return hit_count
    order, rows = scratch.positions, hits.rows
    ranking = RankingScratch(keys, order, rows)
    rank_documents(docs, scores, 0, results, single, direction, ranking)
    first, depth = qrels.offsets[query], min(results, options.max_retrieved)
    judged = qrels.offsets[query + 1] - first
    problem[0] = join(
        qrels.docs, first, judged, docs, 0, order, depth, scratch.table, rows, problem
    )
    if problem[0] != FINE:
        return 0
    hit_count = collect_hits(rows, depth, options, hits.ranks)
    note_ties(keys, order, results, hits, hit_count, depth)
    return hit_count


@helper
def judge_query(i, docs, scores, results, qrels, query, options, scratch, judged, problem):
    """Judge the results of a query, which becomes query i of the rankings, as the last so far.

    `query` is its number in the judgments. problem[0] becomes FINE, or what is wrong.
    """
    rankings, (offsets, lows, highs) = judged
    grades = qrels.grades[qrels.offsets[query] : qrels.offsets[query + 1]]
    # Hits are collected where they will be listed; listing only ever drops some.
    ties = QueryTies(lows[offsets[i] :], highs[offsets[i] :], offsets[i + 1 :])
    hits = TiedHits(rankings.ranks[rankings.offsets[i] :], scratch.rows, ties)
    hit_count = judge_scores(docs, scores, results, qrels, query, options, scratch, hits, problem)
    offsets[i + 1] += offsets[i]
    if problem[0] == FINE:
        problem[0] = count_judgments(grades, options, i, rankings)
    if problem[0] == FINE:
        list_hits(
            hits, hit_count, min(results, options.max_retrieved), grades, options, i, rankings
        )


@kernel("int64(Qrels, Run, Matched, RankingOptions, JudgingScratch, RankingsAndTies, int64[::1])")
def judge_rankings(qrels, run, matched, options, scratch, judged, problem):
    """Judge the matched rankings of the run by their judgments, one after the other.

    Stops at the first query with a problem, says which in `problem`, and returns how many
    queries were judged before it.
    """
    judgments, rankings = matched
    for i in range(len(judgments)):
        first, stop = run.offsets[rankings[i]], run.offsets[rankings[i] + 1]
        docs, scores = part_of(run.docs, first, stop), run.scores[first:stop]
        # Judged by several groups, a ranking comes several times in a row.
        if i == 0 or rankings[i] != rankings[i - 1]:
            hash_documents(docs, 0, stop - first, False, scratch.hashes)
        judge_query(
            i, docs, scores, stop - first, qrels, judgments[i], options, scratch, judged, problem
        )
        if problem[0] == RUN_REPEATS or problem[0] == SCORE_IS_NAN:
            problem[1], problem[2] = first + problem[1], first + problem[2]
        if problem[0] != FINE:
            return i
    return len(judgments)
