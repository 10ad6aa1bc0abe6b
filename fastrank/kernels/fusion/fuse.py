"""Rankings of several runs fused, query by query."""

from __future__ import annotations

from fastrank.kernels.fusion.codes import (
    BYTES,
    COMBINATION,
    FINE,
    KEEP,
    MAJORITIES,
    MISSING_LOWEST,
    RESULT_NOT_FINITE,
    ROWS,
    SINGLE_PRECISION,
    VALUES,
)
from fastrank.kernels.fusion.combinations import fuse_values
from fastrank.kernels.fusion.documents import group_entries, number_documents
from fastrank.kernels.fusion.majorities import count_majorities
from fastrank.kernels.fusion.order import order_documents
from fastrank.kernels.fusion.rankings import copy_text
from fastrank.kernels.fusion.values import fill_values
from fastrank.native.declare import helper, kernel


@helper
def fill_all_values(q, queries, options, parameter, candidates, entries, scratch, problem):
    """The values of a query's entries, and those of documents that a run lacks."""
    for r in range(len(scratch.lowest)):
        first = entries.offsets[r * queries + q]
        stop = entries.offsets[r * queries + q + 1]
        status, scratch.lowest[r] = fill_values(
            options[VALUES], parameter, candidates, entries.scores[first:stop],
            scratch.values[first:stop], problem,
        )  # fmt: skip
        if status != FINE:
            problem[2], problem[3] = r, first + problem[3]
            return status
    return FINE


@helper
def check_results(documents, scratch, problem):
    """FINE, or that the score of a document is NaN or infinite."""
    for d in range(documents):
        if scratch.fused[d] - scratch.fused[d] != 0.0:
            problem[3] = scratch.grouped[scratch.ends[d] - scratch.counts[d]]
            return RESULT_NOT_FINITE
    return FINE


@helper
def fuse_query(q, queries, options, parameter, weights, entries, scratch, problem):
    """Fuse and order the documents of a query: FINE or what is wrong, and how many there are."""
    status, documents = number_documents(q, queries, len(weights), entries, scratch, problem)
    if status != FINE:
        return status, 0
    group_entries(q, queries, len(weights), documents, entries, scratch)
    if options[COMBINATION] == MAJORITIES:
        count_majorities(q, queries, documents, weights, entries, scratch)
    else:
        status = fill_all_values(
            q, queries, options, parameter, documents, entries, scratch, problem
        )
        if status != FINE:
            return status, 0
        fuse_values(
            q, queries, documents, options[COMBINATION], parameter, options[MISSING_LOWEST] != 0,
            weights, entries, scratch,
        )  # fmt: skip
        status = check_results(documents, scratch, problem)
    if status == FINE:
        order_documents(scratch.docs, documents, options[SINGLE_PRECISION] != 0, scratch)
    return status, documents


@helper
def append_documents(documents, scratch, fused, state):
    """Append the first documents of a ranking to the output."""
    text, starts, lengths = scratch.docs
    row, at = state[ROWS], state[BYTES]
    for i in range(documents):
        d = scratch.ranking.order[i]
        copy_text(text, starts[d], lengths[d], fused.docs.buffer, at)
        fused.docs.starts[row], fused.docs.lengths[row] = at, lengths[d]
        fused.scores[row] = scratch.fused[d]
        at += lengths[d]
        row += 1
    state[ROWS], state[BYTES] = row, at


@kernel(
    "void(RankedEntries, int64[::1], float64, float64[::1], FusionScratch, FusedRankings,"
    " int64[::1], int64[::1])"
)
def fuse_rankings(entries, options, parameter, weights, scratch, fused, state, problem):
    """Fuse the rankings of a block of queries, and append them to the output.

    parameter: that of the method. Stops at the first query with a problem, and says which.
    """
    queries = len(fused.counts)
    for q in range(queries):
        problem[0], documents = fuse_query(
            q, queries, options, parameter, weights, entries, scratch, problem
        )
        if problem[0] != FINE:
            problem[1] = q
            return
        fused.counts[q] = min(documents, options[KEEP])
        append_documents(fused.counts[q], scratch, fused, state)
