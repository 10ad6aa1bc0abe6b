"""Files in the stores that fsspec knows."""

from __future__ import annotations

import contextlib
import errno
import os
from contextlib import contextmanager

from fastrank.errors import ReadError
from fastrank.formats import remote
from fastrank.formats.remote import (
    WEB,
    RemoteFile,
    missing_file,
    reason_of,
    scheme_of,
    shown,
    temporary_file,
)
from fastrank.formats.source import HEAD
from fastrank.lazy import optional

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

# What marks a version of a file, in the stores that provide it.
_VERSION = ("size", "ETag", "etag", "LastModified", "last_modified", "mtime", "created", "updated",
            "generation", "blob_id")  # fmt: skip


class StoredFile(RemoteFile):
    """A file in a store of fsspec."""

    def _open(self, url: str) -> tuple[int | None, bytes]:
        self._store, self._path = open_store(url, self.name)
        with _errors(self.name):
            self._info = self._store.info(self._path)
            if self._info["type"] == "directory":
                raise ReadError(self.name, "is a directory")
        size = None if _is_archive(self._store) else self._info.get("size")
        # A file object would read more than it is asked for.
        self._options = {} if self._store.async_impl else {"cache_type": "none"}
        self._streams: list[Any] = []
        self._waiting: Any = None
        if size is None:
            self._waiting = self._opened()
            with _errors(self.name):
                return None, self._waiting.read(HEAD)
        head = bytearray(min(size, remote.BLOCK))
        if head:
            self.fetch(0, memoryview(head))
        return size, bytes(head)

    def fetch(self, start: int, view: memoryview) -> None:
        """Fill the view with the bytes from `start` on."""
        stop = start + len(view)
        with _errors(self.name):
            found = self._store.cat_file(self._path, start=start, end=stop, **self._options)
        if len(found) != len(view):
            reason = f"found {len(found)} of {len(view)} bytes at {start}"
            raise ReadError(self.name, f"{reason}: the file changed while it was read")
        view[:] = found

    def after_head(self) -> Callable[[memoryview], bytes]:
        """Begin to read what follows the head."""
        file, self._waiting = self._waiting, None
        if file is None:
            file = self._opened()
            with _errors(self.name):
                file.read(len(self.head))

        def read(view: memoryview) -> bytes:
            with _errors(self.name):
                found: bytes = file.read(min(len(view), remote.BLOCK))
            return found

        return read

    def check_unchanged(self) -> None:
        """Raise ReadError if the file changed since it was opened."""
        if self.stored_size is not None and self.stored_size <= remote.BLOCK:
            # One request fetched all of it.
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

    def _opened(self) -> Any:
        with _errors(self.name):
            file = self._store.open(self._path, "rb")
        self._streams.append(file)
        return file


def open_store(url: str, name: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it.

    Raises ReadError, and ImportError if fsspec or the package of the store is missing.
    """
    fsspec = optional("fsspec", name, "remote")
    if scheme_of(url) == "data":
        raise ReadError(name, "a data URL is no file; expected a path or the URL of a file")
    try:
        return fsspec.core.url_to_fs(url)  # type: ignore[no-any-return]
    except ImportError as error:
        raise _missing_package(url, name, error) from None
    except Exception as error:
        if scheme_of(url) not in fsspec.available_protocols():
            known = "file, http, https, s3, gs, hf and others of fsspec"
            reason = f"unknown protocol {scheme_of(url)!r}; expected one of {known}"
            raise ReadError(name, reason) from None
        raise _failure(name, error) from None


def _missing_package(url: str, name: str, error: ImportError) -> ImportError:
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
    reason = reason_of(error)
    if isinstance(error, (AttributeError, LookupError, TypeError, ValueError)):
        # Such as those of a store that did not expect the URL.
        reason = f"fsspec cannot read this URL ({type(error).__name__}: {reason})"
    return ReadError(name, reason)


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
