"""Many bytes of text looked at once: one bit for each, the first the lowest.

As in kernels/simd/instructions.py, compiled code gets instructions, and the interpreter runs the
Python function of the same name.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fastrank.kernels.simd.instructions import compiled_as, loaded
from fastrank.native.declare import inlined

_BYTE, _WORD = ir.IntType(8), ir.IntType(64)
# How many bytes `load_newlines` looks at.
STRIDE = 256


def _words(conditions):
    return np.packbits(np.asarray(conditions), bitorder="little").view(np.uint64)


def _bytes_at(context, builder, count, text_type, text, at):
    """So many bytes of a text, and what makes as many of one byte."""
    vector = ir.VectorType(_BYTE, count)

    def all_of(byte):
        return ir.Constant(vector, [byte] * count)

    return loaded(context, builder, vector, text_type, text, at), all_of


def _word(builder, conditions):
    """Conditions, 64 at most, as the lowest bits of a word."""
    bits = builder.bitcast(conditions, ir.IntType(conditions.type.count))
    return bits if conditions.type.count == 64 else builder.zext(bits, _WORD)


def load_block(text, at):
    """`load_masks` of 64 bytes that are there."""
    block = np.asarray(text[int(at) : int(at) + 64])
    controls = (block >= 9) & (block <= 13)
    return tuple(_words(mask)[0] for mask in ((block == 32) | controls, block == 10, block == 0))


@intrinsic
def _load_block(context, text, at):
    def generate(context, builder, signature, arguments):
        block, all_of = _bytes_at(context, builder, 64, signature.args[0], *arguments)
        space = builder.icmp_unsigned("==", block, all_of(32))
        control = builder.icmp_unsigned("<", builder.sub(block, all_of(9)), all_of(5))
        masks = [
            builder.or_(space, control),
            builder.icmp_unsigned("==", block, all_of(10)),
            builder.icmp_unsigned("==", block, all_of(0)),
        ]
        words = [_word(builder, mask) for mask in masks]
        return context.make_tuple(builder, signature.return_type, words)

    return types.UniTuple(types.uint64, 3)(text, types.int64), generate


compiled_as(load_block, lambda text, at: lambda text, at: _load_block(text, at))


@inlined
def load_masks(text, at, stop):
    """For each of the 64 bytes from `at` on, one bit in each of three words: is it a blank (C's
    isspace), a newline, a NUL? Bytes from `stop` on, fewer than 64, count as blanks only."""
    blanks, newlines, nuls = ~np.uint64(0) << np.uint64(stop - at), np.uint64(0), np.uint64(0)
    for i in range(stop - at):
        byte = text[at + i]
        bit = np.uint64(1) << np.uint64(i)
        if byte == 32 or 9 <= byte <= 13:
            blanks |= bit
        if byte == 10:
            newlines |= bit
        if byte == 0:
            nuls |= bit
    return blanks, newlines, nuls


def load_newlines(text, at):
    """Which of the STRIDE bytes from `at` on, all there, are newlines? One bit for each, in words.

    And whether any of them is another control character, which is a byte below 32.
    """
    block = np.asarray(text[int(at) : int(at) + STRIDE])
    return (*_words(block == 10), bool(((block < 32) & (block != 10)).any()))


@intrinsic
def _load_newlines(context, text, at):
    def generate(context, builder, signature, arguments):
        text, at = arguments
        # The lowest byte in each place, newlines not counted: looked at once, in the end.
        halves, lowest = [], None
        for place in range(0, STRIDE, 32):
            own = builder.add(at, ir.Constant(_WORD, place))
            block, all_of = _bytes_at(context, builder, 32, signature.args[0], text, own)
            newline = builder.icmp_unsigned("==", block, all_of(10))
            halves.append(_word(builder, newline))
            other = builder.or_(block, builder.sext(newline, block.type))
            if place > 0:
                lower = builder.icmp_unsigned("<", other, lowest)
                other = builder.select(lower, other, lowest)
            lowest = other
        words = [
            builder.or_(low, builder.shl(high, ir.Constant(_WORD, 32)))
            for low, high in zip(halves[::2], halves[1::2], strict=True)
        ]
        control = _word(builder, builder.icmp_unsigned("<", lowest, all_of(32)))
        odd = builder.icmp_unsigned("!=", control, ir.Constant(_WORD, 0))
        odd = context.cast(builder, odd, types.boolean, types.boolean)
        return context.make_tuple(builder, signature.return_type, [*words, odd])

    return types.Tuple((*[types.uint64] * 4, types.boolean))(text, types.int64), generate


compiled_as(load_newlines, lambda text, at: lambda text, at: _load_newlines(text, at))


def load_spaces(text, at):
    """Which of the 64 bytes from `at` on, all there, are spaces?"""
    return _words(text[int(at) : int(at) + 64] == 32)[0]


def load_near_spaces(text, at):
    """The same for the first 32 of them; the others count as none."""
    return load_spaces(text, at) & np.uint64(0xFFFFFFFF)


def _spaces_among(count):
    @intrinsic
    def _load_spaces(context, text, at):
        def generate(context, builder, signature, arguments):
            block, all_of = _bytes_at(context, builder, count, signature.args[0], *arguments)
            return _word(builder, builder.icmp_unsigned("==", block, all_of(32)))

        return types.uint64(text, types.int64), generate

    return _load_spaces


_load_64_spaces, _load_32_spaces = _spaces_among(64), _spaces_among(32)
compiled_as(load_spaces, lambda text, at: lambda text, at: _load_64_spaces(text, at))
compiled_as(load_near_spaces, lambda text, at: lambda text, at: _load_32_spaces(text, at))
