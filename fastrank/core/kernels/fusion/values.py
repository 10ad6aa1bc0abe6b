"""What a run gives to each document that it retrieves, and how these values are combined.

Values are added in descending order, so that the order of the runs makes no difference to the last
bit, and documents whose values are the same are tied.
"""

from __future__ import annotations

import math

from fastrank.core.kernels.fusion import (
    BORDA_POINTS,
    BY_BORDA,
    BY_MAXIMUM,
    BY_RANK,
    BY_SUM,
    FINE,
    GEOMETRIC,
    INVERSE_SQUARES,
    INVERTED,
    LARGEST,
    MEAN,
    MEDIAN,
    MIN_MAX,
    NO_MAXIMUM,
    NOT_FINITE,
    RECIPROCAL_RANKS,
    REPEATED,
    SCORES,
    SMALLEST,
    STANDARD,
    SUM,
    SUM_BY_COUNT,
    SUM_BY_LOG,
    SUM_BY_POWER,
    SUM_BY_ROOT,
    SUM_BY_SHIFTED_LOG,
    SUM_BY_WEIGHTS,
)
from fastrank.core.kernels.texts.text import find_slot, table_mask
from fastrank.core.native.declare import helper, inlined


@helper
def number_documents(q, queries, runs, entries, scratch, problem):
    """Number the distinct documents of a query in order of appearance, and count their entries.

    Returns FINE and the number of documents, or REPEATED for one that a run retrieves twice.
    """
    table, numbers, docs, counts = scratch.table, scratch.numbers, scratch.docs, scratch.counts
    total = 0
    for r in range(runs):
        segment = r * queries + q
        total += entries.offsets[segment + 1] - entries.offsets[segment]
    table = table[: table_mask(total) + 1]
    table[:] = 0
    documents = 0
    for r in range(runs):
        segment = r * queries + q
        for entry in range(entries.offsets[segment], entries.offsets[segment + 1]):
            slot = find_slot(entries.docs, entry, table, docs, 0)
            number = table[slot] - 1
            if number < 0:
                number = documents
                documents += 1
                table[slot] = documents
                docs.starts[number] = entries.docs.starts[entry]
                docs.lengths[number] = entries.docs.lengths[entry]
                counts[number] = 0
            # The last run with the document.
            elif scratch.ends[number] == r:
                problem[2], problem[3] = r, entry
                return REPEATED, documents
            counts[number] += 1
            scratch.ends[number] = r
            numbers[entry] = number
    return FINE, documents


@helper
def group_entries(q, queries, runs, documents, entries, scratch):
    """Bring the entries of each document together, in the order of the runs.

    Those of document d become grouped[ends[d] - counts[d] : ends[d]]; each is its number in the
    block.
    """
    end = 0
    for d in range(documents):
        scratch.ends[d] = end
        end += scratch.counts[d]
    for r in range(runs):
        segment = r * queries + q
        for entry in range(entries.offsets[segment], entries.offsets[segment + 1]):
            number = scratch.numbers[entry]
            scratch.grouped[scratch.ends[number]] = entry
            scratch.ends[number] += 1


@inlined
def fill_by_rank(kind, parameter, candidates, values):
    """Values by rank."""
    count = len(values)
    for i in range(count):
        if kind == RECIPROCAL_RANKS:
            values[i] = 1.0 / (parameter + (i + 1))
        elif kind == INVERSE_SQUARES:
            values[i] = 1.0 / (float(i + 1) * float(i + 1))
        elif kind == GEOMETRIC:
            values[i] = (1.0 - parameter) * math.pow(parameter, float(i))
        elif kind == BORDA_POINTS:
            values[i] = float(candidates - i)
        elif kind == BY_BORDA:
            values[i] = 1.0 - i / candidates
        else:
            values[i] = 1.0 - i / count


@helper
def shift_and_scale(kind, scores, smallest, largest):
    """What a normalization subtracts from the scores less the smallest, and then divides by.

    Differences of scores that are nearly equal are exact, unlike those from their mean.
    """
    count = len(scores)
    if kind == MIN_MAX:
        return 0.0, largest - smallest
    total = 0.0
    for score in scores:
        total += score - smallest
    mean = total / count
    if kind == BY_SUM:
        return 0.0, mean * count
    squares = 0.0
    for score in scores:
        difference = score - smallest - mean
        squares += difference * difference
    if kind == STANDARD:
        return mean, math.sqrt(squares / count)
    # Three standard deviations of the sample on both sides of the mean.
    deviation = math.sqrt(squares / (count - 1))
    return mean - 3.0 * deviation, 6.0 * deviation


@inlined
def value_of_equals(kind, count):
    """The value of every document if all scores are equal."""
    if kind in (MIN_MAX, INVERTED):
        return 1.0
    if kind == BY_SUM:
        return 1.0 / count
    return 0.0 if kind == STANDARD else 0.5


