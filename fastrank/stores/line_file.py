"""Files of lines that several processes append to at the same time."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import contextmanager

from fastrank.errors import ReadError
from fastrank.formats.source import is_url, name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# The number of bytes to read at once.
PIECE = 1 << 24
# What file systems without locks report.
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


class LineFile:
    """A file of lines that any number of processes read and append to.

    Lines are appended whole, by one write to the end of the file while it is locked. A process that
    is killed leaves at most one unfinished line, at the end.
    """

    def __init__(self, path: str, *, append: bool) -> None:
        """Open a file. Raises ReadError.

        append: create the file if it does not exist; otherwise the file is only read.
        """
        self.path, self._shared = path, not append
        # The end of the last line that was read, and the number of lines up to there.
        self.end, self.lines = 0, 0
        if is_url(path):
            reason = "expected a local file, to which several processes may append"
            raise ReadError(name_of(path), reason)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT if append else os.O_RDONLY
        try:
            # Opening a pipe would wait for its other end.
            self._file = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
            mode = os.fstat(self._file).st_mode
        except OSError as error:
            raise unreadable(path, error) from error
        if not stat.S_ISREG(mode):
            self.close()
            raise ReadError(path, "is a directory" if stat.S_ISDIR(mode) else "not a regular file")

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def new_lines(self) -> Iterator[tuple[int, bytes]]:
        """The whole lines after those that were read, each with its offset. Raises ReadError."""
        try:
            if os.fstat(self._file).st_size <= self.end:
                return
            kept, at = b"", self.end
            while piece := os.pread(self._file, PIECE, at):
                at += len(piece)
                *whole, kept = (kept + piece).split(b"\n")
                for line in whole:
                    offset = self.end
                    self.end += len(line) + 1
                    self.lines += 1
                    yield offset, line
        except OSError as error:
            raise unreadable(self.path, error) from error

    def line_at(self, offset: int, length: int) -> bytes:
        """A line that was read before. Raises ReadError."""
        try:
            return os.pread(self._file, length, offset)
        except OSError as error:
            raise unreadable(self.path, error) from error

    def rest(self) -> bytes:
        """The beginning of what follows the lines that were read: an unfinished line, or none."""
        return self.line_at(self.end, 1 << 10)

    def append(self, lines: Callable[[], bytes]) -> None:
        """Append lines. Raises OSError, and then leaves the file as it was.

        lines: makes them, while no other process can append. They replace an unfinished line of
        a process that was killed.
        """
        with self.locked() as alone:
            content = lines()
            if alone:
                self.remove_rest()
            elif self.rest():
                content = b"\n" + content
            old = os.fstat(self._file).st_size
            try:
                while content:
                    content = content[os.write(self._file, content) :]
            except BaseException:
                if alone:
                    os.ftruncate(self._file, old)
                raise

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """Keep other processes from appending; False on file systems without locks."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_SH if self._shared else fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            yield False
            return
        try:
            yield True
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def remove_rest(self) -> None:
        """Remove an unfinished line from the end of the file, which must be locked."""
        added = os.pread(self._file, os.fstat(self._file).st_size - self.end, self.end)
        if not added.endswith(b"\n"):
            os.ftruncate(self._file, self.end + added.rfind(b"\n") + 1)


def unreadable(path: str, error: OSError) -> ReadError:
    """The error for a file that cannot be read."""
    return ReadError(path, (error.strerror or str(error)).lower())
