"""Arguments packed by a kernel: the same as in Python, and the same refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastrank.core.native import engine, kernels, records
from fastrank.core.native.buffers import FORMATS, SIZES, filled, zeros
from fastrank.core.native.compiling.signatures import (
    CODES,
    field_types,
    flat_words,
    is_array,
    item,
    parse_signature,
    record_of,
)
from fastrank.core.native.declare import KERNELS, declare_all
from fastrank.core.native.library import _OFTEN, Library, flat_arguments
from fastrank.core.native.objects import Packer
from tests.helpers.strategies import examples

declare_all()
pytestmark = pytest.mark.skipif(
    not engine().startswith("precompiled"), reason="a kernel packs where a library is used"
)
PACKABLE = [
    name
    for name, kernel in KERNELS.items()
    if not any(
        "float64" in flat_words(argument) for argument in parse_signature(kernel.signature)[1]
    )
]


def words_of(declared: tuple[str, ...]) -> list[str]:
    return [word for argument in declared for word in flat_words(argument)]


def packer_of(*declared: str) -> Packer:
    library = kernels._load()
    assert isinstance(library, Library)
    packer = library._packer(len(declared), words_of(declared))
    assert packer is not None
    return packer


def packed(given: tuple[Any, ...], *declared: str) -> list[int] | None:
    """The arguments, without the memory behind them."""
    found = packer_of(*declared).pack(given)
    return None if found is None else found[: len(in_python(given, *declared))]


def in_python(given: tuple[Any, ...], *declared: str) -> list[int]:
    return [*flat_arguments("some", len(declared), words_of(declared), given)]


def value_of(declared: str, draw: Any) -> Any:
    """Some argument of a declared type."""
    record = record_of(declared)
    if record is not None:
        return record(*(value_of(type_, draw) for type_ in field_types(record)))
    if not is_array(declared):
        return draw(st.integers(-(2**63), 2**63 - 1))
    kind, length = item(declared), draw(st.integers(0, 5))
    if draw(st.booleans()):
        return np.zeros(length, kind)
    return zeros(CODES[kind], length)


@pytest.mark.parametrize("name", PACKABLE)
@given(data=st.data())
@examples(5)
def test_arguments_are_packed_as_in_python(name, data):
    _, declared = parse_signature(KERNELS[name].signature)
    given = tuple(value_of(word, data.draw) for word in declared)

    assert packed(given, *declared) == in_python(given, *declared)


def test_bytes_are_memory_of_bytes():
    assert packed((b"abc",), "uint8[::1]") == in_python((b"abc",), "uint8[::1]")


def test_integers_may_be_those_of_numpy():
    assert packed((np.int32(-7), True), "int64", "int64") == [-7, 1]


@pytest.mark.parametrize("given", FORMATS)
@pytest.mark.parametrize("declared", FORMATS)
def test_memory_of_another_type_is_not_packed(declared, given):
    (kind,) = [name for name, code in CODES.items() if code == declared]

    found = packer_of(f"{kind}[::1]").pack((zeros(given, SIZES["d"]),))

    assert (found is None) == (declared != given)


@pytest.mark.parametrize(
    ("given", "declared"),
    [
        ((1.5,), "int64"),
        ((2**63,), "int64"),
        (("7",), "int64"),
        ((), "int64"),
        ((1, 2), "int64"),
        ((None,), "int64[::1]"),
        ((np.zeros(8)[::2],), "float64[::1]"),
        ((records.Spans(zeros("q", 1), zeros("q", 1)),), "Texts"),
        (((b"", zeros("q", 1), zeros("q", 1)),), "Texts"),
        ((records.Texts(b"", zeros("q", 1), 5),), "Texts"),
    ],
    ids=[
        *("float", "too large", "text", "missing", "one more"),
        *("no array", "strided", "another record", "tuple", "number in a record"),
    ],
)
def test_what_is_not_as_declared_is_not_packed(given, declared):
    assert packer_of(declared).pack(given) is None


def test_a_wrong_call_is_refused_however_many_came_before():
    texts = records.Texts(b"aab", filled("q", [0, 2]), filled("q", [2, 1]))
    for _ in range(2 * _OFTEN):
        kernels.find_stretches(texts, zeros("q", 2))

    with pytest.raises(TypeError, match="kernel find_stretches: expected Texts, found tuple"):
        kernels.find_stretches(tuple(texts), zeros("q", 2))


def test_threads_pack_their_own_arguments():
    offsets = [filled("q", [0, width]) for width in range(64)]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(kernels.widest, offsets * 50))

    assert found == [*range(64)] * 50
