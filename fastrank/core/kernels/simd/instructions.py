"""Processor instructions that Numba has no name for, each with its meaning in plain Python.

Compiled code gets the instruction, the interpreter runs the Python function of the same name.
Texts are bytes in memory, so words are little-endian: the first byte is the lowest.
"""

from __future__ import annotations

import math

import numpy as np

from fastrank.core.native.compiling.compiler import (
    Tuple,
    UniTuple,
    boolean,
    cgutils,
    float64,
    int64,
    ir,
    uint64,
    void,
)
from fastrank.core.native.declare import ARRAY, helper, inlined, instruction, outlined

_BIT, _BYTE, _INT, _WORD = ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64)
_DOUBLE_WORD = ir.IntType(128)


@instruction(int64(uint64), lambda builder, word: builder.cttz(word, _BIT(0)))
def trailing_zeros(word):
    """How many of the 64 bits come after the last one that is set; 64 when none is."""
    word = int(word)
    return (word & -word).bit_length() - 1 if word else 64


@instruction(int64(uint64), lambda builder, word: builder.ctlz(word, _BIT(0)))
def leading_zeros(word):
    """How many of the 64 bits come before the first one that is set; 64 when none is."""
    return 64 - int(word).bit_length()


@instruction(int64(uint64), lambda builder, word: builder.ctpop(word))
def count_ones(word):
    """How many bits are set."""
    return bin(int(word)).count("1")


@instruction(uint64(uint64), lambda builder, word: builder.bswap(word))
def swap_bytes(word):
    """The bytes in reverse order: words of text then compare as the text does."""
    return np.uint64(int.from_bytes(int(word).to_bytes(8, "little"), "big"))


def _multiply(builder, a, b):
    product = builder.mul(builder.zext(a, _DOUBLE_WORD), builder.zext(b, _DOUBLE_WORD))
    return [builder.trunc(builder.lshr(product, _DOUBLE_WORD(bits)), _WORD) for bits in (64, 0)]


@instruction(UniTuple(uint64, 2)(uint64, uint64), _multiply)
def multiply(a, b):
    """The 128-bit product of two words, as high and low half."""
    product = int(a) * int(b)
    return np.uint64(product >> 64), np.uint64(product & (2**64 - 1))


@instruction(float64(uint64), lambda builder, word: builder.bitcast(word, ir.DoubleType()))
def as_double(word):
    """The double whose 64 bits these are."""
    return np.uint64(word).view(np.float64)


@instruction(uint64(float64), lambda builder, number: builder.bitcast(number, _WORD))
def as_word(number):
    """The 64 bits of a double."""
    return np.float64(number).view(np.uint64)


def address_of(builder, data, byte):
    """The address of a byte of an array, while code is generated."""
    return builder.gep(builder.bitcast(data, _BYTE.as_pointer()), [byte])


def loaded(builder, kind, data, byte):
    """What an array holds from a byte on, as a value of some kind."""
    return builder.load(
        builder.bitcast(address_of(builder, data, byte), kind.as_pointer()), align=1
    )


def vector_of(builder, words):
    """The words of a tuple as a vector."""
    vector = ir.Constant(ir.VectorType(_WORD, words.type.count), ir.Undefined)
    for i in range(words.type.count):
        vector = builder.insert_element(vector, builder.extract_value(words, i), _INT(i))
    return vector


@instruction(uint64(ARRAY, int64), lambda builder, text, start: loaded(builder, _WORD, text, start))
def load_word_inside(text, start):
    """The 8 bytes from `start` on as a word; all of them must be there."""
    return np.uint64(int.from_bytes(bytes(text[int(start) : int(start) + 8]), "little"))


def _differ(builder, text, start, expected, mask):
    expected, mask = vector_of(builder, expected), vector_of(builder, mask)
    unlike = builder.and_(builder.xor(loaded(builder, expected.type, text, start), expected), mask)
    unlike = builder.bitcast(unlike, ir.VectorType(_BYTE, 16))
    odd = builder.icmp_unsigned("!=", unlike, ir.Constant(unlike.type, [0] * 16))
    half = ir.IntType(16)
    return builder.icmp_unsigned("!=", builder.bitcast(odd, half), half(0))


@instruction(boolean(ARRAY, int64, UniTuple(uint64, 2), UniTuple(uint64, 2)), _differ)
def differ(text, start, expected, mask):
    """Whether the 16 bytes from `start` on, all there, differ from the two words of `expected`.

    Only the bits that are set in the two words of `mask` count.
    """
    words = load_word_inside(text, start), load_word_inside(text, start + 8)
    return any((a ^ b) & bits for a, b, bits in zip(words, expected, mask, strict=True))


