"""Sums over the items of two vectors in eight lanes, in double precision.

The lanes are explicit, so that the sums are the same on every processor and in plain Python. As in
kernels/simd/instructions.py, the interpreter runs the Python functions of the same names.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fastrank.kernels.simd.instructions import compiled_as, loaded

LANES = 8
_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_WORDS = ir.VectorType(ir.IntType(64), LANES)


def _items(one, other, at, blocks):
    items = slice(int(at), int(at + LANES * blocks))
    return (given[items].astype(np.float64).reshape(-1, LANES) for given in (one, other))


def _sum(terms):
    # cumsum adds one item after the other, unlike sum.
    return float(np.cumsum(np.cumsum(terms, axis=0)[-1])[-1]) if len(terms) else 0.0


def _summed(context, builder, signature, arguments, add):
    """Generate the loop over blocks; `add(totals, x, y)` makes the new totals of a block."""
    one, other, at, blocks = arguments
    totals = [
        cgutils.alloca_once_value(builder, ir.Constant(_DOUBLES, [0.0] * LANES))
        for _ in range(signature.return_type.count)
    ]
    with cgutils.for_range(builder, blocks) as loop:
        item = builder.add(at, builder.mul(loop.index, ir.Constant(at.type, LANES)))
        byte = builder.mul(item, ir.Constant(at.type, 4))
        x, y = (
            builder.fpext(loaded(context, builder, _FLOATS, kind, array, byte), _DOUBLES)
            for kind, array in zip(signature.args[:2], (one, other), strict=True)
        )
        added = add([builder.load(total) for total in totals], x, y)
        for total, value in zip(totals, added, strict=True):
            builder.store(value, total)
    results = []
    for total in totals:
        lanes = builder.load(total)
        result = builder.extract_element(lanes, ir.Constant(ir.IntType(32), 0))
        for lane in range(1, LANES):
            place = ir.Constant(ir.IntType(32), lane)
            result = builder.fadd(result, builder.extract_element(lanes, place))
        results.append(result)
    return context.make_tuple(builder, signature.return_type, results)


def sum_products(one, other, at, blocks):
    """Sums of x * y, x * x and y * y over LANES * blocks items of float32 from `at` on."""
    x, y = _items(one, other, at, blocks)
    return _sum(x * y), _sum(x * x), _sum(y * y)


@intrinsic
def _sum_products(context, one, other, at, blocks):
    def generate(context, builder, signature, arguments):
        def add(totals, x, y):
            terms = (builder.fmul(*pair) for pair in ((x, y), (x, x), (y, y)))
            return [builder.fadd(*pair) for pair in zip(totals, terms, strict=True)]

        return _summed(context, builder, signature, arguments, add)

    return types.UniTuple(types.float64, 3)(one, other, types.int64, types.int64), generate


compiled_as(
    sum_products,
    lambda one, other, at, blocks: (
        lambda one, other, at, blocks: _sum_products(one, other, at, blocks)
    ),
)


def sum_differences(one, other, at, blocks):
    """Sums of (x - y)² and |x - y| over LANES * blocks items of float32 from `at` on."""
    x, y = _items(one, other, at, blocks)
    return _sum((x - y) * (x - y)), _sum(np.abs(x - y))


@intrinsic
def _sum_differences(context, one, other, at, blocks):
    def generate(context, builder, signature, arguments):
        no_sign = ir.Constant(_WORDS, [(1 << 63) - 1] * LANES)

        def add(totals, x, y):
            difference = builder.fsub(x, y)
            bits = builder.and_(builder.bitcast(difference, _WORDS), no_sign)
            terms = builder.fmul(difference, difference), builder.bitcast(bits, _DOUBLES)
            return [builder.fadd(*pair) for pair in zip(totals, terms, strict=True)]

        return _summed(context, builder, signature, arguments, add)

    return types.UniTuple(types.float64, 2)(one, other, types.int64, types.int64), generate


compiled_as(
    sum_differences,
    lambda one, other, at, blocks: (
        lambda one, other, at, blocks: _sum_differences(one, other, at, blocks)
    ),
)
