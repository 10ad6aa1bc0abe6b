"""Large run files, read in pieces and in threads: the same run as from the text as a whole."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank
from fastrank.core.data.texts import LineFields
from fastrank.core.formats.files import chunks
from fastrank.core.formats.files.source import open_source
from fastrank.core.formats.run import Run
from fastrank.core.formats.trec import reader as trec
from fastrank.core.native.codes import SLACK
from fastrank.errors import FastrankError, ReadError
from tests.helpers.parsing import parse_run, read_trec_run
from tests.helpers.strategies import RUN_ROWS, contents, exactly, examples, lines_of, untidy

LINES = b"q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 1e-3 tag\nq2 Q0 d1 1 -7 tag\nq3 Q0 d3 1 0 tag\n"
PIECES = st.sampled_from([12, 30, 64, 200, 1 << 20])
THREADS = st.integers(1, 4)


@contextmanager
def pieces_of(size: int) -> Iterator[None]:
    """Read every file in pieces, so many bytes at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trec, "PIECEWISE_SIZE", 1)
        patch.setattr(chunks, "PIECE", size)
        yield


def said(run: Run) -> Any:
    """All that a run tells, to the bit."""
    where = [run.docs.line(i) for i in range(len(run.docs))]
    return exactly(contents(run)), run.tag, run.source, run.docs.unit, where


def outcome(read: Any) -> Any:
    """What comes of reading: the run, or the error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = said(read())
        except FastrankError as error:
            found = type(error), str(error)
    return found, [str(warning.message) for warning in caught]


def assert_same(path: Path, text: bytes, piece: int, threads: int, version: str) -> None:
    """Reading a file in pieces gives what its text gives."""
    path.write_bytes(text)
    with pieces_of(piece):
        found = outcome(lambda: read_trec_run(path, trec_eval_version=version, threads=threads))
    assert found == outcome(lambda: parse_run(text, str(path), trec_eval_version=version))


def packed(path: Path, text: bytes, piece: int = 64, threads: int = 1) -> Run:
    """A run that was read in pieces."""
    path.write_bytes(text)
    with pieces_of(piece):
        run = read_trec_run(path, threads=threads)
    assert isinstance(run.docs, LineFields)
    return run


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a run file goes."""
    return tmp_path_factory.mktemp("packed") / "run"


# The same run


@examples(100)
@given(lines_of(RUN_ROWS) | untidy(RUN_ROWS), PIECES, THREADS, st.sampled_from(["9.0.8", "10.0"]))
def test_lines_of_all_kinds(path, text, piece, threads, version):
    """Whatever separates fields, however numbers are written, wherever the file is cut.

    Also what is no result: the same error with the same line, the same warning.
    """
    assert_same(path, text or b"\n", piece, threads, version)


@given(
    counts=st.lists(st.integers(1, 40), min_size=1, max_size=8),
    width=st.integers(1, 40),
    ending=st.sampled_from([b"\n", b"", b"\n\n", b"\n \n\n"]),
    piece=PIECES,
    threads=THREADS,
)
@examples(60)
def test_runs_as_systems_print_them(path, counts, width, ending, piece, threads):
    """They are never read as a whole: queries over many pieces, ids of any length."""
    lines = [
        b"q%d Q0 %0*d %d %.6f tag" % (query, width, row, row, 1 / (row + 1))
        for query, count in enumerate(counts)
        for row in range(count)
    ]
    text = b"\n".join(lines) + ending
    assert said(packed(path, text, piece, threads)) == said(parse_run(text, str(path)))


# The first two are read in pieces: the rows of a query come together, and each knows its line.
ODD = {
    "scattered queries": LINES + b"".join(b"q%d Q0 x%d 1 1 tag\n" % (i % 3, i) for i in range(50)),
    "a line longer than a piece": LINES + b"q4 Q0 %b 1 5 tag\n" % (b"d" * 5000) + LINES,
    "a blank line": b"\n" + LINES,
    "a blank line amid": LINES + b"\n" + LINES,
    "a comment": b"# comment\n" + LINES,
    "inf": LINES + b"q4 Q0 d 1 inf tag\n",
    "many digits": LINES + b"q4 Q0 d 1 1.00000000000000000001 tag\n",
    "more lines than fit": b"\n" * 100 + LINES,
    "a NUL byte": LINES + b"\0 the rest\n",
    "mostly blank lines": b"a b c d e f\n" * 2 + b"\n" * 50 + b"b b c d e f\n" * 4,
}


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_odd_lines_are_read_in_pieces_or_as_a_whole(path, case, threads):
    """Lines that hold no result, and numbers that need a slower reader."""
    for piece in (12, 64):
        assert_same(path, ODD[case], piece, threads, "10.0")
    if case in ("scattered queries", "a line longer than a piece"):
        packed(path, ODD[case], 12, threads)


def test_a_pickle_of_it_is_the_same(path):
    """Lines included."""
    run = packed(path, LINES)
    assert said(pickle.loads(pickle.dumps(run))) == said(run)


@pytest.mark.parametrize("options", [{}, {"exclude": {"q1": ["d1"]}}, {"missing": "zero"}])
@pytest.mark.parametrize(
    ("first", "lines"), [(b"", "lines 4 and 5"), (b"q3 Q0 d0 1 9 tag\n", "lines 5 and 6")]
)
def test_a_repeated_document_is_told_with_its_lines(path, first, lines, options):
    """Though the text is gone: as it is, with documents excluded, with a placeholder."""
    run = packed(path, first + LINES + b"q3 Q0 d3 2 1 tag\n")
    with pytest.raises(FastrankError, match=lines):
        fastrank.evaluate({"q3": {"d3": 1}, "q9": {"d": 1}}, run, "map", **options)


