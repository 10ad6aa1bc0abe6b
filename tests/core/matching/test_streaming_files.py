"""Run files judged while they are read: errors, files of all kinds, options, the command."""

from __future__ import annotations

import bz2
import gc
import gzip
import io
import lzma
import os
import random
import subprocess
import sys
from threading import Thread
from typing import Any

import pytest

import fastrank
from fastrank.core.formats.files import chunks
from fastrank.core.formats.files import source as pieces
from fastrank.core.matching import files as streaming
from fastrank.core.native import threads as native_threads
from fastrank.errors import EvaluationError, FormatError, NoQueriesError, ReadError
from tests.helpers.compression import zstd
from tests.helpers.parsing import parse_qrels, parse_run
from tests.helpers.streamed import (
    QRELS,
    RUN,
    as_the_command,
    assert_same,
    assert_streams,
    is_streamed,
    judged,
    lines,
    outcome,
    piece,
    said,
)

VERSIONS = ("9.0.8", "10.0")
SIZES = (64, 1 << 20)
# RUN with a line of a query that stands elsewhere.
SCATTERED = RUN + b"q1 Q0 z 1 1 tag\n"


# Errors, with the numbers of lines

A, B, X = b"q Q0 a 1 2 t\n", b"q Q0 b 1 3 t\n", b"q Q0 unjudged 1 3 t\n"
OTHER, MORE = lines("o", 10), lines("p", 10)
Q1 = lines("q1", 30)
REFUSED: dict[str, tuple[bytes, type[Exception], str]] = {
    "a document twice": (A + B + A, EvaluationError, "lines 1 and 3"),
    "a document twice, in two parts": (A + OTHER + A, EvaluationError, "lines 1 and 12"),
    "two documents twice": (B + A + OTHER + MORE + A + B, EvaluationError, "lines 1 and 24"),
    "an unjudged document twice": (b"\n" + X + B + A + X, EvaluationError, "lines 2 and 5"),
    "four fields": (b"q1 a 1 2.0\n" + Q1, FormatError, "found 4"),
    "judgments": (b"q1 0 a 1\n" * 100 + Q1, FormatError, "found 4"),
    "four fields below blanks": (b"\n \na b c d\n" + Q1, FormatError, "found 4"),
    "an empty line": (b"\n", NoQueriesError, ""),
    "empty lines": (b"\n\n\n", NoQueriesError, ""),
    "a blank": (b" ", NoQueriesError, ""),
    "blanks and an empty line": (b"   \n \n", NoQueriesError, ""),
    "an empty line of Windows": (b"\r\n", NoQueriesError, ""),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("case", REFUSED)
def test_a_file_is_refused_as_its_text_is(case, threads, tmp_path):
    run, kind, words = REFUSED[case]
    qrels = QRELS + judged("q a 1, q b 1")

    for size in SIZES:
        with piece(size):
            (found, message, *_), _ = assert_same(qrels, run, tmp_path / "run", threads=threads)
        assert found is kind
        assert words in message


@pytest.mark.parametrize("place", [0, 227, 909])
@pytest.mark.parametrize("line", [b"\0", b"q1 Q0 a\0b 1 1 t", b"q1 Q0 a 1 1", b"# \0", b"#"])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_line_that_is_no_result(version, line, place, tmp_path):
    """Message, line number and warning are those of reading the whole file."""
    rows = b"".join(lines(f"q{i}", 10) for i in range(90)).splitlines(keepends=True)
    rows.insert(place, line + b"\n")
    run = b"".join(rows)

    for size in (200, 1 << 20):
        with piece(size):
            assert_same(QRELS, run, tmp_path / "run", threads=3, trec_eval_version=version)


def broken(content: bytes) -> bytes:
    return gzip.compress(content)[:-20]


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "the file is empty"), (broken(RUN * 99), "broken gzip data")],
    ids=["empty", "broken"],
)
def test_an_unreadable_file_is_an_error(content, message, tmp_path):
    (tmp_path / "run").write_bytes(content)

    with piece(64), pytest.raises(ReadError, match=message):
        fastrank.evaluate(parse_qrels(QRELS), tmp_path / "run")


# Options


