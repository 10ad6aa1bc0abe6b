"""Fields of run lines that are in the column of another field."""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.parsing.block_index import NEWLINE, find_byte
from fastrank.core.kernels.texts.numbers import is_plain_integer, read_one_decimal
from fastrank.core.kernels.texts.text import equal, is_blank
from fastrank.core.native.codes import EXACT, PARTIAL
from fastrank.core.native.declare import helper, inlined

RETURN = 13
# Fields of a line, by what they are in a run.
QUERY, RANK, SCORE, TAG = 0, 3, 4, 5


@helper
def is_whole(text, start, stop):
    """Whether text[start:stop] is a whole number, also one written as a decimal, such as 1.0."""
    if is_plain_integer(text, start, stop):
        return True
    status, value = read_one_decimal(text, start, stop)
    return status == EXACT and value == np.floor(value)


@helper
def is_number(text, start, stop):
    """Whether text[start:stop] is a number in a usual form."""
    status, _ = read_one_decimal(text, start, stop)
    return status == EXACT


@helper
def is_decimal(text, start, stop):
    """Whether text[start:stop] is a number that is not written as an integer."""
    return is_number(text, start, stop) and not is_plain_integer(text, start, stop)


@inlined
def field_of(bounds, field):
    """Where a field of a line that was split begins and ends."""
    return bounds[2 * field], bounds[2 * field + 1]


@helper
def nth_field(text, position, stop, number):
    """Where field `number`, from 0, of the line text[position:stop] begins and ends.

    Both are `stop` if there is none.
    """
    start = position
    for _ in range(number + 1):
        start = position
        while start < stop and is_blank(text[start]):
            start += 1
        position = start
        while position < stop and not is_blank(text[position]):
            position += 1
    return start, position


@helper
def line_after(text, stop, size):
    """Where the line after one that ends at `stop` ends."""
    return find_byte(text, NEWLINE, min(stop + 1, size), size)


@helper
def next_tag_differs(text, tag, stop, size):
    """Whether the next line has another tag than text[tag:stop]."""
    end = line_after(text, stop, size)
    if end <= stop + 1:
        return False
    next_tag, _ = nth_field(text, stop + 1, end, TAG)
    return next_tag < end and not equal(text, tag, stop - tag, text, next_tag, end - next_tag)


@helper
def has_blank_in_id(text, bounds):
    """Whether an id seems to contain a blank, in a line of more than six fields and a new tag.

    The tag may have several words, so that is not enough: the rank, or the score, must be in the
    place of the tag, or a word in that of the score.
    """
    rank, rank_end = field_of(bounds, RANK)
    score, score_end = field_of(bounds, SCORE)
    tag, tag_end = field_of(bounds, TAG)
    if is_whole(text, rank, rank_end):
        # The second word of the id may be a whole number, and the first of the tag, too.
        return is_plain_integer(text, score, score_end) and is_decimal(text, tag, tag_end)
    status, _ = read_one_decimal(text, score, score_end)
    return status & PARTIAL != 0 or is_number(text, tag, tag_end)


@helper
def are_exchanged(text, bounds, stop, size, ended):
    """Whether rank and score have changed places in a line that ends at `stop`, and in the next.

    A single line does not show it: there are runs with raw scores in the rank column and scores
    from 0 to 1. So the score of the next line of the query must be the next whole number.
    Where that line may not be there yet, it is taken to be so.
    """
    rank, rank_end = field_of(bounds, RANK)
    score, score_end = field_of(bounds, SCORE)
    if is_whole(text, rank, rank_end) or not is_number(text, rank, rank_end):
        return False
    status, first = read_one_decimal(text, score, score_end)
    end = line_after(text, stop, size)
    if status != EXACT or first != np.floor(first):
        return False
    if end == size and not ended:
        return True
    if end <= stop + 1:
        return False
    query, query_end = field_of(bounds, QUERY)
    next_query, next_query_end = nth_field(text, stop + 1, end, QUERY)
    if not equal(text, query, query_end - query, text, next_query, next_query_end - next_query):
        return False
    rank, rank_end = nth_field(text, stop + 1, end, RANK)
    score, score_end = nth_field(text, stop + 1, end, SCORE)
    status, second = read_one_decimal(text, score, score_end)
    return status == EXACT and second == first + 1 and is_number(text, rank, rank_end)


@helper
def has_bare_return(text, start, stop):
    """Whether a carriage return, and something other than blanks behind it, is in
    text[start:stop].
    """
    while stop > start and is_blank(text[stop - 1]):
        stop -= 1
    return find_byte(text, RETURN, start, stop) < stop
