"""Files in object stores and on web servers, read like local ones; imported only for URLs."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import tempfile
import threading
from collections import deque

from fastrank.errors import ReadError
from fastrank.formats.files import removed_by_signals
from fastrank.formats.source import Reader, SourceFile, compression_of, open_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# The bytes of a request: large enough that their transfer takes longer than the latency of a store.
BLOCK = 4 << 20
# Blocks that threads fetch ahead of the one that is read.
AHEAD = 4

# What may follow a scheme in running text.
_IN_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://[^\s'\"<>]+")
WEB = ("http", "https")


def scheme_of(url: str) -> str:
    """The scheme in lower case."""
    return url.partition("://")[0].lower()


def shown(url: str) -> str:
    """The URL without user, password, query and fragment, which may be secret."""
    parts = []
    for part in url.split("::"):
        scheme, found, rest = part.partition("://")
        rest = rest.partition("?")[0]
        if scheme.lower() in WEB:
            rest = rest.partition("#")[0]
        authority, slash, path = rest.partition("/")
        parts.append(scheme + found + authority.rpartition("@")[2] + slash + path)
    return "::".join(parts)


def redacted(text: str) -> str:
    """The text with the secret parts of all URLs removed."""
    return _IN_TEXT.sub(lambda found: shown(found[0]), text)


def with_suffix(url: str, suffix: str) -> str:
    """The URL of the file whose path is longer by a suffix."""
    path, mark, query = url.partition("?")
    return path + suffix + mark + query


def local_path(url: str) -> str | None:
    """The path of a file:// URL, None for other URLs. Raises OSError for another host."""
    if scheme_of(url) != "file":
        return None
    from urllib.parse import unquote

    host, slash, path = url.partition("://")[2].partition("/")
    if host not in ("", "localhost"):
        reason = f"expected file:///PATH, found the host {host!r}"
        raise OSError(errno.EINVAL, reason, shown(url))
    return os.fsdecode(unquote(slash + path).encode("utf-8", "surrogateescape"))


def missing_file(name: str, detail: str = "") -> ReadError:
    """The error for a file that does not exist."""
    reason = "no such file or directory"
    return MissingFileError(name, f"{reason} ({detail})" if detail else reason)


def reason_of(error: BaseException) -> str:
    """What went wrong, on one line and without secrets."""
    import http.client
    import urllib.error

    inner = getattr(error, "reason", None)
    if isinstance(inner, BaseException):
        return reason_of(inner)
    if isinstance(error, urllib.error.URLError) and inner:
        return redacted(str(inner))
    if isinstance(error, TimeoutError):
        return "timed out waiting for data from the server"
    if isinstance(error, http.client.IncompleteRead):
        return "the connection broke before the end of the file"
    if isinstance(error, PermissionError):
        return "permission denied; check the credentials"
    if isinstance(error, FileNotFoundError):
        return "no such file or directory"
    if isinstance(error, OSError) and error.strerror:
        return redacted(error.strerror.lower())
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # Hugging Face's first line is the status, and the second what is missing.
    return redacted(" ".join(lines[:2])) if lines else type(error).__name__


class MissingFileError(ReadError):
    """A remote file does not exist."""


def open_url(url: str) -> SourceFile:
    """Open the file at a URL: with Python's HTTP client, or with fsspec.

    Raises ReadError, and ImportError for a library that is missing.
    """
    name = shown(url)
    try:
        path = local_path(url)
    except OSError as error:
        raise ReadError(name, str(error.strerror)) from None
    if path is not None:
        return open_source(path)
    if scheme_of(url) in WEB:
        from fastrank.formats.web import WebFile

        return WebFile(url, name)
    from fastrank.formats.object_stores import StoredFile

    return StoredFile(url, name)


