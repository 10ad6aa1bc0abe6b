"""The lines of a run gathered by query as packed records, wherever they stand.

A record is written in one place, so that lines in random order cost one cache miss each.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.fields import begin_text, index_block, next_query, take_lines
from fastrank.kernels.instructions import as_double, as_word, load_word, store_word
from fastrank.kernels.judge import hash_documents, judge_query
from fastrank.kernels.numbers import EXACT, read_decimal
from fastrank.kernels.places import (
    BLOCK,
    COMMENTS,
    END_OF_BLOCK,
    ENDED,
    FINE,
    INDEXED,
    NEW_QUERY,
    NOT_STREAMED,
    POSITION,
    QUERY,
    QUERY_LENGTH,
    SIZE,
    STATUS,
)
from fastrank.kernels.text import find_text
from fastrank.native.declare import helper, kernel

U = np.uint64
# A score and the length of an id.
HEADER = 16


@kernel(
    "int64(uint8[::1], int64,"
    " uint8[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], uint8[::1], int64[::1], int64[::1])"
)
def collect_run(
    text,
    storing,
    queries_text,
    query_starts,
    query_lengths,
    query_table,
    ends,
    newlines,
    doc_starts,
    doc_lengths,
    score_starts,
    score_lengths,
    rows,
    places,
    records,
    cursor,
    state,
):
    """Count the lines of judged queries in text[: cursor[SIZE]], or when `storing` put them down.

    rows[q] counts the lines of query q, and places[q] is where its next record goes: a score, the
    length of the document's id, the id. Returns how many bytes are done with.
    """
    size, ended = cursor[SIZE], cursor[ENDED] != 0
    begin_text(cursor, 0)
    query = np.int64(-1)
    kind = END_OF_BLOCK
    while kind >= NEW_QUERY:
        if kind == END_OF_BLOCK:
            if cursor[INDEXED] == size:
                break
            stop = min(cursor[INDEXED] + BLOCK, size)
            index_block(text, stop, ended and stop == size, ends, newlines, cursor)
        elif kind == NEW_QUERY:
            query = find_text(
                text,
                cursor[QUERY],
                cursor[QUERY_LENGTH],
                (queries_text, query_starts, query_lengths),
                query_table,
            )
        taken = take_lines(
            text,
            kind,
            size,
            ends,
            newlines,
            cursor,
            0,
            doc_starts,
            doc_lengths,
            score_starts,
            score_lengths,
        )
        if query >= 0 and not storing:
            rows[query] += taken
            for i in range(taken):
                places[query] += HEADER + doc_lengths[i]
        elif query >= 0:
            place = places[query]
            for i in range(taken):
                stop = score_starts[i] + score_lengths[i]
                status, score = read_decimal(text, score_starts[i], stop)
                # There is less room than was counted in a file that changed since.
                if status != EXACT or place + HEADER + doc_lengths[i] > len(records):
                    state[STATUS] = NOT_STREAMED
                    return size
                store_word(records, place, as_word(score))
                store_word(records, place + 8, U(doc_lengths[i]))
                place += HEADER
                for j in range(doc_lengths[i]):
                    records[U(place + j)] = text[U(doc_starts[i] + j)]
                place += doc_lengths[i]
            places[query] = place
        kind = next_query(text, taken, cursor[COMMENTS] != 0, ends, newlines, cursor)
    if kind < NEW_QUERY:
        state[STATUS] = kind
    return size if kind < NEW_QUERY or ended else cursor[POSITION]


@kernel("int64(int64, int64[::1], int64[::1], int64[::1])")
def place_records(parts, rows, places, offsets):
    """From bytes per part and query to where records go: queries in order, parts in order.

    offsets[q] becomes the first byte of query q. Returns the largest number of lines of a query.
    """
    queries = len(offsets) - 1
    place = most = 0
    for query in range(queries):
        offsets[query] = place
        lines = 0
        for part in range(parts):
            at = part * queries + query
            size = places[at]
            places[at] = place
            place += size
            lines += rows[at]
        most = max(most, lines)
    offsets[queries] = place
    return most


@helper
def take_records(records, place, stop, starts, lengths, scores):
    """Unpack records[place:stop]; returns how many there are.

    -1 if they are not what was counted, as in a file that changed in between.
    """
    count = 0
    while place < stop:
        length = np.int64(load_word(records, place + 8))
        if count == len(starts) or not 0 <= length <= stop - place - HEADER:
            return -1
        scores[count] = as_double(load_word(records, place))
        starts[count], lengths[count] = place + HEADER, length
        place += HEADER + length
        count += 1
    return count


@kernel(
    "int64(uint8[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " uint8[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], float64[::1],"
    " int64[::1], int64[::1], int64[::1], float64[::1], int64[::1], int64[::1],"
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
    record_offsets,
    queries,
    options,
    starts,
    lengths,
    scores,
    words,
    table,
    places,
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
    """Judge the results of `queries` in turn, those of query q records[record_offsets[q] : ...].

    Stops at the first with a problem; returns how many queries come before it.
    """
    qrels = (qrels_text, qrels_offsets, qrels_starts, qrels_lengths, grades)
    run = (records, starts, lengths)
    work = (words, table, places, keys, hashes)
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
    for i in range(len(queries)):
        query = queries[i]
        place, stop = record_offsets[query], record_offsets[query + 1]
        results = take_records(records, place, stop, starts, lengths, scores)
        if results < 0:
            problem[0] = NOT_STREAMED
            return i
        hash_documents(run, 0, results, False, hashes)
        judge_query(i, run, scores, results, qrels, query, options, work, rows, judged, problem)
        if problem[0] != FINE:
            return i
    return len(queries)
