"""64 items of an array compared at once: one bit for each, the first the lowest.

As in kernels/simd/instructions.py, compiled code gets instructions, and the interpreter runs the
Python function of the same name. Loops over single items are not always made into these by
themselves.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.types import int64, uint64

from fastrank.native.declare import ARRAY, inlined, instruction

BLOCK = 64
_WORD, _INDEX = ir.IntType(64), ir.IntType(32)


def _bits(conditions):
    return np.packbits(np.asarray(conditions), bitorder="little").view(np.uint64)[0]


def _load(builder, items, at):
    """The items of a block as a vector, of which only the alignment of one item is known."""
    item = items.type.pointee
    place = builder.bitcast(builder.gep(items, [at]), ir.VectorType(item, BLOCK).as_pointer())
    return builder.load(place, align=_SIZES[str(item)])


_SIZES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "float": 4, "double": 8}


def _repeat(builder, value, block):
    """A whole number as every item of a vector like `block`."""
    vector = block.type
    one = builder.insert_element(
        ir.Constant(vector, ir.Undefined),
        builder.trunc(value, vector.element) if vector.element != _WORD else value,
        _INDEX(0),
    )
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INDEX, BLOCK), [0] * BLOCK))


def _at_least(builder, items, at, least):
    block = _load(builder, items, at)
    limit = _repeat(builder, least, block)
    return builder.bitcast(builder.icmp_unsigned(">=", block, limit), _WORD)


@instruction(uint64(ARRAY, int64, int64), _at_least)
def at_least(items, at, least):
    """Which of the items from `at` on, whole numbers from 0 on, are `least` or more?"""
    return _bits(items[int(at) : int(at) + BLOCK] >= least)


def _equal_to(builder, items, at, value):
    block = _load(builder, items, at)
    same = builder.icmp_signed("==", block, _repeat(builder, value, block))
    return builder.bitcast(same, _WORD)


@instruction(uint64(ARRAY, int64, int64), _equal_to)
def equal_to(items, at, value):
    """Which of the items from `at` on equal a value?"""
    return _bits(items[int(at) : int(at) + BLOCK] == value)


def _negative(builder, items, at):
    block = _load(builder, items, at)
    below = builder.icmp_signed("<", block, ir.Constant(block.type, [0] * BLOCK))
    return builder.bitcast(below, _WORD)


@instruction(uint64(ARRAY, int64), _negative)
def negative(items, at):
    """Which of the items from `at` on are below 0?"""
    return _bits(items[int(at) : int(at) + BLOCK] < 0)


def _not_below_previous(builder, items, at):
    block, before = (_load(builder, items, builder.add(at, _WORD(shift))) for shift in (0, -1))
    return builder.bitcast(builder.fcmp_unordered(">=", block, before), _WORD)


@instruction(uint64(ARRAY, int64), _not_below_previous)
def not_below_previous(items, at):
    """Which of the floats from `at` on, from 1, are not below the one before? NaN is below none."""
    at = int(at)
    return _bits(~(items[at : at + BLOCK] < items[at - 1 : at + BLOCK - 1]))


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
