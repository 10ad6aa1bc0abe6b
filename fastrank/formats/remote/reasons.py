"""Reasons why a remote file cannot be read or written, without secrets."""

from __future__ import annotations

import http.client
import urllib.error

from fastrank.errors import ReadError
from fastrank.formats.remote.urls import redacted


def missing_file(name: str, detail: str = "") -> ReadError:
    """The error for a file that does not exist, by which `is_missing` recognizes it."""
    reason = "no such file or directory"
    return _MissingFileError(name, f"{reason} ({detail})" if detail else reason)


def is_missing(error: ReadError) -> bool:
    """Whether the file does not exist."""
    return isinstance(error, _MissingFileError)


def reason_of(error: BaseException) -> str:
    """What went wrong, on one line and without secrets."""
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


class _MissingFileError(ReadError):
    pass
