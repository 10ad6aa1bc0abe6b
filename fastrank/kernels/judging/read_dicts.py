"""Python's own dicts and floats, read and made without a step through the interpreter.

These kernels hold the interpreter's lock, and call nothing that could run code of Python: dicts
cannot change meanwhile. References to what a dict holds are borrowed from it.
"""

from __future__ import annotations

import numpy as np

from fastrank.kernels.simd.cpython import (
    double_at,
    drop_reference,
    get_item,
    make_float,
    next_item,
    prefetch_at,
    set_item,
    word_at,
)
from fastrank.native.codes import (
    DROP_REFERENCE,
    FLOAT,
    GET_ITEM,
    HASH_IN_TEXT,
    MAKE_FLOAT,
    NEXT_ITEM,
    NUMBER_IN_FLOAT,
    ONE,
    SET_ITEM,
    STR,
    TYPE_IN_OBJECT,
)
from fastrank.native.declare import helper, kernel


@helper
def list_values(api, owner, check_keys, values):
    """The addresses of all values of a dict; whether there are as many as expected, keys too."""
    next_function, text = api[NEXT_ITEM], api[STR]
    position, found = 0, 0
    while True:
        more, position, key, value = next_item(next_function, owner, position)
        if more == 0:
            return found == len(values)
        # Values lie anywhere in memory: on the way when the others are listed.
        prefetch_at(value)
        if found == len(values) or (check_keys != 0 and word_at(key + TYPE_IN_OBJECT) != text):
            return False
        values[found] = value
        found += 1


@helper
def read_floats(api, values, scores):
    """The numbers of some objects; whether all are floats."""
    kind = api[FLOAT]
    for i in range(len(values)):
        if word_at(values[i] + TYPE_IN_OBJECT) != kind:
            return False
        scores[i] = double_at(values[i] + NUMBER_IN_FLOAT)
    return True


@kernel("int64(int64[::1], DictRankings, int64, int64, int64[::1], PackedScores)", holds_gil=True)
def read_scores(api, rankings, first, stop, scratch, packed):
    """Pack the scores of rankings `first` to `stop` - 1, and those of their judged documents.

    Returns `stop`, or a ranking with something other than a float as a score, with another number
    of documents or, with `check_keys`, with a key that is not of type str itself. `scratch` has
    room for the documents of any ranking.
    """
    dicts, check_keys, queries, doc_starts, docs = rankings
    scores, offsets, hit_scores, hit_offsets = packed
    base, kind = offsets[first], api[FLOAT]
    for i in range(first, stop):
        low, high = offsets[i] - base, offsets[i + 1] - base
        values = scratch[: high - low]
        begin = doc_starts[queries[i]] - hit_offsets[i]
        # On the way while the values are listed: what is looked up afterwards, and the next dict.
        prefetch_at(dicts[min(i + 1, stop - 1)])
        for h in range(hit_offsets[i], hit_offsets[i + 1]):
            prefetch_at(docs[begin + h] + HASH_IN_TEXT)
        if not list_values(api, dicts[i], check_keys, values):
            return i
        if not read_floats(api, values, scores[low:high]):
            return i
        for h in range(hit_offsets[i], hit_offsets[i + 1]):
            value = get_item(api[GET_ITEM], dicts[i], docs[begin + h])
            hit_scores[h] = np.nan
            if value != 0:
                if word_at(value + TYPE_IN_OBJECT) != kind:
                    return i
                hit_scores[h] = double_at(value + NUMBER_IN_FLOAT)
    return stop


@kernel("int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])", holds_gil=True)
def fill_dicts(api, owners, keys, columns, steps):
    """Put the numbers of a row into each dict, which has all the keys, with 0.0 for each.

    owners, keys: addresses of dicts and of texts. columns: the address of the double for key j
    and the first dict; those for the other dicts follow in steps of steps[j] bytes. Returns how
    many dicts were filled: all of them, or else an exception is set.
    """
    for i in range(len(owners)):
        for j in range(len(keys)):
            place = columns[j] + i * steps[j]
            # Zero and one, of which there are many, are one object each; -0.0 has other bits.
            if word_at(place) == 0:
                continue
            if word_at(place) == word_at(api[ONE] + NUMBER_IN_FLOAT):
                status = set_item(api[SET_ITEM], owners[i], keys[j], api[ONE])
            else:
                made = make_float(api[MAKE_FLOAT], double_at(place))
                if made == 0:
                    return i
                status = set_item(api[SET_ITEM], owners[i], keys[j], made)
                drop_reference(api[DROP_REFERENCE], made)
            if status != 0:
                return i
    return len(owners)
