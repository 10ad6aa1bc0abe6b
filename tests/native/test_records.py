"""Records: how kernels declare their arguments, and what callers may give them."""

from __future__ import annotations

import pytest

from fastrank.native import entries, kernels, records, signature
from fastrank.native.buffers import filled, zeros
from fastrank.native.declare import KERNELS
from fastrank.native.record import PER_QUERY, RECORDS, Record, Shape, columns

entries.declare_all()


def texts(*lengths: int) -> records.Texts:
    """Texts of some lengths in a buffer of one letter."""
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    return records.Texts(
        buffer=b"a" * sum(lengths), starts=filled("q", starts), lengths=filled("q", [*lengths])
    )


@pytest.mark.parametrize("name", KERNELS)
def test_no_kernel_takes_more_than_eight_arguments(name: str) -> None:
    _, arguments = signature.parse(KERNELS[name].signature)

    assert len(arguments) <= 8


@pytest.mark.parametrize("name", KERNELS)
def test_a_declared_type_is_known(name: str) -> None:
    """The columns of every argument are arrays or numbers."""
    _, arguments = signature.parse(KERNELS[name].signature)

    for argument in arguments:
        for _, type_ in columns(argument):
            assert signature.is_array(type_) or signature.is_scalar(type_)


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_every_record_is_an_argument_of_a_kernel(record: type[Record]) -> None:
    """By itself, as a part of another, or query by query."""
    used: set[type[Record]] = set()
    wanted = [word for own in KERNELS.values() for word in signature.parse(own.signature)[1]]
    while wanted:
        found = RECORDS.get(word := wanted.pop()) or PER_QUERY.get(word)
        if found is not None:
            used.add(found)
            wanted += found.__annotations__.values()

    assert record in used


def test_fields_are_read_by_name() -> None:
    found = texts(3, 2)

    assert (found.buffer, found.starts.tolist(), found.lengths.tolist()) == (
        b"aaaaa",
        [0, 3],
        [3, 2],
    )
    assert tuple(found) == (found.buffer, found.starts, found.lengths)


def test_a_record_with_another_field_is_the_same_otherwise() -> None:
    found = texts(3, 2)

    changed = found.changed(buffer=b"bbbbb")

    assert changed == records.Texts(b"bbbbb", found.starts, found.lengths)


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"starts": 1}, r"fields missing or unknown: \['lengths'\]"),
        ({"starts": 1, "lengths": 2, "ends": 3}, r"fields missing or unknown: \['ends'\]"),
    ],
)
def test_a_record_needs_all_its_fields_and_no_others(fields: dict[str, int], wrong: str) -> None:
    with pytest.raises(TypeError, match=f"Spans: {wrong}"):
        records.Spans(**fields)


def test_a_record_needs_as_many_values_as_fields() -> None:
    with pytest.raises(TypeError, match="Spans: expected 2 fields, found 3"):
        records.Spans(1, 2, 3)


def test_columns_are_flattened_in_the_declared_order() -> None:
    run = records.Run(docs=texts(1), offsets="offsets", scores="scores")

    found = Shape("some", ["int64", "Run"]).flatten((7, run))

    assert found == [7, *texts(1), "offsets", "scores"]


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ((texts(1),), "expected 2 arguments, found 1"),
        ((tuple(texts(1)), zeros("q", 1)), "Texts: expected Texts, found tuple"),
        ((records.Spans(*texts(1)[1:]), zeros("q", 1)), "Texts: expected Texts, found Spans"),
        ((texts(1), texts(1)), r"int64\[::1\]: expected an array or a number, found Texts"),
    ],
)
def test_a_call_of_another_shape_is_refused(given: tuple[object, ...], wrong: str) -> None:
    with pytest.raises(TypeError, match=f"kernel find_stretches: {wrong}"):
        kernels.find_stretches(*given)


def test_a_part_of_a_record_is_checked_too() -> None:
    wrong = records.TextsByQuery(texts=tuple(texts(1)), offsets=zeros("q", 2))

    with pytest.raises(TypeError, match="kernel some: texts: expected Texts, found tuple"):
        Shape("some", ["TextsByQuery"]).flatten((wrong,))
