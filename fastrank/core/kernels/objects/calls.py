"""Entry points of kernels, called one after the other without a way back to Python."""

from __future__ import annotations

import ctypes

from llvmlite import ir
from numba.core import cgutils
from numba.types import int64

from fastrank.core.native.declare import instruction, kernel

_WORD, _STATUS = ir.IntType(64), ir.IntType(32)
# What a call is: addresses of an entry point, of its result, and of its arguments.
CALL = 3


def _calls_entry(builder, entry, result, arguments):
    exception = builder.ptrtoint(cgutils.alloca_once(builder, _WORD), _WORD)
    kind = ir.FunctionType(_STATUS, [_WORD] * CALL)
    function = builder.inttoptr(entry, kind.as_pointer())
    return builder.sext(builder.call(function, [result, exception, arguments]), _WORD)


@instruction(int64(int64, int64, int64), _calls_entry)
def call_entry(entry, result, arguments):
    """Call an entry point as `native/library.py` does; its status."""
    exception = ctypes.c_void_p()
    function = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * CALL)(int(entry))
    return function(int(result), ctypes.addressof(exception), int(arguments))


@kernel("int64(int64[::1])")
def call_all(calls):
    """Call entry points, three addresses for each; returns how many did not end well."""
    failed = 0
    for i in range(0, len(calls), CALL):
        failed += call_entry(calls[i], calls[i + 1], calls[i + 2]) != 0
    return failed
