"""What a command left behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Result(NamedTuple):
    """What a command left behind."""

    status: int
    stdout: bytes
    stderr: str


Command = Callable[..., Result]
