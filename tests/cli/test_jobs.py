"""The option --jobs of `fastrank eval` and `fastrank compare`."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.helpers.commands import (
    FILES,
    PCA,
    PIXELS,
    PROFILE,
    QRELS,
    fastrank,
    process,
    words_of,
    write,
)
from tests.helpers.paths import REPOSITORY

FIRST = b"run                   \tall\tpca\nmap                   \tall\t0.3493\n"
PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")


@pytest.mark.parametrize(
    "command",
    [
        f"eval {FILES} nul.run",
        f"eval -q --format json {FILES} nul.run",
        f"eval --threads 2 {FILES} nul.run",
        f"compare {FILES} nul.run",
        f"eval -m map {QRELS} {PCA} missing {PIXELS} bad {PROFILE}",
        f"eval {QRELS} {PCA} unjudged.run",
    ],
)
def test_the_output_does_not_depend_on_the_jobs(command):
    write({"nul.run": Path(PCA).read_bytes() + b"\0 q0000 Q0 d 1 1 t\n", "bad": "q0000 Q0 d\n"})
    # What follows the warning has no query that is judged.
    write({"unjudged.run": "none Q0 d 1 1 t\n\0 none Q0 d 1 1 t\n"})

    found = fastrank(f"{command} --jobs 2")

    assert found == fastrank(command)
    assert found.status == (0 if "nul.run" in command else 1)
    assert found.err.count("the line begins with a NUL byte") == ("bad" not in command)


def started(line: str, **options: Any) -> subprocess.Popen[bytes]:
    """A command in a session of its own, with pipes."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(words_of(line), start_new_session=True, **pipes, **options)


def stopped(stop: signal.Signals, *, children: bool) -> tuple[int, bytes, bytes]:
    """What the command leaves that is stopped when it has evaluated one run of three."""
    for pipe in ("first", "second"):
        os.mkfifo(pipe)
    command = started(f"eval --format trec --jobs 2 -m map {QRELS} {PCA} first second")
    with ExitStack() as stack:
        for pipe in ("first", "second"):
            # Opening waits for a process to read it: then all processes have nothing else to do.
            stack.enter_context(open(pipe, "wb", buffering=0))
        time.sleep(0.5)  # The command takes the scores of the first run.
        if children:
            for child in psutil.Process(command.pid).children():
                # The command ends the others as soon as it sees that one is gone.
                with contextlib.suppress(psutil.NoSuchProcess):
                    child.send_signal(stop)
        else:
            os.killpg(command.pid, stop)
        output, errors = command.communicate(timeout=30)
    return command.returncode, output, errors


@PIPES
def test_an_interrupt_keeps_what_was_done():
    assert stopped(signal.SIGINT, children=False) == (130, FIRST, b"")


@PIPES
def test_killed_processes_are_reported_after_what_was_done():
    status, output, errors = stopped(signal.SIGKILL, children=True)

    assert (status, output) == (1, FIRST)
    assert errors.decode().splitlines() == [
        "fastrank eval: first: a process was killed, perhaps because memory is short; use fewer"
        " --jobs",
        "fastrank eval: 2 of 3 runs could not be evaluated",
    ]


