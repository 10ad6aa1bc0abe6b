"""Instructions: compiled code computes what the Python function of the same name does."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

import numba
import numpy as np
import pytest

from fastrank.core.kernels.comparing import resampling
from fastrank.core.kernels.objects import cpython
from fastrank.core.kernels.simd import compare, instructions, sums
from fastrank.core.kernels.tasks import adam
from fastrank.core.native.declare import OPTIONS

RNG = np.random.default_rng(1)
U = np.uint64
WORDS = [U(word) for word in (0, 1, 2**63, 2**64 - 1, *map(int, RNG.integers(0, 2**63, 9)))]
PAIRS = [(one, other) for one in WORDS for other in WORDS]
BYTES = RNG.integers(0, 40, 600).astype(np.uint8)
DECIMALS = np.frombuffer(b"12.345678 12.345679 99.1 3.25 " + b"0" * 64, np.uint8).copy()
LOWEST, ROOM = (U(0x3030303030303030),) * 4, (U(0x0909090909090909),) * 4
INTEGERS = [RNG.integers(-3, 4, 200).astype(kind) for kind in ("int32", "int64")]
WITH_NAN = [np.where(items == 3, np.nan, items) for items in INTEGERS]
FLOATS = [WITH_NAN[0].astype("float32"), WITH_NAN[1].astype("float64")]
VECTORS = RNG.normal(size=(2, 200)).astype(np.float32)
PLACES = range(1, 130, 3)
CASES: dict[Any, Iterable[tuple[Any, ...]]] = {
    instructions.trailing_zeros: [(word,) for word in WORDS],
    instructions.leading_zeros: [(word,) for word in WORDS],
    instructions.count_ones: [(word,) for word in WORDS],
    instructions.swap_bytes: [(word,) for word in WORDS],
    instructions.multiply: PAIRS,
    resampling.wrapped_sum: PAIRS,
    instructions.as_double: [(U(0x3FF8000000000000),), (U(1) << U(63),)],
    instructions.as_word: [(1.5,), (-0.0,)],
    adam.root: [(np.float32(2),), (np.float32(0.3),)],
    instructions.load_word_inside: [(BYTES, at) for at in PLACES],
    instructions.differ: [
        (BYTES, at, tuple(BYTES[at : at + 16].view(U)), mask)
        for at in PLACES
        for mask in ((U(255), U(0)), (U(0), U(0)), (U(0), WORDS[3]))
    ]
    + [(BYTES, 8, pair, (U(0), U(1))) for pair in PAIRS],
    instructions.decimal_head: [
        (DECIMALS, at, length, LOWEST, ROOM) for at in range(60) for length in (0, 1, 5, 32)
    ],
    instructions.compare_decimals: [
        (DECIMALS, at, length, other, other_length, LOWEST)
        for at in range(0, 40, 3)
        for other in range(0, 40, 4)
        for length in (1, 9)
        for other_length in (1, 6)
    ],
    compare.load_block: [(BYTES, at) for at in PLACES],
    compare.load_newlines: [(BYTES, at) for at in PLACES],
    compare.load_spaces: [(BYTES, at) for at in PLACES],
    compare.load_near_spaces: [(BYTES, at) for at in PLACES],
    compare.at_least: [(abs(items), at, 2) for items in INTEGERS for at in PLACES],
    compare.equal_to: [(items, at, -1) for items in INTEGERS for at in PLACES],
    compare.negative: [(items, at) for items in INTEGERS for at in PLACES],
    compare.not_below_previous: [(items, at) for items in FLOATS for at in PLACES],
    sums.sum_products: [(*VECTORS, 3, blocks) for blocks in range(20)],
    sums.sum_differences: [(*VECTORS, 3, blocks) for blocks in range(20)],
    cpython.word_at: [(BYTES.ctypes.data + 1,)],
    cpython.double_at: [(FLOATS[1].ctypes.data,)],
    cpython.single_at: [(VECTORS.ctypes.data,)],
    instructions.prefetch: [(BYTES, 1)],
    cpython.prefetch_at: [(BYTES.ctypes.data,)],
}


def compiled(function: Any) -> Any:
    """What a kernel that does nothing but call the function is compiled to."""
    names = ", ".join(inspect.signature(function).parameters)
    scope = {"called": function}
    exec(f"def call({names}): return called({names})", scope)
    return numba.njit(**OPTIONS)(scope["call"])


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_compiled_code_computes_the_same(function):
    call = compiled(function)

    for case in CASES[function]:
        assert call(*case) == function(*case)


def test_words_are_stored():
    own, others = BYTES.copy(), BYTES.copy()

    compiled(instructions.store_word)(own, 3, WORDS[-1])
    instructions.store_word(others, 3, WORDS[-1])

    assert (own == others).all()
    assert own[3:11].view(U) == WORDS[-1]


def test_files_are_read_from_a_place_on(tmp_path):
    """Which Python leaves to its caller."""
    read = compiled(instructions.read_at)
    path, text_ = tmp_path / "file", np.zeros(9, np.uint8)
    path.write_bytes(b"0123456789")

    with path.open("rb") as file:
        found = [read(file.fileno(), 6, text_, 1, 3), read(file.fileno(), 10, text_, 5, 3)]

    assert found == [3, 0]
    assert text_.tobytes() == b"\0" + b"678" + bytes(5)
    assert read(-1, 0, text_, 0, 1) == instructions.read_at(-1, 0, text_, 0, 1) == -1
