"""Processor instructions that Numba has no name for, each with its meaning in plain Python.

Compiled code gets the instruction, the interpreter runs the Python function of the same name.
Texts are bytes in memory, so words are little-endian: the first byte is the lowest.
"""

from __future__ import annotations

import os

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from fastrank.native.declare import NO_ALLOCATION, inlined

_BYTE, _WORD, _DOUBLE_WORD = ir.IntType(8), ir.IntType(64), ir.IntType(128)


def compiled_as(function, instruction):
    """Let compiled code that calls `function` execute `instruction` instead."""
    overload(function, jit_options={**NO_ALLOCATION, "forceinline": True})(instruction)


def trailing_zeros(word):
    """How many of the 64 bits come after the last one that is set; 64 when none is."""
    word = int(word)
    return (word & -word).bit_length() - 1 if word else 64


@intrinsic
def _trailing_zeros(context, word):
    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


compiled_as(trailing_zeros, lambda word: lambda word: _trailing_zeros(word))


def leading_zeros(word):
    """How many of the 64 bits come before the first one that is set; 64 when none is."""
    return 64 - int(word).bit_length()


@intrinsic
def _leading_zeros(context, word):
    def generate(context, builder, signature, arguments):
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


compiled_as(leading_zeros, lambda word: lambda word: _leading_zeros(word))


def count_ones(word):
    """How many bits are set."""
    return bin(int(word)).count("1")


@intrinsic
def _count_ones(context, word):
    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


compiled_as(count_ones, lambda word: lambda word: _count_ones(word))


def swap_bytes(word):
    """The bytes in reverse order: words of text then compare as the text does."""
    return np.uint64(int.from_bytes(int(word).to_bytes(8, "little"), "big"))


@intrinsic
def _swap_bytes(context, word):
    def generate(context, builder, signature, arguments):
        return builder.bswap(arguments[0])

    return types.uint64(types.uint64), generate


compiled_as(swap_bytes, lambda word: lambda word: _swap_bytes(word))


def multiply(a, b):
    """The 128-bit product of two words, as high and low half."""
    product = int(a) * int(b)
    return np.uint64(product >> 64), np.uint64(product & (2**64 - 1))


@intrinsic
def _multiply(context, a, b):
    def generate(context, builder, signature, arguments):
        wide = [builder.zext(argument, _DOUBLE_WORD) for argument in arguments]
        product = builder.mul(*wide)
        high = builder.lshr(product, ir.Constant(_DOUBLE_WORD, 64))
        halves = [builder.trunc(half, _WORD) for half in (high, product)]
        return context.make_tuple(builder, signature.return_type, halves)

    return types.UniTuple(types.uint64, 2)(types.uint64, types.uint64), generate


compiled_as(multiply, lambda a, b: lambda a, b: _multiply(a, b))


def as_double(word):
    """The double whose 64 bits these are."""
    return np.uint64(word).view(np.float64)


def as_word(number):
    """The 64 bits of a double."""
    return np.float64(number).view(np.uint64)


@intrinsic
def _as_word(context, number):
    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], _WORD)

    return types.uint64(types.float64), generate


compiled_as(as_word, lambda number: lambda number: _as_word(number))


@intrinsic
def _as_double(context, word):
    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), generate


compiled_as(as_double, lambda word: lambda word: _as_double(word))


def load_word_inside(text, at):
    """The 8 bytes from `at` on as a word; all of them must be there."""
    return np.uint64(int.from_bytes(bytes(text[int(at) : int(at) + 8]), "little"))


