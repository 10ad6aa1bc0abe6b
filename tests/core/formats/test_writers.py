"""Writers: nouns into files that read back the same, whole or not at all."""

from __future__ import annotations

import io
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from math import copysign, isnan, nan
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastrank as fr
from fastrank.core.formats.files import files
from fastrank.core.formats.run import Run
from fastrank.core.scores.differences import ZScores, write_zscores
from tests.helpers import strategies as make
from tests.helpers.line_formats import in_every_format
from tests.helpers.parsing import parse_run, read_trec_run, write_trec_qrels, write_trec_run
from tests.helpers.paths import REPOSITORY
from tests.helpers.strategies import contents, exactly, examples, many

RUN_TEXT = b"q Q0 d 1 1.0 t\n"


@pytest.fixture
def run() -> Run:
    """A run of one line."""
    return parse_run(RUN_TEXT)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with something old."""
    found = tmp_path / "run"
    found.write_bytes(b"old")
    return found


def written(write: Callable[..., None], noun: Any) -> bytes:
    """What a writer makes of a noun."""
    file = io.BytesIO()
    write(noun, file)
    return file.getvalue()


def text_of(value: float) -> bytes:
    """A number as repr() prints it, but a NaN with its sign."""
    return b"-nan" if isnan(value) and copysign(1, value) < 0 else repr(value).encode()


# Text


@in_every_format
def test_the_lines_of_each_format_in_files_and_file_objects(form, tmp_path):
    """Ranks of runs from 1 in every query, second fields, subgroups where there are any."""
    noun = form.parse(form.text)
    form.write(noun, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == written(form.write, noun) == form.lines


@in_every_format
def test_what_is_written_reads_back_the_same(form):
    """To the last bit of every number."""

    @examples(40)
    @given(make.lines_of(form.rows).filter(bool))
    def same(text: bytes) -> None:
        noun = form.parse(text, strict=False)
        again = form.parse(written(form.write, noun), strict=False)
        assert exactly(contents(again)) == exactly(contents(noun))
        if isinstance(noun, Run):
            assert again.offsets.tolist() == noun.offsets.tolist()
            assert again.scores.tobytes() == noun.scores.tobytes()
            assert again.tag == noun.tag

    same()


@examples(100)
@given(st.lists(st.floats(), min_size=1).map(lambda values: [*values, -nan, 5e-324, 1e22, -0.0]))
def test_a_number_is_written_as_the_shortest_text_that_restores_it(values):
    """No digit too many, none too few, and signs of zero and NaN kept."""
    texts = [text_of(value) for value in values]
    zscores = ZScores(entries={b"q": [(b"m", value, 0.0) for value in values]}, source="")
    lines = written(write_zscores, zscores).splitlines()
    assert lines == [b"q m %b 0.0" % text for text in texts]
    scores = [value for value in values if value == value]
    run = Run.from_arrays(["q"] * len(scores), range(len(scores)), scores)
    again = read_trec_run(io.BytesIO(written(write_trec_run, run)))
    assert exactly(again.scores.tolist()) == exactly(scores)


def test_a_long_run_survives_writing(path):
    lines = (b"q%d 0 d%d 1 %r t\n" % (i % 7, i, 1 / (i + 1)) for i in range(many(20_000)))
    run = parse_run(b"".join(lines))
    write_trec_run(run, path)
    assert contents(read_trec_run(path)) == contents(run)


def test_a_run_without_queries_is_a_blank_line():
    """A file without bytes could not be read."""
    assert written(write_trec_run, parse_run(b"\n\n")) == b"\n"


@pytest.mark.parametrize("form", ["trec", "csv", "tsv", "jsonl", "json"])
def test_queries_without_results_are_noted_where_they_are_dropped(form):
    run = Run.from_dict({"q1": {"a": 1.0}, "q2": {}, "q3": {}})
    notes: list[str] = []

    fr.write_run(run, io.BytesIO(), form, warn=notes.append)

    dropped = "2 queries without results dropped, such as 'q2'; only json can represent them"
    assert notes == ([] if form == "json" else [dropped])


def test_what_is_written_does_not_follow_the_format_of_the_source():
    """Bytes of ids survive as they are; blanks and comments of the source do not."""
    text = b"# a\n\n\xef\xbb\xbfq\t\v Q0  \xff#  1 1 \xc3\xa9 more\r\n"
    found = written(write_trec_run, parse_run(text, trec_eval_version="10.0"))
    assert found == b"\xef\xbb\xbfq Q0 \xff# 1 1.0 \xc3\xa9\n"


def test_a_writer_refuses_another_noun(run, tmp_path):
    """With the names of both, and without a file."""
    with pytest.raises(TypeError, match="expected Qrels, found Run"):
        write_trec_qrels(run, tmp_path / "qrels")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


# Targets


@pytest.mark.parametrize("old", [None, b"old" * 1000, b"q\t0\td\t7\t1\tt\n"])
def test_a_path_gets_a_file_which_replaces_what_was_there(old, run, tmp_path, monkeypatch):
    """A path may be text, os.PathLike, or the bare name of a file in the current folder."""
    monkeypatch.chdir(tmp_path)
    for target in ("run", tmp_path / "run", str(tmp_path / "run")):
        if old is not None:
            Path("run").write_bytes(old)
        write_trec_run(run, target)
        assert Path("run").read_bytes() == RUN_TEXT
        assert os.listdir(tmp_path) == ["run"]


def test_a_symbolic_link_stays_one(path, tmp_path):
    """The file that it points to is replaced, here by what was read from it."""
    path.write_bytes(b"q\t0\td\t7\t1\tt\n")
    (tmp_path / "link").symlink_to(path)
    write_trec_run(read_trec_run(path), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert path.read_bytes() == RUN_TEXT


def test_a_pipe_is_written_to_and_stays_a_pipe(run, tmp_path):
    """Only files are replaced; replacing a device would destroy it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_trec_run(run, pipe)
    assert os.read(reader, 1 << 16) == RUN_TEXT
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    os.close(reader)


