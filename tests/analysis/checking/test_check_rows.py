"""What a check reads of a file: the same as the readers, and ids without what is easily lost."""

from __future__ import annotations

import math
import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fastrank.analysis.checking.rows import Rows, scan
from fastrank.core.data.texts import spans
from fastrank.core.native import kernels, records
from fastrank.core.native.buffers import zeros
from fastrank.errors import FormatError
from tests.helpers.checks import NotReadError, refuse
from tests.helpers.parsing import parse_qrels, parse_run
from tests.helpers.strategies import (
    QRELS_ROWS,
    RUN_ROWS,
    contents,
    exactly,
    examples,
    lines_of,
    untidy,
)


def by_query(rows: Rows, values: list[float]) -> list[tuple[bytes, list[tuple[bytes, float]]]]:
    found = [(rows.doc(row), values[row]) for row in range(len(rows))]
    bounds = rows.offsets.tolist()
    return [(query, found[bounds[i] : bounds[i + 1]]) for i, query in enumerate(rows.queries)]


@given(text=st.one_of(lines_of(RUN_ROWS), untidy(RUN_ROWS)))
@examples(300)
def test_of_a_run_the_same_is_read_as_by_the_reader(text):
    try:
        expected = contents(parse_run(text, trec_eval_version="10.0", warn=refuse, strict=False))
    except (FormatError, NotReadError):
        return

    rows = scan(text, 0, judgments=False)

    # The sign of a NaN is the one thing that a check has no use for.
    scores = [math.nan if math.isnan(score) else score for score in rows.scores.tolist()]
    expected = [
        (query, [(doc, math.nan if math.isnan(score) else score) for doc, score in own])
        for query, own in expected
    ]
    assert exactly(by_query(rows, scores)) == exactly(expected)


@given(text=lines_of(QRELS_ROWS))
@examples(300)
def test_of_judgments_the_same_is_read_as_by_the_reader(text):
    if any(line.startswith(b"#") for line in text.split(b"\n")):
        return
    expected = contents(parse_qrels(text, strict=False))

    rows = scan(text, 0, judgments=True)

    plain = [(query, [(doc, grade) for _, doc, grade in own]) for query, own in expected]
    assert by_query(rows, rows.integers.tolist()) == plain


@given(text=st.one_of(lines_of(RUN_ROWS), untidy(RUN_ROWS)))
@examples(300)
def test_rows_know_their_lines(text):
    rows = scan(text, 0, judgments=False)

    lines = text.split(b"\n")
    for row in range(len(rows)):
        fields = lines[rows.lines[row] - 1].split()
        assert fields[:3:2] == [rows.query(row), rows.doc(row)]
        assert fields == rows.fields(row)


ENDINGS = "txt|text|html|htm|xml|json|jsonl|pdf|md|csv|tsv|gz|sgml|doc|docx|0"


LOST = rb"(?P<unseen>[\"']|\xc2\xa0|\xef\xbb\xbf|\xe2\x80\x8b)|[-_+]|%20"


def fold(text: bytes) -> bytes:
    """A twin in regular expressions."""
    text = bytes(byte + 32 if 65 <= byte <= 90 else byte for byte in text)
    text = re.sub(rb"(?s)(?<=.)\.(%b)\Z" % ENDINGS.encode(), b"", text)
    # In one go: what is left out of `%2"0` does not make it a blank.
    text = re.sub(LOST, lambda found: b"" if found["unseen"] else b"_", text)
    return re.sub(rb"(?<![0-9])0+(?=[0-9])", b"", text)


pieces = st.sampled_from(
    b"a|B|Z|0|00|1|9|10|.|.0|.txt|.TXT|.html|.docxx|-|_|+|%20|%2|\"|'|\xc2\xa0|\xe2\x80\x8b|\xef\xbb\xbf"
    b"|\xc3\xa9|\xef|/|doc".split(b"|")
)


@given(ids=st.lists(st.lists(pieces, min_size=1, max_size=5).map(b"".join), max_size=5))
@examples(400)
def test_ids_are_folded_to_what_is_left_of_them(ids):
    starts = np.cumsum([0, *map(len, ids)])[:-1].astype(np.int64)
    lengths = np.array(list(map(len, ids)), dtype=np.int64)
    folded = records.Texts(zeros("B", int(lengths.sum())), *spans(len(ids)))

    kernels.fold_texts(records.Texts(b"".join(ids), starts, lengths), folded)

    ranges = zip(folded.starts, folded.lengths, strict=True)
    assert [bytes(folded.buffer[start : start + length]) for start, length in ranges] == [
        fold(text) for text in ids
    ]
