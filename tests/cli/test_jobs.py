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


FIRST = b"run                   \tall\tpca\nmap                   \tall\t0.3493\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_an_interrupt_keeps_what_was_done(tmp_path: Path) -> None:
    assert stopped(tmp_path, signal.SIGINT, children=False) == (130, FIRST, b"")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_command_that_ignores_interrupts_goes_on(tmp_path: Path) -> None:
    """As one that a script starts with `&`."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = subprocess.Popen(
        [*FASTRANK, "eval", "--jobs", "2", "-m", "map", QRELS, PCA, str(pipe), PIXELS],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, cwd=REPOSITORY,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    with pipe.open("wb") as file:
        os.killpg(command.pid, signal.SIGINT)
        time.sleep(0.2)
        file.write(Path(PROFILE).read_bytes())
    output, errors = command.communicate(timeout=30)

    assert (command.returncode, errors) == (0, b"")
    assert output.count(b"map ") == 3


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_killed_processes_are_reported_after_what_was_done(tmp_path: Path) -> None:
    status, output, errors = stopped(tmp_path, signal.SIGKILL, children=True)

    assert (status, output) == (1, FIRST)
    assert errors.decode().splitlines() == [
        f"fastrank eval: {tmp_path / 'first'}: a process was killed, perhaps because memory is"
        " short; use fewer --jobs",
        "fastrank eval: 2 of 3 runs could not be evaluated",
    ]


@pytest.mark.parametrize(
    ("die", "ending"), [(False, "KeyboardInterrupt"), (True, "BrokenProcessPool")]
)
def test_processes_that_have_sent_a_part_of_a_result_are_not_waited_for(
    die: bool, ending: str, tmp_path: Path
) -> None:
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


def test_warnings_of_a_run_that_fails_are_printed(tmp_path: Path) -> None:
    # What follows the warning has no query that is judged.
    unjudged = tmp_path / "unjudged.run"
    unjudged.write_bytes(b"none Q0 d 1 1 t\n\0 none Q0 d 1 1 t\n")
    arguments = ["eval", QRELS, PCA, str(unjudged)]

    found = fastrank(*arguments, "--jobs", "2")

    assert found == fastrank(*arguments)
    assert found[2].count(b"unjudged.run:2: the line begins with a NUL byte") == 1


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_run_that_needs_a_missing_package_does_not_affect_the_others(
    jobs: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "fsspec.py").write_text("raise ModuleNotFoundError('none', name='fsspec')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)

    status, output, errors = fastrank(
        "eval", "-m", "map", "--jobs", jobs, QRELS, "memory://bucket/a.run", PCA
    )

    assert (status, output) == (1, FIRST)
    assert errors.decode().splitlines() == [
        "fastrank eval: memory://bucket/a.run needs fsspec: pip install 'fastrank-eval[remote]'",
        "fastrank eval: 1 of 2 runs could not be evaluated",
    ]


def test_judgments_that_need_a_missing_package_have_exit_status_1(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "fsspec.py").write_text("raise ModuleNotFoundError('none', name='fsspec')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)

    for command in ("eval", "compare"):
        assert fastrank(command, "memory://bucket/a.qrels", PCA, PIXELS)[0] == 1


def on_a_terminal(*arguments: str) -> str:
    """What a command writes to a terminal as standard error, its results being redirected.

    Its progress bar appears at once.
    """
    program = (
        "from fastrank.searching import progress; progress.SHORT = 0.0; import fastrank.__main__"
    )
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.DEVNULL, stderr=end, cwd=REPOSITORY,
    ):  # fmt: skip
        os.close(end)
        written = b""
        # At the end, Linux raises an error.
        with contextlib.suppress(OSError):
            while piece := os.read(terminal, 1 << 16):
                written += piece
    os.close(terminal)
    return written.decode()


def test_a_terminal_shows_a_progress_bar() -> None:
    shown = on_a_terminal("eval", "-m", "map", "--jobs", "2", QRELS, PCA, "missing", PROFILE)

    assert "/3.00" in shown
    # The bar is cleared before a message.
    assert "\rfastrank eval: missing: no such file or directory\r\n" in shown


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_processes_end_when_the_command_is_killed(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = subprocess.Popen(
        [*FASTRANK, "eval", "--jobs", "2", QRELS, PCA, str(pipe)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=REPOSITORY,
    )  # fmt: skip
    with pipe.open("wb", buffering=0):
        children = psutil.Process(command.pid).children(recursive=True)
        command.kill()
        command.wait()

        assert len(children) >= 2
        assert psutil.wait_procs(children, timeout=10)[1] == []