def test_a_repeated_document_behind_the_cut_does_not_matter(tmp_path):
    qrels, once = judged("q a 1"), b"q Q0 a 1 3 t\nq Q0 b 2 2 t\n"
    options: Any = {"measures": "num_ret", "depth": 2}

    (values, *_), _ = assert_streams(qrels, once, tmp_path / "run", **options)
    (same, *_), _ = assert_same(qrels, once + b"q Q0 a 3 1 t\n", tmp_path / "run", **options)

    assert values == same


@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
def test_complete_at_10_0_has_values_for_missing_queries(scattered, threads, tmp_path):
    """Also where the placeholder document is judged."""
    qrels = b"".join(b"q%d 0 d%d 1\n" % (i, i) for i in range(30))
    qrels += judged("q0 ceci_nest_pas_un_docno 1, q29 ceci_nest_pas_un_docno 2")
    run = lines("q1", 4) + lines("q20", 30) + lines("q7", 9) + scattered * b"q1 Q0 x 1 1 tag\n"
    options: Any = {"missing": "zero", "trec_eval_version": "10.0", "threads": threads}

    for size in SIZES:
        with piece(size):
            (_, _, found, missing, _), _ = assert_streams(qrels, run, tmp_path / "run", **options)
        assert (len(found), missing) == (30, 27)


@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize("query", ["q1 2", "u v", "", "q1\n"])
def test_a_missing_query_whose_id_is_no_field(query, scattered, tmp_path):
    """Judgments need not come from a file; at 10.0 it is evaluated, and is none of the others."""
    qrels = {"q1": {"d1": 1}, "q3": {"d1": 1}, query: {"d1": 1}}
    run = lines("q1", 3) + lines("q3", 2) + scattered * b"q1 Q0 x 1 1 tag\n"
    path = tmp_path / "run"
    path.write_bytes(run)

    evaluator = fastrank.Evaluator(qrels, "num_ret yaap", missing="zero", trec_eval_version="10.0")
    found, expected = evaluator.evaluate(path), evaluator.evaluate(parse_run(run))

    assert found.to_dict() == expected.to_dict()
    assert found.mean == expected.mean
    assert found.counts["missing_queries"] == expected.counts["missing_queries"] == 1


@pytest.mark.parametrize("run", [RUN, SCATTERED])
def test_a_missing_query_with_repeated_judgments_is_an_error(run, tmp_path):
    """At 10.0 with missing="zero" it is evaluated, so it fails."""
    options: Any = {"missing": "zero", "trec_eval_version": "10.0"}

    (kind, message, *_), _ = assert_same(QRELS + b"q3 0 d 0\n", run, tmp_path / "run", **options)

    assert kind is EvaluationError
    assert "duplicate docs d, lines 4 and 5" in message


def test_a_query_called_hash_is_data_at_9_0_8(tmp_path):
    qrels, run = parse_qrels(judged("# a 1, q a 1")), b"# Q0 a 1 1 t\nq Q0 a 1 1 t\n"

    queries = [
        assert_streams(qrels, run, tmp_path / "run", trec_eval_version=version)[0][2]
        for version in VERSIONS
    ]

    assert queries == [[b"#", b"q"], [b"q"]]


def test_unjudged_documents_that_count_are_listed_from_memory(tmp_path):
    assert_same(QRELS, RUN, tmp_path / "run", relevance_level=-1)

    assert not is_streamed(QRELS, tmp_path / "run", relevance_level=-1)


# Threads


@pytest.mark.parametrize("threads", [100, 10**12])
def test_more_threads_than_help_are_not_made(threads, tmp_path):
    assert_streams(QRELS, RUN, tmp_path / "run", threads=threads)


