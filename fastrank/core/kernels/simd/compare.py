"""64 items of an array, or bytes of text, compared at once: one bit for each, the first the lowest.

As in kernels/simd/instructions.py, compiled code gets instructions, and the interpreter runs the
Python function of the same name. Loops over single items are not always made into these by
themselves.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.simd.instructions import loaded
from fastrank.core.native.compiling.compiler import Tuple, UniTuple, boolean, int64, ir, uint64
from fastrank.core.native.declare import ARRAY, inlined, instruction

BLOCK = 64
_WORD, _INDEX = ir.IntType(64), ir.IntType(32)


def _bits(conditions):
    return np.packbits(np.asarray(conditions), bitorder="little").view(np.uint64)[0]


def _load(builder, items, first):
    """The items of a block as a vector."""
    kind = ir.VectorType(items.type.pointee, BLOCK)
    return loaded(builder, kind, builder.gep(items, [first]), _WORD(0))


def _repeat(builder, value, block):
    """A whole number as every item of a vector like `block`."""
    vector = block.type
    item = builder.insert_element(
        ir.Constant(vector, ir.Undefined),
        builder.trunc(value, vector.element) if vector.element != _WORD else value,
        _INDEX(0),
    )
    return builder.shuffle_vector(
        item, item, ir.Constant(ir.VectorType(_INDEX, BLOCK), [0] * BLOCK)
    )


def _at_least(builder, items, first, least):
    block = _load(builder, items, first)
    limit = _repeat(builder, least, block)
    return builder.bitcast(builder.icmp_unsigned(">=", block, limit), _WORD)


@instruction(uint64(ARRAY, int64, int64), _at_least)
def at_least(items, first, least):
    """Which of the items from `first` on, whole numbers from 0 on, are `least` or more?"""
    return _bits(items[int(first) : int(first) + BLOCK] >= least)


def _equal_to(builder, items, first, value):
    block = _load(builder, items, first)
    same = builder.icmp_signed("==", block, _repeat(builder, value, block))
    return builder.bitcast(same, _WORD)


@instruction(uint64(ARRAY, int64, int64), _equal_to)
def equal_to(items, first, value):
    """Which of the items from `first` on equal a value?"""
    return _bits(items[int(first) : int(first) + BLOCK] == value)


def _negative(builder, items, first):
    block = _load(builder, items, first)
    below = builder.icmp_signed("<", block, ir.Constant(block.type, [0] * BLOCK))
    return builder.bitcast(below, _WORD)


@instruction(uint64(ARRAY, int64), _negative)
def negative(items, first):
    """Which of the items from `first` on are below 0?"""
    return _bits(items[int(first) : int(first) + BLOCK] < 0)


def _not_below_previous(builder, items, first):
    block, before = (_load(builder, items, builder.add(first, _WORD(shift))) for shift in (0, -1))
    return builder.bitcast(builder.fcmp_unordered(">=", block, before), _WORD)


@instruction(uint64(ARRAY, int64), _not_below_previous)
def not_below_previous(items, first):
    """Which floats from `first` (1 or more) on are not below the one before? NaN is below none."""
    first = int(first)
    return _bits(~(items[first : first + BLOCK] < items[first - 1 : first + BLOCK - 1]))


@inlined
def find_equal(items, first, value):
    """`equal_to`, where there may be fewer items."""
    if first + BLOCK <= len(items):
        return equal_to(items, first, value)
    if len(items) >= BLOCK:
        return equal_to(items, len(items) - BLOCK, value) >> np.uint64(BLOCK + first - len(items))
    bits = np.uint64(0)
    for i in range(first, len(items)):
        bits |= np.uint64(items[i] == value) << np.uint64(i - first)
    return bits


@inlined
def has_negative(items):
    """Whether a number is below 0."""
    bits = np.uint64(0)
    if len(items) >= BLOCK:
        for first in range(0, len(items), BLOCK):
            bits |= negative(items, min(first, len(items) - BLOCK))
    else:
        for i in range(len(items)):
            bits |= np.uint64(items[i] < 0)
    return bits != 0


@inlined
def descends(items):
    """Whether each float is below the one before: not if one is NaN."""
    bits = np.uint64(0)
    if len(items) > BLOCK:
        for first in range(1, len(items), BLOCK):
            bits |= not_below_previous(items, min(first, len(items) - BLOCK))
    else:
        for i in range(1, len(items)):
            bits |= np.uint64(not items[i] < items[i - 1])
    return bits == 0 and (len(items) != 1 or items[0] == items[0])


_BYTE = ir.IntType(8)
# How many bytes `load_newlines` looks at.
STRIDE = 256


def _words(conditions):
    return np.packbits(np.asarray(conditions), bitorder="little").view(np.uint64)


def _bytes_at(builder, count, text, start):
    """So many bytes of a text, and what makes as many of one byte."""
    vector = ir.VectorType(_BYTE, count)

    def all_of(byte):
        return ir.Constant(vector, [byte] * count)

    return loaded(builder, vector, text, start), all_of


def _word(builder, conditions):
    """Conditions, 64 at most, as the lowest bits of a word."""
    bits = builder.bitcast(conditions, ir.IntType(conditions.type.count))
    return bits if conditions.type.count == 64 else builder.zext(bits, _WORD)


def _load_block(builder, text, start):
    block, all_of = _bytes_at(builder, 64, text, start)
    space = builder.icmp_unsigned("==", block, all_of(32))
    control = builder.icmp_unsigned("<", builder.sub(block, all_of(9)), all_of(5))
    return [
        _word(builder, mask)
        for mask in (
            builder.or_(space, control),
            builder.icmp_unsigned("==", block, all_of(10)),
            builder.icmp_unsigned("==", block, all_of(0)),
        )
    ]


@instruction(UniTuple(uint64, 3)(ARRAY, int64), _load_block)
def load_block(text, start):
    """`load_masks` of 64 bytes that are there."""
    block = np.asarray(text[int(start) : int(start) + 64])
    controls = (block >= 9) & (block <= 13)
    return tuple(_words(mask)[0] for mask in ((block == 32) | controls, block == 10, block == 0))


@inlined
def load_masks(text, start, stop):
    """For each of the 64 bytes from `start` on, one bit in each of three words: is it a blank (C's
    isspace), a newline, a NUL? Bytes from `stop` on, fewer than 64, count as blanks only."""
    blanks, newlines, nuls = ~np.uint64(0) << np.uint64(stop - start), np.uint64(0), np.uint64(0)
    for i in range(stop - start):
        byte = text[start + i]
        bit = np.uint64(1) << np.uint64(i)
        if byte == 32 or 9 <= byte <= 13:
            blanks |= bit
        if byte == 10:
            newlines |= bit
        if byte == 0:
            nuls |= bit
    return blanks, newlines, nuls


def _load_newlines(builder, text, start):
    # The lowest byte in each lane, newlines not counted: looked at once, in the end.
    halves, lowest = [], None
    for offset in range(0, STRIDE, 32):
        block, all_of = _bytes_at(builder, 32, text, builder.add(start, _WORD(offset)))
        newline = builder.icmp_unsigned("==", block, all_of(10))
        halves.append(_word(builder, newline))
        without_newlines = builder.or_(block, builder.sext(newline, block.type))
        if offset > 0:
            lower = builder.icmp_unsigned("<", without_newlines, lowest)
            without_newlines = builder.select(lower, without_newlines, lowest)
        lowest = without_newlines
    words = [
        builder.or_(low, builder.shl(high, _WORD(32)))
        for low, high in zip(halves[::2], halves[1::2], strict=True)
    ]
    control = _word(builder, builder.icmp_unsigned("<", lowest, all_of(32)))
    return [*words, builder.icmp_unsigned("!=", control, _WORD(0))]


@instruction(Tuple((*[uint64] * 4, boolean))(ARRAY, int64), _load_newlines)
def load_newlines(text, start):
    """Which of the STRIDE bytes from `start` on, all there, are newlines? Words of a bit per byte.

    And whether any of them is another control character, which is a byte below 32.
    """
    block = np.asarray(text[int(start) : int(start) + STRIDE])
    return (*_words(block == 10), bool(((block < 32) & (block != 10)).any()))


def _spaces_among(count):
    """Make what generates the look for spaces among so many bytes."""

    def generate(builder, text, start):
        block, all_of = _bytes_at(builder, count, text, start)
        return _word(builder, builder.icmp_unsigned("==", block, all_of(32)))

    return generate


@instruction(uint64(ARRAY, int64), _spaces_among(64))
def load_spaces(text, start):
    """Which of the 64 bytes from `start` on, all there, are spaces?"""
    return _words(text[int(start) : int(start) + 64] == 32)[0]


@instruction(uint64(ARRAY, int64), _spaces_among(32))
def load_near_spaces(text, start):
    """The same for the first 32 of them; the others count as none."""
    return load_spaces(text, start) & np.uint64(0xFFFFFFFF)
