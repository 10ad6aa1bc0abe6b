"""Documents by descending score, and by descending id if scores are equal."""

from __future__ import annotations

import numpy as np

from fastrank.kernels.fusion.codes import DIGIT_BITS, DIGITS
from fastrank.kernels.judging.memory import rank_documents
from fastrank.kernels.simd.instructions import as_word
from fastrank.kernels.texts.text import compare_texts, sort_by
from fastrank.native.codes import LARGER_ID_FIRST
from fastrank.native.declare import helper, inlined

U = np.uint64
SIGN = U(1 << 63)
LAST_DIGIT = U(DIGITS - 1)
# Comparing sorts fewer documents sooner.
FEW = 256


@inlined
def descending_word(number):
    """A word that is the smaller, the larger the number is; 0.0 and -0.0 have the same."""
    word = as_word(number + 0.0)
    return word if word & SIGN else ~(word | SIGN)


@helper
def by_descending_id(a, b, docs):
    return compare_texts(docs, b, a)


sort_by_descending_id = sort_by(by_descending_id)


@helper
def sort_words(count, words, order, other_words, other_order, histogram):
    """Sort words, stably and digit by digit, and the order of what they belong to with them."""
    varying = U(0)
    for i in range(1, count):
        varying |= U(words[i]) ^ U(words[0])
    for shift in range(0, 64, DIGIT_BITS):
        if varying >> U(shift) & LAST_DIGIT == 0:
            continue
        histogram[:] = 0
        for i in range(count):
            histogram[U(words[i]) >> U(shift) & LAST_DIGIT] += 1
        place = 0
        for digit in range(len(histogram)):
            equal_ones = histogram[digit]
            histogram[digit] = place
            place += equal_ones
        for i in range(count):
            digit = U(words[i]) >> U(shift) & LAST_DIGIT
            place = histogram[digit]
            histogram[digit] = place + 1
            other_words[place], other_order[place] = words[i], order[i]
        for i in range(count):
            words[i], order[i] = other_words[i], other_order[i]


@helper
def order_documents(docs, count, single, scratch):
    """ranking.order[:count] = the documents, best first, with scores fused[:count], no NaN.

    Scores are compared as 32-bit floats if `single`.
    """
    _, order, merge = scratch.ranking
    if count <= FEW:
        rank_documents(docs, scratch.fused, 0, count, single, LARGER_ID_FIRST, scratch.ranking)
        return
    words = scratch.words
    for i in range(count):
        key = np.float64(np.float32(scratch.fused[i])) if single else scratch.fused[i]
        words[i] = np.int64(descending_word(key))
        order[i] = i
    sort_words(count, words, order, scratch.other_words, scratch.other_order, scratch.histogram)
    first = 0
    while first < count:
        stop = first + 1
        while stop < count and words[stop] == words[first]:
            stop += 1
        if stop - first > 1:
            sort_by_descending_id(order[first:stop], stop - first, merge, docs)
        first = stop
