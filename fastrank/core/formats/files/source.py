"""Read a source in pieces into buffers of the caller, without loading all of it."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from _thread import allocate_lock

from fastrank.errors import ReadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

    Source = str | os.PathLike[str] | BinaryIO
    """A file: a path, a URL, or an open binary file. Compressed files are recognized."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# The number of bytes that are read to detect what a file contains.
HEAD = 1 << 16
# How compressed files begin.
MAGICS = {
    "gzip": b"\x1f\x8b\x08",
    "bzip2": b"BZh",
    "xz": b"\xfd7zXZ\0",
    "zstd": b"\x28\xb5\x2f\xfd",
}
# The magic of bzip2 is plain text ("BZh9"), so the marker of its first block is looked for, too.
_BZIP2 = (b"1AY&SY", b"\x17rE8P\x90")
_LONGEST_MAGIC = 10

_PIECE = 1 << 16
_READ = 1 << 20
# Some systems refuse to read 2 GiB or more at once, the others read less.
_AT_ONCE = 1 << 30
# Bytes to read between checks for an interrupt: about a second on a slow disk.
_UNINTERRUPTED = 1 << 26
# Held where reading moves the position of a file.
_MOVING = allocate_lock()


def name_of(source: Source) -> str:
    """The name of a source in messages: a path, or a URL without what may be secret."""
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        if is_url(name):
            from fastrank.core.formats.files.remote import shown

            return shown(name)
        return name
    return str(getattr(source, "name", "<file object>"))


def is_url(source: object) -> bool:
    """Whether this is a URL: a str that begins with `scheme://`, as in `s3://bucket/run.gz`.

    A scheme has at least two letters, so that `C:` is not one.
    """
    if not isinstance(source, str) or "://" not in source:
        return False
    scheme = source.partition("://")[0]
    rest = scheme.translate({ord(mark): "" for mark in "+-."})
    return len(scheme) > 1 and scheme[0].isalpha() and rest.isalnum() and scheme.isascii()


def is_unusual(head: bytes) -> bool:
    """Whether a file that begins so must be read as a whole: a byte order mark, lines without LF.

    Lines that end with a carriage return alone are an error, and a mark is ignored.
    """
    return (
        head.startswith(BYTE_ORDER_MARK)
        or (b"\r" in head and b"\n" not in head)
        or (head.startswith(b"#") and has_bare_return(head.partition(b"\n")[0]))
    )


def has_bare_return(line: bytes) -> bool:
    """Whether a line has a carriage return and something other than blanks behind it."""
    return b"\r" in line.rstrip()


def open_source(source: Source | SourceFile) -> SourceFile:
    """Open a path, a URL, `-` (standard input) or a binary file object, unless it is open.

    gzip, bzip2, xz and zstd are detected from the content. Reading an empty file is an error, as in
    trec_eval. A file object is read from its current position and stays open. Raises ReadError, and
    ImportError if a library for the URL is missing.
    """
    if isinstance(source, SourceFile):
        return source
    if not isinstance(source, (str, os.PathLike)):
        if not hasattr(source, "read"):
            raise TypeError(
                f"expected a file (a path or a binary file object), found {type(source).__name__}"
            )
        return SourceFile(name_of(source), source, may_be_empty=False)
    name = os.fspath(source)
    if is_url(name):
        # Imported late: most files are local.
        from fastrank.core.formats.files.remote import open_url

        return open_url(name)
    with _Reasons(name):
        if name == "-" and not os.path.exists(name):
            return open_stdin()
        file = io.FileIO(name)
        try:
            return SourceFile(name, file, may_be_empty=False, status=os.fstat(file.fileno()))
        except BaseException:
            file.close()
            raise


def open_stdin(*, may_be_empty: bool = False) -> SourceFile:
    """Open standard input, even if a file named `-` exists. Raises ReadError if it is closed."""
    if sys.stdin is None:
        raise ReadError("-", "standard input is closed")
    return SourceFile("-", sys.stdin.buffer, may_be_empty)


