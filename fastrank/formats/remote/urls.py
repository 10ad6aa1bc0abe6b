"""URLs of files: their parts, and what of them may be shown."""

from __future__ import annotations

import errno
import os
import re

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
