"""The rankings of several runs for a block of queries, in one place in memory."""

from __future__ import annotations

import numpy as np

from fastrank.kernels.fusion.codes import DEPTH, SINGLE_PRECISION, TIE_DIRECTION
from fastrank.kernels.judging.memory import rank_documents
from fastrank.kernels.simd.instructions import load_word, store_word
from fastrank.native.declare import inlined, kernel

U = np.uint64


@inlined
def copy_text(source, start, length, target, at):
    """Copy a text; up to 7 bytes behind it in the target are overwritten too."""
    for byte in range(0, length, 8):
        store_word(target, at + byte, load_word(source, start + byte))


@kernel("void(Run, int64[::1])")
def count_bytes(run, sizes):
    """sizes[q] = the length of all document ids of query q together."""
    for q in range(len(sizes)):
        size = 0
        for row in range(run.offsets[q], run.offsets[q + 1]):
            size += run.docs.lengths[row]
        sizes[q] = size


@kernel("int64(Run, int64[::1], int64, int64, int64[::1], RankingScratch, RankedEntries)")
def collect_rankings(run, places, segment, at, options, ranking, entries):
    """Append the rankings of a run for a block of queries; return where the text ends.

    places: for each query of the block its place in the run, or -1. segment: where the offsets of
    the run begin; offsets[segment] is filled in. at: where the text begins.
    """
    text, starts, lengths = entries.docs
    to = entries.offsets[segment]
    for q in range(len(places)):
        if places[q] >= 0:
            first = run.offsets[places[q]]
            count = run.offsets[places[q] + 1] - first
            rank_documents(
                run.docs, run.scores, first, count, options[SINGLE_PRECISION] != 0,
                options[TIE_DIRECTION], ranking,
            )  # fmt: skip
            for i in range(min(count, options[DEPTH])):
                row = first + ranking.order[i]
                length = run.docs.lengths[row]
                copy_text(run.docs.buffer, run.docs.starts[row], length, text, at)
                starts[to], lengths[to], entries.scores[to] = at, length, run.scores[row]
                at += length
                to += 1
        entries.offsets[segment + q + 1] = to
    return at
