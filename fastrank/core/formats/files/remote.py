"""Files in the stores that fsspec knows, and on web servers; imported only for URLs."""

from __future__ import annotations

import contextlib
import errno
import http
import os
import re
import tempfile
from functools import cache
from urllib.parse import quote, unquote

from fastrank.common.lazy import optional
from fastrank.core.formats.files.source import HEAD, Reader, SourceFile, compression_of, open_source
from fastrank.core.formats.files.unfinished import removed_at_the_end
from fastrank.errors import ReadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# A URL in running text.
_IN_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://[^\s'\"<>]+")
WEB = ("http", "https")
# The bytes of a request: large enough that their transfer takes longer than the latency of a store.
BLOCK = 8 << 20
# A thread fetches the next block while one is read, whose end may be needed with the next one.
CACHE = {"block_size": BLOCK, "cache_type": "background", "cache_options": {"maxblocks": 2}}
# Seconds without data before a request to a web server fails.
TIMEOUT = 20.0
# Fields that mark a version of a file, in the stores that provide them, and on web servers.
_VERSION = ("size", "ETag", "etag", "mtime", "created", "generation", "blob_id")
_WEB_VERSION = ("ETag", "Last-Modified", "Content-Length")
_CHANGED = "the file changed while it was read"
ABSENT = "no such file or directory"


def scheme_of(url: str) -> str:
    """The scheme in lower case."""
    return url.partition("://")[0].lower()


def shown(url: str) -> str:
    """The URL without user, password, query and fragment, which may be secret."""
    parts = []
    for part in url.split("::"):
        scheme, separator, rest = part.partition("://")
        rest = rest.partition("?")[0]
        if scheme.lower() in WEB:
            rest = rest.partition("#")[0]
        authority, slash, path = rest.partition("/")
        parts.append(scheme + separator + authority.rpartition("@")[2] + slash + path)
    return "::".join(parts)


def redacted(text: str) -> str:
    """The text with the secret parts of all URLs removed."""
    return _IN_TEXT.sub(lambda match: shown(match[0]), text)


def with_suffix(url: str, suffix: str) -> str:
    """The URL of the file whose path is longer by a suffix."""
    path, mark, query = url.partition("?")
    return path + suffix + mark + query


def local_path(url: str) -> str | None:
    """The path of a file:// URL, None for other URLs. Raises OSError for another host."""
    if scheme_of(url) != "file":
        return None
    host, slash, path = url.partition("://")[2].partition("/")
    if host not in ("", "localhost"):
        reason = f"expected file:///PATH, found the host {host!r}"
        raise OSError(errno.EINVAL, reason, shown(url))
    return os.fsdecode(unquote(slash + path).encode("utf-8", "surrogateescape"))


def reason_of(error: BaseException) -> str:
    """The reason of an error, on one line and without secrets."""
    if isinstance(error, TimeoutError):
        return "timed out waiting for data from the server"
    if isinstance(error, PermissionError):
        return "permission denied; check the credentials"
    if isinstance(error, FileNotFoundError):
        return ABSENT
    if isinstance(error, OSError) and error.strerror:
        return redacted(error.strerror.lower())
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # Hugging Face's first line is the status, and the second what is missing.
    return redacted(" ".join(lines[:2])) if lines else type(error).__name__


class MissingFileError(ReadError):
    """A remote file does not exist."""


def open_url(url: str) -> SourceFile:
    """Open the file at a URL. Raises ReadError, and ImportError for a library that is missing."""
    name = shown(url)
    try:
        path = local_path(url)
    except OSError as error:
        raise ReadError(name, str(error.strerror)) from None
    if path is not None:
        return open_source(path)
    return RemoteFile(url, name)


class RemoteFile(SourceFile):
    """A file in a store of fsspec, or on a web server: see SourceFile. All methods raise ReadError.

    Each reader requests all of it, from its beginning.
    """

    def __init__(self, url: str, name: str) -> None:
        self.name, self.rereadable, self.size, self._may_be_empty = name, True, None, False
        self._store, self._path = open_store(url, name)
        self._is_web = scheme_of(url) in WEB
        self._version = [] if self._is_web else self._version_in_store()
        self._streams: list[Any] = []
        try:
            # The stream that begins with the head, which shows the format.
            self._waiting = self.after(HEAD)
        except BaseException:
            self.close()
            raise
        self.compression = compression_of(self.head)

    def _version_in_store(self) -> list[Any]:
        with _errors(self.name):
            self._store.invalidate_cache(self._store._parent(self._path))
            info = self._store.info(self._path)
        if info["type"] == "directory":
            raise ReadError(self.name, "is a directory")
        return list(map(info.get, _VERSION))

    def after_head(self) -> Any:
        """A stream of what follows the head."""
        stream, self._waiting = self._waiting, None
        return stream or self.after(len(self.head))

    def after(self, size: int) -> Any:
        """A new stream of what follows the first bytes, which become the head."""
        # A stream of a web server has no blocks; with a size, fsspec does not ask for it.
        options = {"block_size": 0, "size": 1} if self._is_web else CACHE
        with _errors(self.name):
            stream = self._store.open(self._path, "rb", **options)
            self._streams.append(stream)
            if self._is_web:
                if stream.r.status != 200:
                    raise ReadError(self.name, _status(stream.r.status))
                version = list(map(stream.r.headers.get, _WEB_VERSION))
                if self._version not in ([], version):
                    raise ReadError(self.name, _CHANGED)
                self._version = version
            head = b""
            while len(head) < size and (piece := stream.read(size - len(head))):
                head += piece
            self.head = head
        return stream

    def stored(self) -> Reader:
        """A reader of the whole content as it is stored."""
        return _Whole(self)

    def check_unchanged(self) -> None:
        """Raise ReadError if the file changed since it was opened."""
        # Web servers tell the version with each answer, and one request has fetched a small file.
        if self._is_web or len(self.head) < HEAD:
            return
        if self._version_in_store() != self._version:
            raise ReadError(self.name, _CHANGED)

    def close(self) -> None:
        """Close the streams."""
        for stream in self._streams:
            stream.close()


