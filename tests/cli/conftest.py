"""The folder in which each command of a test runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.commands import link_data


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the judgments and runs of data/."""
    link_data(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path
