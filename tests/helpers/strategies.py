"""What the tests of reading and writing generate on purpose, and slow, obvious twins.

The twins say with regular expressions, `split` and dictionaries what fastrank's kernels do; they
share no code with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import copysign
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from fastrank.core.native import engine

COMPILED = not engine().startswith("plain")

slow_in_python = pytest.mark.skipif(not COMPILED, reason="slow in plain Python")


def many(count: int) -> int:
    """`count` for compiled kernels, a hundredth of it for kernels in plain Python.

    Ten times as many in the profile `deep` (tests/conftest.py).
    """
    count = count * settings.default.max_examples // 100
    return count if COMPILED else max(10, count // 100)


def examples(count: int) -> settings:
    """Settings for a property: this many examples, however slow the first of them compiles."""
    return settings(
        max_examples=many(count), deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )


# Whitespace: all that separates fields, and what does so in other languages but not here.

BLANKS = b" \t\v\f\r"
NO_BLANKS = (b"\x1c", b"\x1d", b"\x1e", b"\x1f", b"\x85", b"\xa0", b"\xe2\x80\xa8", b"\xe3\x80\x80")

gaps = st.sampled_from([b" ", b"\t", b"  ", b" \t ", b"\v", b"\f", b"\r", b"\t\r\v\f "])
edges = st.sampled_from([b"", b"", b"", b" ", b"\t", b"\r", b"\v\f"])


# Fields: few different ones, so that they repeat, and neighbours in byte order.

queries = st.sampled_from(b"1 2 10 01 q q1 q10 Q # #q \xff \xef\xbb\xbfq \xc2\xa0".split())
docs = st.sampled_from(b"d d1 d10 D a \xc3\xa9 \xff\xfe 0 - #d".split())
words = st.one_of(
    docs,
    st.binary(min_size=1, max_size=5).filter(lambda word: not set(word) & set(b"\0\n" + BLANKS)),
)
odd_numbers = st.sampled_from(
    b"0 -0 +0 00 1 +1 -1 01 1. .5 5. . + - -. +. 1e 1e+ 1e- 1e5 1E+05 1e-5 .e1 1.5.5 1,5 1_0 abc"
    b" 1abc 1.9 2.50 2.5 1e400 -1e400 1e-400 -1e-400 4.9e-324 2e-324 3e-324 1.7976931348623159e308"
    b" 9007199254740993 9007199254740992.5 9223372036854775807 9223372036854775808"
    b" -9223372036854775808 -9223372036854775809 99999999999999999999999"
    b" 0x1p3 0X.8 -0x1.8P-2 0x 0xg -0x"
    b" inf -INF Infinity infinit in nan -NaN nanx n i e e5 ++1 --1 +-1 1-1 1+1".split()
)
numbers = st.one_of(
    odd_numbers,
    st.integers(-3, 3).map(lambda value: b"%d" % value),
    st.integers().map(lambda value: b"%d" % value),
    st.floats(-2, 2).map(lambda value: repr(value).encode()),
    st.floats().map(lambda value: repr(value).encode()),
)

Row = tuple[bytes, ...]


def rows(*columns: st.SearchStrategy[bytes]) -> st.SearchStrategy[list[Row]]:
    """Lists of rows, none too; a query comes back after others have stood between."""
    return st.lists(st.tuples(*columns), max_size=12)


RUN_ROWS = rows(queries, words, docs, words, numbers, words)
QRELS_ROWS = rows(queries, words, docs, numbers)
QRELS_JG_ROWS = rows(queries, st.sampled_from([b"a", b"b", b"ab"]), docs, numbers)
PREFS_ROWS = rows(queries, words, words, docs, numbers)
QRELS_PREFS_ROWS = rows(queries, words, docs, numbers)
ZSCORES_ROWS = rows(queries, words, numbers, numbers)


@st.composite
def lines_of(draw: Any, some_rows: st.SearchStrategy[list[Row]]) -> bytes:
    """Well-formed lines, odd whitespace between and around fields, the last newline optional."""
    text = b"\n".join(draw(edges) + draw(gaps).join(row) + draw(edges) for row in draw(some_rows))
    return text + draw(st.sampled_from([b"", b"\n"])) if text else text


@st.composite
def untidy(draw: Any, some_rows: st.SearchStrategy[list[Row]]) -> bytes:
    """Lines that need not be well-formed: fields missing or over, blank, comments, NUL bytes."""
    lines = []
    for row in draw(some_rows):
        lines.append(draw(edges) + draw(gaps).join(row) + draw(edges))
        lines += draw(
            st.sampled_from(
                4 * [[]]
                + [
                    [b""],
                    [b" \t"],
                    [b"#"],
                    [b"# a"],
                    [b"# a b 1", b"# a b 1"],
                    [b" # a"],
                    [b" ".join([b"#", *row])],
                    [b" ".join(row[1:])],
                    [b" ".join([*row, b"more"])],
                    [b"\0" + row[0]],
                    [b" ".join(row) + b"\0"],
                ]
            )
        )
    text = b"\n".join(lines)
    return text + draw(st.sampled_from([b"", b"\n"]))


# Twins of the C library.

DECIMAL = rb"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
HEXADECIMAL = rb"0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?"
NUMBER = re.compile(
    rb"(?P<sign>[+-]?)(?:(?P<hex>%b)|(?P<decimal>%b)|(?P<word>[iI][nN][fF]|[nN][aA][nN]))"
    % (HEXADECIMAL, DECIMAL)
)


def strtod(text: bytes) -> float:
    """C's strtod: Python's float() on the longest prefix that is a number, 0.0 if there is none."""
    found = NUMBER.match(text.lstrip(b"\n" + BLANKS))
    if found is None:
        return 0.0
    if found["hex"]:
        try:
            value = float.fromhex(found["hex"].decode())
        except OverflowError:
            value = float("inf")
    else:
        value = float(found["decimal"] or found["word"])
    return -value if found["sign"] == b"-" else value


def atol(text: bytes) -> int:
    """C's atol: int() on the longest prefix that is an integer, held within 64 bits."""
    found = re.match(rb"[+-]?[0-9]+", text.lstrip(b"\n" + BLANKS))
    return min(max(int(found[0]) if found else 0, -(2**63)), 2**63 - 1)