@helper
def fill_by_score(kind, scores, values, problem):
    """Values by normalized scores: FINE, or what is wrong, and problem[3], the rank from 0."""
    smallest, largest = math.inf, -math.inf
    for i in range(len(scores)):
        if scores[i] - scores[i] != 0.0:
            problem[3] = i
            return NOT_FINITE
        smallest, largest = min(smallest, scores[i]), max(largest, scores[i])
    if kind in (SCORES, BY_MAXIMUM):
        if kind == BY_MAXIMUM and largest <= 0.0:
            problem[3] = 0
            return NO_MAXIMUM
        for i in range(len(scores)):
            values[i] = scores[i] / largest if kind == BY_MAXIMUM else scores[i]
        return FINE
    if smallest == largest:
        values[:] = value_of_equals(kind, len(scores))
        return FINE
    if kind == INVERTED:
        for i in range(len(scores)):
            values[i] = (largest - scores[i]) / (largest - smallest)
        return FINE
    shift, scale = shift_and_scale(kind, scores, smallest, largest)
    for i in range(len(scores)):
        values[i] = (scores[i] - smallest - shift) / scale
    return FINE


@helper
def fill_values(kind, parameter, candidates, scores, values, problem):
    """The values of the documents of one ranking, and that of documents it lacks, or what is wrong.

    candidates: the number of distinct documents of the query in all runs. Documents that are not
    retrieved share the points that remain in a Borda count; else they get the lowest value.
    """
    count = len(values)
    if count == 0:
        return FINE, 0.0
    if kind < SCORES or kind in (BY_RANK, BY_BORDA):
        fill_by_rank(kind, parameter, candidates, values)
        remaining = (candidates - count + 1) / 2.0
        if kind == BORDA_POINTS:
            return FINE, remaining
        return FINE, remaining / candidates if kind == BY_BORDA else values[count - 1]
    status = fill_by_score(kind, scores, values, problem)
    if status != FINE:
        return status, 0.0
    lowest = math.inf
    for value in values:
        lowest = min(lowest, value)
    return FINE, lowest


@inlined
def insert(terms, count, term):
    """Insert a term into descending terms; returns how many there are."""
    i = count
    while i > 0 and terms[i - 1] < term:
        terms[i] = terms[i - 1]
        i -= 1
    terms[i] = term
    return count + 1


@helper
def collect_terms(document, q, queries, missing, weighted, valued, weights, entries, scratch):
    """The values of a document, if weighted times the weights of the runs, descending; how many.

    missing: runs with results, but without the document, add the value for that. Without `valued`,
    the terms are the weights alone.
    """
    count, stop = 0, scratch.ends[document]
    i = stop - scratch.counts[document]
    for run in range(len(weights)):
        if i == stop and not missing:
            break
        weight = weights[run] if weighted else 1.0
        first, last = entries.offsets[run * queries + q], entries.offsets[run * queries + q + 1]
        # Entries are numbered run by run, and a document is in a run at most once.
        if i < stop and scratch.grouped[i] < last:
            value = scratch.values[scratch.grouped[i]] if valued else 1.0
            count = insert(scratch.terms, count, weight * value)
            i += 1
        elif missing and first < last:
            count = insert(scratch.terms, count, weight * scratch.lowest[run])
    return count


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
        runs = scratch.counts[document]
        count = collect_terms(
            document, q, queries, missing, weighted, True, weights, entries, scratch
        )
        scratch.fused[document] = combine(kind, parameter, scratch.terms, count, runs)
        if not weighted:
            count = collect_terms(
                document, q, queries, False, True, False, weights, entries, scratch
            )
            scratch.fused[document] *= combine(SUM, parameter, scratch.terms, count, runs)


# Weights that differ by less, relative to their sum, are equal: their sums are rounded.
TOLERANCE = 1e-12


@helper
def outcome(first, second, q, queries, weights, entries, scratch):
    """1 if a majority of the runs prefers the first of two documents, -1 the second, 0 if neither.

    A run prefers the document that it ranks first, or the only one that it has. A run with neither
    abstains.
    """
    grouped, ends, counts = scratch.grouped, scratch.ends, scratch.counts
    i, j = ends[first] - counts[first], ends[second] - counts[second]
    preferring, opposing = 0.0, 0.0
    for run in range(len(weights)):
        # Entries are numbered run by run, and within a run by rank.
        last = entries.offsets[run * queries + q + 1]
        has_first = i < ends[first] and grouped[i] < last
        has_second = j < ends[second] and grouped[j] < last
        if has_first and not (has_second and grouped[j] < grouped[i]):
            preferring += weights[run]
        elif has_second:
            opposing += weights[run]
        i += has_first
        j += has_second
    margin = preferring - opposing
    if abs(margin) <= TOLERANCE * (preferring + opposing):
        return 0
    return 1 if margin > 0.0 else -1


@helper
def count_majorities(q, queries, documents, weights, entries, scratch):
    """fused[d] = the number of documents that d defeats, and half of those that it ties with."""
    fused = scratch.fused
    fused[:documents] = 0.0
    for first in range(documents):
        for second in range(first + 1, documents):
            sign = outcome(first, second, q, queries, weights, entries, scratch)
            fused[first] += 0.5 * (1 + sign)
            fused[second] += 0.5 * (1 - sign)