def address_of(context, builder, array_type, array, at):
    """The address of the byte `at` of an array, while code is generated."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(builder.bitcast(data, _BYTE.as_pointer()), [at])


def loaded(context, builder, kind, array_type, array, at):
    """What stands at the byte `at` of an array, as a value of some kind."""
    address = address_of(context, builder, array_type, array, at)
    return builder.load(builder.bitcast(address, kind.as_pointer()), align=1)


@intrinsic
def _load_8_bytes(context, text, at):
    def generate(context, builder, signature, arguments):
        return loaded(context, builder, _WORD, signature.args[0], *arguments)

    return types.uint64(text, types.int64), generate


compiled_as(load_word_inside, lambda text, at: lambda text, at: _load_8_bytes(text, at))


def differ(text, at, other, mask):
    """Whether any of 16 bytes from `at` on, all there, has a bit other than two words of `other`.

    Of the bits only those of the two words of `mask` count.
    """
    own = load_word_inside(text, at), load_word_inside(text, at + 8)
    return any((a ^ b) & bits for a, b, bits in zip(own, other, mask, strict=True))


@intrinsic
def _differ(context, text, at, other, mask):
    pair = ir.VectorType(_WORD, 2)

    def generate(context, builder, signature, arguments):
        text, at, other, mask = arguments

        def vector(words):
            made = ir.Constant(pair, ir.Undefined)
            for i in range(2):
                word = builder.extract_value(words, i)
                made = builder.insert_element(made, word, ir.Constant(ir.IntType(32), i))
            return made

        own = loaded(context, builder, pair, signature.args[0], text, at)
        unlike = builder.and_(builder.xor(own, vector(other)), vector(mask))
        bytes_ = builder.bitcast(unlike, ir.VectorType(_BYTE, 16))
        zero = ir.Constant(ir.VectorType(_BYTE, 16), [0] * 16)
        odd = builder.bitcast(builder.icmp_unsigned("!=", bytes_, zero), ir.IntType(16))
        result = builder.icmp_unsigned("!=", odd, ir.Constant(ir.IntType(16), 0))
        return context.cast(builder, result, types.boolean, types.boolean)

    words = types.UniTuple(types.uint64, 2)
    return types.boolean(text, types.int64, words, words), generate


compiled_as(
    differ,
    lambda text, at, other, mask: lambda text, at, other, mask: _differ(text, at, other, mask),
)


# The bytes of a decimal that are looked at. From LONGEST_DECIMAL - n on, _PRESENT has ones for n
# bytes and zeros for the rest.
LONGEST_DECIMAL = 32
_PRESENT = np.repeat(np.array([0xFF, 0], dtype=np.uint8), LONGEST_DECIMAL)
_DECIMAL = ir.VectorType(_BYTE, LONGEST_DECIMAL)


def _digits(text, at, length, lowest):
    digits = np.asarray(text[int(at) : int(at) + LONGEST_DECIMAL])
    digits = digits ^ np.array(lowest, dtype=np.uint64).view(np.uint8)
    digits[int(length) :] = 0
    return digits


def _words_as_bytes(builder, words):
    made = ir.Constant(ir.VectorType(_WORD, 4), ir.Undefined)
    for i in range(4):
        word = builder.extract_value(words, i)
        made = builder.insert_element(made, word, ir.Constant(ir.IntType(32), i))
    return builder.bitcast(made, _DECIMAL)


def _load_digits(context, builder, text_type, text, at, length, lowest, present_type, present):
    longest = ir.Constant(_WORD, LONGEST_DECIMAL)
    behind = builder.sub(longest, length)
    own = loaded(context, builder, _DECIMAL, present_type, present, behind)
    digits = loaded(context, builder, _DECIMAL, text_type, text, at)
    return builder.and_(builder.xor(digits, lowest), own)


def decimal_head(text, at, length, lowest, room):
    """Whether a decimal has a form, and its first 8 bytes as a word that is ordered as they are.

    `lowest` and `room` are four words each: a byte is `lowest` and at most `room` more. Of shorter
    decimals the word has zeros. LONGEST_DECIMAL bytes of text must come from `at` on.
    """
    digits = _digits(text, at, length, lowest)
    fits = bool((digits <= np.array(room, dtype=np.uint64).view(np.uint8)).all())
    return fits, np.uint64(int.from_bytes(digits[:8].tobytes(), "big"))


@intrinsic
def _decimal_head(context, text, at, length, present, lowest, room):
    def generate(context, builder, signature, arguments):
        text, at, length, present, lowest, room = arguments
        lowest, room = (_words_as_bytes(builder, words) for words in (lowest, room))
        types_ = signature.args
        digits = _load_digits(
            context, builder, types_[0], text, at, length, lowest, types_[3], present
        )
        over = builder.bitcast(builder.icmp_unsigned(">", digits, room), ir.IntType(32))
        fits = builder.icmp_unsigned("==", over, ir.Constant(ir.IntType(32), 0))
        words = builder.bitcast(digits, ir.VectorType(_WORD, 4))
        head = builder.bswap(builder.extract_element(words, ir.Constant(ir.IntType(32), 0)))
        fits = context.cast(builder, fits, types.boolean, types.boolean)
        return context.make_tuple(builder, signature.return_type, [fits, head])

    word4 = types.UniTuple(types.uint64, 4)
    return types.Tuple((types.boolean, types.uint64))(
        text, types.int64, types.int64, present, word4, word4
    ), generate


compiled_as(
    decimal_head,
    lambda text, at, length, lowest, room: (
        lambda text, at, length, lowest, room: _decimal_head(
            text, at, length, _PRESENT, lowest, room
        )
    ),
)


def compare_decimals(text, at, length, other, other_length, lowest):
    """Whether the decimal at `at` is larger, or smaller, than another of its form (`decimal_head`).

    They are compared as text, the digits behind the point padded with zeros.
    """
    own = _digits(text, at, length, lowest).tobytes()
    others = _digits(text, other, other_length, lowest).tobytes()
    return own > others, own < others


@intrinsic
def _compare_32_bytes(context, text, at, length, other, other_length, present, lowest):
    mask = ir.IntType(32)

    def generate(context, builder, signature, arguments):
        text, at, length, other, other_length, present, lowest = arguments
        types_, lowest = signature.args, _words_as_bytes(builder, lowest)
        one, two = (
            _load_digits(context, builder, types_[0], text, *place, lowest, types_[5], present)
            for place in ((at, length), (other, other_length))
        )
        larger = builder.bitcast(builder.icmp_unsigned(">", one, two), mask)
        smaller = builder.bitcast(builder.icmp_unsigned("<", one, two), mask)

        def comes_first(bits, others):
            """Whether the lowest bit of all is one of the first word: that byte decides."""
            until = builder.xor(others, builder.sub(others, ir.Constant(mask, 1)))
            found = builder.and_(bits, until)
            return builder.icmp_unsigned("!=", found, ir.Constant(mask, 0))

        results = [comes_first(larger, smaller), comes_first(smaller, larger)]
        booleans = [context.cast(builder, r, types.boolean, types.boolean) for r in results]
        return context.make_tuple(builder, signature.return_type, booleans)

    integer = types.int64
    return types.UniTuple(types.boolean, 2)(
        text, integer, integer, integer, integer, present, types.UniTuple(types.uint64, 4)
    ), generate


compiled_as(
    compare_decimals,
    lambda text, at, length, other, other_length, lowest: (
        lambda text, at, length, other, other_length, lowest: _compare_32_bytes(
            text, at, length, other, other_length, _PRESENT, lowest
        )
    ),
)


def store_word(text, at, word):
    """Put the 8 bytes of a word where text[at : at + 8] is."""
    text[int(at) : int(at) + 8] = np.frombuffer(int(word).to_bytes(8, "little"), np.uint8)


@intrinsic
def _store_8_bytes(context, text, at, word):
    def generate(context, builder, signature, arguments):
        address = address_of(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], builder.bitcast(address, _WORD.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(text, types.int64, types.uint64), generate


compiled_as(
    store_word, lambda text, at, word: lambda text, at, word: _store_8_bytes(text, at, word)
)


def read_at(file, position, text, at, count):
    """Read up to `count` bytes of an open file, from `position` on, to where text[at:] is.

    C's pread: how many, 0 at the end of the file, -1 for an error.
    """
    try:
        return os.preadv(int(file), [memoryview(text)[int(at) : int(at + count)]], int(position))
    except OSError:
        return -1


@intrinsic
def _read_at(context, file, position, text, at, count):
    handle = ir.IntType(32)

    def generate(context, builder, signature, arguments):
        file, position, text, at, count = arguments
        address = address_of(context, builder, signature.args[2], text, at)
        kinds = ir.FunctionType(_WORD, [handle, _BYTE.as_pointer(), _WORD, _WORD])
        function = cgutils.get_or_insert_function(builder.module, kinds, "pread")
        return builder.call(function, [builder.trunc(file, handle), address, count, position])

    integer = types.int64
    return types.int64(integer, integer, text, integer, integer), generate


compiled_as(
    read_at,
    lambda file, position, text, at, count: (
        lambda file, position, text, at, count: _read_at(file, position, text, at, count)
    ),
)


def prefetch(text, at):
    """Have the memory around text[at] fetched into the caches while other things are done."""


@intrinsic
def _prefetch(context, text, at):
    integer = ir.IntType(32)

    def generate(context, builder, signature, arguments):
        address = address_of(context, builder, signature.args[0], *arguments)
        kinds = ir.FunctionType(ir.VoidType(), [address.type, integer, integer, integer])
        function = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kinds)
        # To read; into all caches; data.
        builder.call(function, [address, *(ir.Constant(integer, i) for i in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(text, types.int64), generate


compiled_as(prefetch, lambda text, at: lambda text, at: _prefetch(text, at))


@inlined
def load_word(text, at):
    """The 8 bytes from `at` on as a word; zeros stand for what is behind the end."""
    if at + 8 <= len(text):
        return load_word_inside(text, at)
    word = np.uint64(0)
    for i in range(len(text) - at):
        word |= np.uint64(text[at + i]) << np.uint64(8 * i)
    return word