def test_a_system_that_gives_no_more_threads(tmp_path, monkeypatch):
    def refuse(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(native_threads, "start_new_thread", refuse)
    run = b"".join(lines(f"q{i}", 10) for i in range(100))

    with piece(200):
        assert_streams(judged("q1 d1 1, q99 d2 1"), run, tmp_path / "run", threads=4)


@pytest.mark.parametrize("threads", ["0", "-1", "two", "1.5", " 2", "1e3", "²", "00"])
def test_the_command_refuses_an_impossible_number_of_threads(threads, trec_eval, monkeypatch):
    monkeypatch.setenv("FASTRANK_THREADS", threads)

    found = trec_eval("qrels", "run", files={"qrels": QRELS, "run": RUN})

    message = f"trec_eval: FASTRANK_THREADS={threads}: expected 1 or more\n"
    assert (found.status, found.stderr) == (1, message)


def test_the_command_says_the_same_with_any_number_of_threads(trec_eval, monkeypatch):
    files = {"qrels": QRELS, "run": RUN}
    monkeypatch.delenv("FASTRANK_THREADS", raising=False)
    expected = trec_eval("-q", "qrels", "run", files=files)
    for threads in ("", "1", "2", "007", "9" * 30, "9" * 5000):
        monkeypatch.setenv("FASTRANK_THREADS", threads)

        assert trec_eval("-q", "qrels", "run", files=files) == expected


# Files of other kinds, and files that change


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd])
@pytest.mark.parametrize("scattered", [False, True])
def test_a_compressed_run(pack, scattered, tmp_path):
    run = lines("q1", 200) + lines("q2", 200) + scattered * b"q1 Q0 z 1 1 last\n"
    path, qrels = tmp_path / "packed", judged("q1 d5 1, q1 z 1, q2 d150 1")
    path.write_bytes(pack(run))

    for size in SIZES:
        with piece(size):
            expected, _ = assert_streams(qrels, run, tmp_path / "plain")
            assert said(fastrank.evaluate(parse_qrels(qrels), path, "all_trec")) == expected
            assert is_streamed(qrels, path, 3)


def test_more_scattered_results_than_there_seemed_to_be_room_for(tmp_path, monkeypatch):
    rows = b"".join(lines(f"q{i}", 300) for i in range(4)).splitlines(keepends=True)
    random.Random(1).shuffle(rows)
    qrels = b"".join(b"q%d 0 d%d %d\n" % (i, j, j % 3) for i in range(4) for j in range(0, 300, 9))
    path = tmp_path / "packed"
    path.write_bytes(gzip.compress(b"".join(rows)))
    expected, _ = assert_streams(qrels, b"".join(rows), tmp_path / "run")
    monkeypatch.setattr(streaming, "ROOM_IF_UNKNOWN", 1)

    assert said(fastrank.evaluate(parse_qrels(qrels), path, "all_trec")) == expected
    assert is_streamed(qrels, path)


def test_a_named_pipe_and_a_file_object(tmp_path):
    """They can be read only once, also where that is not enough."""
    pipe, qrels = tmp_path / "pipe", parse_qrels(QRELS)
    os.mkfifo(pipe)
    for run in (RUN, SCATTERED, RUN + b"q1 Q0 z 1 inf tag\n"):
        expected = assert_same(QRELS, run, tmp_path / "run")
        writer = Thread(target=pipe.write_bytes, args=(run,))
        writer.start()
        found = outcome(lambda: fastrank.evaluate(qrels, pipe, "all_trec"))
        writer.join()

        assert found == expected
        again = outcome(lambda run=run: fastrank.evaluate(qrels, io.BytesIO(run), "all_trec"))
        assert again[0] == expected[0]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("options", [(), ("-c",), ("-M", "1"), ("-J",), ("-n", "-q")])
def test_the_command_answers_as_from_standard_input(version, options, trec_eval):
    for run in (RUN, SCATTERED, RUN + b"q1 Q0 a 1 1 t\n"):
        how: Any = {"files": {"qrels": QRELS, "run": run}, "trec_eval_version": version}

        from_file = trec_eval(*options, "qrels", "run", **how)
        from_pipe = trec_eval(*options, "qrels", "-", stdin=run, **how)

        assert from_pipe._replace(stderr=from_pipe.stderr.replace(" of -", " of run")) == from_file


def test_standard_input_of_a_process(tmp_path, trec_eval):
    expected = trec_eval("-q", "qrels", "run", files={"qrels": QRELS, "run": RUN})
    command = [sys.executable, "-m", "fastrank", "trec_eval", "-q", "qrels", "-"]

    found = subprocess.run(command, cwd=tmp_path, input=RUN, capture_output=True, check=True)

    assert found.stdout == expected.stdout != b""


