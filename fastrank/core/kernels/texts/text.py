"""Texts in a buffer: compared, hashed, sorted, and numbered.

A text is `buffer[start : start + length]`. Bytes decide equality and order; a hash only says
where to look first.

A slot of the table of `index_texts` holds the beginning of a text as a word, and beside it the
text's number and length, so that a search touches one place in memory. That decides for texts of up
to 8 bytes; the bytes decide for longer ones.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.simd.instructions import (
    leading_zeros,
    load_word,
    load_word_inside,
    multiply,
    swap_bytes,
)
from fastrank.core.native.declare import helper, inlined, kernel
from fastrank.core.native.records import Interning, Texts


def compare_by(load):
    """Make the order of two texts, which `load` gives 8 bytes at a time, as C's strcmp."""

    @helper
    def compare(left, left_start, left_length, right, right_start, right_length):
        shared = min(left_length, right_length)
        for offset in range(0, shared, 8):
            left_word = swap_bytes(load(left, left_start + offset))
            right_word = swap_bytes(load(right, right_start + offset))
            if left_word != right_word:
                # What differs may also stand behind the end of the shorter text.
                if offset + (leading_zeros(left_word ^ right_word) >> 3) >= shared:
                    break
                return np.int64(1) if left_word > right_word else np.int64(-1)
        return left_length - right_length

    return compare


def equal_by(load):
    """Make what tells whether two texts, which `load` gives 8 bytes at a time, are the same."""

    @inlined
    def equal(left, left_start, left_length, right, right_start, right_length):
        if left_length != right_length:
            return False
        rest = left_length
        while rest > 8:
            if load(left, left_start) != load(right, right_start):
                return False
            left_start, right_start, rest = left_start + 8, right_start + 8, rest - 8
        # What stands in the two words behind the texts is shifted out.
        difference = load(left, left_start) ^ load(right, right_start)
        return rest == 0 or difference << np.uint64(64 - 8 * rest) == np.uint64(0)

    return equal


@inlined
def mix(value, word):
    """Both halves of a product, folded: every bit of the result depends on every bit given.

    The multiplier is 2**64 divided by the golden ratio, as in Fibonacci hashing.
    """
    high, low = multiply(value ^ word, np.uint64(0x9E3779B97F4A7C15))
    return high ^ low


def hash_by(load):
    """Make the hash of the bytes of a text, which `load` gives 8 at a time."""

    @inlined
    def hash_text(text, start, length):
        value = np.uint64(length) * np.uint64(0xD6E8FEB86659FD93)
        while length > 8:
            value = mix(value, load(text, start))
            start, length = start + 8, length - 8
        if length == 0:
            return value
        return mix(value, load(text, start) << np.uint64(64 - 8 * length))

    return hash_text


compare, equal, hash_text = compare_by(load_word), equal_by(load_word), hash_by(load_word)
# The same for texts with 8 bytes behind them. Looking whether they are there at every word takes
# an eighth of the time of streaming a run.
equal_inside, hash_text_inside = equal_by(load_word_inside), hash_by(load_word_inside)


@inlined
def slot_of(text, start, length, mask):
    """Where the search for a text begins in a table of `mask` + 1 slots."""
    return np.int64(hash_text(text, start, length) & np.uint64(mask))


@helper
def table_mask(items):
    """One less than the smallest power of two that is at least twice `items`."""
    size = 2
    while size < 2 * items:
        size *= 2
    return size - 1


@kernel("int64(int64)")
def table_size(items):
    """The slots of a hash table of so many items: what its owner makes for the kernels."""
    return table_mask(items) + 1


@helper
def part_of(texts, first, stop):
    """Texts `first` to `stop` - 1."""
    return Texts(texts.buffer, texts.starts[first:stop], texts.lengths[first:stop])


@inlined
def compare_texts(texts, a, b):
    """Order of texts a and b, as `compare`."""
    text, starts, lengths = texts
    return compare(text, starts[a], lengths[a], text, starts[b], lengths[b])


@inlined
def are_equal(texts, a, others, b):
    """Whether text a is text b of the others."""
    return equal(
        texts.buffer,
        texts.starts[a],
        texts.lengths[a],
        others.buffer,
        others.starts[b],
        others.lengths[b],
    )


@inlined
def slot_of_text(texts, i, mask):
    """Where the search for text i begins in a table of `mask` + 1 slots."""
    return slot_of(texts.buffer, texts.starts[i], texts.lengths[i], mask)


@inlined
def find_slot(texts, i, table, others, first):
    """The slot of text i in a table, of a power of two, of the rows of other texts.

    A slot that is not free holds a row, from 1, that begins at `first` of the others. Returns the
    slot of an equal text or, if there is none, the free one where this text belongs.
    """
    mask = len(table) - 1
    slot = slot_of_text(texts, i, mask)
    while table[slot] != 0 and not are_equal(texts, i, others, first + table[slot] - 1):
        slot = (slot + 1) & mask
    return slot


@kernel("int64(Texts, Interning)")
def intern_texts(texts, interning):
    """Number the distinct texts in order of appearance; return how many there are.

    ids[i] becomes the number of text i, firsts[n] the index of the first text with number n. The
    table, which comes zeroed, gets these indexes, from 1.
    """
    table, ids, firsts = interning
    count = 0
    for i in range(len(texts.starts)):
        slot = find_slot(texts, i, table, texts, 0)
        if table[slot] == 0:
            table[slot] = i + 1
            firsts[count], ids[i] = i, count
            count += 1
        else:
            ids[i] = ids[table[slot] - 1]
    return count


