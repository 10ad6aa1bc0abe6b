"""Fields of run lines that are in the column of another field."""

from __future__ import annotations

import numpy as np

from fastrank.kernels.texts.numbers import is_plain_integer, read_decimal
from fastrank.native.codes import EXACT, PARTIAL
from fastrank.native.declare import helper


@helper
def is_whole(text, start, stop):
    """Whether text[start:stop] is a whole number, also one written as a decimal, such as 1.0."""
    if is_plain_integer(text, start, stop):
        return True
    status, value = read_decimal(text, start, stop)
    return status == EXACT and value == np.floor(value)


@helper
def is_number(text, start, stop):
    """Whether text[start:stop] is a number in a usual form."""
    status, _ = read_decimal(text, start, stop)
    return status == EXACT


@helper
def is_decimal(text, start, stop):
    """Whether text[start:stop] is a number that is not written as an integer."""
    return is_number(text, start, stop) and not is_plain_integer(text, start, stop)


@helper
def are_misplaced(text, rank, rank_end, score, score_end, tag, tag_end, more):
    """Whether an id of a run line contains a blank, or rank and score have changed places.

    more: whether the line has more than six fields. The tag may have several words, so that is not
    enough: the rank, or the score, must be in the place of the tag, or a word in that of the score.
    """
    if is_whole(text, rank, rank_end):
        # The second word of the id may be a whole number, and the first of the tag, too.
        return more and is_plain_integer(text, score, score_end) and is_decimal(text, tag, tag_end)
    if more:
        status, _ = read_decimal(text, score, score_end)
        return status & PARTIAL != 0 or is_number(text, tag, tag_end)
    return is_decimal(text, rank, rank_end) and is_plain_integer(text, score, score_end)
