"""Writers: nouns into files that read back the same, whole or not at all."""

from __future__ import annotations

import io
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastrank.data.run import Run
from fastrank.formats import files
from fastrank.scores.differences import ZScores, read_zscores, write_zscores
from tests.helpers import strategies as make
from tests.helpers.parsing import (
    parse_prefs,
    parse_qrels,
    parse_qrels_jg,
    parse_run,
    read_qrels_jg,
    read_trec_run,
    write_prefs,
    write_trec_qrels,
    write_trec_run,
)
from tests.helpers.paths import REPOSITORY
from tests.helpers.strategies import contents, exactly, examples, many


def written(write: Callable[..., None], noun: Any) -> bytes:
    """What a writer makes of a noun."""
    file = io.BytesIO()
    write(noun, file)
    return file.getvalue()


# Text


@pytest.mark.parametrize(
    ("write", "noun", "lines"),
    [
        pytest.param(
            write_trec_run,
            parse_run(b"b x d1 9 2.50 old\na x d1 9 1e3 old\nb x d2 9 0x2 old\nb x d3 9 .0 new\n"),
            b"b Q0 d1 1 2.5 new\nb Q0 d2 2 2.0 new\nb Q0 d3 3 0.0 new\na Q0 d1 1 1000.0 new\n",
            id="a run, with ranks from 1 in every query",
        ),
        pytest.param(
            write_trec_qrels,
            parse_qrels(b"b g1 d1 +2\na\t0\td1\t-1\r\nb g2 d1 9223372036854775807\n"),
            b"b g1 d1 2\nb g2 d1 9223372036854775807\na 0 d1 -1\n",
            id="judgments, with their second field",
        ),
        pytest.param(
            write_prefs,
            parse_prefs(b"b g s d1 2\na g s d1 .5\nb h t d2 -1\n"),
            b"b g s d1 2.0\nb h t d2 -1.0\na g s d1 0.5\n",
            id="preferences, with subgroups",
        ),
        pytest.param(
            write_prefs,
            parse_prefs(b"b g d1 2\na g d1 .5\n", form="qrels_prefs"),
            b"b g d1 2.0\na g d1 0.5\n",
            id="preferences without subgroups",
        ),
        pytest.param(
            write_zscores,
            ZScores(entries={b"q": [(b"P_5", 0.5, 0.0), (b"map", 1e-9, inf)]}, source=""),
            b"q P_5 0.5 0.0\nq map 1e-09 inf\n",
            id="z-scores",
        ),
    ],
)
def test_the_lines_of_each_format(write: Callable[..., None], noun: Any, lines: bytes) -> None:
    assert written(write, noun) == lines


@pytest.mark.parametrize(
    ("score", "text"),
    [
        (0.1, b"0.1"),
        (1 / 3, b"0.3333333333333333"),
        (1e22, b"1e+22"),
        (5e-324, b"5e-324"),
        (1.7976931348623157e308, b"1.7976931348623157e+308"),
        (-0.0, b"-0.0"),
        (inf, b"inf"),
        (-inf, b"-inf"),
        (nan, b"nan"),
        (-nan, b"-nan"),
    ],
)
def test_a_score_is_written_as_the_shortest_text_that_restores_it(
    score: float, text: bytes
) -> None:
    """No digit too many, none too few, and signs of zero and NaN kept."""
    zscores = ZScores(entries={b"q": [(b"m", score, 0.0)]}, source="")

    assert written(write_zscores, zscores) == b"q m %b 0.0\n" % text


def test_a_run_without_queries_is_a_blank_line() -> None:
    """A file without bytes could not be read."""
    assert written(write_trec_run, parse_run(b"\n\n")) == b"\n"


