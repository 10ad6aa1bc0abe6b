"""Lines of a run split by an index of a block of text, wherever they stand in it.

The oracle is Python's own `split`.
"""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank
from fastrank.core.formats.files import chunks
from fastrank.core.formats.files import source as pieces
from fastrank.core.formats.run import Run
from fastrank.core.formats.trec import reader as trec
from fastrank.core.native.codes import BLOCK
from fastrank.errors import FormatError, ReadError
from tests.helpers.parsing import parse_qrels, parse_run, read_trec_run
from tests.helpers.strategies import examples

# How far a look for the fields of a line reaches at least, a near one, and a word of 8 bytes.
LOOK, NEAR, WORD = 57, 32, 8
LINE = b"q1 Q0 d1 1 2.5 tag\n"


def results(run: Run) -> list[tuple[bytes, bytes, float]]:
    """Query, document and score of each result."""
    return [
        (query, run.docs[row], run.score_column[row])
        for number, query in enumerate(run.queries)
        for row in range(run.offset_column[number], run.offset_column[number + 1])
    ]


def split(text: bytes) -> list[tuple[bytes, bytes, float]]:
    """The same of a run whose queries stand together."""
    fields = [line.split() for line in text.split(b"\n")]
    return [(line[0], line[2], float(line[4])) for line in fields if line]


def assert_read(text: bytes) -> None:
    """A run is read as Python splits it, and its tag is that of the last line."""
    run = parse_run(text, strict=False)
    assert results(run) == split(text)
    assert run.tag_bytes == [line.split()[5] for line in text.split(b"\n") if line.strip()][-1]


def lines_up_to(size: int) -> bytes:
    """Results in so many bytes, the last line of them with its newline."""
    count = (size - 60) // len(LINE)
    text = LINE * max(count, 0)
    return text + LINE.replace(b"d1", b"x" * (size - len(text) - len(LINE) + 2))


@pytest.mark.parametrize("size", [BLOCK, 2 * BLOCK, BLOCK + 64])
@pytest.mark.parametrize("off", [-65, -64, -63, -9, -8, -7, -2, -1, 0, 1, 2, 7, 8, 9, 63, 64, 65])
def test_a_line_that_ends_around_the_end_of_a_block(size, off):
    text = lines_up_to(size + off)

    assert len(text) == size + off
    assert_read(text)
    assert_read(text[:-1])
    assert_read(text + b"q2 Q0 d1 1 1 last\n" + LINE.replace(b"q1", b"q3"))


@pytest.mark.parametrize("field", range(7))
@pytest.mark.parametrize("size", [BLOCK - 1, BLOCK, BLOCK + 1, 20_000])
@pytest.mark.parametrize("off", [-1, 0, 1])
def test_a_line_as_long_as_a_block(field, size, off):
    fields = [b"q1", b"Q0", b"d1", b"1", b"2.5", b"tag", b"more"]
    width = size + off - len(b" ".join(fields)) + len(fields[field])
    fields[field] = (b"0" if field == 4 else b"x") * (width - 1) + fields[field][-1:]
    line = b" ".join(fields)
    assert len(line) == size + off

    for text in (line, line + b"\n", LINE + line + b"\n" + LINE, line + b"\n" + 9 * LINE + line):
        run = parse_run(text, strict=False)
        assert sorted(results(run)) == sorted(split(text))


