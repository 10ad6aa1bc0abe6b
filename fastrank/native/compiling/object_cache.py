"""Object code of kernels kept from one build to the next, by the digest of what it is made from."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import tempfile
import time
from typing import NamedTuple

# What no build has used for so long is deleted.
_KEPT_SECONDS = 30 * 24 * 3600


class Compiled(NamedTuple):
    """A kernel's object code, and what the library says about it."""

    signature: str
    held: bool
    code: bytes


class ObjectCache:
    """A folder of files: a checksum of the rest, a line of JSON, and object code.

    It may always be deleted. Where it cannot be used, or a file is not as it was written, kernels
    are compiled again.

    problem: why code cannot be kept, empty if it can.
    """

    def __init__(self, folder: str | None = None) -> None:
        """folder: `objects` in fastrank's folder for caches by default."""
        self.problem = ""
        try:
            self._folder = folder or open_cache("objects")
        except OSError as error:
            # No file is below it: nothing is found, and nothing kept.
            self._folder = os.devnull
            self.problem = f"{error.filename} ({error.strerror})"

    def get(self, digest: str, level: str) -> Compiled | None:
        """What was kept for a kernel and a CPU level; None if there is nothing that can be used."""
        path = self._path(digest, level)
        try:
            with open(path, "rb") as file:
                checksum, body = file.read(64), file.read()
            if hashlib.sha256(body).hexdigest().encode() != checksum:
                return None
            os.utime(path)
        except OSError:
            return None
        head, _, code = body.partition(b"\n")
        described = json.loads(head)
        return Compiled(described["signature"], described["held"], code)

    def put(self, digest: str, level: str, compiled: Compiled) -> None:
        """Keep what was compiled, where that is possible."""
        described = {"signature": compiled.signature, "held": compiled.held}
        body = json.dumps(described).encode() + b"\n" + compiled.code
        try:
            # All or nothing: builds may run side by side.
            write_whole(self._path(digest, level), hashlib.sha256(body).hexdigest().encode() + body)
        except OSError as error:
            self.problem = self.problem or f"{self._folder} ({error.strerror})"

    def forget_old(self) -> None:
        """Delete what no build has used for a month."""
        oldest = time.time() - _KEPT_SECONDS
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    if entry.stat().st_mtime < oldest:
                        os.unlink(entry)
        except OSError:
            return

    def _path(self, digest: str, level: str) -> str:
        return os.path.join(self._folder, f"{digest}.{level}.o")


def open_cache(name: str) -> str:
    """The folder `name` among fastrank's caches, made if there is none.

    Raises OSError if it cannot be made, or if somebody else may have written what is in it.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    if not os.path.isabs(base):
        raise OSError(errno.EINVAL, "not an absolute path", base)
    for below in ("fastrank", os.path.join("fastrank", name)):
        folder = os.path.join(base, below)
        # The mode is that of the last folder; those above it are like any others.
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.stat(folder)
        if found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise PermissionError(errno.EACCES, "others may write there", folder)
    return folder


def write_whole(path: str, content: bytes) -> None:
    """Write a file that appears when it is complete.

    Raises OSError that names the file, and leaves nothing then.
    """
    handle, scratch = tempfile.mkstemp(dir=os.path.dirname(path))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(scratch, path)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(scratch)
        if isinstance(error, OSError):
            error.filename = path
        raise
