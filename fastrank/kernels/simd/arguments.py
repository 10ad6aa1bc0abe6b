"""The arguments of other kernels, taken from Python's tuples to the memory entry points read."""

from __future__ import annotations

from fastrank.kernels.simd.cpython import buffer_of, integer_of, tuple_item, word_at
from fastrank.native.codes import INTEGER, RECORD, TYPE_IN_OBJECT
from fastrank.native.declare import kernel

# Letters of formats of int64: numpy has the first, others the second.
_LONG, _LONG_LONG = ord("l"), ord("q")


@kernel("int64(PythonApi, int64, ExpectedArguments, int64[::1])", holds_gil=True)
def pack_arguments(api, given, expected, packed):
    """Fill `packed` with the numbers among arguments, and address and length of each array.

    given: the address of the tuple of arguments. The last places of `packed`, one for each that is
    expected, serve as memory. Returns the place in `expected` of the first argument that is
    something else, -1 if there is none. As C functions of Python do, it may set an exception.
    """
    count = len(expected.kinds)
    objects = packed[len(packed) - count :]
    at = 0
    for i in range(count):
        owner = expected.owners[i]
        own = tuple_item(api.tuple_item, given if owner < 0 else objects[owner], expected.places[i])
        if own == 0:
            return i
        objects[i] = own
        kind = expected.kinds[i]
        if kind == RECORD:
            if word_at(own + TYPE_IN_OBJECT) != expected.details[i]:
                return i
        elif kind == INTEGER:
            packed[at], overflow = integer_of(api.as_integer, own)
            if overflow != 0:
                return i
            at += 1
        else:
            address, size, item, code = buffer_of(api.get_buffer, api.release_buffer, own)
            if item != kind or (_LONG_LONG if code == _LONG else code) != expected.details[i]:
                return i
            packed[at], packed[at + 1] = address, size // item
            at += 2
    return -1