def test_a_pipe_is_written_to_and_stays_a_pipe(run: Run, tmp_path: Path) -> None:
    """Only files are replaced; replacing a device would destroy it."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    write_trec_run(run, path)

    assert os.read(reader, 1 << 16) == written(write_trec_run, run)
    assert stat.S_ISFIFO(path.stat().st_mode)
    os.close(reader)


def test_a_replaced_file_keeps_its_permissions(run: Run, tmp_path: Path) -> None:
    """A private file stays private."""
    path = tmp_path / "run"
    path.touch(mode=0o600)

    write_trec_run(run, path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400, 0o666])
def test_what_replaces_a_file_is_never_more_open_than_it(mode: int, tmp_path: Path) -> None:
    """While it is being written, too; only its owner may always write."""
    path = tmp_path / "run"
    path.touch()
    path.chmod(mode)
    seen = []

    def pieces() -> Iterator[bytes]:
        yield b"new"
        (scratch,) = tmp_path.glob(".fastrank-*")
        seen.append(stat.S_IMODE(scratch.stat().st_mode))

    files.write(path, pieces())

    assert seen[0] & ~(mode | 0o600) == 0
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() == b"new"


def test_a_replaced_file_loses_setuid(tmp_path: Path) -> None:
    """It was given to another program."""
    path = tmp_path / "run"
    path.touch()
    path.chmod(0o6755)

    files.write(path, [b"new"])

    assert stat.S_IMODE(path.stat().st_mode) == 0o755


def test_a_file_is_written_where_its_absolute_path_would_be_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(25):
        os.mkdir("x" * 200)
        os.chdir("x" * 200)

    files.check_target("run")
    files.write("run", [b"new"])

    assert os.listdir(".") == ["run"]
    with open("run", "rb") as file:
        assert file.read() == b"new"


SIGNALLED = """
import os, signal, sys
from fastrank.formats import files

# nohup ignores SIGHUP.
signal.signal(getattr(signal, sys.argv[1]), signal.SIG_DFL)

def pieces():
    yield b"new"
    print(len(os.listdir(".")), flush=True)
    os.kill(os.getpid(), getattr(signal, sys.argv[1]))
    yield b"er"