@helper
def intern_range(texts, first, stop, interning):
    """`intern_texts` for texts `first` to `stop` - 1, numbered from 0; the table is cleared."""
    table = interning.table[: table_mask(stop - first) + 1]
    table[:] = 0
    return intern_texts(
        part_of(texts, first, stop), Interning(table, interning.ids, interning.firsts)
    )


@inlined
def find_text(text, start, length, indexed):
    """The number of a text among the indexed ones, the first of equal ones; -1 if there is none.

    Their table is as `intern_texts` leaves it.
    """
    (buffer, starts, lengths), table = indexed
    mask = len(table) - 1
    slot = slot_of(text, start, length, mask)
    while table[slot] != 0:
        i = table[slot] - 1
        if equal(text, start, length, buffer, starts[i], lengths[i]):
            return i
        slot = (slot + 1) & mask
    return np.int64(-1)


def sort_by(comparison):
    """A function `sort(order, count, scratch, data)` that sorts order[:count] stably.

    `comparison(a, b, data)` is negative, zero or positive as in C. The halving and the merging
    are those of glibc's qsort: where a comparison is not a total order (NaN scores, gains less than
    1 apart) the outcome depends on them, and trec_eval's numbers with it. The comparison is bound
    here and not passed along: numba cannot keep code on disk that passes functions. There is no
    recursion, which would leave the library with unresolved symbols: the parts of each depth are
    found by walking down from the whole.
    """

    @helper
    def merge(order, low, middle, high, scratch, data):
        for i in range(low, middle):
            scratch[i] = order[i]
        left, right, to = low, middle, low
        while left < middle and right < high:
            if comparison(scratch[left], order[right], data) <= 0:
                order[to] = scratch[left]
                left += 1
            else:
                order[to] = order[right]
                right += 1
            to += 1
        while left < middle:
            order[to] = scratch[left]
            left += 1
            to += 1

    @helper
    def sort(order, count, scratch, data):
        depth = 0
        while 1 << depth < count:
            depth += 1
        for level in range(depth - 1, -1, -1):
            for part in range(1 << level):
                low, high = 0, count
                for bit in range(level - 1, -1, -1):
                    middle = low + (high - low) // 2
                    if part >> bit & 1:
                        low = middle
                    else:
                        high = middle
                merge(order, low, low + (high - low) // 2, high, scratch, data)

    return sort


def sort_if_needed_by(comparison):
    """The same for a total order, where what is sorted already can be left alone."""
    sort = sort_by(comparison)

    @helper
    def sort_if_needed(order, count, scratch, data):
        for i in range(1, count):
            if comparison(order[i - 1], order[i], data) > 0:
                sort(order, count, scratch, data)
                return

    return sort_if_needed


@helper
def by_text(a, b, texts):
    return compare_texts(texts, a, b)


sort_by_text = sort_if_needed_by(by_text)


@helper
def sort_texts(texts, order, count, scratch):
    """Fill order[:count] with 0, 1, ... and sort it by the bytes of the texts."""
    for i in range(count):
        order[i] = i
    sort_by_text(order, count, scratch, texts)


@helper
def by_beginning(a, b, data):
    beginnings, texts = data
    left, right = np.uint64(beginnings[a]), np.uint64(beginnings[b])
    if left != right:
        return -1 if left < right else 1
    return compare_texts(texts, a, b)


sort_by_beginning = sort_if_needed_by(by_beginning)


@kernel("void(Texts, int64[::1], int64[::1], int64[::1])")
def order_texts(texts, beginnings, order, scratch):
    """Write into `order` the indices of the texts in byte order, equal texts as they stand.

    `beginnings` becomes their first 8 bytes, zeros where there are fewer, as words that compare as
    they do: hardly ever are more looked at.
    """
    text, starts, lengths = texts
    for i in range(len(starts)):
        word = swap_bytes(load_word(text, starts[i]))
        length = min(lengths[i], 8)
        behind = np.uint64(64 - 8 * length)
        word = word >> behind << behind if length > 0 else np.uint64(0)
        beginnings[i] = np.int64(word)
        order[i] = i
    sort_by_beginning(order, len(starts), scratch, (beginnings, texts))


@kernel("void(Texts, TextTable, int64[::1])")
def match_texts(texts, indexed, matches):
    """matches[i] = the index of the text that is the i-th of the indexed ones, or -1.

    Texts are distinct. Of equal indexed ones, the first has the match.
    """
    text, starts, lengths = texts
    matches[:] = -1
    for i in range(len(starts)):
        j = find_text(text, starts[i], lengths[i], indexed)
        if j >= 0:
            matches[j] = i


@inlined
def is_blank(byte):
    """C's isspace in the C locale."""
    return byte == 32 or 9 <= byte <= 13


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
    (buffer, starts, lengths), index = indexed
    mask = U(len(index) // 2 - 1)
    word, shown = beginning_inside(text, start, length), U(min(length, LONGEST))
    slot = hash_text_inside(text, start, length) & mask
    while True:
        entry = U(index[TWO * slot + ONE])
        if entry == U(0):
            return np.int64(-1)
        if U(index[TWO * slot]) == word and entry & U(LONGEST) == shown:
            number = np.int64(entry >> LENGTH_BITS) - 1
            if length <= 8 or equal(text, start, length, buffer, starts[number], lengths[number]):
                return number
        slot = slot + ONE & mask
