"""Judging a run while it is read: a query is done with as soon as its lines end.

A piece of the run goes in, and others follow it without the caller (kernels/parsing/read_on.py) as
long as that can be; how much could be dealt with comes back, and the rest is given again with what
follows it in the file. Whatever is not as usual ends the streaming, and the readers of whole files
find out what it is: nothing is reported from here.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.judging.judged_documents import (
    GIVEN_UP,
    find_hits,
    rank_in_order,
    read_scores,
)
from fastrank.kernels.judging.listing import list_hits
from fastrank.kernels.judging.memory import hash_documents, judge_scores
from fastrank.kernels.parsing.block_index import index_lines
from fastrank.kernels.parsing.fields import begin_text, next_query, take_lines
from fastrank.kernels.parsing.read_on import NOTHING, READ, last_tag, read_on
from fastrank.kernels.parsing.score_order import check_order
from fastrank.kernels.texts.text import find_text
from fastrank.native.codes import (
    DESCENDING,
    DONE,
    END_OF_BLOCK,
    ENDED,
    FINE,
    INDEXED,
    LISTED,
    MAX_RETRIEVED,
    NEW_QUERY,
    NOT_STREAMED,
    POSITION,
    QUERY,
    QUERY_LENGTH,
    SCATTERED,
    SINGLE_PRECISION,
    SIZE,
    STATUS,
)
from fastrank.native.declare import helper, kernel


@helper
def judge_in_order(run, scores, results, judgments, first, judged, options, work, hits):
    """What `judge_scores` does, for scores that descend: hardly any of them is read.

    GIVEN_UP where that would not be right or not be quick.
    """
    words, judged_hashes, places, index, _, hashes = work
    scratch = (words, judged_hashes, places, index)
    found = find_hits(run, hashes, results, judgments, first, judged, scratch, hits)
    single = options[SINGLE_PRECISION] != 0
    if found == GIVEN_UP or rank_in_order(run, scores, results, hits, found, single):
        return found
    return np.int64(GIVEN_UP)


@helper
def move_lines(columns, count, by):
    """Let what is noted of lines say where they are once their text has moved to the front."""
    doc_starts, _, score_starts, _ = columns
    for i in range(count):
        doc_starts[i] -= by
        score_starts[i] -= by


@kernel(
    "int64(uint8[::1],"
    " uint8[::1], int64[::1], int64[::1], int64[::1],"
    " uint8[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " uint8[::1], uint8[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int32[::1], int32[::1], int64[::1],"
    " float64[::1], float64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1])"
)
def stream_run(
    text,
    queries_text,
    query_starts,
    query_lengths,
    query_table,
    qrels_text,
    qrels_offsets,
    qrels_starts,
    qrels_lengths,
    grades,
    options,
    field_starts,
    field_ends,
    newlines,
    doc_starts,
    doc_lengths,
    score_starts,
    score_lengths,
    hashes,
    words,
    judged_hashes,
    places,
    numbers,
    links,
    clock,
    values,
    keys,
    hit_ranks,
    hit_rows,
    ranks,
    codes,
    first_listed,
    listed_counts,
    num_ret,
    num_rel_ret,
    problem,
    cursor,
    state,
):
    """Judge the queries in text[: cursor[SIZE]], and in what comes then, as far as `read_on` goes.
    Returns how many bytes of what the text holds in the end are done with.

    All of them if the run has ended there (cursor[ENDED]), else what comes before the last query.
    Listed documents are appended to `ranks` and `codes`, state[LISTED] of them so far; of query
    q they are listed_counts[q], from first_listed[q] - 1 on (0: no results seen yet). Scratch has
    as many places as the text can have lines, and that of `judge_scores` is judge.py's.
    """
    ended = cursor[ENDED] != 0
    run, scores = (text, doc_starts, doc_lengths), (score_starts, score_lengths)
    index = (field_starts, field_ends, newlines)
    columns = (doc_starts, doc_lengths, score_starts, score_lengths)
    judgments = (qrels_text, qrels_starts, qrels_lengths)
    hits = (hit_ranks, hit_rows)
    work = (words, judged_hashes, places, (numbers, links, clock), keys, hashes)
    begin_text(cursor, 0)
    query, begun, results, order = np.int64(-1), np.int64(0), np.int64(0), DESCENDING
    kind = END_OF_BLOCK
    while True:
        over = kind == END_OF_BLOCK and cursor[INDEXED] == cursor[SIZE]
        if over and not ended:
            kept = begun if query >= 0 else last_tag(cursor)
            done = read_on(text, kept, cursor)
            if done != NOTHING:
                begun -= kept
                move_lines(columns, results, kept)
                over = done != READ
        if query >= 0 and (kind == NEW_QUERY or (over and ended)):
            first = qrels_offsets[query]
            judged = qrels_offsets[query + 1] - first
            found = np.int64(GIVEN_UP)
            if order == DESCENDING:
                found = judge_in_order(
                    run, scores, results, judgments, first, judged, options, work, hits
                )
            if found == GIVEN_UP:
                if not read_scores(text, scores, results, values):
                    state[STATUS] = NOT_STREAMED
                    break
                found = judge_scores(
                    run, values, results, judgments, first, judged, options, work, hits, problem
                )
                if problem[0] != FINE:
                    state[STATUS] = NOT_STREAMED
                    break
            listed = state[LISTED]
            kept = min(results, options[MAX_RETRIEVED])
            listed_counts[query], num_ret[query], num_rel_ret[query] = list_hits(
                hits, found, kept, grades[first:], options, ranks[listed:], codes[listed:]
            )
            first_listed[query] = listed + 1
            state[LISTED] = listed + listed_counts[query]
            query = np.int64(-1)
        if over:
            break
        if kind < NEW_QUERY:
            state[STATUS] = kind
            break
        if kind == END_OF_BLOCK:
            index_lines(text, index, cursor)
        elif kind == NEW_QUERY:
            query = find_text(
                text,
                cursor[QUERY],
                cursor[QUERY_LENGTH],
                (queries_text, query_starts, query_lengths),
                query_table,
            )
            if query >= 0 and first_listed[query] != 0:
                state[STATUS] = SCATTERED
                break
            begun, results, order = cursor[POSITION], np.int64(0), DESCENDING
        first = results if query >= 0 else np.int64(0)
        results = take_lines(text, kind, index, cursor, first, columns)
        if query >= 0:
            hash_documents(run, first, results, True, hashes)
            if order == DESCENDING:
                order = check_order(text, score_starts, score_lengths, first, results)
        kind = next_query(text, results - first, index, cursor)
    if state[STATUS] != DONE or ended:
        return cursor[SIZE]
    return begun if query >= 0 else cursor[POSITION]
