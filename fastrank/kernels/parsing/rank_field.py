"""The rank fields of run lines, which the readers pass over."""

from __future__ import annotations

from fastrank.kernels.parsing.check import class_of_grade
from fastrank.kernels.texts.numbers import read_integer
from fastrank.kernels.texts.text import is_blank
from fastrank.native.codes import A_NUMBER
from fastrank.native.declare import kernel


@kernel("int64(Texts, int64, float64[::1])")
def read_ranks(docs, last, scores):
    """scores[row] = minus the integer in the field after document `row` of lines of a run.

    Returns the first row whose field is not an integer, or is one beyond `last`, or -1.
    """
    text, starts, lengths = docs
    for row in range(len(starts)):
        start = starts[row] + lengths[row]
        while is_blank(text[start]):
            start += 1
        stop = start
        while not is_blank(text[stop]):
            stop += 1
        rank = read_integer(text, start, stop)
        if class_of_grade(text, start, stop) != A_NUMBER or rank > last or rank < -last:
            return row
        scores[row] = -rank
    return -1
