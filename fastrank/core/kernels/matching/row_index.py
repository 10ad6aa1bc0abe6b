"""Where the ids of a row of the arrays stand, and whether one stands there twice; the same for the
hashes of a query's documents.

Each id marks a place in a table, one of few ids, with the number of its column, counted on from row
to row: so nothing is cleared between them. What stood there before it keeps: if that is a number of
this row, it is the column before that has the same place, and so on, back to the first. All of them
are compared, so the answer is exact whatever the places are.

The place is that of the lowest bits: for ids of a collection they are as good as a hash. For ids
that have too many of them in common, such as multiples of a power of two, it is that of a hash.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.simd.compare import BLOCK, at_least
from fastrank.core.kernels.simd.instructions import count_ones, leading_zeros, trailing_zeros
from fastrank.core.kernels.texts.text import table_mask
from fastrank.core.native.declare import helper, inlined

U = np.uint64
ONE = U(1)
ALL = U(0xFFFFFFFFFFFFFFFF)
# Columns of a block that are listed at once.
STEP = 12
# What `index_hashes` says of hashes that are not all different.
REPEATED = -1


@inlined
def hash_id(value):
    """A hash of an id, by Fibonacci hashing: its higher bits are the better ones."""
    return U(value) * U(0x9E3779B97F4A7C15)


@inlined
def low_place(value, mask):
    """The place of an id by its lowest bits, in a table of `mask` + 1."""
    return U(value) & mask


@inlined
def hashed_place(value, mask):
    """The place of an id by its hash."""
    return hash_id(value) >> U(leading_zeros(mask))


def marker_by(place_of):
    """Make a kernel that marks the places of ids."""

    @helper
    def mark(ids, base, table, links):
        """Mark the places of all ids, the first with `base`; links become what stood there."""
        mask = U(len(table) - 1)
        for i in range(len(ids)):
            slot = place_of(ids[U(i)], mask)
            links[U(i)] = table[slot]
            table[slot] = base + U(i)

    return mark


mark_low_places = marker_by(low_place)
mark_hashed_places = marker_by(hashed_place)


@inlined
def linked(links, first, count, base):
    """Those of the 64 ids from `first` on whose place an id before them has too, as bits."""
    bits = at_least(links, first, base)
    if first + BLOCK > count:
        bits &= ALL >> U(first + BLOCK - count)
    return bits


@helper
def count_linked(links, count, base):
    """How many ids have a place that one before them has."""
    crowd = 0
    for first in range(0, count, BLOCK):
        crowd += count_ones(linked(links, first, count, base))
    return crowd


@helper
def list_linked(links, count, base, columns):
    """List the columns whose place an earlier one has; how many.

    Of 64 columns the first STEP are written down however many there are, since a jump that depends
    on their number is seldom foreseen.
    """
    listed = 0
    for first in range(0, count, BLOCK):
        bits = linked(links, first, count, base)
        marked = count_ones(bits)
        for n in range(STEP):
            columns[U(listed + n)] = first + trailing_zeros(bits)
            bits &= bits - ONE
        for n in range(STEP, marked):
            columns[U(listed + n)] = first + trailing_zeros(bits)
            bits &= bits - ONE
        listed += marked
    return listed


@helper
def find_repetition(ids, base, links, columns):
    """A column whose id stands in an earlier one too, or -1; `columns` is scratch.

    Nearly all places have one id, or two that are compared without a jump. The others are left for
    a second look.
    """
    count = list_linked(links, len(ids), base, columns)
    repeated, more = False, 0
    for n in range(count):
        column = columns[U(n)]
        before = U(np.int64(links[U(column)]) - base)
        repeated |= ids[before] == ids[U(column)]
        columns[U(more)] = column
        more += links[before] >= base
    if repeated:
        return first_repetition(ids, base, links)
    for n in range(more):
        if repeats(ids, base, links, columns[n]):
            return first_repetition(ids, base, links)
    return -1


@helper
def repeats(ids, base, links, column):
    """Whether the id of a column stands in an earlier one too."""
    link = np.int64(links[column])
    while link >= base:
        if ids[link - base] == ids[column]:
            return True
        link = np.int64(links[link - base])
    return False


@helper
def first_repetition(ids, base, links):
    """The first column whose id stands in an earlier one too, where there is one."""
    column = 0
    while not repeats(ids, base, links, column):
        column += 1
    return column


@helper
def next_number(table, clock, count):
    """The number that comes next; where there are not `count` more, the table is emptied first."""
    if clock[0] + count > 2**31 - 1:
        table[:] = 0
        clock[0] = 1
    return clock[0]


@helper
def index_row(ids, index):
    """Mark the places of ids: the number of the first, and whether by hash."""
    table, links, clock = index
    count = len(ids)
    base = next_number(table, clock, 2 * count)
    by_hash = False
    mark_low_places(ids, U(base), table, links)
    by_chance = count * count // (2 * len(table))
    if count_linked(links, count, base) > count // 4 + by_chance:
        by_hash = True
        base += count
        mark_hashed_places(ids, U(base), table, links)
    clock[0] = base + count
    return base, by_hash


@inlined
def last_link(doc, index, by_hash):
    """What stands at the place of an id, which may be one of another row."""
    table, mask = index.table, U(len(index.table) - 1)
    return np.int64(table[hashed_place(doc, mask) if by_hash else low_place(doc, mask)])


@inlined
def places_for(hashes, table):
    """How much of a table has the places of hashes: at least four times as many if it can be."""
    return min(len(table), table_mask(2 * len(hashes)) + 1)


@helper
def index_hashes(hashes, index, columns):
    """Mark the places of hashes: the number of the first, or REPEATED if two are equal.

    `index` as for `index_row`, its table of any size; `columns` is scratch.
    """
    table, links, clock = index
    base = next_number(table, clock, len(hashes))
    clock[0] = base + len(hashes)
    mark_low_places(hashes, U(base), table[: places_for(hashes, table)], links)
    return base if find_repetition(hashes, base, links, columns) < 0 else REPEATED


def finder_by(is_equal):
    """Make what finds judged documents among those that were indexed, by their ids or hashes.

    `find_places(docs, values, judged, judged_values, base, by_hash, index, hits)`: two documents
    are the same if their values are and `is_equal(docs, position, judged, row)`. Hits become
    positions and rows, in the order of rows. Returns how many, or -1 - i if result i is judged and
    stands there twice.
    """

    @helper
    def find_places(docs, values, judged, judged_values, base, by_hash, index, hits):
        links, positions, rows = index.links, hits.ranks, hits.rows
        hit_count = 0
        for row in range(len(judged_values)):
            value = judged_values[row]
            link, seen = last_link(value, index, by_hash), -1
            while link >= base:
                position = link - base
                if values[position] == value and is_equal(docs, position, judged, row):
                    if seen >= 0:
                        return -1 - seen
                    seen = position
                link = np.int64(links[position])
            if seen >= 0:
                positions[hit_count], rows[hit_count] = seen, row
                hit_count += 1
        return hit_count

    return find_places
