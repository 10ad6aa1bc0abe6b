"""What a run gives to each document that it retrieves: a function of the rank or of the score."""

from __future__ import annotations

import math

from fastrank.kernels.fusion.codes import (
    BORDA_POINTS,
    BY_BORDA,
    BY_MAXIMUM,
    BY_RANK,
    BY_SUM,
    FINE,
    GEOMETRIC,
    INVERSE_SQUARES,
    MIN_MAX,
    NO_MAXIMUM,
    NOT_FINITE,
    RECIPROCAL_RANKS,
    SCORES,
    STANDARD,
)
from fastrank.native.declare import helper, inlined


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
def mean_above(scores, smallest):
    """The mean of the scores, less the smallest."""
    total = 0.0
    for score in scores:
        total += score - smallest
    return total / len(scores)


@helper
def variation(scores, smallest, mean):
    """The sum of the squared differences from the mean, which is that of `mean_above`."""
    total = 0.0
    for score in scores:
        difference = score - smallest - mean
        total += difference * difference
    return total


@helper
def shift_and_scale(kind, scores, smallest, largest):
    """What a normalization subtracts from the scores less the smallest, and then divides by.

    Differences of scores that are nearly equal are exact, unlike those from their mean.
    """
    count = len(scores)
    if kind == MIN_MAX:
        return 0.0, largest - smallest
    mean = mean_above(scores, smallest)
    if kind == BY_SUM:
        return 0.0, mean * count
    squares = variation(scores, smallest, mean)
    if kind == STANDARD:
        return mean, math.sqrt(squares / count)
    # Three standard deviations of the sample on both sides of the mean.
    deviation = math.sqrt(squares / (count - 1))
    return mean - 3.0 * deviation, 6.0 * deviation


@inlined
def value_of_equals(kind, count):
    """The value of every document if all scores are equal."""
    if kind == MIN_MAX:
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
