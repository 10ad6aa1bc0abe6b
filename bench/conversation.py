"""A driver as a process of its own that makes one call each time it is asked."""

from __future__ import annotations

import json
import os
import select
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import processes
from bench.processes import Finished


class EndedError(Exception):
    """The process ended, or was ended, instead of answering."""


class Conversation:
    """A process that writes a line of JSON when it has started, and one for each line it reads."""

    def __init__(self, words: list[str], environment: dict[str, str], scratch: Path) -> None:
        handle, name = tempfile.mkstemp(dir=scratch)
        os.close(handle)
        self._errors = Path(name)
        asked, self._ask = os.pipe()
        self._answers, answered = os.pipe()
        actions = [
            (os.POSIX_SPAWN_DUP2, asked, 0),
            (os.POSIX_SPAWN_DUP2, answered, 1),
            (os.POSIX_SPAWN_OPEN, 2, name, processes.CREATE, 0o600),
        ]
        self.started = time.monotonic()
        self._pid = os.posix_spawn(words[0], words, environment, file_actions=actions)
        os.close(asked)
        os.close(answered)
        self._finished: Finished | None = None
        self._timed_out = False

    def ask(self) -> None:
        """Ask for one more call."""
        try:
            os.write(self._ask, b"\n")
        except BrokenPipeError:
            raise EndedError from None

    def answer(self, timeout: float) -> dict[str, Any]:
        """The next answer; after so many seconds without one the process is killed."""
        text, deadline = b"", time.monotonic() + timeout
        while not text.endswith(b"\n"):
            left = max(0.0, deadline - time.monotonic())
            if not select.select([self._answers], [], [], left)[0]:
                self._timed_out = True
                raise EndedError
            portion = os.read(self._answers, 1 << 16)
            if not portion:
                raise EndedError
            text += portion
        answer: dict[str, Any] = json.loads(text)
        return answer

    def end(self, *, kill: bool = False) -> Finished:
        """Let the process end, or end it, and tell how it ended."""
        if self._finished is None:
            os.close(self._ask)
            os.close(self._answers)
            if kill or self._timed_out:
                os.kill(self._pid, signal.SIGKILL)
            _, status, usage = os.wait4(self._pid, 0)
            self._finished = processes.finished(
                time.monotonic() - self.started, status, usage, Path(os.devnull), self._errors,
                timed_out=self._timed_out,
            )  # fmt: skip
        return self._finished
