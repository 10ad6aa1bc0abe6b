"""Write files atomically, and to URLs, pipes, devices and file objects."""

from __future__ import annotations

import contextlib
import errno
import os
import sys

from fastrank.formats.source import is_url
from fastrank.formats.source import name_of as name_of
from fastrank.formats.unfinished import removed_by_signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fastrank.formats.source import Source as Source


def write(target: Source, pieces: Iterable[bytes]) -> None:
    """Write to a path, to a URL, to `-` (standard output) or to a binary file object.

    Files are written atomically, by renaming a temporary file in the same folder: on failure the
    old content stays. Devices, pipes and sockets are written to directly. Raises OSError, and
    ImportError if a library for the URL is missing.
    """
    if not isinstance(target, (str, os.PathLike)):
        for piece in pieces:
            target.write(piece)
        return
    if os.fspath(target) == "-":
        sys.stdout.buffer.writelines(pieces)
        return
    path = local(target)
    if not is_url(path) and os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as device:
            device.writelines(pieces)
        return

    def fill(scratch: str) -> None:
        with open(scratch, "wb") as file:
            file.writelines(pieces)

    replace(path, fill)


def check_target(target: Source) -> None:
    """Raise OSError, or ImportError, early for a path or URL that `write` could not write."""
    if not isinstance(target, (str, os.PathLike)) or os.fspath(target) == "-":
        return
    path = local(target)
    if is_url(path):
        from fastrank.formats.remote.uploads import check_url

        check_url(path)
        return
    path = os.path.realpath(path)
    problem = 0
    if os.path.isdir(path):
        problem = errno.EISDIR
    elif not os.path.exists(path) and not os.path.isdir(os.path.dirname(path)):
        problem = errno.ENOENT
    if problem:
        raise OSError(problem, os.strerror(problem), path)


def local(path: str | os.PathLike[str]) -> str:
    """The path of a file:// URL; other paths and URLs unchanged. Raises OSError for other hosts."""
    name = os.fspath(path)
    if not is_url(name):
        return name
    from fastrank.formats.remote.urls import local_path, shown

    try:
        return local_path(name) or name
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error), shown(name)) from None


@contextlib.contextmanager
def local_copy(path: str) -> Iterator[str]:
    """The path of a local file with the content of a path or URL.

    The content of a URL is in a temporary file, which is deleted at the end. Raises OSError and
    ReadError.
    """
    name = local(path)
    if not is_url(name):
        yield name
        return
    from fastrank.formats.remote.downloads import downloaded

    with downloaded(name) as copy:
        yield copy


def replace(target: str, fill: Callable[[str], None]) -> None:
    """Fill a temporary file in the same folder, then rename it to the target; or leave nothing.

    It is readable only by those who could read the file that it replaces. For a URL, the temporary
    file is uploaded.
    """
    path = local(target)
    if is_url(path):
        from fastrank.formats.remote.uploads import upload

        upload(path, fill)
        return
    path = os.path.realpath(path)
    folder, name = os.path.split(path)
    scratch = os.path.join(folder, f".fastrank-{os.getpid()}-{os.urandom(6).hex()}")
    # Without setuid and the like, which were granted to the old content.
    mode = os.stat(path).st_mode & 0o777 if name and os.path.exists(path) else None
    with removed_by_signals(scratch):
        try:
            try:
                # The umask applies as to any other file. `fill` opens it by name.
                created = 0o666 if mode is None else mode | 0o600
                os.close(os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, created))
            except OSError as error:
                error.filename = path
                raise
            fill(scratch)
            if mode is not None:
                os.chmod(scratch, mode)
            os.replace(scratch, path)
        except BaseException:
            # An interrupt may come at any time, even just before or after the file is made.
            if os.path.exists(scratch):
                os.unlink(scratch)
            raise
