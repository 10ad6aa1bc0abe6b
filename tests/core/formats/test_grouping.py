"""Grouping: rows of a query brought together by judgment group, order kept."""

from __future__ import annotations

from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from fastrank.core.formats.qrels import Qrels, split_groups
from tests.helpers import strategies as make
from tests.helpers.parsing import parse_qrels, parse_qrels_jg
from tests.helpers.strategies import contents, examples


def ranges(qrels: Qrels) -> list[list[list[tuple[bytes, int]]]]:
    """For each query, for each of its judgment groups, the documents and grades in it."""
    split, group_offsets = split_groups(qrels)
    rows = list(zip(split.docs, split.grades.tolist(), strict=True))
    starts = split.offsets.tolist()
    groups = [rows[starts[g] : starts[g + 1]] for g in range(len(starts) - 1)]
    return [groups[group_offsets[i] : group_offsets[i + 1]] for i in range(len(qrels.queries))]


def test_groups_of_a_query_come_in_byte_order():
    """Shorter names first, then unsigned bytes; the rows of each group in file order."""
    names = [b"b", b"\xff", b"a", b"ab", b"B", b"10", b"2", b"a"]
    text = b"".join(b"q %b d%d %d\n" % (name, i, i) for i, name in enumerate(names))
    expected = [[5], [6], [4], [2, 7], [3], [0], [1]]
    assert ranges(parse_qrels_jg(text)) == [[[(b"d%d" % i, i) for i in own] for own in expected]]


def rows_with(group: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    return make.lines_of(make.rows(make.queries, group, make.docs, make.numbers))


@examples(60)
@given(rows_with(make.words) | rows_with(st.just(b"0")))
def test_splitting_equals_sorting_by_group(text):
    """Groups are those of a stable sort by name, in every query; also if all have one name."""
    qrels = parse_qrels(text, strict=False)
    expected = []
    for _, rows in contents(qrels):
        by_name = groupby(sorted(rows, key=lambda row: row[0]), key=lambda row: row[0])
        expected.append([[row[1:] for row in own] for _, own in by_name])
    assert ranges(qrels) == expected
