"""Files in the stores that fsspec knows, and on web servers."""

from __future__ import annotations

import contextlib
import errno
import http
import os
import threading
from collections import deque
from contextlib import contextmanager
from functools import cache
from urllib.parse import quote

from fastrank.errors import ReadError
from fastrank.formats.remote import WEB, missing_file, reason_of, scheme_of, shown, temporary_file
from fastrank.formats.source import HEAD, Reader, SourceFile, compression_of
from fastrank.lazy import missing, optional

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

# The bytes of a request: large enough that their transfer takes longer than the latency of a store.
BLOCK = 4 << 20
# Blocks that threads fetch ahead of the one that is read.
AHEAD = 4
# Seconds without data before a request to a web server fails.
TIMEOUT = 20.0
# What marks a version of a file, in the stores that provide it, and on web servers.
_VERSION = (
    "size",
    "ETag",
    "etag",
    "LastModified",
    "last_modified",
    "mtime",
    "created",
    "updated",
    "generation",
    "blob_id",
)
_WEB_VERSION = ("ETag", "Last-Modified", "Content-Length")


class StoredFile(SourceFile):
    """A file in a store of fsspec, or on a web server: see SourceFile. All methods raise ReadError.

    A file on a web server or in an archive is a stream: each reader requests all of it. Others are
    requested in blocks.
    """

    path = None

    def __init__(self, url: str, name: str) -> None:
        self.name, self.rereadable, self._may_be_empty = name, True, False
        self._store, self._path = open_store(url, name)
        self._is_web = scheme_of(url) in WEB
        self._streams: list[Any] = []
        # The stream whose beginning is the head.
        self._waiting: Any = None
        # In bytes, None for a stream.
        self._stored_size: int | None = None
        self._version: list[Any] | None = None
        if not self._is_web:
            with _errors(name):
                self._info = self._store.info(self._path)
                if self._info["type"] == "directory":
                    raise ReadError(name, "is a directory")
            if not _is_archive(self._store):
                self._stored_size = self._info.get("size")
        # The first block, or the first bytes of a stream, enough to detect the format.
        if self._stored_size is None:
            self._waiting = self._opened()
            try:
                self.head = self._first_of(self._waiting, HEAD)
            except BaseException:
                self.close()
                raise
        else:
            # A file object would read more than it is asked for.
            self._options = {} if self._store.async_impl else {"cache_type": "none"}
            self.head = self.fetch(0, min(self._stored_size, BLOCK))
        self.compression = compression_of(self.head)
        # An empty file has no parts, so that reading it is an error.
        self.size = None if self.compression else self._stored_size or None

    def fetch(self, start: int, size: int) -> bytes:
        """The bytes from `start` on; only with a size, in any thread."""
        if not size:
            return b""
        with _errors(self.name):
            found: bytes = self._store.cat_file(
                self._path, start=start, end=start + size, **self._options
            )
        if len(found) != size:
            reason = f"found {len(found)} of {size} bytes at {start}"
            raise ReadError(self.name, f"{reason}: the file changed while it was read")
        return found

    def after_head(self) -> Callable[[int], bytes]:
        """Begin to read what follows the head, a number of bytes or fewer at a time."""
        file, self._waiting = self._waiting, None
        if file is None:
            file = self._opened()
            self._first_of(file, len(self.head))

        def read(size: int) -> bytes:
            with _errors(self.name):
                found: bytes = file.read(size)
            return found

        return read

    def read(self) -> bytes:
        """The whole decompressed content."""
        if self.size is None:
            return super().read()
        content = b"".join(map(bytes, self.part(0, self.size).pieces(BLOCK)))
        self.check_unchanged()
        return content

    def check_unchanged(self) -> None:
        """Raise ReadError if the file changed since it was opened."""
        # Web servers tell the version with each answer, and one request has fetched a small file.
        if self._is_web or (self._stored_size is not None and self._stored_size <= BLOCK):
            return
        with _errors(self.name):
            self._store.invalidate_cache(self._store._parent(self._path))
            now = self._store.info(self._path)
        if any(now.get(key) != self._info.get(key) for key in _VERSION):
            raise ReadError(self.name, "the file changed while it was read")

    def close(self) -> None:
        """Close the files that are open."""
        for file in self._streams:
            file.close()

    def _part(self, start: int, stop: int) -> Reader:
        return _Range(self, start, stop)

    def stored(self) -> Reader:
        """A reader of the whole content as it is stored."""
        return _Whole(self) if self._stored_size is None else _Range(self, 0, self._stored_size)

    def _opened(self) -> Any:
        # A stream of a web server has no blocks; with a size, fsspec does not ask for it.
        options = {"block_size": 0, "size": 1} if self._is_web else {}
        with _errors(self.name):
            file = self._store.open(self._path, "rb", **options)
        self._streams.append(file)
        if self._is_web:
            if file.r.status != 200:
                self.close()
                raise ReadError(self.name, _status(file.r.status))
            version = [file.r.headers.get(key) for key in _WEB_VERSION]
            if self._version not in (None, version):
                self.close()
                raise ReadError(self.name, "the file changed while it was read")
            self._version = version
        return file

    def _first_of(self, file: Any, size: int) -> bytes:
        """As many bytes, or all of a shorter file."""
        head = b""
        with _errors(self.name):
            while len(head) < size and (found := file.read(size - len(head))):
                head += found
        return head