def standard_output() -> Any:
    """The stream that bytes for `-` are written to. Raises OSError if it is closed."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")
    return sys.stdout.buffer


class SourceFile:
    """An open source, with readers of its content or of parts of it.

    name: for messages. compression: the kind, or None. rereadable: whether it can be read more than
    once, which is true for regular files opened by path and for URLs. size: the number of bytes of
    such a file if it is not compressed and can be read in parts, else None. Files of unknown
    length, such as those in /proc, count as pipes.
    """

    _head: bytes | None = None

    def __init__(
        self, name: str, file: Any, may_be_empty: bool, status: os.stat_result | None = None
    ) -> None:
        self.name = name
        self._file = file
        self._may_be_empty = may_be_empty
        # Set for a file that was opened by its path and must be closed here.
        self._status = status
        self._regular = status is not None and stat.S_ISREG(status.st_mode)
        self._stream: _Stream | None = None
        self.rereadable = status is not None and self._regular and status.st_size > 0
        if self.rereadable:
            with _Reasons(name):
                magic = bytearray(_LONGEST_MAGIC)
                head = bytes(magic[: _preadv(file.fileno(), [magic], 0)])
        else:
            self._stream = _Stream(name, file, may_be_empty)
            head = self._stream.head()
        self.compression = compression_of(head)
        plain = status is not None and self.rereadable and self.compression is None
        self.size = status.st_size if status is not None and plain else None

    def __enter__(self) -> SourceFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file if it was opened here; its readers stop working."""
        if self._status is not None:
            self._file.close()

    @property
    def path(self) -> str | None:
        """The path of a local file that is not compressed."""
        return self.name if self.size is not None and self._status is not None else None

    def part(self, start: int, stop: int) -> Reader:
        """A reader of these bytes; requires a known `size`.

        Each reader has its own position and may be used in a different thread.
        """
        if self.size is None or not 0 <= start <= stop <= self.size:
            raise ValueError(f"{self.name} has no part from {start} to {stop}")
        return self._part(start, stop)

    def beginning(self) -> bytes:
        """The first bytes of the decompressed content of a rereadable source, read once."""
        if self._head is None:
            buffer = bytearray(HEAD)
            self._head = bytes(buffer[: self.whole().readinto(buffer)])
        return self._head

    def whole(self) -> Reader:
        """A reader of the whole decompressed content; only rereadable sources have a second one."""
        if self.compression is None:
            return self.stored()
        return _Unpacked(self.name, self.compression, self.stored(), self._may_be_empty)

    def stored(self) -> Reader:
        """A reader of the whole content as it is stored, compressed or not; see `whole`."""
        if self._status is not None and self.rereadable:
            size = self._status.st_size
            return _Part(self.name, self._file, 0, size, size)
        if self._stream is None:
            raise ReadError(self.name, "can be read only once")
        stream, self._stream = self._stream, None
        return stream

    def _part(self, start: int, stop: int) -> Reader:
        return _Part(self.name, self._file, start, stop, self.size or 0)

    def read(self) -> bytes:
        """The whole decompressed content. Raises ReadError, also if the file changed meanwhile."""
        if self.size is None:
            content = b"".join(map(bytes, self.whole().pieces(_PIECE)))
        else:
            # Python reads a file of known size without copying.
            with _Reasons(self.name):
                self._file.seek(0)
                content = self._file.readall()
            self._check_size(len(content))
        self.check_unchanged()
        return content

    def check_unchanged(self) -> None:
        """Raise ReadError if the size or time of a regular file changed since it was opened.

        Other sources, and files not opened by path, are not checked.
        """
        if self._status is None or not self._regular:
            return
        with _Reasons(self.name):
            now = os.fstat(self._file.fileno())
        self._check_size(now.st_size)
        if self.rereadable and now.st_mtime_ns != self._status.st_mtime_ns:
            raise ReadError(self.name, "the file changed while it was read")

    def _check_size(self, read_size: int) -> None:
        size = self._status.st_size if self._status is not None else read_size
        if read_size < size:
            raise _shrank(self.name, size, read_size)
        if read_size > size:
            change = f"{size} bytes at the start, {read_size} at the end"
            raise ReadError(self.name, f"the file grew while it was read: {change}")


class Reader:
    """A sequential reader of a source, for one thread at a time: of the `waiting` bytes, and then
    of what `_next` finds.
    """

    def __init__(
        self, name: str, may_be_empty: bool, waiting: bytes | bytearray | memoryview = b""
    ) -> None:
        self._name = name
        self._may_be_empty = may_be_empty
        self._waiting = memoryview(waiting)
        self._ended = False

    def readinto(self, view: memoryview | bytearray) -> int:
        """Fill the view and return the number of bytes, which is smaller only at the end.

        Raises ReadError, also for an empty file unless that is allowed.
        """
        view = memoryview(view)
        filled = 0
        while filled < len(view) and not self._ended:
            count = self._some(view[filled : filled + _AT_ONCE])
            filled += count
            # A terminal could be read on after its end.
            self._ended = not count
        if filled:
            self._may_be_empty = True
        elif self._ended and not self._may_be_empty:
            raise ReadError(self._name, "the file is empty")
        return filled

    def pieces(self, size: int) -> Iterator[memoryview]:
        """The content, in pieces of at most this size; each one overwrites the one before."""
        buffer = memoryview(bytearray(size))
        while count := self.readinto(buffer):
            yield buffer[:count]

    def place(self) -> tuple[int, int, int] | None:
        """File descriptor, position and end if this reads a regular file, else None."""
        return None

    def pass_to(self, position: int) -> None:
        """Continue at this position; what is before has been read elsewhere."""

    def _some(self, view: memoryview) -> int:
        """Read at least one byte into the view; returns the number, 0 at the end."""
        if not self._waiting:
            content = self._next(view)
            if isinstance(content, int):
                return content
            self._waiting = memoryview(content)
        count = min(len(view), len(self._waiting))
        view[:count] = self._waiting[:count]
        self._waiting = self._waiting[count:]
        return count

    def _next(self, _view: memoryview) -> int | bytes | memoryview:
        """Read into the view and return the number of bytes, or return bytes of any number.

        Returns 0 or no bytes at the end.
        """
        return 0