def test_a_file_object_gets_the_text_from_where_it_stands(run):
    file = io.BytesIO()
    file.write(b"before\n")
    write_trec_run(run, file)
    assert file.getvalue() == b"before\n" + RUN_TEXT


def test_a_file_is_written_where_its_absolute_path_would_be_too_long(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(25):
        os.mkdir("x" * 200)
        os.chdir("x" * 200)
    files.check_target("run")
    files.write("run", [b"new"])
    assert os.listdir(".") == ["run"]
    with open("run", "rb") as file:
        assert file.read() == b"new"


# Permissions and signals


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o027, 0o077])
def test_a_new_file_has_the_mode_that_the_umask_leaves(run, mask, tmp_path):
    """As a file made by open(); and the umask is what it was."""
    before = os.umask(mask)
    try:
        write_trec_run(run, tmp_path / "run")
        after = os.umask(mask)
    finally:
        os.umask(before)
    assert (mode_of(tmp_path / "run"), after) == (0o666 & ~mask, mask)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400, 0o666, 0o6755])
def test_what_replaces_a_file_is_never_more_open_than_it(mode, path):
    """While it is being written, too; only its owner may always write. It loses setuid."""
    path.chmod(mode)
    seen = []

    def pieces() -> Iterator[bytes]:
        yield b"new"
        (scratch,) = path.parent.glob(".fastrank-*")
        seen.append(mode_of(scratch))

    files.write(path, pieces())
    assert seen[0] & ~(mode & 0o777 | 0o600) == 0
    assert mode_of(path) == mode & 0o777
    assert path.read_bytes() == b"new"


SIGNALLED = """
import os, signal, sys
from fastrank.core.formats.files import files

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
def test_a_signal_that_ends_the_process_leaves_no_temporary_file(name, path):
    """And ends it as it would have."""
    command = [sys.executable, "-c", SIGNALLED, name]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    found = subprocess.run(
        command, cwd=path.parent, capture_output=True, check=False, env=environment
    )
    assert (found.returncode, found.stdout) == (-getattr(signal, name), b"2\n")
    assert os.listdir(path.parent) == ["run"]
    assert path.read_bytes() == b"old"


def test_signals_are_handled_only_while_a_file_is_written(path):
    """And not where the program does it itself."""
    before = signal.getsignal(signal.SIGTERM)
    seen: list[Any] = []

    def pieces() -> Iterator[bytes]:
        seen.append(signal.getsignal(signal.SIGTERM))
        yield b"new"

    files.write(path, pieces())
    assert before is signal.SIG_DFL
    assert seen[0] is not before
    assert signal.getsignal(signal.SIGTERM) is before
    try:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        files.write(path, pieces())
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen[1] is signal.SIG_IGN


def test_an_interrupt_waits_until_all_files_are_renamed(path, monkeypatch):
    replace = os.replace

    def interrupted(*paths: str) -> None:
        replace(*paths)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write_all([(path, [b"new"]), (path.with_name("other"), [b"new"])])
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == {
        "run": b"new",
        "other": b"new",
    }


# Failure


class Interrupted(BaseException):
    """Something that no `except Exception` would catch, like KeyboardInterrupt."""


NO_SPACE = OSError(28, "No space left on device")


def fail(*paths: object) -> None:
    raise NO_SPACE


@pytest.mark.parametrize("has_links", [True, False])
@pytest.mark.parametrize("failing", ["run", "new", "other"])
def test_several_files_are_replaced_or_none(failing, has_links, path, monkeypatch):
    """Those that were renamed go back, and a new one is removed."""
    path.with_name("other").write_bytes(b"old")
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    replace = os.replace
    monkeypatch.setattr(
        os, "replace", lambda *paths: fail() if paths[1].endswith(failing) else replace(*paths)
    )
    if not has_links:
        monkeypatch.setattr(os, "link", fail)
    with pytest.raises(OSError, match="No space") as caught:
        files.write_all([(path.with_name(name), [b"x"]) for name in ("run", "new", "other")])
    assert caught.value.filename == str(path.with_name(failing))
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


@pytest.mark.parametrize("error", [NO_SPACE, ValueError("bug"), Interrupted()], ids=repr)
def test_a_failure_leaves_the_folder_as_it_was(error, run, path, monkeypatch):
    """Whatever goes wrong on the way or at the last step: the old content stays, or none."""

    def pieces() -> Iterator[bytes]:
        # Enough to leave every buffer.
        yield from [b"new" * 1000] * 100
        raise error

    for target in (path, path.with_name("other")):
        with pytest.raises(type(error)):
            files.write(target, pieces())
    for target, reason in (
        (SimpleNamespace(write=fail), "No space"),
        (path.parent, r"[Dd]irectory|denied"),
        (path.parent / "absent" / "run", "[Nn]o such file"),
    ):
        with pytest.raises(OSError, match=reason):
            write_trec_run(run, target)
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        write_trec_run(run, path)
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == ["run"]