class _Whole(Reader):
    """A stream from its beginning, requested only when more than its head is needed."""

    def __init__(self, file: StoredFile) -> None:
        super().__init__(file.name, may_be_empty=False, waiting=file.head)
        self._file = file
        self._rest: Callable[[int], bytes] | None = None

    def _next(self, view: memoryview) -> bytes:
        if self._rest is None:
            self._rest = self._file.after_head()
        return self._rest(min(len(view), BLOCK))


class _Range(Reader):
    """A range of a file in a store, of which threads fetch the next blocks while one is read."""

    def __init__(self, file: StoredFile, start: int, stop: int) -> None:
        head = memoryview(file.head)[start:stop]
        super().__init__(file.name, may_be_empty=stop > 0, waiting=head)
        self._file, self._stop = file, stop
        self._next_at = start + len(head)
        self._blocks: deque[_Block] = deque()

    def _next(self, _view: memoryview) -> bytes:
        while len(self._blocks) <= AHEAD and self._next_at < self._stop:
            self._blocks.append(_Block(self._file, self._next_at, self._stop))
            self._next_at += self._blocks[-1].size
            self._blocks[-1].start()
        if not self._blocks:
            return b""
        block = self._blocks.popleft()
        block.join()
        if block.error is not None:
            # A later attempt may succeed.
            self._next_at = block.start_at
            self._blocks.clear()
            raise block.error
        return block.content


class _Block(threading.Thread):
    """A thread that fetches the next bytes of a file; `error` is why it could not.

    A daemon, so that a slow server does not keep an interrupted program running.
    """

    def __init__(self, file: StoredFile, start_at: int, stop: int) -> None:
        super().__init__(daemon=True)
        self._file, self.start_at, self.size = file, start_at, min(BLOCK, stop - start_at)
        self.content = b""
        self.error: BaseException | None = None

    def run(self) -> None:
        """Fetch the bytes."""
        try:
            self.content = self._file.fetch(self.start_at, self.size)
        except BaseException as error:
            self.error = error


