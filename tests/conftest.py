"""Fixtures: the trec_eval command run in this process, and the recorded cases of the original."""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from fastrank.cli.trec_eval import main
from tests.helpers.browser import browser as browser
from tests.helpers.browser import pages as pages
from tests.helpers.commands import Result
from tests.helpers.native import executable as executable
from tests.helpers.paths import TESTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.helpers.commands import Command

# By default, 100 examples.
settings.register_profile("deep", max_examples=1000, deadline=None)


def pytest_configure() -> None:
    """A job in the background of a script ignores SIGINT, as would all programs that tests run."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their folder, where it takes long."""
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        if folder in ("docs", "bench"):
            item.add_marker(folder)


@pytest.fixture
def trec_eval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run `trec_eval ARGUMENTS` on files written to an empty folder."""

    def run(
        *arguments: str,
        files: dict[str, bytes] | None = None,
        stdin: bytes = b"",
        trec_eval_version: str = "9.0.8",
        folder: Path = tmp_path,
    ) -> Result:
        for name, content in (files or {}).items():
            (folder / name).write_bytes(content)
        streams = [io.TextIOWrapper(io.BytesIO()) for _ in range(2)]
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            patch.setenv("FASTRANK_TREC_EVAL_VERSION", trec_eval_version)
            patch.delenv("POSIXLY_CORRECT", raising=False)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            patch.setattr(sys, "stdout", streams[0])
            patch.setattr(sys, "stderr", streams[1])
            status = main(list(arguments))
            for stream in streams:
                stream.flush()
        out, err = (stream.buffer.getvalue() for stream in streams)  # type: ignore[attr-defined]
        return Result(status, out, os.fsdecode(err))

    return run
