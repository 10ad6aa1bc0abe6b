"""The option --jobs of `fastrank eval` and `fastrank compare`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from tests.helpers.paths import REPOSITORY

QRELS, PCA, PIXELS, PROFILE = (
    str(REPOSITORY / "data" / name)
    for name in ("digits.qrels", "pca.run", "pixels.run", "profile.run")
)
FASTRANK = [sys.executable, "-W", "ignore", "-m", "fastrank"]


def fastrank(*arguments: str) -> tuple[int, bytes, bytes]:
    done = subprocess.run([*FASTRANK, *arguments], capture_output=True, cwd=REPOSITORY)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "options",
    [["eval"], ["eval", "-q", "--format", "json"], ["eval", "--threads", "2"], ["compare"]],
)
def test_the_output_does_not_depend_on_the_jobs(options: list[str], tmp_path: Path) -> None:
    skipped = tmp_path / "nul.run"
    skipped.write_bytes(Path(PCA).read_bytes() + b"\0 q0000 Q0 d 1 1 t\n")
    arguments = [*options, QRELS, PCA, PIXELS, str(skipped), PROFILE]

    assert fastrank(*arguments, "--jobs", "2") == fastrank(*arguments)


def test_a_run_that_fails_does_not_affect_the_others(tmp_path: Path) -> None:
    (tmp_path / "bad").write_text("q0000 Q0 d\n")
    arguments = ["eval", "-m", "map", QRELS, PCA, "missing", PIXELS, str(tmp_path / "bad"), PROFILE]

    found = fastrank(*arguments, "--jobs", "2")

    assert found == fastrank(*arguments)
    assert found[0] == 1


def test_standard_input_is_refused() -> None:
    assert fastrank("eval", QRELS, PCA, "-", "--jobs", "2") == (
        2, b"", b"fastrank eval: --jobs: the processes cannot read standard input (-)\n"
    )  # fmt: skip


def stopped(tmp_path: Path, stop: signal.Signals, *, children: bool) -> tuple[int, bytes, bytes]:
    """What the command leaves that is stopped when it has evaluated one run of three."""
    pipes = [tmp_path / "first", tmp_path / "second"]
    for pipe in pipes:
        os.mkfifo(pipe)
    command = subprocess.Popen(
        [*FASTRANK, "eval", "--jobs", "2", "-m", "map", QRELS, PCA, *map(str, pipes)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, cwd=REPOSITORY,
    )  # fmt: skip
    with ExitStack() as stack:
        for pipe in pipes:
            # Opening waits for a process to read it: then all processes have nothing else to do.
            stack.enter_context(pipe.open("wb", buffering=0))
        time.sleep(0.5)  # The command takes the scores of the first run.
        if children:
            for child in psutil.Process(command.pid).children():
                child.send_signal(stop)
        else:
            os.killpg(command.pid, stop)
        output, errors = command.communicate(timeout=30)
    return command.returncode, output, errors


FIRST = b"file                  \tall\t%b\nmap                   \tall\t0.3493\n" % PCA.encode()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_an_interrupt_keeps_what_was_done(tmp_path: Path) -> None:
    assert stopped(tmp_path, signal.SIGINT, children=False) == (130, FIRST, b"")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_killed_processes_are_reported_after_what_was_done(tmp_path: Path) -> None:
    status, output, errors = stopped(tmp_path, signal.SIGKILL, children=True)

    assert (status, output) == (1, FIRST)
    assert errors.decode().splitlines() == [
        f"fastrank eval: {tmp_path / 'first'}: a process was killed, perhaps because memory is"
        " short; use fewer --jobs",
        "fastrank eval: 2 of 3 runs could not be evaluated",
    ]