def open_store(url: str, name: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it.

    Raises ReadError, and ImportError if fsspec or the package of the store is missing.
    """
    fsspec = optional("fsspec", name, "remote")
    if scheme_of(url) == "data":
        raise ReadError(name, "a data URL is no file; expected a path or the URL of a file")
    try:
        if scheme_of(url) in WEB:
            # The server may need an URL as it is, such as a signed one.
            path = quote(url, safe="%/:=&?~#+!$,;'@()*[]")
            _reset_in_forks()
            return fsspec.filesystem(scheme_of(url), **_web_options()), path
        return fsspec.core.url_to_fs(url)  # type: ignore[no-any-return]
    except ImportError as error:
        raise _missing_package(url, name, error) from None
    except Exception as error:
        if scheme_of(url) not in fsspec.available_protocols():
            known = "file, http, https, s3, gs, hf and others of fsspec"
            reason = f"unknown protocol {scheme_of(url)!r}; expected one of {known}"
            raise ReadError(name, reason) from None
        raise _failure(name, error) from None


@cache
def _reset_in_forks() -> None:
    """Let fsspec start a thread in a forked process, which lacks that of its parent.

    Newer versions do that themselves; 2025.3 waits for the missing one forever.
    """
    from fsspec import asyn

    os.register_at_fork(after_in_child=asyn.reset_lock)


def _web_options() -> dict[str, Any]:
    """Options of fsspec to read a file as it is stored, however long that takes."""
    from aiohttp import ClientTimeout

    timeout = ClientTimeout(total=None, sock_connect=TIMEOUT, sock_read=TIMEOUT)
    client = {
        "headers": {"User-Agent": "fastrank", "Accept-Encoding": "identity"},
        "timeout": timeout,
        "read_bufsize": BLOCK,
        "auto_decompress": False,
        "trust_env": True,
        # fsspec would not close the answer.
        "raise_for_status": True,
    }
    return {"encoded": True, "client_kwargs": client}


def _missing_package(url: str, name: str, error: ImportError) -> ImportError:
    if scheme_of(url) in WEB:
        return missing("aiohttp", name, "remote")
    cause = error.__cause__
    if not isinstance(cause, ModuleNotFoundError) or not cause.name:
        return ImportError(f"{name}: {reason_of(error)}")
    package = cause.name.partition(".")[0]
    return ImportError(
        f"{name}: {scheme_of(url)}:// needs {package}: pip install {package}", name=package
    )


def _is_archive(store: Any) -> bool:
    from fsspec.archive import AbstractArchiveFileSystem

    return isinstance(store, AbstractArchiveFileSystem)


def _failure(name: str, error: Exception) -> ReadError:
    # aiohttp is needed only for web servers.
    status = getattr(error, "status", None)
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if isinstance(status, int) and "ClientResponseError" in kinds:
        return missing_file(name) if status == 404 else ReadError(name, _status(status))
    if kinds & {"ClientPayloadError", "ServerDisconnectedError", "ClientConnectionResetError"}:
        return ReadError(name, "the connection broke before the end of the file")
    number = getattr(error, "errno", None)
    if "ClientConnectorError" in kinds and number and number > 0:
        return ReadError(name, os.strerror(number).lower())
    if "InvalidURL" in kinds:
        return ReadError(name, "invalid URL")
    reason = reason_of(error)
    if isinstance(error, (AttributeError, LookupError, TypeError, ValueError)):
        # Such as those of a store that did not expect the URL.
        reason = f"fsspec cannot read this URL ({type(error).__name__}: {reason})"
    return ReadError(name, reason)


def _status(status: int) -> str:
    known = f" ({http.HTTPStatus(status).phrase})" if status in set(http.HTTPStatus) else ""
    reason = f"HTTP status {status}{known}"
    if 300 <= status < 400:
        return f"{reason}: the redirection cannot be followed"
    return f"{reason}; check the credentials" if status in (401, 403) else reason


@contextmanager
def _errors(name: str) -> Iterator[None]:
    """Turn all errors of a store into ReadError."""
    try:
        yield
    except ReadError:
        raise
    except FileNotFoundError:
        raise missing_file(name) from None
    except Exception as error:
        # Each store has its own exceptions, for missing credentials for example.
        raise _failure(name, error) from None


# Object stores, where a file appears when its upload is complete, and renaming would copy it.
ATOMIC = ("s3", "s3a", "gs", "gcs", "hf", "abfs", "abfss", "az", "oci", "oss")


@contextlib.contextmanager
def uploading(url: str) -> Iterator[str]:
    """The path of a temporary local file, which is uploaded at the end of the block.

    If anything fails, the old content stays. Stores other than object stores get the file under a
    temporary name, which is then renamed. Raises OSError, and ImportError if a library is missing.
    """
    store, path = open_to_write(url)
    with temporary_file() as scratch:
        yield scratch
        try:
            if scheme_of(url) in ATOMIC:
                store.put_file(scratch, path)
            else:
                _put_and_rename(store, scratch, path)
        except Exception as error:
            raise OSError(errno.EIO, reason_of(error), shown(url)) from None


def _put_and_rename(store: Any, scratch: str, path: str) -> None:
    folder, slash, _ = path.rpartition("/")
    hidden = f"{folder}{slash}.fastrank-{os.urandom(6).hex()}"
    try:
        store.put_file(scratch, hidden)
        store.mv(hidden, path)
    except BaseException:
        # What made the upload fail is reported, not that this fails too.
        with contextlib.suppress(Exception):
            store.rm_file(hidden)
        raise


def open_to_write(url: str) -> tuple[Any, str]:
    """The store of a URL and the path in it.

    Raises OSError if it cannot be written, ImportError if a library is missing.
    """
    name = shown(url)
    if scheme_of(url) in WEB:
        raise OSError(errno.EROFS, "files on web servers can be read, but not written", name)
    try:
        return open_store(url, name)
    except ReadError as error:
        raise OSError(errno.EINVAL, error.reason, name) from None
