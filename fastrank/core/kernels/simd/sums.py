"""Sums over the items of two vectors in eight lanes, in double precision.

The lanes are explicit, so that the sums are the same on every processor and in plain Python. As in
kernels/simd/instructions.py, the interpreter runs the Python functions of the same names.
"""

from __future__ import annotations

import numpy as np

from fastrank.core.kernels.simd.instructions import loaded
from fastrank.core.native.compiling.compiler import UniTuple, cgutils, float64, int64, ir
from fastrank.core.native.declare import ARRAY, instruction

LANES = 8
_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_WORDS = ir.VectorType(ir.IntType(64), LANES)
_INDEX = ir.IntType(32)


def _items(left, right, first, blocks):
    items = slice(int(first), int(first + LANES * blocks))
    return (vector[items].astype(np.float64).reshape(-1, LANES) for vector in (left, right))


def _sum(terms):
    # cumsum adds one item after the other, unlike sum.
    return float(np.cumsum(np.cumsum(terms, axis=0)[-1])[-1]) if len(terms) else 0.0


def _summed(builder, left, right, first, blocks, sums, add):
    """Generate the loop over blocks; `add(totals, x, y)` makes the new totals of a block."""
    zero = ir.Constant(_DOUBLES, [0.0] * LANES)
    totals = [cgutils.alloca_once_value(builder, zero) for _ in range(sums)]
    with cgutils.for_range(builder, blocks) as loop:
        item = builder.add(first, builder.mul(loop.index, first.type(LANES)))
        byte = builder.mul(item, first.type(4))
        x, y = (
            builder.fpext(loaded(builder, _FLOATS, data, byte), _DOUBLES) for data in (left, right)
        )
        added = add([builder.load(total) for total in totals], x, y)
        for total, value in zip(totals, added, strict=True):
            builder.store(value, total)
    results = []
    for total in totals:
        lanes = builder.load(total)
        result = builder.extract_element(lanes, _INDEX(0))
        for lane in range(1, LANES):
            result = builder.fadd(result, builder.extract_element(lanes, _INDEX(lane)))
        results.append(result)
    return results


def _sum_products(builder, left, right, first, blocks):
    def add(totals, x, y):
        terms = (builder.fmul(*pair) for pair in ((x, y), (x, x), (y, y)))
        return [builder.fadd(*pair) for pair in zip(totals, terms, strict=True)]

    return _summed(builder, left, right, first, blocks, 3, add)


@instruction(UniTuple(float64, 3)(ARRAY, ARRAY, int64, int64), _sum_products)
def sum_products(left, right, first, blocks):
    """Sums of x * y, x * x and y * y over LANES * blocks items of float32 from `first` on."""
    x, y = _items(left, right, first, blocks)
    return _sum(x * y), _sum(x * x), _sum(y * y)


def _sum_differences(builder, left, right, first, blocks):
    no_sign = ir.Constant(_WORDS, [(1 << 63) - 1] * LANES)

    def add(totals, x, y):
        difference = builder.fsub(x, y)
        bits = builder.and_(builder.bitcast(difference, _WORDS), no_sign)
        terms = builder.fmul(difference, difference), builder.bitcast(bits, _DOUBLES)
        return [builder.fadd(*pair) for pair in zip(totals, terms, strict=True)]

    return _summed(builder, left, right, first, blocks, 2, add)


@instruction(UniTuple(float64, 2)(ARRAY, ARRAY, int64, int64), _sum_differences)
def sum_differences(left, right, first, blocks):
    """Sums of (x - y)² and |x - y| over LANES * blocks items of float32 from `first` on."""
    x, y = _items(left, right, first, blocks)
    return _sum((x - y) * (x - y)), _sum(np.abs(x - y))
