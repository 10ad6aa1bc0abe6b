"""64 items of an array compared at once: one bit for each, the first the lowest.

As in kernels/simd/instructions.py, compiled code gets instructions, and the interpreter runs the
Python function of the same name. Loops over single items are not always made into these by
themselves.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fastrank.kernels.simd.instructions import address_of, compiled_as
from fastrank.native.declare import inlined

BLOCK = 64
_WORD, _INDEX = ir.IntType(64), ir.IntType(32)
_FLOATS = {32: ir.FloatType(), 64: ir.DoubleType()}


def _bits(conditions):
    return np.packbits(np.asarray(conditions), bitorder="little").view(np.uint64)[0]


def _load(context, builder, array_type, array, at, shift=0):
    """The items of a block, `shift` items further on, as a vector."""
    size = array_type.dtype.bitwidth
    item = _FLOATS[size] if isinstance(array_type.dtype, types.Float) else ir.IntType(size)
    place = builder.mul(builder.add(at, ir.Constant(_WORD, shift)), ir.Constant(_WORD, size // 8))
    address = address_of(context, builder, array_type, array, place)
    vector = ir.VectorType(item, BLOCK)
    return builder.load(builder.bitcast(address, vector.as_pointer()), align=size // 8)


def _repeat(builder, value, block):
    """A whole number as every item of a vector like `block`."""
    vector = block.type
    one = builder.insert_element(
        ir.Constant(vector, ir.Undefined),
        builder.trunc(value, vector.element) if vector.element != _WORD else value,
        ir.Constant(_INDEX, 0),
    )
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INDEX, BLOCK), [0] * BLOCK))


def at_least(items, at, least):
    """Which of the items from `at` on, whole numbers from 0 on, are `least` or more?"""
    return _bits(items[int(at) : int(at) + BLOCK] >= least)


@intrinsic
def _at_least(context, items, at, least):
    def generate(context, builder, signature, arguments):
        block = _load(context, builder, signature.args[0], *arguments[:2])
        limit = _repeat(builder, arguments[2], block)
        return builder.bitcast(builder.icmp_unsigned(">=", block, limit), _WORD)

    return types.uint64(items, types.int64, types.int64), generate


compiled_as(at_least, lambda items, at, least: lambda items, at, least: _at_least(items, at, least))


def equal_to(items, at, value):
    """Which of the items from `at` on equal a value?"""
    return _bits(items[int(at) : int(at) + BLOCK] == value)


@intrinsic
def _equal_to(context, items, at, value):
    def generate(context, builder, signature, arguments):
        block = _load(context, builder, signature.args[0], *arguments[:2])
        same = builder.icmp_signed("==", block, _repeat(builder, arguments[2], block))
        return builder.bitcast(same, _WORD)

    return types.uint64(items, types.int64, types.int64), generate


compiled_as(equal_to, lambda items, at, value: lambda items, at, value: _equal_to(items, at, value))


def negative(items, at):
    """Which of the items from `at` on are below 0?"""
    return _bits(items[int(at) : int(at) + BLOCK] < 0)


@intrinsic
def _negative(context, items, at):
    def generate(context, builder, signature, arguments):
        block = _load(context, builder, signature.args[0], *arguments)
        below = builder.icmp_signed("<", block, ir.Constant(block.type, [0] * BLOCK))
        return builder.bitcast(below, _WORD)

    return types.uint64(items, types.int64), generate


compiled_as(negative, lambda items, at: lambda items, at: _negative(items, at))


def not_below_previous(items, at):
    """Which of the floats from `at` on, from 1, are not below the one before? NaN is below none."""
    at = int(at)
    return _bits(~(items[at : at + BLOCK] < items[at - 1 : at + BLOCK - 1]))


@intrinsic
def _not_below_previous(context, items, at):
    def generate(context, builder, signature, arguments):
        block = _load(context, builder, signature.args[0], *arguments)
        before = _load(context, builder, signature.args[0], *arguments, shift=-1)
        return builder.bitcast(builder.fcmp_unordered(">=", block, before), _WORD)

    return types.uint64(items, types.int64), generate


compiled_as(not_below_previous, lambda items, at: lambda items, at: _not_below_previous(items, at))


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