# Twins of the readers.


class BrokenLineError(Exception):
    """A line that a twin cannot take: its number, and its fields (None when it holds a NUL)."""

    def __init__(self, line: int, text: bytes, fields: int | None) -> None:
        super().__init__(line, text, fields)
        self.line, self.text, self.fields = line, text, fields


class Layout(NamedTuple):
    """A format as a twin needs it."""

    takes: Callable[[int], bool]
    row: Callable[[list[bytes]], tuple[Any, ...]]
    is_run: bool = False


RUN = Layout(lambda n: n >= 6, lambda f: (f[2], strtod(f[4])), is_run=True)
QRELS = Layout(lambda n: n == 4, lambda f: (f[1], f[2], atol(f[3])))
PREFS = Layout(lambda n: n == 5, lambda f: (f[1], f[2], f[3], strtod(f[4])))
QRELS_PREFS = Layout(lambda n: n == 4, lambda f: (f[1], b"", f[2], strtod(f[3])))
ZSCORES = Layout(lambda n: n == 4, lambda f: (f[1], strtod(f[2]), strtod(f[3])))


def data_lines(text: bytes, layout: Layout, comments: str) -> Iterator[list[bytes]]:
    """The fields of each data line; `comments` is none, single (as in trec_eval 10.0) or all."""
    lines = text.split(b"\n")
    if not lines[-1]:
        lines.pop()
    after_comment = False
    for number, line in enumerate(lines, 1):
        start = line.lstrip(BLANKS) if layout.is_run else line
        if start.startswith(b"#") and comments != "none":
            repeatable = layout.is_run or comments == "all"
            if repeatable or not after_comment:
                after_comment = True
                continue
        after_comment = False
        if line.startswith(b"\0"):
            return
        fields = line.split()
        if b"\0" in line:
            raise BrokenLineError(number, line, None)
        if not fields and layout.is_run:
            continue
        if not layout.takes(len(fields)):
            raise BrokenLineError(number, line, len(fields))
        yield fields


def twin_fields(text: bytes, layout: Layout, trec_eval_version: str) -> list[list[bytes]]:
    """The data lines of a file as fields."""
    if trec_eval_version == "10.0":
        return list(data_lines(text, layout, "single"))
    try:
        return list(data_lines(text, layout, "none"))
    except BrokenLineError as broken:
        start = broken.text.lstrip(BLANKS) if layout.is_run else broken.text
        if broken.fields is None or not start.startswith(b"#"):
            raise
    return list(data_lines(text, layout, "all"))


def grouped(lines: list[list[bytes]], layout: Layout) -> list[tuple[bytes, list[Any]]]:
    """Rows per query: queries in the order of their first line, rows in file order."""
    found: dict[bytes, list[Any]] = {}
    for fields in lines:
        found.setdefault(fields[0], []).append(layout.row(fields))
    return list(found.items())


# What a noun holds, as plain Python.


def contents(noun: Any) -> list[tuple[bytes, list[Any]]]:
    """Rows per query of anything that a reader returns."""
    if hasattr(noun, "entries"):
        return list(noun.entries.items())
    if hasattr(noun, "scores"):
        columns = [noun.docs, noun.scores.tolist()]
    elif hasattr(noun, "grades"):
        columns = [noun.groups, noun.docs, noun.grades.tolist()]
    else:
        columns = [noun.groups, noun.subgroups, noun.docs, noun.levels.tolist()]
    every = list(zip(*columns, strict=True))
    starts = noun.offsets.tolist()
    assert len(starts) == len(noun.queries) + 1
    assert starts[0] == 0
    assert starts[-1] == len(every)
    return [(query, every[starts[i] : starts[i + 1]]) for i, query in enumerate(noun.queries)]


def exactly(value: Any) -> Any:
    """The same with -0.0 unequal to 0.0, and NaN equal to NaN of its sign."""
    if isinstance(value, float):
        return value.hex() if value == value else copysign(2.0, value)
    if isinstance(value, (list, tuple)):
        return [exactly(item) for item in value]
    return value
