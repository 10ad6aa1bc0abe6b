"""The results of a run gathered by query, wherever their lines stand, and judged from there."""

from __future__ import annotations

import numpy as np

from fastrank.kernels.judging.memory import hash_documents, judge_query
from fastrank.kernels.judging.result_pages import (
    HEADER,
    LINK,
    LONGEST_ID,
    next_page,
    put_result,
    take_results,
)
from fastrank.kernels.judging.unknown_queries import LETTER, begin_unknown, note_unknown
from fastrank.kernels.parsing.any_lines import take_any_lines
from fastrank.kernels.parsing.block_index import index_block
from fastrank.kernels.parsing.fields import begin_text, next_query
from fastrank.kernels.parsing.read_on import READ, last_tag, read_on
from fastrank.kernels.texts.index import look_up
from fastrank.kernels.texts.numbers import read_decimal
from fastrank.native.codes import (
    DONE,
    END_OF_BLOCK,
    ENDED,
    EXACT,
    FINE,
    INDEXED,
    NEW_QUERY,
    NO_PAGE_LEFT,
    NOT_STREAMED,
    PAGE_SIZE,
    PARTIAL,
    POSITION,
    REFUSED,
    SIZE,
    STATUS,
)
from fastrank.native.declare import helper, kernel
from fastrank.native.records import Texts

U = np.uint64


@helper
def keep_results(text, taken, fields, pages, refused):
    """Keep the results of judged queries among the lines taken; DONE, or why not."""
    docs, scores = fields.results
    size = pages.room[PAGE_SIZE]
    longest = min(LONGEST_ID, size - HEADER - LINK)
    unread = EXACT
    for i in range(taken):
        query = fields.numbers[U(i)]
        if query < 0:
            if text[scores.starts[U(i)]] >= LETTER:
                unread |= PARTIAL
            continue
        start, length = scores.starts[U(i)], docs.lengths[U(i)]
        if length > longest:
            return NOT_STREAMED
        status, score = read_decimal(text, start, start + scores.lengths[U(i)])
        unread |= status
        place = pages.ends[query]
        if place & size - 1 > size - LINK - HEADER - length or place == 0:
            place = next_page(pages.buffer, pages.room, place)
            if place == 0:
                return NO_PAGE_LEFT
            if pages.counts[query] == 0:
                pages.firsts[query] = place
        put_result(pages.buffer, place, score, text, docs.starts[U(i)], length)
        pages.ends[query] = place + HEADER + length
        pages.counts[query] += 1
    return DONE if unread & refused == EXACT else NOT_STREAMED


@kernel("int64(LineReader, TextTable, ScatteredFields, ResultPages, UnknownQueries, int64[::1])")
def collect_run(reader, known, fields, pages, unknown, state):
    """Keep the results of known queries in text[: cursor[SIZE]], and in what comes then, as far as
    `read_on` goes, or until there is no room for the ids of unknown queries. Returns how many bytes
    of what the text holds in the end are done with.

    The table of the queries is that of `index_texts`.
    """
    text, _, cursor = reader
    queries, numbers, _ = fields
    ended = cursor[ENDED] != 0
    begin_text(cursor, 0)
    begin_unknown(unknown, state)
    kind = END_OF_BLOCK
    while kind >= NEW_QUERY:
        if kind == END_OF_BLOCK:
            at_end = cursor[INDEXED] == cursor[SIZE]
            if at_end and (ended or read_on(reader, last_tag(cursor)) != READ):
                break
            index_block(reader)
        taken = take_any_lines(reader, kind, fields)
        room = taken
        for i in range(taken):
            start, length = queries.starts[U(i)], queries.lengths[U(i)]
            numbers[U(i)] = look_up(text, start, length, known)
            if numbers[U(i)] < 0 and not note_unknown(text, start, length, unknown, state):
                room = i
                break
        if state[STATUS] == DONE:
            state[STATUS] = keep_results(text, room, fields, pages, state[REFUSED])
        if state[STATUS] != DONE:
            return cursor[SIZE]
        if room < taken:
            return queries.starts[room]
        kind = next_query(reader, taken)
    if kind < NEW_QUERY:
        state[STATUS] = kind
    return cursor[SIZE] if kind < NEW_QUERY or ended else cursor[POSITION]


@kernel(
    "int64(Qrels, FilledPages, int64[::1], int64[::1], Results, JudgingScratch, RankingsAndTies,"
    " int64[::1])"
)
def judge_pages(qrels, pages, queries, options, results, scratch, judged, problem):
    """Judge the results of `queries` in turn, those that each part has on its pages.

    Stops at the first with a problem; returns how many queries come before it. `results` is memory
    for those of any query.
    """
    buffer, firsts, size, parts = pages
    docs = Texts(buffer, results.docs.starts, results.docs.lengths)
    everything = len(firsts) // parts
    for i in range(len(queries)):
        query = queries[i]
        count = np.int64(0)
        for part in range(parts):
            count = take_results(buffer, firsts[part * everything + query], size, count, results)
        hash_documents(docs, 0, count, True, scratch.hashes)
        judge_query(i, docs, results.scores, count, qrels, query, options, scratch, judged, problem)
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
