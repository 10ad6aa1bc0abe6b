"""Texts found by number so often that the search should touch one place in memory.

A slot of the index holds the beginning of a text as a word, and beside it the text's number and
length. That decides for texts of up to 8 bytes; the bytes decide for longer ones.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.simd.instructions import load_word, load_word_inside
from fastrank.kernels.texts.text import equal, hash_text, hash_text_inside
from fastrank.native.declare import inlined, kernel

U = np.uint64
ONE, TWO = U(1), U(2)
# The length of a text in a slot, or that it has at least this many bytes.
LENGTH_BITS = U(8)
LONGEST = 255


def beginning_by(load):
    """Make what gives the first 8 bytes of a text, which `load` loads; zeros stand behind it."""

    @inlined
    def beginning(text, start, length):
        beyond = U(8 * (8 - min(length, 8)))
        return load(text, start) << beyond >> beyond

    return beginning


beginning, beginning_inside = beginning_by(load_word), beginning_by(load_word_inside)


@kernel("void(TextTable)")
def index_texts(indexed):
    """Make the index of distinct texts, whose table is zeroed and has two words for each slot.

    There are a power of two of slots, more than texts.
    """
    (text, starts, lengths), index = indexed
    mask = U(len(index) // 2 - 1)
    for number in range(len(starts)):
        start, length = starts[number], lengths[number]
        slot = hash_text(text, start, length) & mask
        while index[TWO * slot + ONE] != 0:
            slot = slot + ONE & mask
        index[TWO * slot] = np.int64(beginning(text, start, length) if length > 0 else U(0))
        entry = U(number + 1) << LENGTH_BITS | U(min(length, LONGEST))
        index[TWO * slot + ONE] = np.int64(entry)


@inlined
def look_up(text, start, length, indexed):
    """The number of a text among the indexed ones, -1 if it is none of them.

    It is not empty, and at least 8 bytes come behind it.
    """
    (other, starts, lengths), index = indexed
    mask = U(len(index) // 2 - 1)
    word, shown = beginning_inside(text, start, length), U(min(length, LONGEST))
    slot = hash_text_inside(text, start, length) & mask
    while True:
        entry = U(index[TWO * slot + ONE])
        if entry == U(0):
            return np.int64(-1)
        if U(index[TWO * slot]) == word and entry & U(LONGEST) == shown:
            number = np.int64(entry >> LENGTH_BITS) - 1
            if length <= 8 or equal(text, start, length, other, starts[number], lengths[number]):
                return number
        slot = slot + ONE & mask
