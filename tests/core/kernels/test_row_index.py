"""Repeated and judged documents among the ids of a row, whatever the ids: a plain twin decides.

The kernels tell ids apart by a few of their bits first, so the ids here have these in common.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.core.matching import arrays
from fastrank.errors import ArrayError
from tests.helpers.strategies import examples

# A product of this and the factor of the hash is 1: its multiples have small hashes.
INVERSE = pow(0x9E3779B97F4A7C15, -1, 2**64)
# Numbers 0, 1, 2, ... as ids: neighbours, alike in their lower bits, in their hash, in both.
KINDS = {
    "neighbours": lambda i: i,
    "even": lambda i: 2 * i,
    "lower bits alike": lambda i: i << 20,
    "all but the highest bits alike": lambda i: (i << 44) + 5,
    "hashes alike": lambda i: i * INVERSE % 2**63,
    "lower bits and hashes alike": lambda i: (i << 18) * INVERSE % 2**63,
    "few places": lambda i: i % 3 + (i // 3 << 30),
}
WIDTHS = [0, 1, 2, 3, 63, 64, 65, 66, 127, 128, 129, 300]


def first_repetition(row: list[int]) -> tuple[int, int] | None:
    """The first column with an id that stands before, and where it does."""
    firsts: dict[int, int] = {}
    for column, doc in enumerate(row):
        if doc != -1 and firsts.setdefault(doc, column) != column:
            return firsts[doc], column
    return None


def average_precision(row: list[int], judged: dict[int, int]) -> float:
    """Of a ranking without padding; all judgments are 1."""
    total, hits = 0.0, 0
    for rank, doc in enumerate([doc for doc in row if doc != -1], start=1):
        if doc in judged:
            hits += 1
            total += hits / rank
    return total / len(judged)


def check(rows: list[list[int]], qrels: list[dict[int, int]], kind: str = "int64") -> None:
    """Compare with the twin, whether ids are said to be unique or not."""
    ids = np.array(rows, kind).reshape(len(rows), -1)
    found = [first_repetition(row) for row in rows]
    wrong = next((i for i, one in enumerate(found) if one is not None), None)
    if wrong is not None:
        before, column = found[wrong] or (0, 0)
        with pytest.raises(ArrayError) as caught:
            fr.evaluate_arrays(qrels, ids, None, "map", threads=1)
        assert (caught.value.name, caught.value.row, caught.value.column) == ("ids", wrong, column)
        doc = rows[wrong][column]
        reason = f"document {doc} is retrieved twice, in columns {before} and {column}"
        assert caught.value.reason.endswith(reason)
        return
    expected = [average_precision(row, docs) for row, docs in zip(rows, qrels, strict=True)]
    for unique in (False, True):
        scores = fr.evaluate_arrays(qrels, ids, None, "map", assume_unique=unique)
        assert scores["map"].tolist() == expected, unique


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[int]], list[dict[int, int]]]:
    """Rows of ids of one kind, some padded, some with repeats, and what is judged of them."""
    make = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    width = draw(st.sampled_from(WIDTHS))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows, qrels = [], []
    for _ in range(draw(st.integers(1, 4))):
        numbers = rng.permutation(2 * width + 2)
        row = [make(int(i)) for i in numbers[:width]]
        for column in rng.permutation(width)[: draw(st.sampled_from([0, 0, 1, width // 2]))]:
            row[column] = -1
        if width > 1 and draw(st.integers(0, 3)) == 0:
            one, other = rng.permutation(width)[:2]
            row[one] = row[other]
        count = draw(st.sampled_from([1, 2, 4, 5, 20, width + 1, 2 * width + 2]))
        docs = rng.permutation(numbers)[:count]
        rows.append(row)
        qrels.append({make(int(i)): 1 for i in docs})
    return rows, qrels


@examples(300)
@given(tables())
def test_repeated_and_judged_documents_are_those_of_the_twin(table):
    check(*table)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("judged", [1, 50, 600])
def test_ids_that_are_alike_are_told_apart(kind, judged):
    row = [KINDS[kind](i) for i in range(500)]

    check([row], [{KINDS[kind](3 * i): 1 for i in range(judged)}])


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("columns", [(0, 1), (0, 499), (7, 71), (63, 64), (498, 499)])
def test_a_repeat_among_ids_that_are_alike_is_found(kind, columns):
    row = [KINDS[kind](i) for i in range(500)]
    row[columns[1]] = row[columns[0]]

    check([row], [{2**62 + 1: 1}])


@pytest.mark.parametrize("width", [3, 1000, 20_000, 100_000])
@pytest.mark.parametrize("repeats", [False, True])
def test_rows_of_every_width_one_after_the_other(width, repeats, monkeypatch):
    """The numbers of their columns come to an end, and are counted from the start again."""
    made = arrays._scratch

    def near_the_end(*given: Any) -> Any:
        scratch = made(*given)
        scratch.row_index.clock[0] = 2**31 - 1 - 5 * width
        return scratch

    monkeypatch.setattr(arrays, "_scratch", near_the_end)
    count = 8
    rng = np.random.default_rng(width)
    rows = [(rng.permutation(2 * width)[:width] + i).tolist() for i in range(count)]
    qrels = [dict.fromkeys(row[:: max(1, width // 7)], 1) for row in rows]
    if repeats:
        rows[-1][width - 1] = rows[-1][width // 2]

    check(rows, qrels)


@pytest.mark.parametrize("kind", ["int16", "int32", "uint32"])
def test_ids_of_fewer_bits_are_the_same_ids(kind):
    rows = [[5, 3, 300, 44], [1, 2, 5, 3]]

    check(rows, [{3: 1, 9: 1}, {1: 1, 5: 1}], kind)
    check([*rows, [7, 8, 9, 8]], [{3: 1}, {1: 1}, {7: 1}], kind)


@pytest.mark.parametrize("width", [3, 64, 100, 200])
def test_a_judged_document_that_is_repeated_is_found_in_any_case(width):
    """Also among documents that are said to be unique, few judged ones or many."""
    for judged in (1, 4, 5, width, 2 * width):
        row = list(range(width))
        row[width - 1] = row[width - 3] = 0
        with pytest.raises(ArrayError, match=r"document 0 is retrieved twice"):
            fr.evaluate_arrays(
                [dict.fromkeys(range(judged), 1)], [row], None, "map", assume_unique=True
            )


@pytest.mark.parametrize("column", [0, 1, 63, 64, 98, 99])
def test_an_id_below_minus_one_is_found_wherever_it_stands(column):
    ids = np.arange(100)[None]
    ids[0, column] = -7
    for unique in (False, True):
        with pytest.raises(ArrayError, match=rf"^ids\[0, {column}\].*found -7$"):
            fr.evaluate_arrays([{1: 1}], ids, None, "map", assume_unique=unique)


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("width", [1, 2, 63, 64, 65, 66, 128, 130])
def test_one_score_out_of_order_is_seen_wherever_it_stands(kind, width):
    """The document there comes first then; nothing else moves."""
    for column in range(width):
        scores = np.arange(width, 0, -1).astype(kind)
        scores[column] = width + 1
        found = fr.evaluate_arrays(
            [{column: 1}], np.arange(width)[None], scores[None], "recip_rank"
        )
        assert found.mean["recip_rank"] == 1.0
        scores[column] = np.nan
        with pytest.raises(ArrayError, match=rf"^scores\[0, {column}\]"):
            fr.evaluate_arrays([{column: 1}], np.arange(width)[None], scores[None], "recip_rank")
