"""Write files atomically, and to pipes, devices and file objects."""

from __future__ import annotations

import errno
import os
import sys
from collections import Counter
from contextlib import ExitStack, contextmanager

from fastrank.formats.source import name_of as name_of
from fastrank.formats.unfinished import removed_by_signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fastrank.formats.source import Source as Source


def write(target: Source, pieces: Iterable[bytes]) -> None:
    """Write to a path, to `-` (standard output) or to a binary file object.

    Files are written atomically, by renaming a temporary file in the same folder: on failure the
    old content stays. Devices, pipes and sockets are written to directly.
    """
    write_all([(target, pieces)])


def write_all(outputs: Iterable[tuple[Source, Iterable[bytes]]]) -> None:
    """Write several files as `write` does; all files are complete before any is renamed.

    The attribute `filename` of an OSError names the file.
    """
    with ExitStack() as renamed_at_the_end:
        for target, pieces in outputs:
            if not isinstance(target, (str, os.PathLike)):
                for piece in pieces:
                    target.write(piece)
                continue
            try:
                if os.fspath(target) == "-":
                    sys.stdout.buffer.writelines(pieces)
                    continue
                path = os.path.realpath(target)
                is_file = os.path.isfile(path) or not os.path.exists(target)
                opened = renamed_at_the_end.enter_context(replacing(path)) if is_file else target
                with open(opened, "wb") as file:
                    file.writelines(pieces)
            except OSError as error:
                error.filename = error.filename or target
                raise


def short_names(paths: Sequence[str]) -> list[str]:
    """The names of files without their folders; files with the same name are named by paths."""
    names = [os.path.basename(path) or path for path in paths]
    counts = Counter(names)
    return [name if counts[name] == 1 else path for name, path in zip(names, paths, strict=True)]


def check_target(target: Source) -> None:
    """Raise OSError early for a path that `write` could not write."""
    if not isinstance(target, (str, os.PathLike)) or os.fspath(target) == "-":
        return
    path = os.path.realpath(target)
    problem = 0
    if os.path.isdir(path):
        problem = errno.EISDIR
    elif not os.path.exists(path) and not os.path.isdir(os.path.dirname(path)):
        problem = errno.ENOENT
    if problem:
        raise OSError(problem, os.strerror(problem), path)


def replace(path: str, fill: Callable[[str], None]) -> None:
    """Fill a temporary file, and rename it to the path."""
    with replacing(path) as scratch:
        fill(scratch)


@contextmanager
def replacing(path: str) -> Iterator[str]:
    """A temporary file in the same folder, which is renamed to the path at the end of the block.

    It is removed if the block raises. It is readable only by those who could read the file that it
    replaces.
    """
    folder, name = os.path.split(path)
    scratch = os.path.join(folder, f".fastrank-{os.getpid()}-{os.urandom(6).hex()}")
    # Without setuid and the like, which were granted to the old content.
    mode = os.stat(path).st_mode & 0o777 if name and os.path.exists(path) else None
    with removed_by_signals(scratch):
        try:
            try:
                # The umask applies as to any other file. The block opens it by name.
                created = 0o666 if mode is None else mode | 0o600
                os.close(os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, created))
            except OSError as error:
                error.filename = path
                raise
            yield scratch
            if mode is not None:
                os.chmod(scratch, mode)
            os.replace(scratch, path)
        except BaseException:
            # An interrupt may come at any time, even just before or after the file is made.
            if os.path.exists(scratch):
                os.unlink(scratch)
            raise