class _Whole(Reader):
    """A stream from its beginning, requested only when more than its head is needed."""

    def __init__(self, file: RemoteFile) -> None:
        super().__init__(file.name, may_be_empty=False, waiting=file.head)
        self._file = file
        self._rest: Any = None

    def _next(self, view: memoryview) -> bytes:
        if self._rest is None:
            self._rest = self._file.after_head()
        with _errors(self._name):
            return self._rest.read(min(len(view), BLOCK))  # type: ignore[no-any-return]


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
            return fsspec.filesystem(scheme_of(url), **_web_options(name)), path
        return fsspec.core.url_to_fs(url)  # type: ignore[no-any-return]
    except ImportError as error:
        if scheme_of(url) in WEB:
            raise
        package = (getattr(error.__cause__, "name", None) or "").partition(".")[0]
        needed = f"{scheme_of(url)}:// needs {package}: pip install {package}"
        reason = needed if package else reason_of(error)
        raise ImportError(f"{name}: {reason}", name=package or None) from None
    except Exception as error:
        if scheme_of(url) not in fsspec.available_protocols():
            protocols = "file, http, https, s3, gs, hf and others of fsspec"
            reason = f"unknown protocol {scheme_of(url)!r}; expected one of {protocols}"
            raise ReadError(name, reason) from None
        raise _failure(name, error) from None


@cache
def _reset_in_forks() -> None:
    """Let fsspec start a thread in a forked process, which lacks that of its parent.

    Newer versions do that themselves; 2025.3 waits for the missing one forever.
    """
    from fsspec import asyn

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=asyn.reset_lock)


def _web_options(name: str) -> dict[str, Any]:
    """Options of fsspec to read a file as it is stored, however long that takes."""
    aiohttp = optional("aiohttp", name, "remote")
    client = {
        "headers": {"User-Agent": "fastrank", "Accept-Encoding": "identity"},
        "timeout": aiohttp.ClientTimeout(total=None, sock_connect=TIMEOUT, sock_read=TIMEOUT),
        "read_bufsize": BLOCK,
        "auto_decompress": False,
        "trust_env": True,
        # fsspec would not close the answer.
        "raise_for_status": True,
    }
    return {"encoded": True, "client_kwargs": client}


def _failure(name: str, error: Exception) -> ReadError:
    # aiohttp is needed only for web servers.
    status = getattr(error, "status", None)
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if isinstance(status, int) and "ClientResponseError" in kinds:
        return MissingFileError(name, ABSENT) if status == 404 else ReadError(name, _status(status))
    if kinds & {"ClientPayloadError", "ServerDisconnectedError", "ClientConnectionResetError"}:
        return ReadError(name, "the connection broke before the end of the file")
    number = getattr(error, "errno", None)
    if "ClientConnectorError" in kinds and number and number > 0:
        return ReadError(name, os.strerror(number).lower())
    if "InvalidURL" in kinds:
        return ReadError(name, "invalid URL")
    reason = reason_of(error)
    if isinstance(error, (AttributeError, LookupError, TypeError, ValueError)):
        # Errors such as those of a store that did not expect the URL.
        reason = f"fsspec cannot read this URL ({type(error).__name__}: {reason})"
    return ReadError(name, reason)


def _status(status: int) -> str:
    phrase = f" ({http.HTTPStatus(status).phrase})" if status in set(http.HTTPStatus) else ""
    reason = f"HTTP status {status}{phrase}"
    if 300 <= status < 400:
        return f"{reason}: the redirection cannot be followed"
    return f"{reason}; check the credentials" if status in (401, 403) else reason


@contextlib.contextmanager
def _errors(name: str) -> Iterator[None]:
    """Turn all errors of a store into ReadError."""
    try:
        yield
    except ReadError:
        raise
    except FileNotFoundError:
        raise MissingFileError(name, ABSENT) from None
    except Exception as error:
        # Each store has its own exceptions, for missing credentials for example.
        raise _failure(name, error) from None


# Object stores, where a file appears when its upload is complete, and renaming would copy it.
ATOMIC = ("s3", "s3a", "gs", "gcs", "hf", "abfs", "abfss", "az", "oci", "oss")


def upload(path: str, url: str) -> None:
    """Upload a local file. If anything fails, the old content of the URL stays.

    Stores other than object stores get the file under a temporary name, which is then renamed.
    Raises OSError, and ImportError if a library is missing.
    """
    store, target = open_to_write(url)
    folder, slash, _ = target.rpartition("/")
    is_atomic = scheme_of(url) in ATOMIC
    name = target if is_atomic else f"{folder}{slash}.fastrank-{os.urandom(6).hex()}"
    try:
        store.put_file(path, name)
        if not is_atomic:
            store.mv(name, target)
    except BaseException as error:
        # The error that made the upload fail is reported, not this one.
        with contextlib.suppress(Exception):
            if not is_atomic:
                store.rm_file(name)
        if not isinstance(error, Exception):
            raise
        raise OSError(errno.EIO, reason_of(error), shown(url)) from None


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


@contextlib.contextmanager
def temporary_file() -> Iterator[str]:
    """The path of an empty file, which is deleted at the end."""
    handle, path = tempfile.mkstemp(prefix="fastrank-")
    os.close(handle)
    with removed_at_the_end(path):
        yield path
