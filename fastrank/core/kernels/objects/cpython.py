"""Calls of CPython's C API, each with its meaning in plain Python.

Functions and objects are addresses, as integers: the caller finds them with ctypes, holds the
objects, and holds the interpreter's lock. All functions are of the stable ABI of Python 3.10; those
of buffers joined it in 3.11, unchanged.
"""

from __future__ import annotations

import ctypes

import numpy as np

from fastrank.core.kernels.simd.instructions import fetch
from fastrank.core.native.codes import INTEGER, RECORD, TYPE_IN_OBJECT
from fastrank.core.native.compiling.compiler import UniTuple, cgutils, float64, int64, ir, void
from fastrank.core.native.declare import instruction, kernel

_BYTE, _INT, _WORD = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_FLOAT, _DOUBLE = ir.FloatType(), ir.DoubleType()
_ADDRESS = ctypes.c_void_p
# Py_buffer: address, owner, bytes, bytes of an item, two of C's int, the items' format and five
# more; what is asked for, PyBUF_ND and PyBUF_FORMAT: contiguous memory, and the format.
_VIEW_WORDS, _IN_ONE_PIECE = 11, 0x0C


def _call(builder, result, function, arguments):
    """Call the C function at an address."""
    kinds = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(builder.inttoptr(function, kinds.as_pointer()), arguments)


def _calls_for_word(builder, function, *arguments):
    return _call(builder, _WORD, function, arguments)


def _calls_for_int(builder, function, *arguments):
    return builder.sext(_call(builder, _INT, function, arguments), _WORD)


def _calls_for_nothing(builder, function, *arguments):
    _call(builder, ir.VoidType(), function, arguments)


def _loads(kind):
    """Make what loads a value of some kind from an address."""
    return lambda builder, address: builder.load(builder.inttoptr(address, kind.as_pointer()))


def _next_item(builder, function, owner, position):
    slots = [cgutils.alloca_once(builder, _WORD) for _ in range(3)]
    builder.store(position, slots[0])
    return [_calls_for_int(builder, function, owner, *slots), *map(builder.load, slots)]


@instruction(UniTuple(int64, 4)(int64, int64, int64), _next_item)
def next_item(function, owner, position):
    """PyDict_Next: whether there is one more item from `position` on, the next position, the
    item's key and its value."""
    following, key, value = ctypes.c_ssize_t(position), _ADDRESS(), _ADDRESS()
    call = ctypes.PYFUNCTYPE(ctypes.c_int, *[_ADDRESS] * 4)(int(function))
    more = call(int(owner), *map(ctypes.addressof, (following, key, value)))
    return more, following.value, key.value or 0, value.value or 0


@instruction(int64(int64, int64, int64), _calls_for_word)
def get_item(function, owner, key):
    """PyDict_GetItemWithError: the value of a key, 0 if there is none."""
    call = ctypes.PYFUNCTYPE(_ADDRESS, _ADDRESS, _ADDRESS)(int(function))
    return call(int(owner), int(key)) or 0


@instruction(int64(int64, int64, int64, int64), _calls_for_int)
def set_item(function, owner, key, value):
    """PyDict_SetItem: 0, or -1 with an exception set."""
    call = ctypes.PYFUNCTYPE(ctypes.c_int, *[_ADDRESS] * 3)(int(function))
    return call(int(owner), int(key), int(value))


def _utf8_of(builder, function, text):
    size = cgutils.alloca_once(builder, _WORD)
    return [_calls_for_word(builder, function, text, size), builder.load(size)]


@instruction(UniTuple(int64, 2)(int64, int64), _utf8_of)
def utf8_of(function, text):
    """PyUnicode_AsUTF8AndSize: where the UTF-8 of a str is, and its length in bytes.

    It lies in whole words, and lives as long as the str. 0 with an exception set if there is none;
    `clear_error` has to follow.
    """
    size = ctypes.c_ssize_t()
    call = ctypes.PYFUNCTYPE(_ADDRESS, _ADDRESS, _ADDRESS)(int(function))
    try:
        return call(int(text), ctypes.addressof(size)) or 0, size.value
    except UnicodeEncodeError:
        return 0, 0


@instruction(void(int64), _calls_for_nothing)
def clear_error(function):
    """PyErr_Clear. In plain Python nothing is left to clear: exceptions were caught."""


def _integer_of(builder, function, number):
    overflow = cgutils.alloca_once(builder, _INT)
    value = _calls_for_word(builder, function, number, overflow)
    return [value, builder.sext(builder.load(overflow), _WORD)]


@instruction(UniTuple(int64, 2)(int64, int64), _integer_of)
def integer_of(function, number):
    """PyLong_AsLongLongAndOverflow: an int as int64, and 0 if it is one."""
    overflow = ctypes.c_int()
    call = ctypes.PYFUNCTYPE(ctypes.c_longlong, _ADDRESS, _ADDRESS)(int(function))
    return call(int(number), ctypes.addressof(overflow)), overflow.value


