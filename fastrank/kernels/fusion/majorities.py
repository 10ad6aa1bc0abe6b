"""Pairwise majorities of runs: the Copeland count of each document."""

from __future__ import annotations

from fastrank.kernels.fusion.documents import run_of
from fastrank.native.declare import helper

# Weights that differ by less, relative to their sum, are equal: their sums are rounded.
TOLERANCE = 1e-12


@helper
def outcome(one, other, q, queries, weights, entries, scratch):
    """1 if a majority of the runs prefers the first of two documents, -1 the second, 0 if neither.

    A run prefers the document that it ranks first, or the only one that it has. A run with neither
    abstains.
    """
    grouped, ends, counts = scratch.grouped, scratch.ends, scratch.counts
    i, j = ends[one] - counts[one], ends[other] - counts[other]
    run = 0
    preferring, opposing = 0.0, 0.0
    while i < ends[one] or j < ends[other]:
        # Entries are numbered run by run, and within a run by rank.
        if j >= ends[other] or (i < ends[one] and grouped[i] < grouped[j]):
            run = run_of(grouped[i], run, q, queries, entries)
            preferring += weights[run]
            i += 1
            if j < ends[other] and grouped[j] < entries.offsets[run * queries + q + 1]:
                j += 1
        else:
            run = run_of(grouped[j], run, q, queries, entries)
            opposing += weights[run]
            j += 1
            if i < ends[one] and grouped[i] < entries.offsets[run * queries + q + 1]:
                i += 1
    margin = preferring - opposing
    if abs(margin) <= TOLERANCE * (preferring + opposing):
        return 0
    return 1 if margin > 0.0 else -1


@helper
def count_majorities(q, queries, documents, weights, entries, scratch):
    """fused[d] = the number of documents that d defeats, and half of those that it ties with."""
    fused = scratch.fused
    fused[:documents] = 0.0
    for one in range(documents):
        for other in range(one + 1, documents):
            found = outcome(one, other, q, queries, weights, entries, scratch)
            fused[one] += 0.5 * (1 + found)
            fused[other] += 0.5 * (1 - found)
