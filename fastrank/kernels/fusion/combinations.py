"""How the values of a document are combined.

They are added in descending order, so that the order of the runs makes no difference to the last
bit, and documents whose values are the same are tied.
"""

from __future__ import annotations

import math

from fastrank.kernels.fusion.codes import (
    LARGEST,
    MEAN,
    MEDIAN,
    SMALLEST,
    SUM_BY_COUNT,
    SUM_BY_LOG,
    SUM_BY_POWER,
    SUM_BY_ROOT,
    SUM_BY_SHIFTED_LOG,
    SUM_BY_WEIGHTS,
)
from fastrank.kernels.fusion.documents import run_of
from fastrank.native.declare import helper, inlined


@inlined
def insert(terms, count, term):
    """Insert a term into descending terms; returns how many there are."""
    place = count
    while place > 0 and terms[place - 1] < term:
        terms[place] = terms[place - 1]
        place -= 1
    terms[place] = term
    return count + 1


@helper
def weights_of(document, q, queries, weights, entries, scratch):
    """The sum of the weights of the runs with a document."""
    terms, count, run = scratch.terms, 0, 0
    stop = scratch.ends[document]
    for i in range(stop - scratch.counts[document], stop):
        run = run_of(scratch.grouped[i], run, q, queries, entries)
        count = insert(terms, count, weights[run])
        run += 1
    total = 0.0
    for i in range(count):
        total += terms[i]
    return total


@helper
def collect_terms(document, q, queries, missing, weighted, weights, entries, scratch):
    """The values of a document, descending, if weighted times those of the runs; and how many.

    missing: runs with results, but without the document, add the value for that.
    """
    terms, count, run = scratch.terms, 0, 0
    stop = scratch.ends[document]
    for i in range(stop - scratch.counts[document], stop):
        entry = scratch.grouped[i]
        own = run_of(entry, run, q, queries, entries)
        if missing:
            for other in range(run, own):
                weight = weights[other] if weighted else 1.0
                count = insert_missing(other, q, queries, weight, entries, scratch, count)
        weight = weights[own] if weighted else 1.0
        count = insert(terms, count, weight * scratch.values[entry])
        run = own + 1
    if missing:
        for other in range(run, len(weights)):
            weight = weights[other] if weighted else 1.0
            count = insert_missing(other, q, queries, weight, entries, scratch, count)
    return count


@inlined
def insert_missing(run, q, queries, weight, entries, scratch, count):
    """Insert the term of a run without the document, unless the run lacks the query."""
    segment = run * queries + q
    if entries.offsets[segment] == entries.offsets[segment + 1]:
        return count
    return insert(scratch.terms, count, weight * scratch.lowest[run])


@helper
def combine(kind, parameter, terms, count, runs):
    """The score of a document from its terms, descending, and the number of runs with it."""
    if kind == LARGEST:
        return terms[0]
    if kind == SMALLEST:
        return terms[count - 1]
    if kind == MEDIAN:
        half = count // 2
        return terms[half] if count % 2 else (terms[half - 1] + terms[half]) / 2.0
    total = 0.0
    for i in range(count):
        total += terms[i]
    if kind == MEAN:
        return total / runs
    if kind == SUM_BY_COUNT:
        return total * runs
    if kind == SUM_BY_POWER:
        return total * math.pow(float(runs), parameter)
    if kind == SUM_BY_LOG:
        return total * math.log(float(runs))
    if kind == SUM_BY_SHIFTED_LOG:
        return total * math.log(runs + parameter)
    if kind == SUM_BY_ROOT:
        return total * math.sqrt(float(runs))
    return total


@helper
def fuse_values(q, queries, documents, kind, parameter, missing, weights, entries, scratch):
    """fused[d] = the score of document d."""
    weighted = kind != SUM_BY_WEIGHTS
    for document in range(documents):
        count = collect_terms(document, q, queries, missing, weighted, weights, entries, scratch)
        runs = scratch.counts[document]
        fused = combine(kind, parameter, scratch.terms, count, runs)
        if not weighted:
            fused *= weights_of(document, q, queries, weights, entries, scratch)
        scratch.fused[document] = fused