class RemoteFile(SourceFile):
    """A file in a store: see SourceFile. All methods raise ReadError.

    stored_size: in bytes, None if the store does not provide ranges or the size; then each reader
    requests the whole file. head: the first block, or, without a size, the first bytes, enough to
    detect the format.
    """

    path = None

    def __init__(self, url: str, name: str) -> None:
        self.name, self.rereadable, self._may_be_empty = name, True, False
        self.stored_size, self.head = self._open(url)
        self.compression = compression_of(self.head)
        # An empty file has no parts, so that reading it is an error.
        self.size = None if self.compression else self.stored_size or None

    def _open(self, url: str) -> tuple[int | None, bytes]:
        """Begin to read; the size as it is stored, and the head."""
        raise NotImplementedError

    def fetch(self, start: int, view: memoryview) -> None:
        """Fill the view with the bytes from `start` on; only with a size, in any thread."""
        raise NotImplementedError

    def after_head(self) -> Callable[[memoryview], int | bytes]:
        """Begin to read what follows the head; returns `Reader._next`."""
        raise NotImplementedError

    def read(self) -> bytes:
        """The whole decompressed content."""
        if self.size is None:
            return super().read()
        # Its memory becomes the result without a copy.
        buffer = io.BytesIO()
        buffer.seek(self.size - 1)
        buffer.write(b"\0")
        with buffer.getbuffer() as view:
            self.part(0, self.size).readinto(view)
        self.check_unchanged()
        return buffer.getvalue()

    def _part(self, start: int, stop: int) -> Reader:
        return _Range(self, start, stop)

    def stored(self) -> Reader:
        """A reader of the whole content as it is stored."""
        return _Whole(self) if self.stored_size is None else _Range(self, 0, self.stored_size)


class _Range(Reader):
    """A range of a remote file, of which threads fetch the next blocks while one is read."""

    def __init__(self, file: RemoteFile, start: int, stop: int) -> None:
        head = memoryview(file.head)[start:stop]
        super().__init__(file.name, may_be_empty=stop > 0, waiting=head)
        self._file, self._stop = file, stop
        self._next_at = start + len(head)
        self._blocks: deque[_Block] = deque()
        # New memory for each block would take as long as a fast network.
        self._spare: list[bytearray] = []

    def _next(self, _view: memoryview) -> memoryview:
        while len(self._blocks) <= AHEAD and self._next_at < self._stop:
            memory = self._spare.pop() if self._spare else bytearray(BLOCK)
            size = min(BLOCK, self._stop - self._next_at)
            self._blocks.append(_Block(self._file, self._next_at, memory, size))
            self._next_at += size
            self._blocks[-1].start()
        if not self._blocks:
            return memoryview(b"")
        block = self._blocks.popleft()
        block.join()
        if block.error is not None:
            # A later attempt may succeed.
            self._next_at = block.start_at
            self._blocks.clear()
            raise block.error
        self._spare.append(block.memory)
        return block.content


class _Block(threading.Thread):
    """A thread that fetches some bytes of a file; `error` is why it could not.

    A daemon, so that a slow server does not keep an interrupted program running.
    """

    def __init__(self, file: RemoteFile, start_at: int, memory: bytearray, size: int) -> None:
        super().__init__(daemon=True)
        self._file, self.start_at = file, start_at
        self.memory, self.content = memory, memoryview(memory)[:size]
        self.error: BaseException | None = None

    def run(self) -> None:
        """Fetch the bytes."""
        try:
            self._file.fetch(self.start_at, self.content)
        except BaseException as error:
            self.error = error


class _Whole(Reader):
    """A remote file from its beginning, requested only when more than its head is needed."""

    def __init__(self, file: RemoteFile) -> None:
        super().__init__(file.name, may_be_empty=False, waiting=file.head)
        self._file = file
        self._rest: Callable[[memoryview], int | bytes] | None = None

    def _next(self, view: memoryview) -> int | bytes:
        if self._rest is None:
            self._rest = self._file.after_head()
        return self._rest(view)


@contextlib.contextmanager
def temporary_file() -> Iterator[str]:
    """The path of an empty file, which is deleted at the end."""
    handle, path = tempfile.mkstemp(prefix="fastrank-")
    os.close(handle)
    with removed_by_signals(path):
        try:
            yield path
        finally:
            os.unlink(path)
