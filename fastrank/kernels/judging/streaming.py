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
    QueryTies,
    TiedHits,
    find_hits,
    rank_in_order,
    read_scores,
)
from fastrank.kernels.judging.memory import hash_documents, judge_scores
from fastrank.kernels.judging.rankings import write_hits
from fastrank.kernels.judging.unknown_queries import LETTER, begin_unknown, note_unknown
from fastrank.kernels.parsing.block_index import index_lines
from fastrank.kernels.parsing.fields import SCORE, begin_text, next_query, take_lines
from fastrank.kernels.parsing.read_on import NOTHING, READ, last_tag, read_on
from fastrank.kernels.parsing.score_order import check_order
from fastrank.kernels.texts.text import find_text
from fastrank.native.codes import (
    DESCENDING,
    DONE,
    END_OF_BLOCK,
    ENDED,
    FIELD_STARTS,
    FINE,
    INDEXED,
    LISTED,
    MAX_RETRIEVED,
    NEW_QUERY,
    NOT_STREAMED,
    PARTIAL,
    POSITION,
    QUERY,
    QUERY_LENGTH,
    REFUSED,
    SCATTERED,
    SINGLE_PRECISION,
    SIZE,
    STATUS,
)
from fastrank.native.declare import helper, kernel
from fastrank.native.records import Texts


@helper
def judge_in_order(docs, scores, results, qrels, query, options, scratch, hits):
    """What `judge_scores` does, for scores that descend: hardly any of them is read.

    GIVEN_UP where that would not be right or not be quick.
    """
    found = find_hits(docs, results, qrels, query, scratch, hits)
    single = options[SINGLE_PRECISION] != 0
    if found == GIVEN_UP or rank_in_order(docs, scores, results, hits, found, single):
        return found
    return np.int64(GIVEN_UP)


@helper
def move_lines(fields, count, by):
    """Let what is noted of lines say where they are once their text has moved to the front."""
    for i in range(count):
        fields.docs.starts[i] -= by
        fields.scores.starts[i] -= by


@kernel(
    "int64(LineReader, TextTable, Qrels, int64[::1], StreamScratch, StreamedRankings, int64[::1],"
    " int64[::1])"
)
def stream_run(reader, queries, qrels, options, scratch, streamed, problem, state):
    """Judge the queries in text[: cursor[SIZE]], and in what comes then, as far as `read_on` goes,
    or until there is no room for the ids of queries without judgments. Returns how many bytes of
    what the text holds in the end are done with.

    All of them if the run has ended there (cursor[ENDED]), else what comes before the last query.
    state[LISTED] documents are listed so far.
    """
    text, _, cursor = reader
    fields, values, judging = scratch.fields, scratch.scores, scratch.judging
    scores, docs = fields.scores, Texts(text, fields.docs.starts, fields.docs.lengths)
    ended = cursor[ENDED] != 0
    begin_text(cursor, 0)
    begin_unknown(scratch.unknown, state)
    full, refused = False, state[REFUSED]
    query, begun, results, order = np.int64(-1), np.int64(0), np.int64(0), DESCENDING
    kind = END_OF_BLOCK
    while True:
        over = kind == END_OF_BLOCK and cursor[INDEXED] == cursor[SIZE]
        if over and not ended:
            kept = begun if query >= 0 else last_tag(cursor)
            done = read_on(reader, kept)
            if done != NOTHING:
                begun -= kept
                move_lines(fields, results, kept)
                over = done != READ
        if query >= 0 and (kind == NEW_QUERY or (over and ended)):
            found, first, stop = np.int64(GIVEN_UP), qrels.offsets[query], qrels.offsets[query + 1]
            ties = QueryTies(
                streamed.lows[first:stop], streamed.highs[first:stop], streamed.tie_counts[query:]
            )
            hits = TiedHits(scratch.ranks, judging.rows, ties)
            if order == DESCENDING:
                found = judge_in_order(docs, scores, results, qrels, query, options, judging, hits)
            if found == GIVEN_UP:
                if not read_scores(text, scores, results, values, refused):
                    state[STATUS] = NOT_STREAMED
                    break
                found = judge_scores(
                    docs, values, results, qrels, query, options, judging, hits, problem
                )
                if problem[0] != FINE:
                    state[STATUS] = NOT_STREAMED
                    break
            list_streamed(query, hits, found, results, qrels, options, streamed, state)
            query = np.int64(-1)
        if over:
            break
        if kind < NEW_QUERY:
            state[STATUS] = kind
            break
        if kind == END_OF_BLOCK:
            index_lines(reader)
        elif kind == NEW_QUERY:
            query = find_text(text, cursor[QUERY], cursor[QUERY_LENGTH], queries)
            if query >= 0 and streamed.first_listed[query] != 0:
                state[STATUS] = SCATTERED
                break
            begun, results, order = cursor[POSITION], np.int64(0), DESCENDING
            start, length = cursor[QUERY], cursor[QUERY_LENGTH]
            if query < 0 and refused & PARTIAL and text[cursor[FIELD_STARTS + SCORE]] >= LETTER:
                state[STATUS] = NOT_STREAMED
                break
            if query < 0 and not note_unknown(text, start, length, scratch.unknown, state):
                full = True
                break
        first = results if query >= 0 else np.int64(0)
        results = take_lines(reader, kind, first, fields)
        if query >= 0:
            hash_documents(docs, first, results, True, judging.hashes)
            if order == DESCENDING:
                order = check_order(text, scores, first, results, refused)
        kind = next_query(reader, results - first)
    if state[STATUS] != DONE or (ended and not full):
        return cursor[SIZE]
    return begun if query >= 0 else cursor[POSITION]


@helper
def list_streamed(query, hits, found, results, qrels, options, streamed, state):
    """List the hits of a query behind those of the queries before."""
    listed, kept = state[LISTED], min(results, options[MAX_RETRIEVED])
    grades = qrels.grades[qrels.offsets[query] : qrels.offsets[query + 1]]
    count, streamed.num_ret[query], streamed.num_rel_ret[query] = write_hits(
        hits, found, kept, grades, options, streamed.ranks[listed:], streamed.grades[listed:]
    )
    streamed.first_listed[query], streamed.listed_counts[query] = listed + 1, count
    state[LISTED] = listed + count
