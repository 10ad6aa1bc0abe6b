"""Calls of CPython's C API, each with its meaning in plain Python.

Functions and objects are addresses, as integers: the caller finds them with ctypes, holds the
objects, and holds the interpreter's lock. All functions are of the stable ABI of Python 3.10; those
of buffers joined it in 3.11, unchanged.
"""

from __future__ import annotations

import ctypes

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from fastrank.native.declare import NO_ALLOCATION

_BYTE, _INT, _WORD = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_ADDRESS = ctypes.c_void_p
# Py_buffer: address, owner, bytes, bytes of an item, two of C's int, the items' format and five
# more; what is asked for, PyBUF_ND and PyBUF_FORMAT: contiguous memory, and the format.
_VIEW_WORDS, _IN_ONE_PIECE = 11, 0x0C


def _compiled_as(function, instruction):
    """Let compiled code that calls `function` execute `instruction` instead."""
    overload(function, jit_options={**NO_ALLOCATION, "forceinline": True})(instruction)


def _call(builder, result, function, arguments):
    """Call the C function at an address."""
    kinds = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(builder.inttoptr(function, kinds.as_pointer()), arguments)


def _as_long(builder, number):
    """C's int as int64."""
    return builder.sext(number, _WORD)


def next_item(function, owner, position):
    """PyDict_Next: whether there is one more item from `position` on, the next position, the
    item's key and its value."""
    at, key, value = ctypes.c_ssize_t(position), _ADDRESS(), _ADDRESS()
    call = ctypes.PYFUNCTYPE(ctypes.c_int, *[_ADDRESS] * 4)(int(function))
    more = call(int(owner), *map(ctypes.addressof, (at, key, value)))
    return more, at.value, key.value or 0, value.value or 0


@intrinsic
def _next_item(context, function, owner, position):
    def generate(context, builder, signature, arguments):
        function, owner, position = arguments
        places = [cgutils.alloca_once(builder, _WORD) for _ in range(3)]
        builder.store(position, places[0])
        more = _call(builder, _INT, function, [owner, *places])
        found = [_as_long(builder, more), *map(builder.load, places)]
        return context.make_tuple(builder, signature.return_type, found)

    return types.UniTuple(types.int64, 4)(types.int64, types.int64, types.int64), generate


_compiled_as(
    next_item,
    lambda function, owner, position: (
        lambda function, owner, position: _next_item(function, owner, position)
    ),
)


def get_item(function, owner, key):
    """PyDict_GetItemWithError: the value of a key, 0 if there is none."""
    call = ctypes.PYFUNCTYPE(_ADDRESS, _ADDRESS, _ADDRESS)(int(function))
    return call(int(owner), int(key)) or 0


@intrinsic
def _get_item(context, function, owner, key):
    def generate(context, builder, signature, arguments):
        return _call(builder, _WORD, arguments[0], arguments[1:])

    return types.int64(types.int64, types.int64, types.int64), generate


_compiled_as(
    get_item,
    lambda function, owner, key: lambda function, owner, key: _get_item(function, owner, key),
)


def set_item(function, owner, key, value):
    """PyDict_SetItem: 0, or -1 with an exception set."""
    call = ctypes.PYFUNCTYPE(ctypes.c_int, *[_ADDRESS] * 3)(int(function))
    return call(int(owner), int(key), int(value))


@intrinsic
def _set_item(context, function, owner, key, value):
    def generate(context, builder, signature, arguments):
        return _as_long(builder, _call(builder, _INT, arguments[0], arguments[1:]))

    return types.int64(types.int64, types.int64, types.int64, types.int64), generate


_compiled_as(
    set_item,
    lambda function, owner, key, value: (
        lambda function, owner, key, value: _set_item(function, owner, key, value)
    ),
)


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


@intrinsic
def _utf8_of(context, function, text):
    def generate(context, builder, signature, arguments):
        size = cgutils.alloca_once(builder, _WORD)
        address = _call(builder, _WORD, arguments[0], [arguments[1], size])
        return context.make_tuple(builder, signature.return_type, [address, builder.load(size)])

    return types.UniTuple(types.int64, 2)(types.int64, types.int64), generate


_compiled_as(utf8_of, lambda function, text: lambda function, text: _utf8_of(function, text))


def clear_error(function):
    """PyErr_Clear. In plain Python nothing is left to clear: exceptions were caught."""


@intrinsic
def _clear_error(context, function):
    def generate(context, builder, signature, arguments):
        _call(builder, ir.VoidType(), arguments[0], [])
        return context.get_dummy_value()

    return types.void(types.int64), generate


_compiled_as(clear_error, lambda function: lambda function: _clear_error(function))


def integer_of(function, number):
    """PyLong_AsLongLongAndOverflow: an int as int64, and 0 if it is one."""
    overflow = ctypes.c_int()
    call = ctypes.PYFUNCTYPE(ctypes.c_longlong, _ADDRESS, _ADDRESS)(int(function))
    return call(int(number), ctypes.addressof(overflow)), overflow.value


@intrinsic
def _integer_of(context, function, number):
    def generate(context, builder, signature, arguments):
        overflow = cgutils.alloca_once(builder, _INT)
        value = _call(builder, _WORD, arguments[0], [arguments[1], overflow])
        found = [value, _as_long(builder, builder.load(overflow))]
        return context.make_tuple(builder, signature.return_type, found)

    return types.UniTuple(types.int64, 2)(types.int64, types.int64), generate