def _read_from(handle: int, views: list[memoryview | bytearray], position: int) -> int:
    """Like `os.preadv`, with one view, where the system does not have it."""
    (view,) = views
    with _MOVING:
        os.lseek(handle, position, os.SEEK_SET)
        content = os.read(handle, len(view))
    view[: len(content)] = content
    return len(content)


_preadv = getattr(os, "preadv", _read_from)


class _Part(Reader):
    """A range of a regular file, read without moving the position of the file."""

    def __init__(self, name: str, file: io.FileIO, start: int, stop: int, size: int) -> None:
        super().__init__(name, may_be_empty=True)
        self._file = file
        self._at = start
        self._stop = stop
        self._size = size

    def _next(self, view: memoryview) -> int:
        if self._at == self._stop:
            return 0
        with _Reasons(self._name):
            handle = self._file.fileno()
            count = _preadv(handle, [view[: self._stop - self._at]], self._at)
            if not count:
                size = min(self._at, os.fstat(handle).st_size)
                raise _shrank(self._name, self._size, size)
        self._at += count
        return count

    def place(self) -> tuple[int, int, int]:
        with _Reasons(self._name):
            return self._file.fileno(), self._at, min(self._stop, self._at + _UNINTERRUPTED)

    def pass_to(self, position: int) -> None:
        self._at = max(self._at, position)


class _Stream(Reader):
    """The rest of a file object."""

    def __init__(self, name: str, file: Any, may_be_empty: bool) -> None:
        super().__init__(name, may_be_empty)
        # Not for subclasses, whose `read` may behave differently.
        if type(file) in (io.FileIO, io.BufferedReader, io.BytesIO):
            self._read = file.readinto
        else:
            self._read = lambda view: file.read(min(len(view), _READ))

    def head(self) -> bytes:
        """The first bytes, enough for a magic number, without consuming them."""
        buffer = memoryview(bytearray(_PIECE))
        filled = 0
        while filled < _LONGEST_MAGIC:
            count = self._some(buffer[filled:])
            filled += count
            if not count:
                break
        # Bytes that read() returned beyond what was asked for may be waiting.
        self._waiting = memoryview(bytes(buffer[:filled]) + self._waiting)
        return bytes(self._waiting[:_LONGEST_MAGIC])

    def _next(self, view: memoryview) -> int | bytes:
        with _Reasons(self._name):
            content = self._read(view)
        if isinstance(content, int):
            return content
        if isinstance(content, (bytes, bytearray, memoryview)):
            return bytes(content)
        reason = f"expected a file that returns bytes, found {type(content).__name__}"
        if isinstance(content, str):
            reason = "expected a binary file, found a text file; open it with 'rb'"
        raise ReadError(self._name, reason)


class _Unpacked(Reader):
    """The decompressed content of another reader."""

    def __init__(self, name: str, compression: str, raw: Reader, may_be_empty: bool) -> None:
        # Imported late: few files are compressed, and each import slows the command down.
        from fastrank.core.formats.files.compression import unpacked

        super().__init__(name, may_be_empty)
        self._pieces = unpacked(compression, raw.readinto, name)
        self._error: ReadError | None = None

    def _next(self, _view: memoryview) -> bytes:
        if self._error is None:
            try:
                return next(self._pieces)
            except ReadError as error:
                # The error is raised again for whoever reads on.
                self._error = error
        raise self._error


class _Reasons:
    """A context manager that turns errors of reading into ReadError."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, OSError):
            raise ReadError(self._name, (error.strerror or str(error)).lower()) from error
        # A path with a NUL byte, or a closed file object.
        if isinstance(error, ValueError) and not isinstance(error, ReadError):
            raise ReadError(self._name, str(error)) from error


def compression_of(head: bytes) -> str | None:
    """The kind of compression of a file that begins so, or None."""
    for kind, magic in MAGICS.items():
        if head.startswith(magic) and (kind != "bzip2" or head[4:10] in _BZIP2):
            return kind
    return None


def _shrank(name: str, size: int, count: int) -> ReadError:
    only = f"{size} bytes at the start, only {count} found"
    return ReadError(name, f"the file shrank while it was read: {only}")


def read_all(source: Source) -> bytes:
    """The whole content of a path or URL, of `-` (standard input) or of a binary file object.

    gzip, bzip2, xz and zstd are detected from the content and decompressed. An empty file is an
    error, as in trec_eval. Raises ReadError.
    """
    with open_source(source) as file:
        return file.read()


def byte_lines(source: Source | SourceFile) -> Iterator[bytes]:
    """The lines of a file, compressed or not, without their newlines. Raises ReadError."""
    with open_source(source) as file:
        rest = b""
        for piece in file.whole().pieces(_READ):
            # The last one is the beginning of a line, which may span several pieces.
            *lines, last = bytes(piece).split(b"\n")
            if lines:
                lines[0] = rest + lines[0]
                rest = b""
            rest += last
            yield from lines
        if rest:
            yield rest
        file.check_unchanged()