@pytest.mark.parametrize(
    ("size", "message"), [(3000, "shrank while it was read"), (9000, "grew while it was read")]
)
@pytest.mark.parametrize("after", [64, 4000])
@pytest.mark.parametrize("scattered", [False, True])
def test_a_file_that_changes_while_it_is_read(
    size, message, after, scattered, tmp_path, monkeypatch
):
    path = tmp_path / "run"
    run = lines("q1", 100) + lines("q2", 150) + scattered * lines("q1", 1, first=200)
    path.write_bytes(run)
    assert 4000 < len(run) < 9000
    real, total = pieces._preadv, 0

    def preadv(handle: int, buffers: Any, offset: int) -> int:
        nonlocal total
        count = real(handle, buffers, offset)
        if total < after <= total + count:
            os.truncate(path, size)
        total += count
        return count

    monkeypatch.setattr(pieces, "_preadv", preadv)

    with piece(500), pytest.raises(ReadError, match=message):
        fastrank.evaluate(parse_qrels(judged("q1 d1 1, q2 d1 1")), path)


OTHERS = {
    "a long id": b"q Q0 %b 1 1 t\nr Q0 b 1 1 t\nq Q0 c 2 0 t\n" % (b"a" * 100_000),
    "far more lines": b"q Q0 a 1 1 t\nr Q0 b 1 1 t\n" * 10_000,
    "far more lines of one query": b"q Q0 a 1 1 t\n" * 100_000,
    "one line": b"r Q0 aaaaaaaaaaaaaaaaaa 1 1 t\n",
    "another order": b"r Q0 b 1 1 t\nq Q0 a 1 1 t\nq Q0 c 2 0 t\n",
    "one line of the last document": b"q Q0 cccccccccccccccccc 2 0 t\n",
    "an id longer by a byte": b"q Q0 aa 1 1 t\nr Q0 b 1 1 t\nq Q0 c 2 0 t\n",
    "one query": b"r Q0 a 1 1 t\nr Q0 b 1 1 t\nr Q0 c 2 0 t\n",
    "nothing": b"\n",
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_file_that_changes_between_two_readings(other, tmp_path, monkeypatch):
    """Nothing is written where there is no room, whatever comes the second time."""
    path, readings = tmp_path / "run", 0
    path.write_bytes(b"q Q0 a 1 1 t\nr Q0 b 1 1 t\nq Q0 c 2 0 t\n")

    def readers(_: chunks.FileParts) -> list[Any]:
        nonlocal readings
        readings += 1
        return [chunks.Reader("", True, path.read_bytes() if readings < 2 else OTHERS[other])]

    monkeypatch.setattr(chunks.FileParts, "readers", readers)
    is_streamed(judged("q a 1, r b 1"), path)

    assert readings >= 2


def test_a_reader_that_fails_in_another_thread(tmp_path, monkeypatch):
    path = tmp_path / "run"
    path.write_bytes(b"".join(lines(f"q{i}", 10) for i in range(100)))
    half, real = path.stat().st_size // 2, pieces._preadv

    def preadv(handle: int, buffers: Any, offset: int) -> int:
        # Where to cut is looked for in larger stretches.
        if offset > half and len(buffers[0]) <= 200:
            raise OSError(5, "Input/output error")
        return real(handle, buffers, offset)

    monkeypatch.setattr(pieces, "_preadv", preadv)

    with piece(200), pytest.raises(ReadError, match="input/output error"):
        fastrank.evaluate(parse_qrels(QRELS), path, threads=4)


# Memory, and the command


def test_buffers_are_given_back_without_the_garbage_collector(tmp_path):
    """An evaluation after every epoch must not add 160 MB each time for a run of one huge query."""
    path = tmp_path / "a.run"
    path.write_bytes(lines("q1", 50))
    gc.collect()
    gc.disable()
    try:
        fastrank.evaluate({"q1": {"d3": 1}}, str(path), "map", threads=1)
        left = [own for own in gc.get_objects() if type(own) is chunks.ChunkReader]
    finally:
        gc.enable()
    assert not left


def test_an_evaluator_is_right_after_a_file_for_which_memory_was_lacking(tmp_path, monkeypatch):
    """Memory that could not be had for a long query leaves what there was."""
    small, long = tmp_path / "small", tmp_path / "long"
    small.write_bytes(lines("q1", 3))
    long.write_bytes(lines("q1", 100_000))
    evaluator = fastrank.Evaluator({"q1": {"d1": 1}}, "num_ret recip_rank")
    expected = evaluator.evaluate(small).mean

    def refuse(*_: Any, **__: Any) -> Any:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(chunks, "line_reader", refuse)
        with pytest.raises(MemoryError):
            evaluator.evaluate(long)

    assert evaluator.evaluate(small).mean == expected
    assert evaluator.evaluate(long).mean["num_ret"] == 100_000


def test_a_score_of_many_digits(tmp_path):
    """In a process of its own, which reading before a table has ended before."""
    lengths = (33, 1_000, 900_000, 4_000_000)
    for length in lengths:
        run = b"q1 Q0 d1 1 0.%b5 t\nq1 Q0 d2 1 0.0 t\n" % (b"0" * length)
        (tmp_path / str(length)).write_bytes(run)
    code = (
        "import sys, fastrank as fr\nfor path in sys.argv[1:]:"
        "  print(fr.evaluate({'q1': {'d1': 1, 'd2': 0}}, path, 'num_ret').mean['num_ret'])"
    )
    command = [sys.executable, "-c", code, *map(str, lengths)]

    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (found.returncode, found.stdout) == (0, "2.0\n" * len(lengths)), found.stderr


def test_debugging_one_query(trec_eval):
    """-D 1.q2 evaluates q2 only, also if another query cannot be evaluated."""
    files = {"qrels": QRELS, "run": RUN, "bad": RUN + b"q1 Q0 a 1 1 t\n"}

    good, bad = (
        trec_eval("-D", "1.q2", "-q", "-m", "map", "qrels", run, files=files)
        for run in ("run", "bad")
    )

    assert good.status == 0
    assert good.stdout.split() == b"map q2 1.0000 map all 1.0000".split()
    assert bad == good


# Queries without judgments


def unknown_of(run: Any, **options: Any) -> Any:
    """The run's queries without judgments, as they are counted, and the values."""
    scores = fastrank.evaluate(parse_qrels(judged("q1 a 1")), run, "map", **options)
    return scores.unjudged_queries, scores.counts, scores.mean


# Ids of different lengths.
UNKNOWN = [b"x%d" % number + b"-" * (number % 20) for number in range(1, 60)]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("room", [1 << 16, 40])
@pytest.mark.parametrize("scattered", [False, True])
def test_queries_without_judgments_are_counted_as_in_memory(
    threads, room, scattered, tmp_path, monkeypatch
):
    """Also where there is no room for the ids of all at once, and one comes back later."""
    monkeypatch.setattr(chunks, "UNKNOWN_ROOM", room)
    docs = (b"a 1 2", b"b 2 1")
    rows = [b"%b Q0 %b t\n" % (name, doc) for name in [b"q1", *UNKNOWN] for doc in docs]
    if scattered:
        random.Random(3).shuffle(rows)
    else:
        rows += [b"x1- Q0 c 1 1 t\n"]
    path = tmp_path / "run"
    path.write_bytes(b"".join(rows))

    with piece(200):
        found = unknown_of(path, threads=threads)

    assert found == unknown_of(parse_run(b"".join(rows)))
    assert found[0] == sorted(map(bytes.decode, UNKNOWN))
    assert is_streamed(judged("q1 a 1"), path, threads)


def test_an_id_without_room_is_read_otherwise(tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "UNKNOWN_ROOM", 40)
    text = b"q1 Q0 a 1 1 t\n%b Q0 a 1 1 t\n" % (b"x" * 40)
    path = tmp_path / "run"
    path.write_bytes(text)

    assert unknown_of(path) == unknown_of(parse_run(text))
    assert not is_streamed(judged("q1 a 1"), path)


def test_for_the_command_nothing_is_kept_of_queries_without_judgments(tmp_path):
    path = tmp_path / "run"
    path.write_bytes(b"q1 Q0 a 1 1 t\nx Q0 a 1 1 t\n")

    scores = as_the_command(parse_qrels(judged("q1 a 1")), pieces.open_source(path))

    assert "unjudged_queries" not in scores.counts
