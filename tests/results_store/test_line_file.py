"""Files of lines that several processes append to."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import Any

import pytest

from fastrank.results_store.store import LineFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lines"


def opened(path: Path) -> LineFile:
    return LineFile(str(path), append=True)


def test_lines_of_others_are_read_as_they_come(path: Path) -> None:
    first, second = opened(path), opened(path)
    first.append(lambda: b"one\ntwo\n")
    assert list(second.new_lines()) == [(0, b"one"), (4, b"two")]
    second.append(lambda: b"three\n")
    assert list(first.new_lines()) == [(0, b"one"), (4, b"two"), (8, b"three")]
    assert list(second.new_lines()) == [(8, b"three")]
    assert first.line_at(4, 3) == b"two"


def test_lines_of_any_length_are_read(path: Path) -> None:
    long = b"a longer line" * 100_000
    file = opened(path)
    file.append(lambda: long + b"\nx\n\nand more\n")
    assert [line for _, line in file.new_lines()] == [long, b"x", b"", b"and more"]


def no_locks(*_: object) -> None:
    raise OSError(errno.ENOSYS, "not implemented")


@pytest.mark.parametrize(("lock", "kept"), [(fcntl.flock, b""), (no_locks, b"unfin\n")])
def test_an_unfinished_line_is_replaced_by_the_next_one(
    lock: Any, kept: bytes, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without locks it may be that of another process."""
    monkeypatch.setattr(fcntl, "flock", lock)
    path.write_bytes(b"one\nunfin")
    file = opened(path)
    assert list(file.new_lines()) == [(0, b"one")]
    file.append(lambda: b"two\n")
    assert path.read_bytes() == b"one\n" + kept + b"two\n"


def test_a_write_that_fails_in_the_middle_leaves_the_old_lines(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def full(file: int, content: bytes) -> int:
        if len(content) < 8:
            raise OSError(errno.ENOSPC, "no space left on device")
        return write(file, content[:3])

    file = opened(path)
    file.append(lambda: b"one\n")
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="no space left"):
        file.append(lambda: b"a longer line\n")
    assert path.read_bytes() == b"one\n"