@pytest.mark.parametrize("blanks", [LOOK, BLOCK - 1, BLOCK, 20_000])
@pytest.mark.parametrize("place", range(7))
def test_blanks_as_long_as_a_block(blanks, place):
    gaps = [b"", *[b" "] * 5, b""]
    gaps[place] += b" \t" * (blanks // 2) + b" " * (blanks % 2)
    fields = [b"q1", b"Q0", b"d1", b"1", b"2.5", b"tag", b""]
    line = b"".join(gap + field for gap, field in zip(gaps, fields, strict=True))

    assert_read(LINE + line)
    assert_read(line + b"\n" + 9 * LINE)
    assert_read(9 * LINE + line + b"\n" + 9 * LINE)


GAPS = [
    [b" "],
    [b" ", b"  ", b"   ", b" " * 70],
    [b" ", b"  ", b"\t", b"\v", b"\f", b"\r", b" " * LOOK],
]


@given(st.integers(0, 2**48), st.sampled_from(GAPS), st.sampled_from([1, 1, 2, 40]))
@examples(400)
def test_fields_of_any_length(seed, gaps, usual):
    """Above all of about as many bytes as a look reaches, and as two words have."""
    chance = random.Random(seed)
    near = [1, 2, WORD - 1, WORD, WORD + 1, 2 * WORD - 1, 2 * WORD, 2 * WORD + 1]
    widths = [*near, *range(NEAR - 12, NEAR + 3), *range(LOOK - 17, LOOK + 10), 300]
    # Mostly the first of them, so that unusual lines stand among usual ones.
    gaps, widths = gaps[:1] * (usual - 1) * len(gaps) + gaps, near[:1] * (usual - 1) * 40 + widths
    text, query, number = [], b"", 0
    for number in range(chance.choice([5, 60, 300])):
        if number == 0 or chance.random() < 0.1:
            query = b"%d" % number + b"q" * chance.choice(widths)
        doc = b"%d" % number + b"d" * chance.choice(widths)
        tag = b"t" * chance.choice(widths)
        fields = [query, b"Q0", doc, b"1", b"%d.5" % -number, tag]
        text.append(chance.choice(gaps).join(fields))
    newline = chance.choice([b"\n", b"\n", b"\r\n", b" more\n", b"\n\n"])
    assert_read(newline.join(text) + chance.choice([b"", b"\n"]))


@given(st.integers(0, 2**48), st.sampled_from(b"\t \r \v \f \x01 \x1f \x7f \x80 \xff".split(b" ")))
@examples(300)
def test_one_odd_byte_anywhere(seed, odd):
    chance = random.Random(seed)
    count = chance.choice([30, 700])
    usual = [b"q%d Q0 d%d 1 %d.5 tag" % (n // 100, n, -n) for n in range(count)]
    text = bytearray(b"\n".join([*usual, b""]))
    at = chance.randrange(len(text))
    text[at : at + chance.choice([0, 1])] = odd
    lines = list(filter(None, text.split(b"\n")))
    # What they are on their own; those around the odd byte, as the reader takes them.
    known = dict(zip(usual, split(b"\n".join(usual)), strict=True))
    with warnings.catch_warnings():
        # What is no number is 0.
        warnings.simplefilter("ignore")
        changed = [line for line in map(bytes, lines) if line not in known]
        wrong = next(filter(refused, changed), None)
        if wrong is not None:
            number = text.split(b"\n").index(wrong) + 1
            with pytest.raises(FormatError, match=f":{number}: "):
                parse_run(bytes(text), strict=False)
            return
        expected = [known[line] for line in map(bytes, lines) if line in known]
        expected += [
            row for line in changed for row in results(parse_run(line + b"\n", strict=False))
        ]
        assert sorted(results(parse_run(bytes(text), strict=False))) == sorted(expected)


def refused(line: bytes) -> bool:
    """Whether a line cannot be read before one with another tag."""
    try:
        parse_run(line + b"\nother Q0 d 1 0.5 other\n", strict=False)
    except FormatError:
        return True
    return False


@pytest.mark.parametrize("fields", [4, 5, 6, 7])
@pytest.mark.parametrize("trailing", [0, 1, 2, 3])
def test_a_line_with_fields_that_end_at_any_byte(fields, trailing):
    """Spaces may come where a look at the text ends, and another behind that."""
    for place, gap in product(range(2, 6), (b" ", b"  ", b"   ")):
        for width in range(1, 72):
            lines = [b"q1 Q0 d%03d 1 %d.5 tag" % (i, -i) for i in range(60)]
            gaps = [b" "] * 6
            gaps[place - 1] = gap
            odd = [b"q1", b"Q0", b"x" * width, b"1", b"-29.5", b"odd", b"more"][:fields]
            lines[29] = b"".join(map(bytes.__add__, odd, gaps)) + b" " * trailing
            text = b"\n".join(lines) + b"\n" * 100
            if fields < 6:
                with pytest.raises(FormatError, match=f":30: malformed line: .*found {fields}:"):
                    parse_run(text, strict=False)
                continue
            assert_read(text)
            # The tag is that of the last line.
            assert_read(b"\n".join(lines[:30]) + b"\n" * 300)


@pytest.mark.parametrize("at", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK])
def test_a_nul_anywhere_around_the_end_of_a_block(at):
    text = bytearray(LINE * (4 * BLOCK // len(LINE)))
    text[at] = 0
    number = bytes(text[:at]).count(b"\n") + 1

    if at == 0:
        with pytest.warns(UserWarning, match=":1: the line begins with a NUL"):
            assert not results(parse_run(bytes(text), strict=False))
    else:
        with pytest.raises(FormatError, match=f":{number}: NUL byte in the line"):
            parse_run(bytes(text), strict=False)


# Kernels that read on in a file


def run_of(queries: Iterable[int], depth: int) -> bytes:
    """Results of queries, the judged document of each at another rank."""
    return b"".join(
        b"q%d Q0 %b 1 %d tag\n" % (query, b"rel" if row == query % depth else b"d%d" % row, -row)
        for query in queries
        for row in range(depth)
    )


def scores_of(path: Path, queries: int, threads: int) -> Any:
    """The reciprocal rank of each query."""
    qrels = parse_qrels(b"".join(b"q%d 0 rel 1\n" % query for query in range(queries)))
    return list(fastrank.evaluate(qrels, path, "recip_rank", threads=threads)["recip_rank"])


@pytest.mark.parametrize("uninterrupted", [1, 500, 1 << 26])
@pytest.mark.parametrize("size", [200, BLOCK - 1, BLOCK, BLOCK + 1])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_file_read_on_in_many_pieces(size, uninterrupted, threads, tmp_path, monkeypatch):
    """Queries go over the ends of pieces, whether the kernel reads on or Python does."""
    monkeypatch.setattr(chunks, "PIECE", size)
    monkeypatch.setattr(pieces, "_UNINTERRUPTED", uninterrupted)
    monkeypatch.setattr(trec, "PIECEWISE_SIZE", 1)
    path = tmp_path / "run"
    path.write_bytes(run_of(range(90), 30))

    assert results(read_trec_run(path, threads=threads)) == split(path.read_bytes())
    values = scores_of(path, 90, threads)
    assert sorted(values) == sorted(1 / (1 + query % 30) for query in range(90))


@pytest.mark.parametrize("threads", [1, 3])
def test_a_file_that_cannot_be_read_on(threads, tmp_path, monkeypatch):
    """What the system says to the kernel, it says again to Python, which reports it."""
    path = tmp_path / "run"
    path.write_bytes(run_of(range(90), 30))
    monkeypatch.setattr(chunks, "PIECE", 1000)
    folder = os.open(tmp_path, os.O_RDONLY)
    real = chunks.ChunkReader.feed

    def feed(feeder: chunks.ChunkReader, reader: Any) -> None:
        room, text, call = feeder._buffer
        assert call is not None

        def step() -> int:
            # After the first piece, and before the kernel reads on.
            os.dup2(folder, reader.place()[0])
            return call()

        feeder._buffer = room, text, step
        real(feeder, reader)

    monkeypatch.setattr(chunks.ChunkReader, "feed", feed)

    with pytest.raises(ReadError, match="is a directory"):
        scores_of(path, 90, threads)
    os.close(folder)
