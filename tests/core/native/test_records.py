"""Records: how kernels declare their arguments, and what callers may give them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastrank.core.native import kernels, records  # noqa: F401 (in a table)
from fastrank.core.native.buffers import SIZES, filled, zeros
from fastrank.core.native.compiling.signatures import (
    SCALARS,
    call_words,
    flat_words,
    parse_signature,
    record_of,
)
from fastrank.core.native.declare import KERNELS, declare_all
from fastrank.core.native.library import flat_arguments, kernel_files
from fastrank.core.native.record import RECORDS, Record, State
from fastrank.core.native.records.runs import PageRoom
from tests.helpers.tables import refusing

declare_all()


def texts(*lengths: int) -> records.Texts:
    """Texts of some lengths in a buffer of one letter."""
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    return records.Texts(
        buffer=b"a" * sum(lengths), starts=filled("q", starts), lengths=filled("q", [*lengths])
    )


def test_no_kernel_takes_more_than_eight_arguments_and_their_types_are_known():
    """The columns of every argument are arrays or numbers."""
    for name, own in KERNELS.items():
        _, arguments = parse_signature(own.signature)

        assert len(arguments) <= 8, name
        for argument in arguments:
            words = {*flat_words(argument)}
            assert words <= {*SIZES, *SCALARS, *RECORDS}, (name, argument)


@pytest.mark.parametrize("text", ["int64(", "int(int64)", "int64 int64[::1]"])
def test_a_signature_that_is_none_is_refused(text):
    """A typing error in a declaration fails the build, with the text."""
    with pytest.raises(ValueError, match="expected RESULT"):
        parse_signature(text)


def test_what_an_entry_point_is_told_is_worked_out_when_it_is_compiled():
    """A record query by query is given whole; a state is one array."""
    words = call_words("float64(Ranking, Spans, PageRoom, int64, uint8[::1])", holds_gil=True)

    rankings = "Rankings q q q q q q q q q int64 int64"
    assert words == f"holding float64 5 {rankings} Spans q q PageRoom q int64 B"


def test_every_record_is_an_argument_of_a_kernel():
    """By itself, as a part of another, or query by query; or else kernels make it."""
    used: set[type[Record | State]] = set()
    wanted = [word for own in KERNELS.values() for word in parse_signature(own.signature)[1]]
    while wanted:
        found = record_of(wanted.pop())
        if found is not None:
            used.add(found)
            wanted += found.__annotations__.values()

    sources = "".join(Path(path).read_text("utf-8") for path in kernel_files())
    unused = {name for name, own in RECORDS.items() if own not in used}
    assert {name for name in unused if f"{name}(" not in sources} == set()


test_a_record_needs_all_its_fields_and_no_others = refusing("""TypeError
records.Spans(*(), starts=1) => Spans: fields missing or unknown: ['lengths']
records.Spans(*(), starts=1, lengths=2, ends=3) => Spans: fields missing or unknown: ['ends']
records.Spans(*(1, 2, 3)) => Spans: expected 2 fields, found 3
""")

test_a_call_of_another_shape_is_refused = refusing("""TypeError
kernels.find_stretches(*(texts(1),)) => kernel find_stretches: expected 2 arguments, found 1
kernels.find_stretches(*(tuple(texts(1)), zeros("q", 1))) =>
  kernel find_stretches: expected Texts, found tuple
kernels.find_stretches(*(records.Spans(*texts(1)[1:]), zeros("q", 1))) =>
  kernel find_stretches: expected Texts, found Spans
kernels.find_stretches(*(texts(1), texts(1))) =>
  kernel find_stretches: memoryview: a bytes-like object is required, not 'Texts'
""")


def test_a_part_of_a_record_is_checked_too():
    wrong = records.TextsByQuery(texts=tuple(texts(1)), offsets=zeros("q", 2))

    with pytest.raises(TypeError, match="kernel some: expected Texts, found tuple"):
        flat_arguments("some", 1, flat_words("TextsByQuery"), (wrong,))


def test_a_state_has_no_other_numbers():
    with pytest.raises(AttributeError, match="pages"):
        PageRoom(pages=1)
    with pytest.raises(AttributeError, match="pages"):
        PageRoom().pages = 1  # type: ignore[attr-defined]


def test_an_array_is_no_state():
    with pytest.raises(TypeError, match="expected PageRoom, found memoryview"):
        flat_arguments("some", 1, flat_words("PageRoom"), (zeros("q", 3),))
