"""Entry points of kernels, called one after the other without a way back to Python."""

from __future__ import annotations

import ctypes

from fastrank.core.kernels.objects.cpython import word_at
from fastrank.core.native.compiling.compiler import cgutils, int64, ir
from fastrank.core.native.declare import instruction, kernel

_WORD, _STATUS = ir.IntType(64), ir.IntType(32)
# What a call is: addresses of an entry point, of its result, and of its arguments, and the result
# that it must have, or -1 for any.
CALL = 4


def _calls_entry(builder, entry, result, arguments):
    exception = builder.ptrtoint(cgutils.alloca_once(builder, _WORD), _WORD)
    kind = ir.FunctionType(_STATUS, [_WORD] * 3)
    function = builder.inttoptr(entry, kind.as_pointer())
    return builder.sext(builder.call(function, [result, exception, arguments]), _WORD)


@instruction(int64(int64, int64, int64), _calls_entry)
def call_entry(entry, result, arguments):
    """Call an entry point as `native/library.py` does; its status."""
    exception = ctypes.c_void_p()
    function = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3)(int(entry))
    return function(int(result), ctypes.addressof(exception), int(arguments))


@kernel("int64(int64[::1])")
def call_all(calls):
    """Call entry points, four numbers for each, up to one whose result is not as expected.

    Returns how many had the result that they must have, or -1 if one ended with a status.
    """
    for i in range(0, len(calls), CALL):
        if call_entry(calls[i], calls[i + 1], calls[i + 2]) != 0:
            return -1
        if calls[i + 3] >= 0 and word_at(calls[i + 1]) != calls[i + 3]:
            return i // CALL
    return len(calls) // CALL


@kernel("void(float64[::1])")
def clear_values(values):
    """Make all values 0."""
    values[:] = 0.0
