"""The results of a run gathered by query, wherever their lines stand, and judged from there.

They are kept on pages of one buffer. A page has results of one query, and at its end a link to the
query's next page, 0 if there is none. Pages are taken in turn, so that those being written lie
close together: a few megabytes however long the run is, where a place of its own for every query
would cost a miss of the caches and of the system's table of pages for nearly every line.

A result is the length of the document's id, the score, and the id. Where no result follows the
memory is still zero, and no id is empty. Pages begin at multiples of their size, a power of two;
at 0 there is none.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.matching.streaming import LETTER, begin_unknown, note_unknown
from fastrank.core.kernels.matching.texts import hash_documents, judge_query
from fastrank.core.kernels.parsing.any_lines import take_any_lines
from fastrank.core.kernels.parsing.block_index import index_block
from fastrank.core.kernels.parsing.fields import begin_text, next_query
from fastrank.core.kernels.parsing.run_columns import READ, last_tag, read_on
from fastrank.core.kernels.simd.instructions import (
    as_double,
    as_word,
    load_word_inside,
    prefetch,
    store_word,
)
from fastrank.core.kernels.texts.numbers import read_decimal
from fastrank.core.kernels.texts.text import look_up
from fastrank.core.native.codes import (
    DONE,
    END_OF_BLOCK,
    EXACT,
    FINE,
    NEW_QUERY,
    NO_PAGE_LEFT,
    NOT_STREAMED,
    PARTIAL,
)
from fastrank.core.native.declare import helper, inlined, kernel
from fastrank.core.native.records import Texts

U = np.uint64
# The length of an id in one byte, and a score.
HEADER = 9
LINK = 8
LONGEST_ID = 255
CACHE_LINE = 64


@inlined
def put_result(buffer, offset, score, text, start, length):
    """Write a result, and zeros up to 7 bytes behind it; 8 bytes of text come behind the id."""
    store_word(buffer, offset, U(length))
    store_word(buffer, offset + 1, as_word(score))
    offset += HEADER
    while length > 8:
        store_word(buffer, offset, load_word_inside(text, start))
        offset, start, length = offset + 8, start + 8, length - 8
    word = load_word_inside(text, start)
    beyond = U(64 - 8 * length)
    store_word(buffer, offset, word << beyond >> beyond)


@helper
def next_page(buffer, room, offset):
    """Take a free page, linked to the page of `offset` (0: it is the first); 0 if none is free."""
    page, size = room.free, room.page_size
    if page + size > room.end:
        return np.int64(0)
    room.free = page + size
    if offset != 0:
        store_word(buffer, (offset | size - 1) + 1 - LINK, U(page))
    return page


@helper
def take_results(buffer, page, size, count, results):
    """Note the results of a query from its first page on, into row `count` and on.

    Returns the next free row.
    """
    docs, scores = results
    while page != 0:
        offset, stop = page, page + size - LINK
        page = np.int64(load_word_inside(buffer, stop))
        for line in range(0, size, CACHE_LINE):
            prefetch(buffer, page + line)
        while offset < stop and buffer[U(offset)] != 0:
            length = np.int64(buffer[U(offset)])
            scores[U(count)] = as_double(load_word_inside(buffer, offset + 1))
            docs.starts[U(count)], docs.lengths[U(count)] = offset + HEADER, length
            offset += HEADER + length
            count += 1
    return count


@helper
def keep_results(text, taken, fields, pages, refused):
    """Keep the results of judged queries among the lines taken; DONE, or why not."""
    docs, scores = fields.results
    size = pages.room.page_size
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
        offset = pages.ends[query]
        if offset & size - 1 > size - LINK - HEADER - length or offset == 0:
            offset = next_page(pages.buffer, pages.room, offset)
            if offset == 0:
                return NO_PAGE_LEFT
            if pages.counts[query] == 0:
                pages.firsts[query] = offset
        put_result(pages.buffer, offset, score, text, docs.starts[U(i)], length)
        pages.ends[query] = offset + HEADER + length
        pages.counts[query] += 1
    return DONE if unread & refused == EXACT else NOT_STREAMED


@kernel("int64(LineReader, TextTable, ScatteredFields, ResultPages, UnknownQueries, Reading)")
def collect_run(reader, query_table, fields, pages, unknown, state):
    """Keep the results of known queries in text[: cursor.size], and in what comes then, as far as
    `read_on` goes, or until there is no room for the ids of unknown queries. Returns how many bytes
    of what the text holds in the end are done with.

    The table of the queries is that of `index_texts`.
    """
    text, _, cursor = reader
    queries, numbers, _ = fields
    ended = cursor.ended != 0
    begin_text(cursor)
    begin_unknown(unknown, state)
    kind = END_OF_BLOCK
    while kind >= NEW_QUERY:
        if kind == END_OF_BLOCK:
            at_end = cursor.indexed == cursor.size
            if at_end and (ended or read_on(reader, last_tag(cursor)) != READ):
                break
            index_block(reader)
        taken = take_any_lines(reader, kind, fields)
        room = taken
        for i in range(taken):
            start, length = queries.starts[U(i)], queries.lengths[U(i)]
            numbers[U(i)] = look_up(text, start, length, query_table)
            if numbers[U(i)] < 0 and not note_unknown(text, start, length, unknown, state):
                room = i
                break
        if state.status == DONE:
            state.status = keep_results(text, room, fields, pages, state.refused)
        if state.status != DONE:
            return cursor.size
        if room < taken:
            return queries.starts[room]
        kind = next_query(reader, taken)
    if kind < NEW_QUERY:
        state.status = kind
    return cursor.size if kind < NEW_QUERY or ended else cursor.position


@kernel(
    "int64(Qrels, FilledPages, int64[::1], RankingOptions, Results, JudgingScratch,"
    " RankingsAndTies, int64[::1])"
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