files.write("run", pieces())
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_that_ends_the_process_leaves_no_temporary_file(name: str, tmp_path: Path) -> None:
    """And ends it as it would have."""
    (tmp_path / "run").write_bytes(b"old")

    found = subprocess.run(
        [sys.executable, "-c", SIGNALLED, name], cwd=tmp_path, capture_output=True, check=False,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip

    assert (found.returncode, found.stdout) == (-getattr(signal, name), b"2\n")
    assert os.listdir(tmp_path) == ["run"]
    assert (tmp_path / "run").read_bytes() == b"old"


def test_signals_are_handled_only_while_a_file_is_written(tmp_path: Path) -> None:
    """And not where the program does it itself."""
    before = signal.getsignal(signal.SIGTERM)
    seen: list[Any] = []

    def pieces() -> Iterator[bytes]:
        seen.append(signal.getsignal(signal.SIGTERM))
        yield b"new"

    files.write(tmp_path / "run", pieces())
    assert before is signal.SIG_DFL
    assert seen[0] is not before
    assert signal.getsignal(signal.SIGTERM) is before
    try:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        files.write(tmp_path / "run", pieces())
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen[1] is signal.SIG_IGN


def test_a_writer_refuses_another_noun(run: Run, tmp_path: Path) -> None:
    """With the names of both, and without a file."""
    with pytest.raises(TypeError, match="expected Qrels, found Run"):
        write_trec_qrels(run, tmp_path / "qrels")  # type: ignore[arg-type]

    assert list(tmp_path.iterdir()) == []


def test_numbers_written_do_not_follow_the_format_of_the_source() -> None:
    """Bytes of ids survive as they are; blanks and comments of the source do not."""
    text = b"# a\n\n\xef\xbb\xbfq\t\v Q0  \xff#  1 1 \xc3\xa9 more\r\n"

    assert written(write_trec_run, parse_run(text, trec_eval_version="10.0")) == (
        b"\xef\xbb\xbfq Q0 \xff# 1 1.0 \xc3\xa9\n"
    )


# Round trips


@examples(100)
@given(make.lines_of(make.RUN_ROWS).filter(bool))
def test_a_run_reads_back_the_same(text: bytes) -> None:
    """Queries, documents, offsets, tag, and scores to the last bit."""
    run = parse_run(text, strict=False)

    again = parse_run(written(write_trec_run, run), strict=False)

    assert exactly(contents(again)) == exactly(contents(run))
    assert again.offsets.tolist() == run.offsets.tolist()
    assert again.scores.tobytes() == run.scores.tobytes()
    assert again.tag == run.tag


@examples(100)
@given(make.lines_of(make.QRELS_ROWS).filter(bool))
def test_qrels_read_back_the_same(text: bytes) -> None:
    """Queries, second fields, documents and grades."""
    qrels = parse_qrels(text, strict=False)

    again = parse_qrels(written(write_trec_qrels, qrels), strict=False)

    assert contents(again) == contents(qrels)


def test_judgment_groups_read_back_the_same() -> None:
    """Also when rows of a group do not stand together."""
    qrels = parse_qrels_jg(b"q b d1 1\nq a d1 2\nr a d 1\nq b d2 -3\n")

    again = read_qrels_jg(io.BytesIO(written(write_trec_qrels, qrels)))

    assert contents(again) == contents(qrels)


@examples(100)
@given(make.lines_of(make.PREFS_ROWS).filter(bool))
def test_preferences_read_back_the_same(text: bytes) -> None:
    """Queries, groups, subgroups, documents and levels."""
    preferences = parse_prefs(text, strict=False)

    again = parse_prefs(written(write_prefs, preferences), strict=False)

    assert exactly(contents(again)) == exactly(contents(preferences))
    assert again.levels.tobytes() == preferences.levels.tobytes()


@examples(100)
@given(make.lines_of(make.QRELS_PREFS_ROWS).filter(bool))
def test_preferences_without_subgroups_read_back_the_same(text: bytes) -> None:
    """The same in the layout of qrels."""
    preferences = parse_prefs(text, form="qrels_prefs", strict=False)

    again = parse_prefs(written(write_prefs, preferences), form="qrels_prefs", strict=False)

    assert exactly(contents(again)) == exactly(contents(preferences))


@examples(100)
@given(make.lines_of(make.ZSCORES_ROWS).filter(bool))
def test_zscores_read_back_the_same(text: bytes) -> None:
    """Entries per query with mean and deviation."""
    zscores = read_zscores(io.BytesIO(text))

    again = read_zscores(io.BytesIO(written(write_zscores, zscores)))

    assert exactly(contents(again)) == exactly(contents(zscores))


@examples(100)
@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_every_double_survives_writing(values: list[float]) -> None:
    """Subnormals, infinities and zeros of both signs."""
    text = b"".join(b"q 0 d 1 %b t\n" % repr(value).encode() for value in values)

    again = read_trec_run(io.BytesIO(written(write_trec_run, parse_run(text))))

    assert exactly(again.scores.tolist()) == exactly(parse_run(text).scores.tolist())
    assert again.scores.tolist() == values


def test_a_long_run_survives_writing(tmp_path: Path) -> None:
    """Thousands of rows through a file."""
    path = tmp_path / "run"
    run = parse_run(
        b"".join(b"q%d 0 d%d 1 %r t\n" % (i % 7, i, 1 / (i + 1)) for i in range(many(20_000)))
    )

    write_trec_run(run, path)

    assert contents(read_trec_run(path)) == contents(run)


# Targets


RUN_TEXT = b"q Q0 d 1 1.0 t\n"


@pytest.fixture
def run() -> Run:
    """A run of one line."""
    return parse_run(RUN_TEXT)


@pytest.mark.parametrize("as_given", [str, Path], ids=["str", "Path"])
def test_a_path_gets_a_file(run: Run, as_given: Callable[[Path], Any], tmp_path: Path) -> None:
    """A path may be text or os.PathLike; only the file appears there."""
    write_trec_run(run, as_given(tmp_path / "run"))

    assert (tmp_path / "run").read_bytes() == RUN_TEXT
    assert os.listdir(tmp_path) == ["run"]


def test_a_path_in_the_current_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bare name is a file of the current folder."""
    monkeypatch.chdir(tmp_path)

    write_trec_run(run, "run")

    assert (tmp_path / "run").read_bytes() == RUN_TEXT


def test_a_file_is_replaced(run: Run, tmp_path: Path) -> None:
    """What was there before is gone, however long it was."""
    (tmp_path / "run").write_bytes(b"old" * 1000)

    write_trec_run(run, tmp_path / "run")

    assert (tmp_path / "run").read_bytes() == RUN_TEXT


def test_a_file_can_be_replaced_by_what_was_read_from_it(tmp_path: Path) -> None:
    """Reading and writing the same path is safe."""
    path = tmp_path / "run"
    path.write_bytes(b"q\t0\td\t7\t1\tt\n")

    write_trec_run(read_trec_run(path), path)

    assert path.read_bytes() == RUN_TEXT


def test_a_symbolic_link_stays_one(run: Run, tmp_path: Path) -> None:
    """Writing through a link replaces the file that it points to."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "file")

    write_trec_run(run, tmp_path / "link")

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "file").read_bytes() == RUN_TEXT


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o027, 0o077])
def test_a_new_file_has_the_mode_that_the_umask_leaves(run: Run, mask: int, tmp_path: Path) -> None:
    """As a file made by open(); and the umask is what it was."""
    before = os.umask(mask)
    try:
        write_trec_run(run, tmp_path / "run")
        after = os.umask(mask)
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o666 & ~mask
    assert after == mask


