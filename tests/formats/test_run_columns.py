"""Large run files, read in pieces and in threads: the same run as from the text as a whole."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank
from fastrank.data.run import Run
from fastrank.data.texts import LineFields
from fastrank.errors import FastrankError, ReadError
from fastrank.formats import chunks, trec
from fastrank.native.codes import SLACK
from tests.helpers.parsing import parse_run, read_trec_run
from tests.helpers.strategies import RUN_ROWS, contents, exactly, examples, lines_of, untidy

LINES = b"q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 1e-3 tag\nq2 Q0 d1 1 -7 tag\nq3 Q0 d3 1 0 tag\n"
PIECES = st.sampled_from([12, 30, 64, 200, 1 << 20])
THREADS = st.integers(1, 4)
VERSION = st.sampled_from(["9.0.8", "10.0"])


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


def assert_same(
    path: Path, text: bytes, piece: int, threads: int, trec_eval_version: str = "9.0.8"
) -> None:
    """Reading a file in pieces gives what its text gives."""
    path.write_bytes(text)
    with pieces_of(piece):
        found = outcome(
            lambda: read_trec_run(path, trec_eval_version=trec_eval_version, threads=threads)
        )
    assert found == outcome(lambda: parse_run(text, str(path), trec_eval_version=trec_eval_version))


def packed(path: Path, text: bytes, piece: int = 64, threads: int = 1, **options: Any) -> Run:
    """A run that was read in pieces."""
    path.write_bytes(text)
    with pieces_of(piece):
        run = read_trec_run(path, threads=threads, **options)
    assert isinstance(run.docs, LineFields)
    return run


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a run file goes."""
    return tmp_path_factory.mktemp("packed") / "run"


@given(text=lines_of(RUN_ROWS), piece=PIECES, threads=THREADS, trec_eval_version=VERSION)
@examples(500)
def test_well_formed_lines(
    path: Path, text: bytes, piece: int, threads: int, trec_eval_version: str
) -> None:
    """Whatever separates fields, however numbers are written, wherever the file is cut."""
    assert_same(path, text or b"\n", piece, threads, trec_eval_version)


@given(text=untidy(RUN_ROWS), piece=PIECES, threads=THREADS, trec_eval_version=VERSION)
@examples(500)
def test_untidy_lines(
    path: Path, text: bytes, piece: int, threads: int, trec_eval_version: str
) -> None:
    """Also what is no result: the same error with the same line, the same warning."""
    assert_same(path, text or b"\n", piece, threads, trec_eval_version)


@given(
    counts=st.lists(st.integers(1, 40), min_size=1, max_size=8),
    width=st.integers(1, 40),
    ending=st.sampled_from([b"\n", b"", b"\n\n", b"\n \n\n"]),
    piece=PIECES,
    threads=THREADS,
)
@examples(300)
def test_runs_as_systems_print_them(
    path: Path, counts: list[int], width: int, ending: bytes, piece: int, threads: int
) -> None:
    """They are never read as a whole: queries over many pieces, ids of any length."""
    lines = [
        b"q%d Q0 %0*d %d %.6f tag" % (query, width, row, row, 1 / (row + 1))
        for query, count in enumerate(counts)
        for row in range(count)
    ]
    text = b"\n".join(lines) + ending

    found = packed(path, text, piece, threads)

    assert said(found) == said(parse_run(text, str(path)))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_scattered_queries(path: Path, threads: int) -> None:
    """A query's rows come together, and each still knows its line."""
    text = LINES + b"".join(b"q%d Q0 x%d 1 %d tag\n" % (i % 3, i, i) for i in range(50))

    found = packed(path, text, threads=threads)

    assert said(found) == said(parse_run(text, str(path)))


@pytest.mark.parametrize(
    "text",
    [
        b"\n" + LINES,
        LINES + b"\n" + LINES,
        b"# comment\n" + LINES,
        LINES + b"q4 Q0 d 1 inf tag\n",
        LINES + b"q4 Q0 d 1 1.00000000000000000001 tag\n",
        b"\n" * 100 + LINES,
        LINES + b"\0 the rest\n",
        b"a b c d e f\n" * 2 + b"\n" * 50 + b"b b c d e f\n" * 4,
    ],
    ids=["blank line", "amid", "comment", "inf", "digits", "more lines than fit", "NUL", "most"],
)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_what_cannot_be_read_in_pieces_is_read_as_a_whole(
    path: Path, text: bytes, threads: int
) -> None:
    """Lines that hold no result, and numbers that need a slower reader."""
    assert_same(path, text, 64, threads, "10.0")


