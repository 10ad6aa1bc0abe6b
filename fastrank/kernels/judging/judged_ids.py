"""The judged documents among the ids of a row of the arrays, by whichever way is the shortest."""

from __future__ import annotations

import numpy as np

from fastrank.kernels.judging.integer_ids import find_judgment
from fastrank.kernels.judging.judged_documents import sort_by_place
from fastrank.kernels.judging.row_index import find_repetition, index_row, last_link
from fastrank.kernels.simd.compare import BLOCK, find_equal, has_negative
from fastrank.kernels.simd.instructions import prefetch, trailing_zeros
from fastrank.native.declare import helper

U = np.uint64
ONE = U(1)
# What `find_judged` says of ids that are not all ids.
HAS_NEGATIVE = -(2**62)
# Judged documents up to which each is compared with all ids, if nothing else is asked of these.
FEW = 4
# Bytes that memory is fetched by.
LINE = 64


@helper
def find_places(ids, judged, index, base, by_hash, hits):
    """Find each judged document among the ids; as `find_judged`, but the hits are in no order."""
    links = index.links
    places, rows = hits
    found = 0
    for row in range(len(judged)):
        doc = judged[row]
        link, seen = last_link(doc, index, by_hash), -1
        while link >= base:
            column = link - base
            if ids[column] == doc:
                if seen >= 0:
                    return -1 - seen
                seen = column
            link = np.int64(links[column])
        if seen >= 0:
            places[found], rows[found] = seen, row
            found += 1
    return found


@helper
def compare_with_each(ids, judged, hits):
    """The same by comparing each judged document with all ids."""
    places, rows = hits
    found = 0
    for row in range(len(judged)):
        seen = -1
        for first in range(0, len(ids), BLOCK):
            bits = find_equal(ids, first, judged[row])
            while bits != 0:
                if seen >= 0:
                    return -1 - (first + trailing_zeros(bits))
                seen = first + trailing_zeros(bits)
                bits &= bits - ONE
        if seen >= 0:
            places[found], rows[found] = seen, row
            found += 1
    return found


@helper
def look_up_each(ids, judged, table, marks, hits):
    """The same, in order, by a look-up of each id among the judged documents."""
    places, rows = hits
    found = repeated = 0
    for i in range(len(ids)):
        row = find_judgment(ids[i], judged, table)
        if row < 0:
            continue
        if marks[row] != 0:
            repeated = -1 - i
            break
        marks[row] = 1
        places[found], rows[found] = i, row
        found += 1
    for h in range(found):
        marks[rows[h]] = 0
    return repeated if repeated < 0 else found


@helper
def prefetch_all(numbers):
    """Have numbers fetched into the nearest cache while other things are done."""
    for i in range(0, len(numbers), LINE // numbers.itemsize):
        prefetch(numbers, i * numbers.itemsize)


@helper
def find_in_row(ids, keys, judged, table, unique, index, scratch, hits):
    """`find_judged` with numbers of one size."""
    # Whichever are fewer are looked up among the others.
    look_up_ids = len(judged) > len(ids)
    needs_index = not unique or (len(judged) > FEW and not look_up_ids)
    # First, as this is over soonest with what all of them wait for: that a row comes from memory.
    if has_negative(ids):
        return HAS_NEGATIVE
    base, by_hash = 0, False
    if needs_index:
        prefetch_all(keys)
        base, by_hash = index_row(ids, index)
    if not unique:
        repeated = find_repetition(ids, base, index.links, scratch.places)
        if repeated >= 0:
            return -1 - repeated
    if look_up_ids:
        return look_up_each(ids, judged, table, scratch.marks, hits)
    if needs_index:
        found = find_places(ids, judged, index, base, by_hash, hits)
    else:
        found = compare_with_each(ids, judged, hits)
    sort_by_place(hits, found, scratch.places, scratch.columns)
    return found


@helper
def find_judged(ids, keys, judged, table, unique, scratch, hits):
    """Find the judged ones among ids: how many, or -1 - i if ids[i] is found to be a repetition,
    or HAS_NEGATIVE if one of them is not an id.

    `keys` are the scores, which are wanted next. `table` is the query's, as `index_judgments` made
    it. Unless the ids are known to be `unique`, all repetitions are found, else those of judged
    ids. Hits become places among the ids, in order, and rows of the judgments.
    """
    if len(scratch.narrow.table) > 0:
        return find_in_row(ids, keys, judged, table, unique, scratch.narrow, scratch, hits)
    return find_in_row(ids, keys, judged, table, unique, scratch.wide, scratch, hits)