def test_a_file_object_gets_the_text(run: Run) -> None:
    """A binary file object is written from where it stands, and stays open."""
    file = io.BytesIO()
    file.write(b"before\n")

    write_trec_run(run, file)

    assert file.getvalue() == b"before\n" + RUN_TEXT


@pytest.mark.parametrize(
    ("write", "text", "parse"),
    [
        (write_trec_run, RUN_TEXT, parse_run),
        (write_trec_qrels, b"q 0 d 1\n", parse_qrels),
        (write_prefs, b"q g s d 1.0\n", parse_prefs),
        (write_zscores, b"q map 0.5 1.0\n", lambda text: read_zscores(io.BytesIO(text))),
    ],
    ids=["run", "qrels", "prefs", "zscores"],
)
def test_every_writer_takes_paths_and_file_objects(
    write: Callable[..., None], text: bytes, parse: Callable[[bytes], Any], tmp_path: Path
) -> None:
    """Both get the same bytes."""
    write(parse(text), tmp_path / "file")

    assert (tmp_path / "file").read_bytes() == written(write, parse(text)) == text


# Failure


class Interrupted(BaseException):
    """Something that no `except Exception` would catch, like KeyboardInterrupt."""


def pieces_until(error: BaseException) -> Iterator[bytes]:
    """Content enough to leave every buffer, then a failure."""
    yield from [b"new" * 1000] * 100
    raise error


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), ValueError("bug"), Interrupted()], ids=repr
)
def test_a_failure_leaves_the_old_file(error: BaseException, tmp_path: Path) -> None:
    """Whatever goes wrong on the way, the old content stays and nothing else appears."""
    path = tmp_path / "run"
    path.write_bytes(b"old")

    with pytest.raises(type(error)):
        files.write(path, pieces_until(error))

    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["run"]


def test_a_failure_makes_no_file(tmp_path: Path) -> None:
    """Where there was nothing there is nothing."""
    with pytest.raises(Interrupted):
        files.write(tmp_path / "run", pieces_until(Interrupted()))

    assert os.listdir(tmp_path) == []


def test_a_failing_rename_leaves_no_temporary_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last step may fail too."""

    def fail(*paths: object) -> None:
        raise OSError(5, "Input/output error")

    (tmp_path / "run").write_bytes(b"old")
    monkeypatch.setattr(os, "replace", fail)

    with pytest.raises(OSError, match="Input/output error"):
        write_trec_run(run, tmp_path / "run")

    assert (tmp_path / "run").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["run"]


def test_the_target_may_be_no_directory(run: Run, tmp_path: Path) -> None:
    """A directory is not replaced by a file."""
    (tmp_path / "folder").mkdir()

    with pytest.raises(OSError, match=r"[Dd]irectory|denied"):
        write_trec_run(run, tmp_path / "folder")

    assert os.listdir(tmp_path) == ["folder"]


def test_the_folder_of_the_target_must_exist(run: Run, tmp_path: Path) -> None:
    """No folders are made."""
    with pytest.raises(FileNotFoundError):
        write_trec_run(run, tmp_path / "absent" / "run")

    assert os.listdir(tmp_path) == []


def test_a_failing_file_object_tells(run: Run) -> None:
    """Its error reaches the caller."""

    class Full(io.BytesIO):
        def write(self, piece: Any) -> int:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_trec_run(run, Full())
