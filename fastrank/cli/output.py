"""How commands write: results to standard output, errors and warnings to standard error."""

from __future__ import annotations

import io
import os
import sys

from fastrank.core.formats.files.source import standard_output
from fastrank.errors import EngineError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable
    from typing import TextIO


# The beginning of the message on an output that fails; and the exit status of a shell for a command
# whose reader went away.
UNWRITABLE, BROKEN_PIPE = "cannot write the results: ", 141
# The colors of terminals by what they mark, as numbers of ECMA-48.
COLORS = {"error": 31, "warning": 33, "note": 36}


def is_terminal(stream: TextIO | None) -> bool:
    """Whether what is written to a stream appears on a terminal."""
    return stream is not None and stream.isatty()


def colored(text: str, severity: str | None, stream: TextIO | None) -> str:
    """A text in a color on a terminal, unless NO_COLOR is set (https://no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    if severity is None or plain or not is_terminal(stream):
        return text
    return in_color(text, severity)


def in_color(text: str, severity: str) -> str:
    """A text as terminals show it in a color."""
    return f"\x1b[{COLORS[severity]}m{text}\x1b[0m"


def complain(message: str, severity: str | None = None) -> None:
    """Write a message to standard error; bytes that are not UTF-8 are preserved.

    severity: gives the name of the command, before the first colon, a color on a terminal.

    Control characters, which a terminal would obey, are escaped, as are line breaks, such as in the
    name of a file: what follows would seem to be another message.
    """
    if sys.stderr is None:
        return
    try:
        name, colon, text = without_controls(message, allowed="").partition(":")
        line = f"{colored(name, severity, sys.stderr)}{colon}{text}\n"
        sys.stderr.buffer.write(os.fsencode(line))
        sys.stderr.flush()
    except OSError:
        # Nothing can be reported any more, except by the exit status.
        discard(sys.stderr)


def without_controls(text: str, allowed: str = "\n\t") -> str:
    """The text with escapes for what could mislead a reader, except some characters.

    Bytes that are not UTF-8 are preserved, too.
    """
    if text.isprintable():
        return text
    from fastrank.common.messages import visible

    return "".join(
        character
        if character in allowed or "\udc80" <= character <= "\udcff"
        else visible(character)
        for character in text
    )


def may_show_progress(arguments: argparse.Namespace) -> bool:
    """Whether a progress bar would not be mixed with results that appear one by one."""
    one_by_one = arguments.output is None and arguments.format in ("trec", "csv", "jsonl")
    return not (one_by_one and is_terminal(sys.stdout))


def write(lines: Iterable[bytes]) -> None:
    """Write lines to standard output."""
    stream = standard_output()
    if isinstance(stream, io.RawIOBase):
        # PYTHONUNBUFFERED: a system call per line would take four times as long as everything else.
        stream = io.BufferedWriter(stream)
        stream.writelines(lines)
        stream.flush()
        stream.detach()
    else:
        stream.writelines(lines)


def report_unwritable(name: str, path: str | None, error: OSError) -> int:
    """Report that a file cannot be written, and return the exit status.

    Errors of standard output (`-` or None) are raised again, for `guarded`.
    """
    if path in (None, "-"):
        raise error
    # Imported here because the trec_eval command does not need it.
    from fastrank.core.formats.files.files import name_of

    complain(f"{name}: cannot write {name_of(path)}: {error.strerror}", "error")
    return 1


def check_distinct(outputs: Iterable[tuple[str, str]], inputs: Iterable[tuple[str, str]]) -> None:
    """Raise OptionError if an output is the file of another or of an input, however it is spelled.

    outputs, inputs: flags with paths.
    """
    files = {os.path.realpath(path): flag for flag, path in inputs if os.path.isfile(path)}
    for flag, path in outputs:
        real = path if path == "-" else os.path.realpath(path)
        if os.path.exists(real) and not os.path.isfile(real):
            # Devices and pipes take several outputs.
            continue
        if real in files:
            from fastrank.core.formats.files.files import name_of

            reason = f"{name_of(path)} is also the file of {files[real]}; name another"
            raise OptionError(flag, reason)
        files[real] = flag


def command_line() -> list[str]:
    """The command line, without what may be secret in URLs, however the command was started."""
    words = ["fastrank", *sys.argv[1:]]
    if not any("://" in word for word in words):
        return words
    from fastrank.core.formats.files.remote import redacted

    return [redacted(word) for word in words]


def discard(stream: TextIO | None) -> None:
    """Discard unwritten output, which Python would otherwise try to write again at exit."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def guarded(name: str, command: Callable[[], int]) -> int:
    """Run a command and return its exit status, even if output, the engine, or memory fails."""
    try:
        status = command()
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader closed the pipe.
        discard(sys.stdout)
        return BROKEN_PIPE
    except OSError as error:
        if error.filename not in (None, "-"):
            return report_unwritable(name, error.filename, error)
        complain(f"{name}: {UNWRITABLE}{error.strerror}", "error")
        discard(sys.stdout)
        return 1
    except (EngineError, ImportError) as error:
        complain(f"{name}: {error}", "error")
        return 1
    except MemoryError as error:
        # trec_eval's exit status when it cannot allocate memory.
        complain(f"{name}: out of memory: {error}", "error")
        return 3
    except KeyboardInterrupt:
        return 130
