"""Grouping: rows brought together by query and by judgment group, in linear time, order kept."""

from __future__ import annotations

import random
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastrank.data.qrels import Qrels, split_groups
from fastrank.kernels.texts.text import table_mask
from fastrank.native.buffers import table_size
from tests.helpers import strategies as make
from tests.helpers.parsing import parse_prefs, parse_qrels, parse_qrels_jg, parse_run
from tests.helpers.strategies import contents, examples, many

# Queries


@pytest.mark.parametrize(
    "order", ["aabbcc", "ababab", "abcabc", "abba", "abca", "aab", "abb", "cba", "a", "bacacab"]
)
def test_lines_of_a_query_may_stand_anywhere(order: str) -> None:
    """Queries come in the order of their first line, the rows of each in file order."""
    lines = [f"{query} g{i} s{i} d{i} {i}\n" for i, query in enumerate(order)]
    rows = [(b"g%d" % i, b"s%d" % i, b"d%d" % i, i) for i in range(len(order))]
    preferences = parse_prefs("".join(lines).encode())
    expected = {
        query: [row for row, other in zip(rows, order, strict=True) if other == query]
        for query in order
    }
    assert contents(preferences) == [(query.encode(), own) for query, own in expected.items()]
    sizes = [len(own) for own in expected.values()]
    assert preferences.offsets.tolist() == [sum(sizes[:i]) for i in range(len(sizes) + 1)]


def test_queries_are_equal_only_if_all_bytes_are() -> None:
    """Prefixes, case, leading zeros, numbers of equal value and look-alikes are other queries."""
    queries = [b"1", b"01", b"1.0", b"10", b"q", b"Q", b"\xc3\xa9", b"e\xcc\x81", b"\xe9", b"qq"]
    text = b"".join(b"%b 0 d%d 1\n" % (query, turn) for turn in (1, 2) for query in queries)
    rows = [(b"0", b"d1", 1), (b"0", b"d2", 1)]
    assert contents(parse_qrels(text)) == [(query, rows) for query in queries]


def test_many_scattered_queries() -> None:
    """Thousands of queries whose lines come in random order, as many as fill a hash table."""
    chance = random.Random(1)
    queries = [b"%d" % chance.getrandbits(chance.choice([8, 16, 64])) for _ in range(many(5_000))]
    lines = [(chance.choice(queries), b"d%d" % i) for i in range(many(30_000))]
    expected: dict[bytes, list[object]] = {}
    for query, doc in lines:
        expected.setdefault(query, []).append((b"0", doc, 1))
    found = contents(parse_qrels(b"".join(b"%b 0 %b 1\n" % line for line in lines)))
    assert found == list(expected.items())


def test_queries_that_alternate_line_by_line() -> None:
    """As many pieces as lines: the worst case for grouping."""
    count = many(100_000)
    run = parse_run(b"".join(b"q%d 0 d %d %d t\n" % (i % 2, i, i) for i in range(count)))
    assert run.offsets.tolist() == [0, count // 2, count]
    assert run.scores.tolist() == [*range(0, count, 2), *range(1, count, 2)]


@examples(100)
@given(make.lines_of(make.QRELS_ROWS))
def test_grouping_equals_a_dictionary(text: bytes) -> None:
    """Whatever the order of lines, queries and rows are those of a dictionary of lists."""
    lines = [line.split() for line in text.split(b"\n") if line.strip(make.BLANKS)]
    assert contents(parse_qrels(text, strict=False)) == make.grouped(lines, make.QRELS)


ODD = bytes(range(11)) + make.BLANKS + b"#"


@examples(100)
@given(st.lists(st.binary(min_size=1, max_size=3), max_size=40))
def test_equal_queries_are_found_whatever_their_bytes(queries: list[bytes]) -> None:
    """Short ids with bytes of all kinds, so that hashes meet."""
    # A byte order mark at the start of a file is no part of its first id.
    queries = [
        query.translate(None, ODD).removeprefix(b"\xef\xbb\xbf") or b"x" for query in queries
    ]
    run = parse_run(b"".join(b"%b 0 %d 1 1 t\n" % (query, i) for i, query in enumerate(queries)))
    expected: dict[bytes, list[object]] = {}
    for number, query in enumerate(queries):
        expected.setdefault(query, []).append((b"%d" % number, 1.0))
    assert contents(run) == list(expected.items())


def test_tables_are_as_large_as_kernels_take_them_to_be() -> None:
    """The caller's size and the kernels' mask agree, or a kernel would write past the end."""
    for items in [*range(70), 1000, 1023, 1024, 1025]:
        assert table_size(items) == table_mask(items) + 1


# Judgment groups


def ranges(qrels: Qrels) -> list[list[list[tuple[bytes, int]]]]:
    """For each query, for each of its judgment groups, the documents and grades in it."""
    split, group_offsets = split_groups(qrels)
    rows = list(zip(split.docs, split.grades.tolist(), strict=True))
    starts = split.offsets.tolist()
    groups = [rows[starts[g] : starts[g + 1]] for g in range(len(starts) - 1)]
    return [groups[group_offsets[i] : group_offsets[i + 1]] for i in range(len(qrels.queries))]


def test_groups_of_a_query_come_in_byte_order() -> None:
    """Shorter names first, then unsigned bytes; the rows of each group in file order."""
    names = [b"b", b"\xff", b"a", b"ab", b"B", b"10", b"2", b"a"]
    text = b"".join(b"q %b d%d %d\n" % (name, i, i) for i, name in enumerate(names))
    expected = [[5], [6], [4], [2, 7], [3], [0], [1]]
    assert ranges(parse_qrels_jg(text)) == [[[(b"d%d" % i, i) for i in own] for own in expected]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"r b d1 1\nq a d2 2\nr a d3 3\nq a d4 4\nr b d5 5\n", [[[3], [1, 5]], [[2, 4]]]),
        # Where the second field is the same on all lines there is one group per query.
        (b"a 0 d1 1\nb 0 d1 1\na 0 d2 2\n", [[[1, 2]], [[1]]]),
        (b"# a\n", []),
    ],
)
def test_groups_are_those_of_their_query(text: bytes, expected: list[list[list[int]]]) -> None:
    found = ranges(parse_qrels_jg(text, trec_eval_version="10.0"))
    assert found == [[[(b"d%d" % i, i) for i in own] for own in query] for query in expected]


def test_many_groups() -> None:
    """Thousands of rows in hundreds of groups, names in random order."""
    chance = random.Random(2)
    rows = [(b"g%d" % chance.randrange(300), b"d%d" % i, i) for i in range(many(5_000))]
    expected = groupby(sorted(rows, key=lambda row: row[0]), key=lambda row: row[0])
    found = ranges(parse_qrels_jg(b"".join(b"q %b %b %d\n" % row for row in rows)))
    assert found == [[[row[1:] for row in own] for _, own in expected]]


@examples(100)
@given(make.lines_of(make.rows(make.queries, make.words, make.docs, make.numbers)))
def test_splitting_equals_sorting_by_group(text: bytes) -> None:
    """Groups are those of a stable sort by name, in every query."""
    qrels = parse_qrels(text, strict=False)
    expected = []
    for _, rows in contents(qrels):
        by_name = groupby(sorted(rows, key=lambda row: row[0]), key=lambda row: row[0])
        expected.append([[row[1:] for row in own] for _, own in by_name])
    assert ranges(qrels) == expected
