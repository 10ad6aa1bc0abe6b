"""The results of a run gathered by query, wherever their lines stand, and judged from there."""

from __future__ import annotations

import numpy as np

from fastrank.kernels.judging.memory import hash_documents, judge_query
from fastrank.kernels.judging.scattered_records import (
    HEADER,
    LINK,
    LONGEST_ID,
    next_sheet,
    put_record,
    take_records,
)
from fastrank.kernels.parsing.any_lines import take_any_lines
from fastrank.kernels.parsing.block_index import index_block
from fastrank.kernels.parsing.fields import begin_text, next_query
from fastrank.kernels.parsing.read_on import READ, last_tag, read_on
from fastrank.kernels.texts.index import look_up
from fastrank.kernels.texts.numbers import EXACT, read_decimal
from fastrank.native.codes import (
    DONE,
    END_OF_BLOCK,
    ENDED,
    FINE,
    INDEXED,
    NEW_QUERY,
    NO_SHEET_LEFT,
    NOT_STREAMED,
    POSITION,
    SHEET_SIZE,
    SIZE,
    STATUS,
)
from fastrank.native.declare import helper, kernel

U = np.uint64


@helper
def keep_results(text, taken, numbers, columns, kept):
    """Put the results of judged queries among the lines taken on sheets; DONE, or why not."""
    doc_starts, doc_lengths, score_starts, score_lengths = columns
    counts, firsts, places, records, room = kept
    size = room[SHEET_SIZE]
    longest = min(LONGEST_ID, size - HEADER - LINK)
    unread = EXACT
    for i in range(taken):
        query = numbers[U(i)]
        if query < 0:
            continue
        start, length = score_starts[U(i)], doc_lengths[U(i)]
        if length > longest:
            return NOT_STREAMED
        status, score = read_decimal(text, start, start + score_lengths[U(i)])
        unread |= status
        place = places[query]
        if place & size - 1 > size - LINK - HEADER - length or place == 0:
            place = next_sheet(records, room, size, place)
            if place == 0:
                return NO_SHEET_LEFT
            if counts[query] == 0:
                firsts[query] = place
        put_record(records, place, score, text, doc_starts[U(i)], length)
        places[query] = place + HEADER + length
        counts[query] += 1
    return DONE if unread == EXACT else NOT_STREAMED


@kernel(
    "int64(uint8[::1],"
    " uint8[::1], int64[::1], int64[::1], int64[::1],"
    " uint8[::1], uint8[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], uint8[::1], int64[::1],"
    " int64[::1], int64[::1])"
)
def collect_run(
    text,
    queries_text,
    query_starts,
    query_lengths,
    query_index,
    field_starts,
    field_ends,
    newlines,
    line_queries,
    line_query_lengths,
    numbers,
    doc_starts,
    doc_lengths,
    score_starts,
    score_lengths,
    counts,
    firsts,
    places,
    records,
    room,
    cursor,
    state,
):
    """Keep the results of judged queries in text[: cursor[SIZE]], and in what comes then, as far as
    `read_on` goes. Returns how many bytes of what the text holds in the end are done with.

    counts[q] counts the results of query q; firsts[q] is its first sheet, places[q] where its next
    record goes.
    """
    ended = cursor[ENDED] != 0
    queries = (line_queries, line_query_lengths)
    columns = (doc_starts, doc_lengths, score_starts, score_lengths)
    texts = (queries_text, query_starts, query_lengths)
    kept = (counts, firsts, places, records, room)
    index = (field_starts, field_ends, newlines)
    begin_text(cursor, 0)
    kind = END_OF_BLOCK
    while kind >= NEW_QUERY:
        if kind == END_OF_BLOCK:
            at_end = cursor[INDEXED] == cursor[SIZE]
            if at_end and (ended or read_on(text, last_tag(cursor), cursor) != READ):
                break
            index_block(text, index, cursor)
        taken = take_any_lines(text, kind, index, cursor, queries, columns)
        for i in range(taken):
            start, length = line_queries[U(i)], line_query_lengths[U(i)]
            numbers[U(i)] = look_up(text, start, length, texts, query_index)
        state[STATUS] = keep_results(text, taken, numbers, columns, kept)
        if state[STATUS] != DONE:
            return cursor[SIZE]
        kind = next_query(text, taken, index, cursor)
    if kind < NEW_QUERY:
        state[STATUS] = kind
    return cursor[SIZE] if kind < NEW_QUERY or ended else cursor[POSITION]


@kernel(
    "int64(uint8[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " uint8[::1], int64, int64, int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], float64[::1],"
    " int64[::1], int64[::1], int64[::1], int32[::1], int32[::1], int64[::1],"
    " float64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1])"
)
def judge_records(
    qrels_text,
    qrels_offsets,
    qrels_starts,
    qrels_lengths,
    grades,
    records,
    sheet_size,
    parts,
    firsts,
    queries,
    options,
    starts,
    lengths,
    scores,
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
    """Judge the results of `queries` in turn, those that each of the `parts` has on its sheets.

    Stops at the first with a problem; returns how many queries come before it.
    """
    qrels = (qrels_text, qrels_offsets, qrels_starts, qrels_lengths, grades)
    run = (records, starts, lengths)
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
    everything = len(firsts) // parts
    for i in range(len(queries)):
        query = queries[i]
        results = np.int64(0)
        for part in range(parts):
            sheet = firsts[part * everything + query]
            results = take_records(records, sheet, sheet_size, results, starts, lengths, scores)
        hash_documents(run, 0, results, True, hashes)
        judge_query(i, run, scores, results, qrels, query, options, work, rows, judged, problem)
        if problem[0] != FINE:
            return i
    return len(queries)


@kernel("int64(int64, int64[::1], int64[::1])")
def add_counts(parts, counts, totals):
    """totals[q] becomes what all `parts` counted for query q; returns the largest of them."""
    queries = len(totals)
    most = np.int64(0)
    for query in range(queries):
        for part in range(parts):
            totals[query] += counts[part * queries + query]
        most = max(most, totals[query])
    return most
