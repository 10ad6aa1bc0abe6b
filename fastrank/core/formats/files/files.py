"""Write files atomically, and to URLs, pipes, devices and file objects."""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack, contextmanager

from fastrank.core.formats.files.source import is_url, open_source, standard_output
from fastrank.core.formats.files.source import name_of as name_of
from fastrank.core.formats.files.unfinished import removed_by_signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fastrank.core.formats.files.source import Source as Source


def write(target: Source, pieces: Iterable[bytes]) -> None:
    """Write to a path, to a URL, to `-` (standard output) or to a binary file object.

    Files are written atomically, by renaming a temporary file in the same folder: on failure the
    old content stays. Devices, pipes and sockets are written to directly. What is written to a URL
    is first stored in a temporary file. Raises OSError, and ImportError if a library is missing.
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
                    standard_output().writelines(pieces)
                    continue
                path = local(target)
                is_file = is_url(path) or not os.path.exists(path) or os.path.isfile(path)
                opened = renamed_at_the_end.enter_context(replacing(path)) if is_file else path
                with open(opened, "wb") as file:
                    file.writelines(pieces)
            except OSError as error:
                error.filename = error.filename or name_of(target)
                raise


def write_compressed(target: Source, pieces: Iterable[bytes]) -> None:
    """Write as `write` does, compressed if the name ends in .gz, .bz2, .xz or .zst."""
    # Imported here because what is written by the trec_eval command is not compressed.
    from fastrank.core.formats.files.compression import compressed

    write(target, compressed(pieces, name_of(target)))


def check_target(target: Source) -> None:
    """Raise OSError or ImportError early for a path or URL that `write` could not write."""
    if not isinstance(target, (str, os.PathLike)) or os.fspath(target) == "-":
        return
    path = local(target)
    if is_url(path):
        from fastrank.core.formats.files.remote import open_to_write

        open_to_write(path)
        return
    path = _without_link(path)
    problem = 0
    if os.path.isdir(path):
        problem = errno.EISDIR
    elif not path or (not os.path.exists(path) and not os.path.isdir(os.path.dirname(path) or ".")):
        problem = errno.ENOENT
    if problem:
        raise OSError(problem, os.strerror(problem), path)


def _without_link(path: str) -> str:
    """The path that a symbolic link leads to.

    Other paths are unchanged: the absolute path may be too long for the system where the relative
    one is not.
    """
    return os.path.realpath(path) if os.path.islink(path) else path


def local(path: str | os.PathLike[str]) -> str:
    """The path of a file:// URL; other paths and URLs unchanged. Raises OSError for other hosts."""
    name = os.fspath(path)
    if not is_url(name):
        return name
    from fastrank.core.formats.files.remote import local_path

    return local_path(name) or name


@contextmanager
def local_copy(path: str | os.PathLike[str]) -> Iterator[str]:
    """The path of a local file with the content of a path or URL.

    The content of a URL is in a temporary file, which is deleted at the end. Raises OSError and
    ReadError.
    """
    name = local(path)
    if not is_url(name):
        yield name
        return
    from fastrank.core.formats.files.remote import BLOCK, temporary_file

    with temporary_file() as copy:
        with open_source(name) as source, open(copy, "wb") as file:
            file.writelines(source.stored().pieces(BLOCK))
            source.check_unchanged()
        yield copy


def exists(path: str) -> bool:
    """Whether there is a file at a path or URL. Raises ReadError if that cannot be known."""
    name = local(path)
    if not is_url(name):
        return os.path.exists(name)
    from fastrank.core.formats.files.remote import MissingFileError

    try:
        open_source(name).close()
    except MissingFileError:
        return False
    return True


@contextmanager
def replacing(target: str) -> Iterator[str]:
    """A temporary file in the same folder, which is renamed to the path at the end of the block.

    It is removed if the block raises. It is readable only by those who could read the file that it
    replaces. For a URL, it is uploaded at the end of the block.
    """
    path = local(target)
    if is_url(path):
        from fastrank.core.formats.files.remote import uploading

        with uploading(path) as scratch:
            yield scratch
        return
    path = _without_link(path)
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
            try:
                if mode is not None:
                    os.chmod(scratch, mode)
                os.replace(scratch, path)
            except OSError as error:
                error.filename = path
                raise
        except BaseException:
            # An interrupt may come at any time, even just before or after the file is made.
            if os.path.exists(scratch):
                os.unlink(scratch)
            raise