# The bytes of a decimal that are looked at. From LONGEST_DECIMAL - n on, _PRESENT has ones for n
# bytes and zeros for the rest.
LONGEST_DECIMAL = 32
_PRESENT = bytes([0xFF] * LONGEST_DECIMAL + [0] * LONGEST_DECIMAL)
_DECIMAL = ir.VectorType(_BYTE, LONGEST_DECIMAL)
_FOUR_WORDS = UniTuple(uint64, LONGEST_DECIMAL // 8)


def _digits(text, start, length, lowest):
    digits = np.asarray(text[int(start) : int(start) + LONGEST_DECIMAL])
    digits = digits ^ np.array(lowest, dtype=np.uint64).view(np.uint8)
    digits[int(length) :] = 0
    return digits


def _decimal_of(builder, words):
    return builder.bitcast(vector_of(builder, words), _DECIMAL)


def _load_digits(builder, text, start, length, lowest):
    present = cgutils.global_constant(builder, "present", cgutils.make_bytearray(_PRESENT))
    behind = builder.sub(_WORD(LONGEST_DECIMAL), length)
    digits = builder.xor(loaded(builder, _DECIMAL, text, start), lowest)
    return builder.and_(digits, loaded(builder, _DECIMAL, present, behind))


def _decimal_head(builder, text, start, length, lowest, room):
    digits = _load_digits(builder, text, start, length, _decimal_of(builder, lowest))
    over = builder.icmp_unsigned(">", digits, _decimal_of(builder, room))
    fits = builder.icmp_unsigned("==", builder.bitcast(over, _INT), _INT(0))
    words = builder.bitcast(digits, ir.VectorType(_WORD, LONGEST_DECIMAL // 8))
    return [fits, builder.bswap(builder.extract_element(words, _INT(0)))]


@instruction(Tuple((boolean, uint64))(ARRAY, int64, int64, _FOUR_WORDS, _FOUR_WORDS), _decimal_head)
def decimal_head(text, start, length, lowest, room):
    """Whether a decimal has a form, and its first 8 bytes as a word that is ordered as they are.

    `lowest` and `room` are four words each: a byte is `lowest` and at most `room` more. Of shorter
    decimals the word has zeros. LONGEST_DECIMAL bytes of text must come from `start` on.
    """
    digits = _digits(text, start, length, lowest)
    fits = bool((digits <= np.array(room, dtype=np.uint64).view(np.uint8)).all())
    return fits, np.uint64(int.from_bytes(digits[:8].tobytes(), "big"))


def _compare_decimals(builder, text, start, length, other_start, other_length, lowest):
    lowest = _decimal_of(builder, lowest)
    first = _load_digits(builder, text, start, length, lowest)
    second = _load_digits(builder, text, other_start, other_length, lowest)
    larger = builder.bitcast(builder.icmp_unsigned(">", first, second), _INT)
    smaller = builder.bitcast(builder.icmp_unsigned("<", first, second), _INT)

    def comes_first(bits, others):
        """Whether the lowest bit of all is one of the first word: that byte decides."""
        until = builder.xor(others, builder.sub(others, _INT(1)))
        return builder.icmp_unsigned("!=", builder.and_(bits, until), _INT(0))

    return [comes_first(larger, smaller), comes_first(smaller, larger)]


@instruction(
    UniTuple(boolean, 2)(ARRAY, int64, int64, int64, int64, _FOUR_WORDS), _compare_decimals
)
def compare_decimals(text, start, length, other_start, other_length, lowest):
    """Whether a decimal is larger, or smaller, than another of its form (`decimal_head`).

    They are compared as text, the digits behind the point padded with zeros.
    """
    first = _digits(text, start, length, lowest).tobytes()
    second = _digits(text, other_start, other_length, lowest).tobytes()
    return first > second, first < second


def _store_word(builder, text, start, word):
    pointer = builder.bitcast(address_of(builder, text, start), _WORD.as_pointer())
    builder.store(word, pointer, align=1)


@instruction(void(ARRAY, int64, uint64), _store_word)
def store_word(text, start, word):
    """Put the 8 bytes of a word where text[start : start + 8] is."""
    text[int(start) : int(start) + 8] = np.frombuffer(int(word).to_bytes(8, "little"), np.uint8)


def _read_at(builder, file, position, text, start, count):
    kinds = ir.FunctionType(_WORD, [_INT, _BYTE.as_pointer(), _WORD, _WORD])
    function = cgutils.get_or_insert_function(builder.module, kinds, "pread")
    address = address_of(builder, text, start)
    return builder.call(function, [builder.trunc(file, _INT), address, count, position])


@instruction(int64(int64, int64, ARRAY, int64, int64), _read_at)
def read_at(file, position, text, start, count):
    """Read up to `count` bytes of an open file, from `position` on, to where text[start:] is.

    C's pread: how many, 0 at the end of the file, -1 for an error. In plain Python always -1: the
    caller reads then, which works on every system.
    """
    return -1


def fetch(builder, address):
    """Generate the fetching of what is at an address into all caches, to read it."""
    kinds = ir.FunctionType(ir.VoidType(), [address.type, _INT, _INT, _INT])
    function = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kinds)
    builder.call(function, [address, _INT(0), _INT(3), _INT(1)])


@instruction(
    void(ARRAY, int64), lambda builder, text, i: fetch(builder, address_of(builder, text, i))
)
def prefetch(text, i):
    """Have the memory around text[i] fetched into the caches while other things are done."""


@outlined
def load_last_word(text, start):
    """`load_word` of fewer than 8 bytes."""
    word = np.uint64(0)
    for i in range(len(text) - start):
        word |= np.uint64(text[start + i]) << np.uint64(8 * i)
    return word


@inlined
def load_word(text, start):
    """The 8 bytes from `start` on as a word; zeros stand for what is behind the end."""
    return load_word_inside(text, start) if start + 8 <= len(text) else load_last_word(text, start)


@helper
def nonpositive_logarithm(x):
    """-inf at 0, and below it (or of NaN) the NaN that the processor makes, sign included."""
    return -np.inf if x == 0.0 else np.float64(x - x) / (x - x)


@helper
def log_or_nan(x):
    return math.log(x) if x > 0.0 else nonpositive_logarithm(x)


@helper
def log2_or_nan(x):
    return math.log2(x) if x > 0.0 else nonpositive_logarithm(x)


@helper
def to_integer(x):
    """C's conversion of a double to long on x86-64: the smallest long when out of range."""
    if x >= -9223372036854775808.0 and x < 9223372036854775808.0:
        return np.int64(x)
    return np.int64(-9223372036854775807) - np.int64(1)
