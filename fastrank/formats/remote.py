"""Files in object stores and on web servers, read like local ones; imported only for URLs."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import tempfile

from fastrank.errors import ReadError
from fastrank.formats.files import removed_by_signals
from fastrank.formats.source import open_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastrank.formats.source import SourceFile

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


def missing_file(name: str) -> ReadError:
    """The error for a file that does not exist."""
    return MissingFileError(name, "no such file or directory")


def reason_of(error: BaseException) -> str:
    """What went wrong, on one line and without secrets."""
    if isinstance(error, TimeoutError):
        return "timed out waiting for data from the server"
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
    """Open the file at a URL. Raises ReadError, and ImportError for a library that is missing."""
    name = shown(url)
    try:
        path = local_path(url)
    except OSError as error:
        raise ReadError(name, str(error.strerror)) from None
    if path is not None:
        return open_source(path)
    from fastrank.formats.object_stores import StoredFile

    return StoredFile(url, name)


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
