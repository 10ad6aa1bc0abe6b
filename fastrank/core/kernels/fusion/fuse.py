"""Rankings of several runs fused, query by query."""

from __future__ import annotations

from fastrank.core.kernels.fusion import FINE, MAJORITIES, RESULT_NOT_FINITE
from fastrank.core.kernels.fusion.values import (
    count_majorities,
    fill_values,
    fuse_values,
    group_entries,
    number_documents,
)
from fastrank.core.kernels.matching.ranks import make_keys, sort_scores
from fastrank.core.kernels.matching.texts import rank_documents
from fastrank.core.kernels.simd.instructions import load_word, store_word
from fastrank.core.kernels.texts.text import compare_texts, sort_by
from fastrank.core.native.codes import LARGER_ID_FIRST
from fastrank.core.native.declare import helper, inlined, kernel
from fastrank.core.native.records import SortScratch


@inlined
def copy_text(source, start, length, target, offset):
    """Copy a text; up to 7 bytes behind it in the target are overwritten too."""
    for byte in range(0, length, 8):
        store_word(target, offset + byte, load_word(source, start + byte))


@kernel("void(Run, int64[::1])")
def count_bytes(run, sizes):
    """sizes[q] = the length of all document ids of query q together."""
    for q in range(len(sizes)):
        size = 0
        for row in range(run.offsets[q], run.offsets[q + 1]):
            size += run.docs.lengths[row]
        sizes[q] = size


@kernel("int64(Run, int64[::1], int64, int64, FusionRules, RankingScratch, RankedEntries)")
def collect_rankings(run, queries, segment, offset, rules, ranking, entries):
    """Append the rankings of a run for a block of queries; return where the text ends.

    queries: for each query of the block its number in the run, or -1. segment: where the offsets of
    the run begin; offsets[segment] is filled in. offset: where the text begins.
    """
    text, starts, lengths = entries.docs
    to = entries.offsets[segment]
    for q in range(len(queries)):
        if queries[q] >= 0:
            first = run.offsets[queries[q]]
            count = run.offsets[queries[q] + 1] - first
            rank_documents(
                run.docs,
                run.scores,
                first,
                count,
                rules.single_precision != 0,
                rules.tie_direction,
                ranking,
            )
            for i in range(min(count, rules.depth)):
                row = first + ranking.order[i]
                length = run.docs.lengths[row]
                copy_text(run.docs.buffer, run.docs.starts[row], length, text, offset)
                starts[to], lengths[to], entries.scores[to] = offset, length, run.scores[row]
                offset += length
                to += 1
        entries.offsets[segment + q + 1] = to
    return offset


# Comparing sorts fewer documents sooner.
FEW = 256


@helper
def by_descending_id(a, b, docs):
    return compare_texts(docs, b, a)


sort_by_descending_id = sort_by(by_descending_id)


@helper
def order_documents(docs, count, single, scratch):
    """ranking.order[:count] = the documents, best first, with scores fused[:count], no NaN.

    Scores are compared as 32-bit floats if `single`.
    """
    keys, order, merge = scratch.ranking
    if count <= FEW:
        rank_documents(docs, scratch.fused, 0, count, single, LARGER_ID_FIRST, scratch.ranking)
        return
    make_keys(scratch.fused, count, single, keys)
    work = SortScratch(
        order, scratch.other_order, scratch.words, scratch.other_words, scratch.histogram
    )
    sort_scores(keys[:count], single, work)
    first = 0
    while first < count:
        stop = first + 1
        while stop < count and keys[order[stop]] == keys[order[first]]:
            stop += 1
        if stop - first > 1:
            sort_by_descending_id(order[first:stop], stop - first, merge, docs)
        first = stop


@helper
def fill_all_values(q, queries, rules, candidates, entries, scratch, problem):
    """The values of a query's entries, and those of documents that a run lacks."""
    for r in range(len(scratch.lowest)):
        first = entries.offsets[r * queries + q]
        stop = entries.offsets[r * queries + q + 1]
        status, scratch.lowest[r] = fill_values(
            rules.values,
            rules.parameter,
            candidates,
            entries.scores[first:stop],
            scratch.values[first:stop],
            problem,
        )
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
def fuse_query(q, queries, rules, weights, entries, scratch, problem):
    """Fuse and order the documents of a query: FINE or what is wrong, and how many there are."""
    status, documents = number_documents(q, queries, len(weights), entries, scratch, problem)
    if status != FINE:
        return status, 0
    group_entries(q, queries, len(weights), documents, entries, scratch)
    if rules.combination == MAJORITIES:
        count_majorities(q, queries, documents, weights, entries, scratch)
    else:
        status = fill_all_values(q, queries, rules, documents, entries, scratch, problem)
        if status != FINE:
            return status, 0
        fuse_values(
            q,
            queries,
            documents,
            rules.combination,
            rules.parameter,
            rules.missing_lowest != 0,
            weights,
            entries,
            scratch,
        )
        status = check_results(documents, scratch, problem)
    if status == FINE:
        order_documents(scratch.docs, documents, rules.single_precision != 0, scratch)
    return status, documents


@helper
def append_documents(documents, scratch, fused, size):
    """Append the first documents of a ranking to the output."""
    text, starts, lengths = scratch.docs
    row, offset = size.rows, size.bytes
    for i in range(documents):
        d = scratch.ranking.order[i]
        copy_text(text, starts[d], lengths[d], fused.docs.buffer, offset)
        fused.docs.starts[row], fused.docs.lengths[row] = offset, lengths[d]
        fused.scores[row] = scratch.fused[d]
        offset += lengths[d]
        row += 1
    size.rows, size.bytes = row, offset


@kernel(
    "void(RankedEntries, FusionRules, float64[::1], FusionScratch, FusedRankings, FusedSize,"
    " int64[::1])"
)
def fuse_rankings(entries, rules, weights, scratch, fused, size, problem):
    """Fuse the rankings of a block of queries, and append them to the output.

    Stops at the first query with a problem, and says which.
    """
    queries = len(fused.counts)
    for q in range(queries):
        problem[0], documents = fuse_query(q, queries, rules, weights, entries, scratch, problem)
        if problem[0] != FINE:
            problem[1] = q
            return
        fused.counts[q] = min(documents, rules.keep)
        append_documents(fused.counts[q], scratch, fused, size)