def test_a_line_longer_than_a_piece(path: Path) -> None:
    """The buffer grows until it fits."""
    text = LINES + b"q4 Q0 %b 1 5 tag\n" % (b"d" * 5000) + LINES.replace(b"q", b"r")

    assert said(packed(path, text, 12)) == said(parse_run(text, str(path)))


def test_of_the_text_only_ids_are_kept(path: Path) -> None:
    """A query's id once, a document's for each of its lines."""
    run = packed(path, LINES)

    kept = b"q1d1d2q2d1q3d3"
    assert bytes(run.docs.buffer[: len(kept)]) == kept
    assert len(run.docs.buffer) == len(kept) + SLACK


def test_the_memory_of_a_run_that_is_gone_serves_the_next(path: Path) -> None:
    """What is held stays as it is: the run, its texts, or an array made from it."""
    address = packed(path, LINES).scores.ctypes.data
    again = packed(path, LINES.replace(b"d", b"e"))
    assert again.scores.ctypes.data == address

    scores, docs = again.scores, again.docs
    del again
    other = packed(path, LINES.replace(b"2.5", b"9.5"))
    assert other.scores.ctypes.data != address
    assert scores.tolist() == [2.5, 1e-3, -7.0, 0.0]
    assert list(docs) == [b"e1", b"e2", b"e1", b"e3"]


def test_threads_that_read_at_once_have_memory_of_their_own(tmp_path: Path) -> None:
    """Each run is what its file says, while all of them are read again and again."""
    paths = [tmp_path / str(number) for number in range(4)]
    for number, path in enumerate(paths):
        path.write_bytes(LINES.replace(b"d", b"%d-" % number))
    wrong = []

    def read_all(number: int) -> None:
        for _ in range(200):
            run = read_trec_run(paths[number], threads=1)
            wrong.extend(doc for doc in run.docs if not doc.startswith(b"%d-" % number))

    threads = [Thread(target=read_all, args=(number,)) for number in range(len(paths))]
    with pieces_of(64):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert wrong == []


def test_no_more_than_twice_the_memory_is_kept(path: Path) -> None:
    address = packed(path, LINES * 100).scores.ctypes.data
    small = packed(path, LINES)
    assert small.scores.ctypes.data != address


@pytest.mark.parametrize(
    "options",
    [{}, {"exclude": {"q1": ["d1"]}}, {"missing": "zero"}],
    ids=["as it is", "with documents excluded", "with a placeholder"],
)
@pytest.mark.parametrize("first", [b"", b"q3 Q0 d0 1 9 tag\n"], ids=["together", "scattered"])
def test_a_repeated_document_is_told_with_its_lines(
    path: Path, first: bytes, options: dict[str, Any]
) -> None:
    """Though the text is gone."""
    run = packed(path, first + LINES + b"q3 Q0 d3 2 1 tag\n")
    lines = "lines 5 and 6" if first else "lines 4 and 5"

    with pytest.raises(FastrankError, match=lines):
        fastrank.evaluate({"q3": {"d3": 1}, "q9": {"d": 1}}, run, "map", **options)


def test_a_pickle_of_it_is_the_same(path: Path) -> None:
    """Lines included."""
    run = packed(path, LINES)

    assert said(pickle.loads(pickle.dumps(run))) == said(run)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_file_with_more_lines_than_were_counted(
    path: Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
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


def test_converting_refuses_numbers_that_are_misread(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it does for a small file."""
    from fastrank.cli.main import main

    path.write_bytes(LINES + b"q4 Q0 d 1 5x tag\n")
    with pieces_of(64):
        status = main(["convert", "--kind", "run", str(path), str(tmp_path / "run.csv")])

    assert status == 1
    assert f"{path}:5" in capsys.readouterr().err


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_are_one_or_more(path: Path, threads: int) -> None:
    path.write_bytes(LINES)

    with pytest.raises(fastrank.OptionError, match=r"^threads: expected 1 or more, found"):
        read_trec_run(path, threads=threads)