# Memory


def test_of_the_text_only_ids_are_kept(path):
    """A query's id once, a document's for each of its lines."""
    buffer = packed(path, LINES).docs.buffer
    kept = b"q1d1d2q2d1q3d3"
    assert bytes(buffer[: len(kept)]) == kept
    assert len(buffer) == len(kept) + SLACK


def test_the_memory_of_a_run_that_is_gone_serves_the_next(path):
    """What is held stays as it is, and of a much larger run nothing is kept."""
    address = packed(path, LINES).scores.ctypes.data
    again = packed(path, LINES.replace(b"d", b"e"))
    assert again.scores.ctypes.data == address
    scores, docs = again.scores, again.docs
    del again
    other = packed(path, LINES.replace(b"2.5", b"9.5"))
    assert other.scores.ctypes.data != address
    assert scores.tolist() == [2.5, 1e-3, -7.0, 0.0]
    assert list(docs) == [b"e1", b"e2", b"e1", b"e3"]
    large = packed(path, LINES * 100).scores.ctypes.data
    assert packed(path, LINES).scores.ctypes.data != large


def test_threads_that_read_at_once_have_memory_of_their_own(tmp_path):
    """Each run is what its file says, while all of them are read again and again."""
    for number in range(4):
        (tmp_path / str(number)).write_bytes(LINES.replace(b"d", b"%d-" % number))
    wrong = []

    def read_again(number: int) -> None:
        for _ in range(200):
            run = read_trec_run(tmp_path / str(number), threads=1)
            wrong.extend(doc for doc in run.docs if not doc.startswith(b"%d-" % number))

    threads = [Thread(target=read_again, args=(number,)) for number in range(4)]
    with pieces_of(64):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


# What is refused


@pytest.mark.parametrize("threads", [1, 2])
def test_a_file_with_more_lines_than_were_counted(path, monkeypatch, threads):
    """A file that is written to while it is read is refused."""
    path.write_bytes(b"q Q0 a-long-document-id 1 2.5 tag\n" * 40 + LINES)
    size = path.stat().st_size
    check = chunks.ChunkReader.feed

    def feed(feeder: chunks.ChunkReader, reader: Any) -> None:
        with path.open("r+b") as file:
            file.write(b"q Q 1 1 1 t\n" * (size // 12))
        check(feeder, reader)

    monkeypatch.setattr(chunks.ChunkReader, "feed", feed)
    with pieces_of(64), pytest.raises(ReadError, match="changed"):
        read_trec_run(path, threads=threads)


# Where a run is cut, and which thread reads which part of it


def run_of(queries: int, depth: int = 10) -> bytes:
    rows = ((query, rank) for query in range(queries) for rank in range(depth))
    return b"".join(b"q%d Q0 d%d %d %d t\n" % (query, rank, rank, -rank) for query, rank in rows)


def turns_of(path: Path, text: bytes, threads: int) -> list[bytes]:
    """The texts of all turns, in the order of their numbers."""
    path.write_bytes(text)
    found = {}
    with open_source(path) as file:
        turns = chunks.FileParts(file, threads).queue()
        while turn := turns.take():
            view = bytearray(1 << 20)
            found[turn[0]] = bytes(view[: turn[1].readinto(view)])
    texts = [found[number] for number in range(len(found))]
    assert b"".join(texts) == text
    return texts


def queries_of(text: bytes) -> list[bytes]:
    """The query of every line that is not blank."""
    return [line.split()[0] for line in text.split(b"\n") if line.strip(b" \t\v\f\r")]


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_turns_become_shorter_and_are_cut_between_queries(threads, path):
    texts = turns_of(path, run_of(1000), threads)
    assert len(texts) > 2 * threads
    assert len(texts[0]) < len(run_of(1000)) / threads
    assert len(texts[-1]) < len(texts[0]) / 3
    for before, text in pairwise(texts):
        assert queries_of(before)[-1] != queries_of(text)[0]


QRELS = {f"q{query}": {f"d{query % 10}": 1} for query in range(1000)}


def test_a_thread_that_is_held_up_leaves_the_rest_to_the_others(path, monkeypatch):
    """Its first part is not read before all others are."""
    path.write_bytes(run_of(1000))
    feed, real_end, over = chunks.ChunkReader.feed, chunks.WorkQueue.end, Event()
    fed: list[Any] = []

    def held_up(feeder: chunks.ChunkReader, reader: Any) -> None:
        if not fed:
            fed.append(feeder)
            assert over.wait(timeout=60)
        feed(feeder, reader)

    def end(turns: chunks.WorkQueue) -> None:
        over.set()
        real_end(turns)

    monkeypatch.setattr(chunks.ChunkReader, "feed", held_up)
    monkeypatch.setattr(chunks.WorkQueue, "end", end)
    scores = fastrank.evaluate(QRELS, path, "recip_rank", threads=2)
    assert sorted(scores["recip_rank"]) == sorted(1 / (1 + query % 10) for query in range(1000))


def test_no_part_is_begun_once_one_cannot_be_read(path, monkeypatch):
    path.write_bytes(run_of(1000))
    begun = []

    def refuse(feeder: chunks.ChunkReader, reader: Any) -> None:
        begun.append(feeder)
        raise ReadError("run", "it cannot be read")

    monkeypatch.setattr(chunks.ChunkReader, "feed", refuse)
    with pytest.raises(ReadError, match="it cannot be read"):
        fastrank.evaluate(QRELS, path, threads=3)
    assert len(begun) <= 3