@PIPES
def test_a_command_that_ignores_interrupts_goes_on():
    """As one that a script starts with `&`."""
    os.mkfifo("pipe")
    command = started(
        f"eval --format trec --jobs 2 -m map {QRELS} {PCA} pipe {PIXELS}",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    with open("pipe", "wb") as file:
        os.killpg(command.pid, signal.SIGINT)
        time.sleep(0.2)
        file.write(Path(PROFILE).read_bytes())
    output, errors = command.communicate(timeout=30)

    assert (command.returncode, errors) == (0, b"")
    assert output.count(b"map ") == 3


@PIPES
def test_processes_end_when_the_command_is_killed():
    os.mkfifo("pipe")
    command = started(f"eval --format trec --jobs 2 {QRELS} {PCA} pipe")
    with open("pipe", "wb", buffering=0):
        children = psutil.Process(command.pid).children(recursive=True)
        command.kill()
        command.communicate()

        assert len(children) >= 2
        assert psutil.wait_procs(children, timeout=10)[1] == []


@pytest.mark.parametrize(
    ("die", "ending"), [(False, "KeyboardInterrupt"), (True, "BrokenProcessPool")]
)
def test_processes_that_have_sent_a_part_of_a_result_are_not_waited_for(die, ending, tmp_path):
    program = f"""if __name__ == "__main__":
        import time
        from pathlib import Path
        from fastrank.cli.jobs import processes
        from tests.helpers.executors import send_a_part
        sent = Path({str(tmp_path / "sent")!r})
        with processes(2) as executor:
            call = executor.submit(send_a_part, sent, {die})
            while not sent.exists():
                time.sleep(0.01)
            if {die}:
                call.result()
            raise KeyboardInterrupt
    """
    errors = tmp_path / "errors"
    with errors.open("wb") as file:
        command = subprocess.run(
            [sys.executable, "-c", program], stderr=file, cwd=REPOSITORY, timeout=50, check=False
        )

    assert command.returncode != 0
    assert ending in errors.read_text().splitlines()[-1]


@pytest.fixture
def path_without_fsspec(folder: Path) -> dict[str, str]:
    """The environment of a process that has no fsspec."""
    write({"fsspec.py": "raise ModuleNotFoundError('none', name='fsspec')"})
    return {"PYTHONPATH": os.pathsep.join([str(folder), str(REPOSITORY)])}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_needs_a_missing_package_does_not_affect_the_others(jobs, path_without_fsspec):
    line = f"eval --format trec -m map --jobs {jobs} {QRELS} memory://bucket/a.run {PCA}"
    found = process(line, env=path_without_fsspec)

    assert (found.status, found.out) == (1, FIRST.decode())
    assert found.err.splitlines() == [
        "fastrank eval: memory://bucket/a.run needs fsspec: pip install 'fastrank-eval[remote]'",
        "fastrank eval: 1 of 2 runs could not be evaluated",
    ]


@pytest.mark.parametrize("command", ["eval", "compare"])
def test_judgments_that_need_a_missing_package_have_exit_status_1(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)

    assert fastrank(f"{command} memory://bucket/a.qrels {PCA} {PIXELS}").status == 1


def on_a_terminal(line: str, **environment: str) -> str:
    """What a command writes to a terminal as standard error, its results being redirected.

    Its progress bar appears at once.
    """
    program = "from fastrank.common import progress; progress.SHORT = 0.0; import fastrank.__main__"
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    words = [sys.executable, "-c", program, *line.split()]
    variables = {**os.environ, "TERM": "xterm", "PYTHONPATH": str(REPOSITORY), **environment}
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=end, env=variables):
        os.close(end)
        written = b""
        # At the end, Linux raises an error.
        with contextlib.suppress(OSError):
            while piece := os.read(terminal, 1 << 16):
                written += piece
    os.close(terminal)
    return written.decode()


def test_a_terminal_shows_a_progress_bar():
    line = f"eval -m map --jobs 2 {QRELS} {PCA} missing {PROFILE}"
    shown = on_a_terminal(line, NO_COLOR="1")

    assert "/3.00" in shown
    # The bar is cleared before a message.
    assert "\rfastrank eval: missing: no such file or directory\r\n" in shown


@pytest.mark.parametrize(
    ("environment", "start", "end"),
    [
        ({}, "\x1b[31m", "\x1b[0m"),
        ({"NO_COLOR": "1"}, "", ""),
        ({"NO_COLOR": ""}, "\x1b[31m", "\x1b[0m"),
        ({"TERM": "dumb"}, "", ""),
    ],
)
def test_errors_have_a_color_on_a_terminal(environment, start, end):
    shown = on_a_terminal("compare missing.qrels missing.run", **environment)

    assert shown == (f"{start}fastrank compare{end}: missing.qrels: no such file or directory\r\n")
