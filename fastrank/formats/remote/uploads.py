"""Write files to the stores of fsspec."""

from __future__ import annotations

import contextlib
import errno
import os

from fastrank.errors import ReadError
from fastrank.formats.remote.downloads import temporary_file
from fastrank.formats.remote.reasons import reason_of
from fastrank.formats.remote.stores import open_store
from fastrank.formats.remote.urls import WEB, scheme_of, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# Object stores, where a file appears when its upload is complete, and renaming would copy it.
ATOMIC = ("s3", "s3a", "gs", "gcs", "hf", "abfs", "abfss", "az", "oci", "oss")


def check_url(url: str) -> None:
    """Raise OSError for a URL that cannot be written, ImportError if a library is missing."""
    _target(url)


@contextlib.contextmanager
def uploading(url: str) -> Iterator[str]:
    """The path of a temporary local file, which is uploaded at the end of the block.

    If anything fails, the old content stays. Stores other than object stores get the file under a
    temporary name, which is then renamed. Raises OSError, and ImportError if a library is missing.
    """
    store, path = _target(url)
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


def _target(url: str) -> tuple[Any, str]:
    name = shown(url)
    if scheme_of(url) in WEB:
        raise OSError(errno.EROFS, "files on web servers can be read, but not written", name)
    try:
        return open_store(url, name)
    except ReadError as error:
        raise OSError(errno.EINVAL, error.reason, name) from None
