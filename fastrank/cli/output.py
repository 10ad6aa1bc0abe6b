"""What commands write: results to standard output, complaints to standard error."""

from __future__ import annotations

import io
import os
import sys

from fastrank.errors import FastrankError, MeasureError, OptionError
from fastrank.native import EngineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TextIO


def complain(message: str) -> None:
    """Write lines to standard error; bytes that are not text come out as they came in.

    Control characters, which a terminal would obey, come out as escapes.
    """
    if sys.stderr is None:
        return
    try:
        sys.stderr.buffer.write(os.fsencode(without_controls(message)) + b"\n")
        sys.stderr.flush()
    except OSError:
        # There is nobody left to tell; the exit status still says it.
        discard(sys.stderr)


def without_controls(text: str, kept: str = "\n\t") -> str:
    """The text with all control characters but some as escapes."""
    if text.isprintable():
        return text
    return "".join(
        f"\\x{ord(own):02x}" if (own < " " or "\x7f" <= own < "\xa0") and own not in kept else own
        for own in text
    )


def write(lines: Iterable[bytes]) -> None:
    """Write lines to standard output."""
    if sys.stdout is None:
        from errno import EBADF

        raise OSError(EBADF, "standard output is closed")
    stream: Any = sys.stdout.buffer
    if isinstance(stream, io.RawIOBase):
        # PYTHONUNBUFFERED: a system call for every line takes four times as long as all the rest.
        stream = io.BufferedWriter(stream)
        stream.writelines(lines)
        stream.flush()
        stream.detach()
    else:
        stream.writelines(lines)


def report_unwritable(name: str, path: str | None, error: OSError) -> int:
    """Say that a file cannot be written; the exit status for it.

    What goes wrong with standard output (`-`, or no path) is raised again: `guarded` knows it.
    """
    if path in (None, "-"):
        raise error
    complain(f"{name}: cannot write {path}: {error.strerror}")
    return 1


def report_error(name: str, error: FastrankError) -> int:
    """Say what is wrong; the exit status: 2 for what was asked, 1 for what was read."""
    complain(f"{name}: {error}")
    return 2 if isinstance(error, (OptionError, MeasureError)) else 1


def can_be_written(name: str, *paths: str | None) -> bool:
    """Whether files can be written, which is better known before the work than after it."""
    # Not imported above: the trec_eval command does without the module.
    from fastrank.formats import files

    for path in paths:
        try:
            if path is not None:
                files.check_target(path)
        except OSError as error:
            report_unwritable(name, path, error)
            return False
    return True


def discard(stream: TextIO | None) -> None:
    """Let what could not be written go nowhere, or Python would try again and complain at exit."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def guarded(name: str, command: Callable[[], int]) -> int:
    """The exit status of a command, also when its output, its engine or the memory fails."""
    try:
        status = command()
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        discard(sys.stdout)
        return 141
    except OSError as error:
        complain(f"{name}: cannot write the results: {error.strerror}")
        discard(sys.stdout)
        return 1
    except (EngineError, ImportError) as error:
        complain(f"{name}: {error}")
        return 1
    except MemoryError as error:
        # What trec_eval exits with when it cannot reserve space.
        complain(f"{name}: out of memory: {error}")
        return 3
    except KeyboardInterrupt:
        return 130
