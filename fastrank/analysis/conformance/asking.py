"""Asks a program, which may crash, hang or print anything, for the values of cases."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread, Timer
from typing import NamedTuple

from fastrank.common.messages import brief
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

    from fastrank.analysis.conformance.cases import Case

FUNCTION = re.compile(r"[\w.-]+:[^\W\d][\w.]*")
DRIVER = [sys.executable, str(Path(__file__).with_name("driver.py"))]
# A program with these in its arguments reads files.
FILES = ("{qrels}", "{run}")
# How much is read of what a program prints.
MOST_BYTES = 1 << 20
# A program that hung so often, or was started so often in a row without a new answer to a case of
# its lines, is not asked any more.
PATIENCE = 3
# The line of an error among those that tell where it was raised, in what Python, Node.js, Java, Go
# and Rust print; else lines without an indent.
ERROR = re.compile(r"^\S*(?:Error|Exception|panic)\b.*|^thread '.*\n.*", re.MULTILINE)
LINE = re.compile(r"^\S.*", re.MULTILINE)
NO_ANSWER, NOT_ASKED = "no answer", "not asked, after others without an answer"


class Answer(NamedTuple):
    """A value; or a problem, and whether it is an error of the program; or neither if it lacks the
    measure.
    """

    value: float | None = None
    problem: str = ""
    is_error: bool = False


def ask(
    words: Sequence[str], cases: Sequence[Case], timeout: float, *, lines: bool = False
) -> list[Answer]:
    """The answers to cases, in order.

    words: a command, which is started for each case; or one word, `module:function`. lines: start
        the command once, with a line for each case. timeout: how many seconds a process may take.

    Raises OptionError if the command cannot be started, and for answers in another format.
    """
    if len(words) == 1 and FUNCTION.fullmatch(words[0]):
        return _ask_in_lines([*DRIVER, *words], cases, timeout)
    if lines:
        return _ask_in_lines(words, cases, timeout)
    answers: list[Answer] = []
    hung = 0
    for case in cases:
        if hung < PATIENCE:
            with tempfile.TemporaryDirectory() as folder:
                output, problem, stopped = _run(_filled(words, case, folder), [case], timeout)
            hung += stopped
            last = output.split()[-1:]
            answers.append(problem or (_answer(last[0]) if last else Answer(problem=NO_ANSWER)))
        else:
            answers.append(Answer(problem=NOT_ASKED))
    return answers


def _filled(words: Sequence[str], case: Case, folder: str) -> list[str]:
    """The words of a command for a case, whose files are in a folder."""
    values = {"{measure}": case.measure, "{k}": str(case.k)}
    for name, text in zip(FILES, case.as_trec(), strict=True):
        path = Path(folder, name.strip("{}"))
        path.write_text(text, "ascii")
        values[name] = str(path)
    pattern = re.compile("|".join(map(re.escape, values)))
    return [pattern.sub(lambda match: values[match[0]], word) for word in words]


def _ask_in_lines(words: Sequence[str], cases: Sequence[Case], timeout: float) -> list[Answer]:
    """The answers of a program that is started anew, for the next case, where it ends early."""
    answers: dict[str, Answer] = {}
    rest, in_vain = list(cases), 0
    while rest:
        output, problem, hung = _run(words, rest, timeout)
        if problem:
            # It may have been stopped in the middle of a line.
            output = output[: output.rfind("\n") + 1]
        new = _answers(output, {case.case for case in rest})
        answers |= new
        in_vain = in_vain + 1 if hung or not new else 0
        rest = [case for case in rest if case.case not in answers]
        if rest and problem and in_vain < PATIENCE:
            answers[rest.pop(0).case] = problem
        elif rest:
            left_out = Answer(problem=NOT_ASKED if problem else NO_ANSWER)
            first = {rest[0].case: problem or left_out}
            answers |= dict.fromkeys((case.case for case in rest), left_out) | first
            break
    return [answers[case.case] for case in cases]


def _answers(output: str, names: set[str]) -> dict[str, Answer]:
    """The answers by the names of the cases, in whichever order they are printed."""
    answers: dict[str, Answer] = {}
    for line in filter(str.strip, output.split("\n")):
        try:
            answer = json.loads(line)
            name, is_error = str(answer["case"]), "error" in answer
            value = answer["error" if is_error else "value"]
        except (ValueError, TypeError, KeyError):
            expected = '{"case": "NAME", "value": 0.5}'
            reason = f"expected lines such as {expected}, found {brief(line)}"
            raise OptionError("COMMAND", reason) from None
        if name not in names or name in answers:
            reason = "twice" if name in answers else "but was not asked for it"
            raise OptionError("COMMAND", f"answered the case {brief(name)} {reason}")
        if is_error:
            answers[name] = Answer(problem=_short(str(value)), is_error=True)
        else:
            answers[name] = _answer("null" if value is None else value)
    return answers


def _answer(value: object) -> Answer:
    """The answer for what a program prints."""
    if value == "null":
        return Answer()
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return Answer(problem=f"expected a number or null, found {brief(value)}")
    return Answer(number) if math.isfinite(number) else Answer(problem=str(number))


def _run(
    words: Sequence[str], cases: Sequence[Case], timeout: float
) -> tuple[str, Answer | None, bool]:
    """Run a program, and all that it starts, for a limited time.

    Returns what it printed, the answer if it did not end well, and whether it hung.
    """
    hung = Event()
    # A file, because a program need not read what it is told.
    with tempfile.TemporaryFile() as told:
        told.write("".join(f"{json.dumps(case.question())}\n" for case in cases).encode())
        told.seek(0)
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(
                words, bufsize=0, stdin=told, stdout=pipe, stderr=pipe, start_new_session=True
            )
        except OSError as error:
            reason = f"cannot run {words[0]!r}: {error.strerror}"
            raise OptionError("COMMAND", reason) from None

    def stop() -> None:
        hung.set()
        _kill(process)

    def read(stream: IO[bytes], beginning: bytearray) -> None:
        with stream:
            while len(beginning) < MOST_BYTES and (piece := stream.read(MOST_BYTES)):
                beginning += piece
        if len(beginning) >= MOST_BYTES:
            _kill(process)

    beginnings = bytearray(), bytearray()
    pairs = zip((process.stdout, process.stderr), beginnings, strict=True)
    readers = [Thread(target=read, args=pair, daemon=True) for pair in pairs]
    timer = Timer(timeout, stop)
    try:
        for thread in (timer, *readers):
            thread.start()
        status = process.wait()
    finally:
        timer.cancel()
        _kill(process)
    for reader in readers:
        # What it started in a session of its own may keep the streams open.
        reader.join(1)
    output, errors = (bytes(beginning).decode("utf-8-sig", "replace") for beginning in beginnings)
    if hung.is_set():
        return output, Answer(problem=f"{NO_ANSWER} in {timeout:g} seconds"), True
    if max(map(len, beginnings)) >= MOST_BYTES:
        return output, Answer(problem=f"more than {MOST_BYTES:,} bytes printed"), False
    if status == 0:
        return output, None, False
    reason = f"exit status {status}" if status > 0 else f"signal {-status}"
    causes = ERROR.findall(errors) or LINE.findall(errors)
    problem = _short(": ".join([reason, *causes[-1:]]))
    return output, Answer(problem=problem, is_error=True), False


def _short(text: str) -> str:
    """The beginning of a text, in a line."""
    return f"{' '.join(text.split()):.200}"


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process, and those that it started, which may outlive it, where the system can."""
    # All may have ended.
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
