"""Readers of messages, users of Python or of the command line, who write options differently."""

from __future__ import annotations

from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_commands = 0


@contextmanager
def on_command_line() -> Iterator[None]:
    """Messages in this block are for the command line."""
    global _commands
    _commands += 1
    try:
        yield
    finally:
        _commands -= 1


def by_face(python: str, command: str) -> str:
    """The words for the reader of a message."""
    return command if _commands else python


def option(name: str, value: object) -> str:
    """An option with its value: `ties='average'`, or on the command line `--ties average`.

    >>> option("rank_by", "given")
    "rank_by='given'"
    >>> with on_command_line():
    ...     option("rank_by", "given")
    '--rank-by given'
    """
    return by_face(f"{name}={value!r}", f"--{name.replace('_', '-')} {value}")


def column_option(*roles: str, call: str | None = None) -> str:
    """The advice to name the columns of roles; call: the function that takes `columns=`.

    >>> column_option("doc"), column_option("doc", call="read_run")
    ("set columns={'doc': NAME}", "use read_run(..., columns={'doc': NAME})")
    """
    columns = f"columns={{{', '.join(f'{role!r}: NAME' for role in roles)}}}"
    python = f"set {columns}" if call is None else f"use {call}(..., {columns})"
    return by_face(python, f"set --columns {','.join(f'{role}=NAME' for role in roles)}")