_compiled_as(
    integer_of, lambda function, number: lambda function, number: _integer_of(function, number)
)


def make_float(function, number):
    """PyFloat_FromDouble: a new reference, or 0 with an exception set."""
    return ctypes.PYFUNCTYPE(_ADDRESS, ctypes.c_double)(int(function))(float(number)) or 0


@intrinsic
def _make_float(context, function, number):
    def generate(context, builder, signature, arguments):
        return _call(builder, _WORD, arguments[0], arguments[1:])

    return types.int64(types.int64, types.float64), generate


_compiled_as(
    make_float, lambda function, number: lambda function, number: _make_float(function, number)
)


def tuple_item(function, owner, place):
    """PyTuple_GetItem: an item of a tuple, or 0 with an exception set."""
    call = ctypes.PYFUNCTYPE(_ADDRESS, _ADDRESS, ctypes.c_ssize_t)(int(function))
    return call(int(owner), int(place)) or 0


@intrinsic
def _tuple_item(context, function, owner, place):
    def generate(context, builder, signature, arguments):
        return _call(builder, _WORD, arguments[0], arguments[1:])

    return types.int64(types.int64, types.int64, types.int64), generate


_compiled_as(
    tuple_item,
    lambda function, owner, place: (
        lambda function, owner, place: _tuple_item(function, owner, place)
    ),
)


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
    found = view[0], view[2], view[3], ctypes.string_at(view[5])[0]
    ctypes.PYFUNCTYPE(None, _ADDRESS)(int(release))(ctypes.addressof(view))
    return found


@intrinsic
def _buffer_of(context, get, release, owner):
    def generate(context, builder, signature, arguments):
        get, release, owner = arguments
        view = cgutils.alloca_once(builder, _WORD, size=_VIEW_WORDS)
        found = [cgutils.alloca_once_value(builder, ir.Constant(_WORD, 0)) for _ in range(4)]
        failed = _call(builder, _INT, get, [owner, view, ir.Constant(_INT, _IN_ONE_PIECE)])
        with builder.if_then(builder.icmp_signed("==", failed, ir.Constant(_INT, 0))):
            words = [builder.load(builder.gep(view, [ir.Constant(_WORD, i)])) for i in (0, 2, 3, 5)]
            letter = builder.load(builder.inttoptr(words.pop(), _BYTE.as_pointer()))
            for value, place in zip([*words, builder.zext(letter, _WORD)], found, strict=True):
                builder.store(value, place)
            _call(builder, ir.VoidType(), release, [view])
        return context.make_tuple(builder, signature.return_type, [*map(builder.load, found)])

    return types.UniTuple(types.int64, 4)(types.int64, types.int64, types.int64), generate


_compiled_as(
    buffer_of,
    lambda get, release, owner: lambda get, release, owner: _buffer_of(get, release, owner),
)


def drop_reference(function, owned):
    """Py_DecRef."""
    ctypes.PYFUNCTYPE(None, _ADDRESS)(int(function))(int(owned))


@intrinsic
def _drop_reference(context, function, owned):
    def generate(context, builder, signature, arguments):
        _call(builder, ir.VoidType(), arguments[0], arguments[1:])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


_compiled_as(
    drop_reference, lambda function, owned: lambda function, owned: _drop_reference(function, owned)
)


def word_at(address):
    """The 8 bytes at an address, as an integer."""
    # Of NumPy's type, which becomes unsigned with its sign bit, as in compiled code.
    return np.int64(ctypes.c_int64.from_address(int(address)).value)


@intrinsic
def _word_at(context, address):
    def generate(context, builder, signature, arguments):
        return builder.load(builder.inttoptr(arguments[0], _WORD.as_pointer()))

    return types.int64(types.int64), generate


_compiled_as(word_at, lambda address: lambda address: _word_at(address))


def double_at(address):
    """The double at an address."""
    return ctypes.c_double.from_address(int(address)).value


@intrinsic
def _double_at(context, address):
    def generate(context, builder, signature, arguments):
        return builder.load(builder.inttoptr(arguments[0], ir.DoubleType().as_pointer()))

    return types.float64(types.int64), generate


_compiled_as(double_at, lambda address: lambda address: _double_at(address))


def single_at(address):
    """The C float at an address, as a double."""
    return ctypes.c_float.from_address(int(address)).value


@intrinsic
def _single_at(context, address):
    def generate(context, builder, signature, arguments):
        number = builder.load(builder.inttoptr(arguments[0], ir.FloatType().as_pointer()))
        return builder.fpext(number, ir.DoubleType())

    return types.float64(types.int64), generate


_compiled_as(single_at, lambda address: lambda address: _single_at(address))


def prefetch_at(address):
    """Have what is at an address fetched into the caches while other things are done."""


@intrinsic
def _prefetch_at(context, address):
    def generate(context, builder, signature, arguments):
        place = builder.inttoptr(arguments[0], _BYTE.as_pointer())
        kinds = ir.FunctionType(ir.VoidType(), [place.type, _INT, _INT, _INT])
        function = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kinds)
        # To read; into all caches; data.
        builder.call(function, [place, *(ir.Constant(_INT, i) for i in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(types.int64), generate


_compiled_as(prefetch_at, lambda address: lambda address: _prefetch_at(address))