@instruction(int64(int64, float64), _calls_for_word)
def make_float(function, number):
    """PyFloat_FromDouble: a new reference, or 0 with an exception set."""
    return ctypes.PYFUNCTYPE(_ADDRESS, ctypes.c_double)(int(function))(float(number)) or 0


@instruction(int64(int64, int64, int64), _calls_for_word)
def tuple_item(function, owner, index):
    """PyTuple_GetItem: an item of a tuple, or 0 with an exception set."""
    call = ctypes.PYFUNCTYPE(_ADDRESS, _ADDRESS, ctypes.c_ssize_t)(int(function))
    return call(int(owner), int(index)) or 0


def _buffer_of(builder, get, release, owner):
    view = cgutils.alloca_once(builder, _WORD, size=_VIEW_WORDS)
    slots = [cgutils.alloca_once_value(builder, _WORD(0)) for _ in range(4)]
    failed = _call(builder, _INT, get, [owner, view, _INT(_IN_ONE_PIECE)])
    with builder.if_then(builder.icmp_signed("==", failed, _INT(0))):
        words = [builder.load(builder.gep(view, [_WORD(i)])) for i in (0, 2, 3, 5)]
        letter = builder.zext(_loads(_BYTE)(builder, words.pop()), _WORD)
        for value, slot in zip([*words, letter], slots, strict=True):
            builder.store(value, slot)
        _calls_for_nothing(builder, release, view)
    return [*map(builder.load, slots)]


@instruction(UniTuple(int64, 4)(int64, int64, int64), _buffer_of)
def buffer_of(get, release, owner):
    """PyObject_GetBuffer and PyBuffer_Release: the address of an object's memory, its bytes, those
    of an item, and the first letter of the items' format.

    All 0, with an exception set, where the object has no memory or not in one piece. It stays
    where it is while the owner lives and does not change its size.
    """
    view = (ctypes.c_int64 * _VIEW_WORDS)()
    call = ctypes.PYFUNCTYPE(ctypes.c_int, _ADDRESS, _ADDRESS, ctypes.c_int)(int(get))
    if call(int(owner), ctypes.addressof(view), _IN_ONE_PIECE) != 0:
        return 0, 0, 0, 0
    memory = view[0], view[2], view[3], ctypes.string_at(view[5])[0]
    ctypes.PYFUNCTYPE(None, _ADDRESS)(int(release))(ctypes.addressof(view))
    return memory


@instruction(void(int64, int64), _calls_for_nothing)
def drop_reference(function, owned):
    """Py_DecRef."""
    ctypes.PYFUNCTYPE(None, _ADDRESS)(int(function))(int(owned))


@instruction(int64(int64), _loads(_WORD))
def word_at(address):
    """The 8 bytes at an address, as an integer."""
    # Of NumPy's type, which becomes unsigned with its sign bit, as in compiled code.
    return np.int64(ctypes.c_int64.from_address(int(address)).value)


@instruction(float64(int64), _loads(_DOUBLE))
def double_at(address):
    """The double at an address."""
    return ctypes.c_double.from_address(int(address)).value


@instruction(
    float64(int64),
    lambda builder, address: builder.fpext(_loads(_FLOAT)(builder, address), _DOUBLE),
)
def single_at(address):
    """The C float at an address, as a double."""
    return ctypes.c_float.from_address(int(address)).value


@instruction(
    void(int64),
    lambda builder, address: fetch(builder, builder.inttoptr(address, _BYTE.as_pointer())),
)
def prefetch_at(address):
    """Have what is at an address fetched into the caches while other things are done."""


# Letters of formats of int64: numpy has the first, others the second.
_LONG, _LONG_LONG = ord("l"), ord("q")


@kernel("int64(PythonApi, int64, ExpectedArguments, int64[::1])", holds_gil=True)
def pack_arguments(api, arguments, expected, packed):
    """Fill `packed` with the numbers among arguments, and address and length of each array.

    arguments: the address of their tuple. The last items of `packed`, one for each that is
    expected, serve as memory. Returns the index in `expected` of the first argument that is
    something else, -1 if there is none. As C functions of Python do, it may set an exception.
    """
    count = len(expected.kinds)
    objects = packed[len(packed) - count :]
    word = 0
    for i in range(count):
        owner = expected.owners[i]
        argument = tuple_item(
            api.tuple_item, arguments if owner < 0 else objects[owner], expected.indices[i]
        )
        if argument == 0:
            return i
        objects[i] = argument
        kind = expected.kinds[i]
        if kind == RECORD:
            if word_at(argument + TYPE_IN_OBJECT) != expected.details[i]:
                return i
        elif kind == INTEGER:
            packed[word], overflow = integer_of(api.as_integer, argument)
            if overflow != 0:
                return i
            word += 1
        else:
            address, size, item, code = buffer_of(api.get_buffer, api.release_buffer, argument)
            if item != kind or (_LONG_LONG if code == _LONG else code) != expected.details[i]:
                return i
            packed[word], packed[word + 1] = address, size // item
            word += 2
    return -1
