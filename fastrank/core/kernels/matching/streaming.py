"""Judging a run while it is read: a query is done with as soon as its lines end.

A piece of the run goes in, and others follow it without the caller (parsing/run_columns.py) as
long as that can be; how much could be dealt with comes back, and the rest is given again with what
follows it in the file. Whatever is not as usual ends the streaming, and the readers of whole files
find out what it is: nothing is reported from here. What the parts of a run gave is put together in
the order in which queries are evaluated.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.matching.rankings import count_judgments, write_hits
from fastrank.core.kernels.matching.ranks import QueryTies, TiedHits, sort_scratch
from fastrank.core.kernels.matching.texts import (
    GIVEN_UP,
    find_hits,
    hash_documents,
    judge_scores,
    rank_streamed,
    read_scores,
)
from fastrank.core.kernels.parsing.block_index import NEWLINE, index_lines
from fastrank.core.kernels.parsing.fields import SCORE, begin_text, next_query, take_lines
from fastrank.core.kernels.parsing.run_columns import NOTHING, READ, last_tag, read_on
from fastrank.core.kernels.parsing.score_order import check_order
from fastrank.core.kernels.simd.instructions import load_word_inside, store_word
from fastrank.core.kernels.texts.text import equal_inside, find_text, hash_text_inside
from fastrank.core.native.codes import (
    DESCENDING,
    DONE,
    END_OF_BLOCK,
    FINE,
    NEW_QUERY,
    NOT_STREAMED,
    PARTIAL,
    SCATTERED,
)
from fastrank.core.native.declare import helper, kernel
from fastrank.core.native.records import Texts

U = np.uint64
# What is copied and compared are words, so that bytes behind an id must be there, too.
SPARE = 8
# Scores that begin with it or with what comes behind it are those of headers, infinity or NaN. Only
# this is looked at: to read the score of every line would take 4% longer for scattered lines.
LETTER = 65


@helper
def begin_unknown(unknown, state):
    """Forget the ids: the caller has taken them."""
    unknown.recent[:] = 0
    state.unknown_bytes = 0


@helper
def note_unknown(text, start, length, unknown, state):
    """Append an id and a newline, unless it was noted a short while ago; False if there is no room.

    8 bytes at least come behind the id. Nothing is noted where there is no memory for ids. There
    never is room for one as long as that.
    """
    ids, recent = unknown
    if len(ids) == 0:
        return True
    used = state.unknown_bytes
    slot = hash_text_inside(text, start, length) & U(len(recent) - 1)
    offset = recent[slot] - 1
    if (
        offset >= 0
        and offset + length < used
        and ids[offset + length] == NEWLINE
        and equal_inside(text, start, length, ids, offset, length)
    ):
        return True
    if used + length + SPARE > len(ids):
        if length + SPARE > len(ids):
            state.status = NOT_STREAMED
        return False
    for i in range(0, length, 8):
        store_word(ids, used + i, load_word_inside(text, start + i))
    ids[used + length] = NEWLINE
    recent[slot] = used + 1
    state.unknown_bytes = used + length + 1
    return True


@helper
def judge_in_order(docs, scores, results, qrels, query, options, scratch, hits):
    """What `judge_scores` does, for scores that descend: hardly any of them is read.

    GIVEN_UP where that would not be right.
    """
    hit_count = find_hits(docs, results, qrels, query, scratch, hits)
    keys, work = (docs.buffer, scores, options.single_precision != 0), scratch.table
    hits.ties.count[0] = 0
    if hit_count == GIVEN_UP or rank_streamed(
        docs, keys, results, hits, hit_count, sort_scratch(work, results)
    ):
        return hit_count
    return np.int64(GIVEN_UP)


@helper
def move_lines(fields, count, by):
    """Let what is noted of lines say where they are once their text has moved to the front."""
    for i in range(count):
        fields.docs.starts[i] -= by
        fields.scores.starts[i] -= by


@kernel(
    "int64(LineReader, TextTable, Qrels, RankingOptions, StreamScratch, StreamedRankings,"
    " int64[::1], Reading)"
)
def stream_run(reader, queries, qrels, options, scratch, streamed, problem, state):
    """Judge the queries in text[: cursor.size], and in what comes then, as far as `read_on` goes,
    or until there is no room for the ids of queries without judgments. Returns how many bytes of
    what the text holds in the end are done with.

    All of them if the run has ended there (cursor.ended), else what comes before the last query.
    state.listed documents are listed so far.
    """
    text, _, cursor = reader
    fields, values, judging = scratch.fields, scratch.scores, scratch.judging
    scores, docs = fields.scores, Texts(text, fields.docs.starts, fields.docs.lengths)
    ended = cursor.ended != 0
    begin_text(cursor)
    begin_unknown(scratch.unknown, state)
    full, refused = False, state.refused
    query, begun, results, order = np.int64(-1), np.int64(0), np.int64(0), DESCENDING
    kind = END_OF_BLOCK
    while True:
        over = kind == END_OF_BLOCK and cursor.indexed == cursor.size
        if over and not ended:
            tail_start = begun if query >= 0 else last_tag(cursor)
            done = read_on(reader, tail_start)
            if done != NOTHING:
                begun -= tail_start
                move_lines(fields, results, tail_start)
                over = done != READ
        if query >= 0 and (kind == NEW_QUERY or (over and ended)):
            hit_count, hits = np.int64(GIVEN_UP), room_for_hits(query, qrels, scratch, streamed)
            if order == DESCENDING:
                hit_count = judge_in_order(
                    docs, scores, results, qrels, query, options, judging, hits
                )
            if hit_count == GIVEN_UP:
                if not read_scores(text, scores, results, values, refused):
                    state.status = NOT_STREAMED
                    break
                hit_count = judge_scores(
                    docs, values, results, qrels, query, options, judging, hits, problem
                )
                if problem[0] != FINE:
                    state.status = NOT_STREAMED
                    break
            list_streamed(query, hits, hit_count, results, qrels, options, streamed, state)
            query = np.int64(-1)
        if over:
            break
        if kind < NEW_QUERY:
            state.status = kind
            break
        if kind == END_OF_BLOCK:
            index_lines(reader)
        elif kind == NEW_QUERY:
            query = find_text(text, cursor.query, cursor.query_length, queries)
            if query >= 0 and streamed.first_listed[query] != 0:
                state.status = SCATTERED
                break
            begun, results, order = cursor.position, np.int64(0), DESCENDING
            start, length = cursor.query, cursor.query_length
            if query < 0 and refused & PARTIAL and text[reader.block.bounds[2 * SCORE]] >= LETTER:
                state.status = NOT_STREAMED
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
    if state.status != DONE or (ended and not full):
        return cursor.size
    return begun if query >= 0 else cursor.position


@helper
def room_for_hits(query, qrels, scratch, streamed):
    """Where the hits of a query are collected, and their ties kept."""
    first, stop = qrels.offsets[query], qrels.offsets[query + 1]
    lows, highs = streamed.lows[first:stop], streamed.highs[first:stop]
    ties = QueryTies(lows, highs, streamed.tie_counts[query:])
    return TiedHits(scratch.ranks, scratch.judging.rows, ties)


@helper
def list_streamed(query, hits, hit_count, results, qrels, options, streamed, state):
    """List the hits of a query behind those of the queries before."""
    listed, depth = state.listed, min(results, options.max_retrieved)
    grades = qrels.grades[qrels.offsets[query] : qrels.offsets[query + 1]]
    count, streamed.num_ret[query], streamed.num_rel_ret[query] = write_hits(
        hits, hit_count, depth, grades, options, streamed.ranks[listed:], streamed.grades[listed:]
    )
    streamed.first_listed[query], streamed.listed_counts[query] = listed + 1, count
    state.listed = listed + count


@kernel("int64(int64, int64[::1])")
def is_in_two_parts(parts, part_firsts):
    """Whether two parts have results of the same query."""
    queries = len(part_firsts) // parts
    for query in range(queries):
        count = 0
        for part in range(parts):
            count += part_firsts[part * queries + query] != 0
        if count > 1:
            return 1
    return 0


@kernel(
    "int64(int64[::1], int64, StreamedRankings, Qrels, RankingOptions, int64[::1], RankingsAndTies)"
)
def gather_judged(order, parts, streamed, qrels, options, queries, judged):
    """Gather the queries of `order` that have results; returns how many.

    Each of the `parts` has its own stretch of the streamed columns. queries[i] becomes the i-th
    query that has results. -1: a query cannot be evaluated.
    """
    rankings, ties = judged
    offsets = rankings.offsets
    room = len(streamed.ranks) // parts
    everything = len(streamed.first_listed) // parts
    gathered = 0
    for query in order:
        part = 0
        while part < parts and streamed.first_listed[part * everything + query] == 0:
            part += 1
        if part == parts:
            continue
        entry = part * everything + query
        queries[gathered] = query
        grades = qrels.grades[qrels.offsets[query] : qrels.offsets[query + 1]]
        if count_judgments(grades, options, gathered, rankings) != FINE:
            return -1
        rankings.num_ret[gathered] = streamed.num_ret[entry]
        rankings.num_rel_ret[gathered] = streamed.num_rel_ret[entry]
        first, listed = part * room + streamed.first_listed[entry] - 1, offsets[gathered]
        for i in range(streamed.listed_counts[entry]):
            rankings.ranks[listed] = streamed.ranks[first + i]
            rankings.grades[listed] = streamed.grades[first + i]
            listed += 1
        tied = ties.offsets[gathered]
        first = part * room + qrels.offsets[query]
        for i in range(streamed.tie_counts[entry]):
            ties.lows[tied], ties.highs[tied] = streamed.lows[first + i], streamed.highs[first + i]
            tied += 1
        gathered += 1
        ties.offsets[gathered] = tied
        offsets[gathered] = listed
    return gathered
