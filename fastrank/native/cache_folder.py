"""The user's folder for compiled code, which is run as it is found there."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile


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
