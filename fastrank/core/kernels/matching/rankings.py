"""What judging leaves of a query for the measures: counts, and ranks with grades."""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.texts.text import sort_if_needed_by
from fastrank.core.native.codes import FINE, GRADE_TOO_LARGE, NONE_JUDGED, POOLED, UNJUDGED
from fastrank.core.native.declare import helper

U = np.uint64
# trec_eval counts the judgments of each grade in a table of 8-byte items; this is the largest
# grade for which such a table fits the 47-bit address space of a process.
LARGEST_GRADE = 2**44 - 2
# How many grades are counted in the bytes of one word, and of how many documents.
FEW_GRADES, MOST_PACKED = 8, 255


@helper
def by_value(a, b, data):
    return a - b


sort_values_if_needed = sort_if_needed_by(by_value)


@helper
def count_few_grades(grades, values, counts):
    """`count_grades` where all are below FEW_GRADES: a byte of one word counts each."""
    packed = U(0)
    for grade in grades:
        packed += U(1) << U(8 * grade)
    distinct = 0
    for grade in range(FEW_GRADES):
        count = np.int64(packed >> U(8 * grade) & U(MOST_PACKED))
        if count > 0:
            values[distinct], counts[distinct] = grade, count
            distinct += 1
    return distinct


@helper
def count_grades(grades, values, counts):
    """Distinct grades >= 0 in ascending order and how often each occurs; returns how many."""
    bits = 0
    for grade in grades:
        bits |= grade
    if 0 <= bits < FEW_GRADES and len(grades) <= MOST_PACKED:
        return count_few_grades(grades, values, counts)
    judged, highest = 0, 0
    for grade in grades:
        if grade >= 0:
            values[judged] = grade
            judged += 1
            highest = max(highest, grade)
    distinct = 0
    if highest < judged:
        # There is room for a count of each grade up to the highest.
        counts[: highest + 1] = 0
        for i in range(judged):
            counts[values[i]] += 1
        for grade in range(highest + 1):
            if counts[grade] > 0:
                values[distinct], counts[distinct] = grade, counts[grade]
                distinct += 1
        return distinct
    sort_values_if_needed(values, judged, counts, ())
    for i in range(judged):
        if distinct == 0 or values[i] != values[distinct - 1]:
            values[distinct] = values[i]
            counts[distinct] = 0
            distinct += 1
        counts[distinct - 1] += 1
    return distinct


@helper
def count_judgments(grades, options, i, rankings):
    """Count the judgments of query i by grade; FINE, or why the query cannot be evaluated."""
    first = rankings.grade_offsets[i]
    values, counts = rankings.grade_values[first:], rankings.grade_counts[first:]
    distinct = count_grades(grades, values, counts)
    rankings.grade_offsets[i + 1] = first + distinct
    relevant = 0
    for v in range(distinct):
        if values[v] >= options.level:
            relevant += counts[v]
    rankings.num_rel[i] = relevant
    if distinct == 0 and options.stop_if_none_judged and i == 0:
        return NONE_JUDGED
    if distinct > 0 and values[distinct - 1] > LARGEST_GRADE:
        return GRADE_TOO_LARGE
    return FINE


@helper
def copy_counts(qrels, query, options, i, rankings):
    """The counts of a query's grades, which `qrels` holds, become those of ranking i.

    FINE, or why the query cannot be evaluated.
    """
    v, relevant = rankings.grade_offsets[i], 0
    for g in range(qrels.grade_offsets[query], qrels.grade_offsets[query + 1]):
        grade, count = qrels.grade_values[g], qrels.grade_counts[g]
        rankings.grade_values[v], rankings.grade_counts[v] = grade, count
        if grade >= options.level:
            relevant += count
        if grade > LARGEST_GRADE:
            return GRADE_TOO_LARGE
        v += 1
    rankings.num_rel[i], rankings.grade_offsets[i + 1] = relevant, v
    return FINE


@helper
def list_hits(hits, hit_count, depth, grades, options, i, rankings):
    """List the hits, best first, as the documents of query i; the row of a hit may be -1.

    The first `depth` documents of the ranking count.
    """
    first = rankings.offsets[i]
    listed, rankings.num_ret[i], rankings.num_rel_ret[i] = write_hits(
        hits, hit_count, depth, grades, options, rankings.ranks[first:], rankings.grades[first:]
    )
    rankings.offsets[i + 1] = first + listed


@helper
def write_hits(hits, hit_count, depth, grades, options, ranks, codes):
    """Ranks and grades of the listed documents; how many are listed, retrieved, and relevant."""
    hit_ranks, hit_rows = hits.ranks, hits.rows
    listed = relevant = 0
    for h in range(hit_count):
        rank = hit_ranks[h]
        if rank > depth:
            break
        code = UNJUDGED
        if hit_rows[h] >= 0:
            grade = grades[hit_rows[h]]
            code = grade if grade >= 0 else POOLED
        if options.judged_only:
            if code < 0:
                continue
            rank = listed + 1
        if code >= 0 and code >= options.level:
            relevant += 1
        ranks[listed], codes[listed] = rank, code
        listed += 1
    return listed, (listed if options.judged_only else depth), relevant
