"""Python's dicts of values, made without a step through the interpreter.

The kernel holds the interpreter's lock, and calls nothing that could run code of Python.
"""

from __future__ import annotations

from fastrank.kernels.simd.cpython import double_at, drop_reference, make_float, set_item, word_at
from fastrank.native.codes import DROP_REFERENCE, MAKE_FLOAT, NUMBER_IN_FLOAT, ONE, SET_ITEM
from fastrank.native.declare import kernel


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
