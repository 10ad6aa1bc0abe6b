"""Object code of kernels kept from one build to the next, by the digest of what it is made from."""

from __future__ import annotations

import hashlib
import json
import os
import time
from typing import NamedTuple

from fastrank.native.cache_folder import open_cache, write_whole

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
    """

    def __init__(self, folder: str | None = None) -> None:
        """folder: `objects` in fastrank's folder for caches by default."""
        try:
            self._folder = folder or open_cache("objects")
        except OSError:
            # No file is below it: nothing is found, and nothing kept.
            self._folder = os.devnull

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
        """Keep what was compiled; quietly nothing where that is not possible."""
        described = {"signature": compiled.signature, "held": compiled.held}
        body = json.dumps(described).encode() + b"\n" + compiled.code
        try:
            # All or nothing: builds may run side by side.
            write_whole(self._path(digest, level), hashlib.sha256(body).hexdigest().encode() + body)
        except OSError:
            return

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
