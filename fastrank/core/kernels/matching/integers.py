"""Rankings as rows of integer ids, judged; the order of the ids is that of their texts.

The judged documents among the ids of a row are found by whichever way is the shortest.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.matching.rankings import (
    LARGEST_GRADE,
    copy_counts,
    count_grades,
    count_judgments,
    list_hits,
)
from fastrank.core.kernels.matching.ranks import (
    IN_ANY_ORDER,
    QueryTies,
    TiedHits,
    note_tie,
    order_of,
    put_in_order,
    ranker_by,
    sort_by_place,
    sort_scratch,
    ties_by,
)
from fastrank.core.kernels.matching.row_index import find_repetition, finder_by, hash_id, index_row
from fastrank.core.kernels.simd.compare import BLOCK, find_equal, has_negative
from fastrank.core.kernels.simd.instructions import prefetch, trailing_zeros
from fastrank.core.kernels.texts.text import table_mask
from fastrank.core.native.codes import (
    FINE,
    GRADE_TOO_LARGE,
    NEGATIVE_ID,
    QRELS_REPEAT,
    RUN_REPEATS,
    SCORE_IS_NAN,
)
from fastrank.core.native.declare import helper, inlined, kernel

U = np.uint64
NINETEEN_DIGITS = U(10**18)
TEN = U(10)
ONE = U(1)
# What `find_judged` says of ids that are not all ids.
HAS_NEGATIVE = -(2**62)
# Judged documents up to which each is compared with all ids, if nothing else is asked of these.
FEW = 4
# Bytes that memory is fetched by.
LINE = 64
PADDING = -1


@inlined
def slot_of_id(value, mask):
    """Where the search for an id begins in a table of `mask` + 1 slots."""
    return np.int64(hash_id(value) >> U(32) & U(mask))


@inlined
def written(value):
    """The digits of an id, filled up with zeros to 19, as a number; and how many they are.

    In this form, and by their number where the form is the same, ids compare as their texts do.
    """
    aligned, digits = U(value), 19
    while aligned < NINETEEN_DIGITS and digits > 1:
        aligned *= TEN
        digits -= 1
    return aligned, digits


@helper
def compare_written(a, b):
    """Order of two ids as texts, such as 10 before 9: negative, zero or positive."""
    a_aligned, a_digits = written(a)
    b_aligned, b_digits = written(b)
    if a_aligned != b_aligned:
        return 1 if a_aligned > b_aligned else -1
    return a_digits - b_digits


@helper
def compare_ids(ids, a, b):
    """Order of the ids of two results."""
    return compare_written(ids[a], ids[b])


rank_ids = ranker_by(ties_by(compare_ids))


@kernel("int64(IndexedQrels, int64[::1])")
def index_judgments(qrels, problem):
    """Make a hash table of each query's judged ids, and count its grades.

    A slot holds the row, from 1, of the judgment among those of the query. Returns how many
    queries were done; if not all, problem[0] is QRELS_REPEAT (rows in problem[1] and problem[2])
    or GRADE_TOO_LARGE.
    """
    offsets, ids, _, grades, table_offsets, tables, grade_offsets, values, counts = qrels
    for q in range(len(offsets) - 1):
        first, judged = offsets[q], offsets[q + 1] - offsets[q]
        base, mask = table_offsets[q], table_mask(judged)
        for row in range(judged):
            slot = slot_of_id(ids[first + row], mask)
            while tables[base + slot] != 0:
                earlier = tables[base + slot] - 1
                if ids[first + earlier] == ids[first + row]:
                    problem[0], problem[1], problem[2] = QRELS_REPEAT, first + earlier, first + row
                    return q
                slot = (slot + 1) & mask
            tables[base + slot] = row + 1
        table_offsets[q + 1] = base + mask + 1
        start = grade_offsets[q]
        distinct = count_grades(grades[first : first + judged], values[start:], counts[start:])
        if distinct > 0 and values[start + distinct - 1] > LARGEST_GRADE:
            problem[0] = GRADE_TOO_LARGE
            return q
        grade_offsets[q + 1] = start + distinct
    problem[0] = FINE
    return len(offsets) - 1


@helper
def find_judgment(value, judged, table):
    """The row of the judgment of an id, or -1; `table` is as `index_judgments` made it."""
    mask = len(table) - 1
    slot = slot_of_id(value, mask)
    while table[slot] != 0 and judged[table[slot] - 1] != value:
        slot = (slot + 1) & mask
    return np.int64(table[slot]) - 1


@inlined
def is_same(ids, position, judged, row):
    """Ids are all that is compared."""
    return True


find_places = finder_by(is_same)


@helper
def compare_with_each(ids, judged, hits):
    """What `find_places` does by comparing each judged document with all ids."""
    positions, rows = hits.ranks, hits.rows
    hit_count = 0
    for row in range(len(judged)):
        seen = -1
        for first in range(0, len(ids), BLOCK):
            bits = find_equal(ids, first, judged[row])
            while bits != 0:
                if seen >= 0:
                    return -1 - (first + trailing_zeros(bits))
                seen = first + trailing_zeros(bits)
                bits &= bits - ONE
        if seen >= 0:
            positions[hit_count], rows[hit_count] = seen, row
            hit_count += 1
    return hit_count


@helper
def look_up_each(ids, judged, table, marks, hits):
    """The same, in order, by a look-up of each id among the judged documents."""
    positions, rows = hits.ranks, hits.rows
    hit_count = repeated = 0
    for i in range(len(ids)):
        row = find_judgment(ids[i], judged, table)
        if row < 0:
            continue
        if marks[row] != 0:
            repeated = -1 - i
            break
        marks[row] = 1
        positions[hit_count], rows[hit_count] = i, row
        hit_count += 1
    for h in range(hit_count):
        marks[rows[h]] = 0
    return repeated if repeated < 0 else hit_count


@helper
def prefetch_all(numbers):
    """Have numbers fetched into the nearest cache while other things are done."""
    for i in range(0, len(numbers), LINE // numbers.itemsize):
        prefetch(numbers, i * numbers.itemsize)


@helper
def find_judged(ids, keys, judged, table, unique, scratch, hits):
    """Find the judged ones among ids: how many, or -1 - i if ids[i] is found to be a repetition,
    or HAS_NEGATIVE if one of them is not an id.

    `keys` are the scores, which are wanted next. `table` is the query's, as `index_judgments` made
    it. Unless the ids are known to be `unique`, all repetitions are found, else those of judged
    ids. Hits become positions among the ids, in order, and rows of the judgments.
    """
    # Look up the smaller set in the larger one.
    look_up_ids = len(judged) > len(ids)
    needs_index = not unique or (len(judged) > FEW and not look_up_ids)
    # First, because this pass already loads the row into the cache.
    if has_negative(ids):
        return HAS_NEGATIVE
    base, by_hash, index = 0, False, scratch.row_index
    # Columns are listed up to 64 in excess.
    positions, columns = scratch.work[: len(ids) + BLOCK], scratch.work[len(ids) + BLOCK :]
    if needs_index:
        prefetch_all(keys)
        base, by_hash = index_row(ids, index)
    if not unique:
        repeated = find_repetition(ids, base, index.links, positions)
        if repeated >= 0:
            return -1 - repeated
    if look_up_ids:
        return look_up_each(ids, judged, table, scratch.marks, hits)
    if needs_index:
        hit_count = find_places(ids, ids, judged, judged, base, by_hash, index, hits)
    else:
        hit_count = compare_with_each(ids, judged, hits)
    sort_by_place(hits, hit_count, positions, columns)
    return hit_count


@helper
def copy_documents(ids, scores, row_ids, row_scores):
    """Copy the documents of a row without padding; how many, and the place of an id below -1."""
    count = 0
    for i in range(len(ids)):
        if ids[i] < PADDING:
            return 0, i
        row_ids[count] = ids[i]
        if len(scores) > 0:
            row_scores[count] = scores[i]
        count += ids[i] != PADDING
    return count, -1


@helper
def list_all(hits, hit_count, count):
    """Make hits of all documents, those that are not judged with the row -1."""
    positions, rows = hits.ranks, hits.rows
    h = hit_count - 1
    for i in range(count - 1, -1, -1):
        if h >= 0 and positions[h] == i:
            positions[i], rows[i] = i, rows[h]
            h -= 1
        else:
            positions[i], rows[i] = i, -1


@helper
def rank_as_given(keys, hits, hit_count):
    """Let hits, whose positions are in order, have ranks by these, and note which scores tie."""
    results = len(keys)
    low = high = 0
    for h in range(hit_count):
        position = hits.ranks[h]
        hits.ranks[h] = position + 1
        if position < high or position >= results:
            continue
        low, high = position, position + 1
        while low > 0 and keys[low - 1] == keys[position]:
            low -= 1
        while high < results and keys[high] == keys[position]:
            high += 1
        if high - low > 1:
            note_tie(hits, low, high)


@helper
def judge_row(ids, scores, row_scores, judged, table, rows, options, scratch, hits, problem):
    """Rank the documents of a row of the arrays, and find the judged ones, and if asked the others.

    row_scores is memory for the scores. Rows of hits that are not judged become -1. Returns how
    many hits, and how many were retrieved; problem[0] becomes FINE, or what is wrong with the
    documents at problem[2] and problem[3].
    """
    problem[0], hits.ties.count[0] = FINE, 0
    unique = rows.unique != 0
    count = len(ids)
    while count > 0 and ids[count - 1] == PADDING:
        count -= 1
    ids, keys = ids[:count], scores[:count]
    hit_count = find_judged(ids, keys, judged, table, unique, scratch, hits)
    if hit_count == HAS_NEGATIVE:
        count, negative = copy_documents(ids, keys, scratch.ids, row_scores)
        if negative >= 0:
            problem[0], problem[2] = NEGATIVE_ID, negative
            return 0, 0
        ids, keys = scratch.ids[:count], row_scores[:count]
        hit_count = find_judged(ids, keys, judged, table, unique, scratch, hits)
    if rows.ascending:
        for i in range(count):
            row_scores[i] = -keys[i]
        keys = row_scores[:count]
    if hit_count < 0:
        column = -1 - hit_count
        twin = 0
        while ids[twin] != ids[column] or twin == column:
            twin += 1
        problem[0], problem[2], problem[3] = RUN_REPEATS, min(column, twin), max(column, twin)
        return 0, count
    if options.list_unjudged:
        list_all(hits, hit_count, count)
        hit_count = count
    if rows.in_order:
        rank_as_given(keys, hits, hit_count)
        return hit_count, count
    order = order_of(keys)
    if order == IN_ANY_ORDER:
        for column in range(count):
            if keys[column] != keys[column]:
                problem[0], problem[2] = SCORE_IS_NAN, column
                return hit_count, count
    single = keys.itemsize == 4
    rank_ids(ids, keys, order, single, hits, hit_count, sort_scratch(scratch.work, count))
    return hit_count, count


@helper
def list_absent(hits, options):
    """The placeholder that stands for the results of a query without any: one unjudged document."""
    if options.list_unjudged:
        hits.ranks[0], hits.rows[0] = 1, -1
    return options.list_unjudged, 1


@helper
def judge_rows(rows, scores, row_scores, matched, qrels, options, scratch, judged):
    """Judge the matched rows of the arrays by the judgments of their queries.

    scores: those beside the ids, or none; row_scores is memory for those of a row. Returns how many
    rankings there are then, at the first problem, whose index among the matched becomes problem[1],
    or at the end. A query without a row is left out, or evaluated with a placeholder and then noted
    as -1 - query; the ranking of a row without ids is empty.
    """
    evaluated, done, rankings, (offsets, lows, highs), problem = judged
    width = rows.width
    with_scores = min(len(scores), 1)
    for i in range(len(matched.rankings)):
        query, first = matched.judgments[i], matched.rankings[i] * width
        start, stop = qrels.offsets[query], qrels.offsets[query + 1]
        ties = QueryTies(lows[offsets[done] :], highs[offsets[done] :], offsets[done + 1 :])
        ties.count[0] = 0
        hits = TiedHits(rankings.ranks[rankings.offsets[done] :], scratch.rows, ties)
        evaluated[done] = query
        if matched.rankings[i] >= 0:
            hit_count, results = judge_row(
                rows.ids[first : first + width],
                scores[first * with_scores : (first + width) * with_scores],
                row_scores,
                qrels.docs[start:stop],
                qrels.tables[qrels.table_offsets[query] : qrels.table_offsets[query + 1]],
                rows,
                options,
                scratch,
                hits,
                problem,
            )
            problem[1] = i
            if problem[0] != FINE:
                return done
        elif rows.with_absent:
            hit_count, results = list_absent(hits, options)
            evaluated[done] = -1 - query
        else:
            continue
        copy_counts(qrels, query, options, done, rankings)
        depth = min(results, options.max_retrieved)
        list_hits(hits, hit_count, depth, qrels.grades[start:stop], options, done, rankings)
        offsets[done + 1] += offsets[done]
        done += 1
    problem[0] = FINE
    return done


@kernel(
    "int64(IdRows, float32[::1], float32[::1], Matched, IndexedQrels, RankingOptions, RowScratch,"
    " JudgedRows)"
)
def judge_single_arrays(rows, scores, row_scores, matched, qrels, options, scratch, judged):
    """`judge_rows` for scores of single precision."""
    return judge_rows(rows, scores, row_scores, matched, qrels, options, scratch, judged)


@kernel(
    "int64(IdRows, float64[::1], float64[::1], Matched, IndexedQrels, RankingOptions, RowScratch,"
    " JudgedRows)"
)
def judge_double_arrays(rows, scores, row_scores, matched, qrels, options, scratch, judged):
    """`judge_rows` for scores of double precision."""
    return judge_rows(rows, scores, row_scores, matched, qrels, options, scratch, judged)


# Documents up to which counting the better scores of each takes less time than a sort.
COUNTED_SINGLE, COUNTED_DOUBLE = 192, 64
# First documents up to which finding them is cheaper than putting all in order.
MOST_FIRST = 64
# Scores that the processor compares at once: this many more than there are documents are read.
LANES = 8


@helper
def order_by_counting(keys, count, above, work):
    """Put the documents in order, equal scores as they stand: those with one score have equally
    many above them. There is room for keys behind the last.
    """
    taken = work.positions
    read = (count + LANES - 1) // LANES * LANES
    keys[count:read] = -np.inf
    above[:read] = 0
    taken[:count] = 0
    # Four scores are compared with all, which the processor takes eight at a time.
    for i in range(0, read, 4):
        first, second, third, fourth = keys[i], keys[i + 1], keys[i + 2], keys[i + 3]
        for j in range(read):
            key = keys[j]
            better = above[j] + (first > key) + (second > key)
            above[j] = np.int32(better + (third > key) + (fourth > key))
    for i in range(count):
        rank = np.int64(above[i])
        work.order[rank + taken[rank]] = i
        taken[rank] += 1


@helper
def order_first(keys, count, depth, groups, above, work):
    """Put the first `depth` documents in order; False where too many may be among them.

    The documents are dealt out to more groups than that. No score below the best ones of `depth`
    groups is among the first. There is room for as many keys again.
    """
    read = (count + groups - 1) // groups * groups
    keys[count:read] = -np.inf
    best = keys[:groups]
    for first in range(groups, read, groups):
        row, better = keys[first : first + groups], keys[read + first :]
        # Not in place, which some processors do slowly.
        for group in range(groups):
            better[group] = max(best[group], row[group])
        best = better
    order_by_counting(best, groups, above, work)
    least = best[work.order[depth - 1]]
    candidates, documents = 0, work.words
    for i in range(count):
        documents[candidates] = i
        candidates += keys[i] >= least
    if candidates > COUNTED_SINGLE:
        return False
    for i in range(candidates):
        keys[i] = keys[documents[i]]
    order_by_counting(keys, candidates, above, work)
    for i in range(depth):
        work.order[i] = documents[work.order[i]]
    return True


@helper
def any_repeated(taken, depth):
    """Whether a rank up to the depth was taken by several documents, those with equal scores."""
    most = 0
    for rank in range(depth):
        most = max(most, taken[rank])
    return most > 1


@helper
def order_documents(scores, count, depth, keys, above, work):
    """Put the documents of a query in order: descending scores, equal ones as they stand.

    depth: how many of the first are needed. keys: memory for the scores as they are compared.
    Returns whether one of these ties.
    """
    single = keys.itemsize == 4
    # Enough that the first documents seldom share one.
    groups = (depth + depth // 2 + LANES - 1) // LANES * LANES
    few = 0 < depth <= MOST_FIRST and 2 * groups <= count
    for i in range(count):
        keys[i] = scores[i]
    if few and order_first(keys, count, depth, groups, above, work):
        return any_repeated(work.positions, depth)
    if count <= (COUNTED_SINGLE if single else COUNTED_DOUBLE):
        order_by_counting(keys, count, above, work)
        return any_repeated(work.positions, depth)
    put_in_order(keys[:count], single, work)
    tied = False
    for i in range(1, min(depth + 1, count)):
        tied |= keys[work.order[i]] == keys[work.order[i - 1]]
    return tied


@kernel(
    "int64(LabelledRows, int64[::1], int64, RankingOptions, LabelScratch, Rankings, int64[::1])"
)
def judge_labels(labelled, queries, depth, options, scratch, rankings, problem):
    """Judge the rankings of the queries: each document is retrieved, and its label its grade.

    depth: the last rank that is looked at, unless fewer documents count as retrieved. Returns how
    many were judged; problem[0] becomes FINE, or what is wrong with the next; problem[1] says
    whether a document that is looked at has the same score as another one.
    """
    tied = False
    for i in range(len(queries)):
        start, stop = labelled.offsets[queries[i]], labelled.offsets[queries[i] + 1]
        count, grades = stop - start, labelled.labels[start:stop]
        retrieved = min(count, options.max_retrieved)
        listed = min(count, depth) if retrieved == count else retrieved
        scores, above = labelled.scores[start:stop], scratch.above
        work = sort_scratch(scratch.work, count)
        if options.single_precision:
            tied |= order_documents(scores, count, listed, scratch.singles, above, work)
        else:
            tied |= order_documents(scores, count, listed, scratch.keys, above, work)
        problem[0] = count_judgments(grades, options, i, rankings)
        if problem[0] != FINE:
            return i
        first = rankings.offsets[i]
        for j in range(listed):
            grade = grades[work.order[j]]
            rankings.ranks[first + j], rankings.grades[first + j] = j + 1, grade
        relevant = rankings.num_rel[i]
        if retrieved < count:
            relevant = 0
            for grade in rankings.grades[first : first + retrieved]:
                relevant += grade >= options.level
        rankings.offsets[i + 1] = first + listed
        rankings.num_ret[i], rankings.num_rel_ret[i] = retrieved, relevant
    problem[0], problem[1] = FINE, tied
    return len(queries)
