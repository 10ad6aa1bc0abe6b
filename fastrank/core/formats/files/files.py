"""Write files atomically, and to URLs, pipes, devices and file objects."""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack, contextmanager

from fastrank.core.formats.files.source import is_url, open_source, standard_output
from fastrank.core.formats.files.source import name_of as name_of
from fastrank.core.formats.files.unfinished import removed_at_the_end, signals_held

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from fastrank.core.formats.files.source import Source as Source


def write(target: Source, pieces: Iterable[bytes]) -> None:
    """Write to a path, to a URL, to `-` (standard output) or to a binary file object.

    Files are written atomically, by renaming a temporary file in the same folder: on failure the
    old content stays. Devices, pipes and sockets are written to directly. What is written to a URL
    is first stored in a temporary file. Raises OSError, and ImportError if a library is missing.
    """
    _write([(target, pieces)])


def write_all(outputs: Iterable[tuple[Source, Iterable[bytes]]]) -> None:
    """Write several files as `write_compressed` does, all or none of them: see `replacing`.

    The attribute `filename` of an OSError names the file.
    """
    # Imported here because what is written by the trec_eval command is not compressed.
    from fastrank.core.formats.files.compression import compressed

    _write((target, compressed(pieces, name_of(target))) for target, pieces in outputs)


def _write(outputs: Iterable[tuple[Source, Iterable[bytes]]]) -> None:
    with replacing() as temporary:
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
                with open(temporary(path) if is_file else path, "wb") as file:
                    file.writelines(pieces)
            except OSError as error:
                error.filename = error.filename or name_of(target)
                raise


def write_compressed(target: Source, pieces: Iterable[bytes]) -> None:
    """Write as `write` does, compressed if the name ends in .gz, .bz2, .xz or .zst."""
    write_all([(target, pieces)])


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
def replacing() -> Iterator[Callable[[str], str]]:
    """A maker of temporary files for paths; each file replaces its path at the end of the block.

    They are removed if the block raises, and renamed in the order in which they were made; if one
    cannot be, those before it go back. Only a process that is killed leaves some old and some new.
    A temporary file is in the same folder, and readable only by those who could read the file that
    it replaces. Those of URLs are uploaded before others are renamed, and do not go back.
    """
    uploads: list[Callable[[], None]] = []
    renames: list[tuple[str, str]] = []
    with ExitStack() as stack:

        def temporary(target: str) -> str:
            path = local(target)
            if is_url(path):
                from fastrank.core.formats.files.remote import open_to_write, temporary_file, upload

                open_to_write(path)
                scratch = stack.enter_context(temporary_file())
                uploads.append(lambda: upload(scratch, path))
                return scratch
            path = _without_link(path)
            mode = _mode_of(path)
            scratch = stack.enter_context(_beside(path))
            with _naming(path):
                # The umask applies as to any other file. The block opens it by name.
                created = 0o666 if mode is None else mode | 0o600
                os.close(os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, created))
            renames.append((scratch, path))
            return scratch

        yield temporary
        for finish in uploads:
            finish()
        _rename(renames, stack)


def _rename(renames: list[tuple[str, str]], stack: ExitStack) -> None:
    """Rename files; if one cannot be, those before it go back."""
    with signals_held(), ExitStack() as undo:
        for scratch, path in renames:
            with _naming(path):
                mode, before = _mode_of(path), ""
                if mode is not None:
                    os.chmod(scratch, mode)
                    if scratch != renames[-1][0]:
                        before = stack.enter_context(_beside(path))
                        _link(path, before)
                os.replace(scratch, path)
            undo.callback(os.replace, before, path) if before else undo.callback(os.unlink, path)
        undo.pop_all()


def _link(path: str, name: str) -> None:
    """Give a file a second name; a copy where that is not possible, as for the path of a mount."""
    try:
        os.link(path, name)
    except OSError:
        import shutil

        shutil.copy2(path, name)


def _mode_of(path: str) -> int | None:
    """The permissions of a file, without setuid and the like, which its old content was granted."""
    return os.stat(path).st_mode & 0o777 if os.path.exists(path) else None


def _beside(path: str) -> AbstractContextManager[str]:
    """A path in the same folder, at which there is nothing after the block."""
    scratch = f".fastrank-{os.getpid()}-{os.urandom(6).hex()}"
    return removed_at_the_end(os.path.join(os.path.dirname(path), scratch))


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Errors name this path, not that of the temporary file."""
    try:
        yield
    except OSError as error:
        error.filename = path
        raise
