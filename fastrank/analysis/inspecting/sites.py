"""Write a folder of pages: as a whole, and only over an earlier one.

At every moment the old or the new folder is there, also if the process is killed: the new one is
written beside the old one, and takes its place in one system call where there is one that swaps two
folders. Elsewhere, such as on network drives, there is none between two renames.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from hashlib import sha256
from importlib import import_module

from fastrank.common.messages import first_few
from fastrank.core.formats.files.unfinished import removed_at_the_end, signals_held
from fastrank.core.formats.tables.records import load_json
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# The file that marks a folder as our site, with the digests of the other files.
MANIFEST = "manifest.json"
SCHEMA = "fastrank.site/1"
NAMED = 3
# Flags of the system calls that swap two folders: renameat2 of Linux and renamex_np of macOS.
RENAME_EXCHANGE, RENAME_SWAP = 2, 2
AT_FDCWD = -100


def _manifest(files: Mapping[str, bytes]) -> bytes:
    """The list of the files of a site."""
    digests = {path: sha256(content).hexdigest() for path, content in sorted(files.items())}
    version = import_module("fastrank").__version__
    content = {"schema": SCHEMA, "fastrank": version, "files": digests}
    return (json.dumps(content, indent=1) + "\n").encode()


def write_site(files: Mapping[str, bytes], output: str | os.PathLike[str]) -> None:
    """Replace a folder by a site. Raises InputError for a folder with other files, and OSError."""
    check_folder(output)
    target = os.path.realpath(output)
    above, name = os.path.split(target)
    if not os.path.isdir(above):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), above)
    # This is what is removed in the end: the new site if it fails, else the old one.
    scratch = os.path.join(above, f".{name}-new-{os.getpid()}-{os.urandom(6).hex()}")
    with removed_at_the_end(scratch):
        for path, content in {**files, MANIFEST: _manifest(files)}.items():
            file_path = os.path.join(scratch, path)
            os.makedirs(os.path.dirname(file_path), exist_ok=True)
            with open(file_path, "wb") as file:
                file.write(content)
        if not os.path.exists(target):
            os.rename(scratch, target)
            return
        shutil.copymode(target, scratch)
        if not _swapped(scratch, target):
            _replace(target, scratch)


def _swapped(first: str, second: str) -> bool:
    """Swap two folders in one step; False where the system or its file system cannot."""
    import ctypes

    paths = os.fsencode(first), os.fsencode(second)
    try:
        library = ctypes.CDLL(None)
        if sys.platform == "darwin":
            return bool(library.renamex_np(*paths, RENAME_SWAP) == 0)
        swap = library.renameat2
        return bool(swap(AT_FDCWD, paths[0], AT_FDCWD, paths[1], RENAME_EXCHANGE) == 0)
    except (AttributeError, OSError, TypeError):
        return False


def _replace(target: str, scratch: str) -> None:
    """Put the new folder where the old one is, which goes back if that fails, and vice versa."""
    before = f"{scratch}-old"
    with signals_held():
        os.rename(target, before)
        try:
            os.rename(scratch, target)
        except OSError:
            os.rename(before, target)
            raise
        os.rename(before, scratch)


def check_folder(output: str | os.PathLike[str]) -> None:
    """Raise InputError for a folder with what others put there, NotADirectoryError for a file.

    The files of an earlier site are those that its manifest lists. Links to folders and empty
    folders, which a site never has, are of others, too.
    """
    target = os.path.realpath(output)
    if not os.path.exists(target):
        return
    if not os.path.isdir(target):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), target)
    paths = {
        os.path.relpath(os.path.join(folder, name), target)
        for folder, folders, names in os.walk(target)
        for name in [*names, *(inner for inner in folders if _is_others(folder, inner))]
    }
    others = sorted(paths - _listed(os.path.join(target, MANIFEST)))
    if others:
        reason = f"has what fastrank did not write there: {first_few(others, NAMED)}"
        raise InputError(target, f"{reason}; choose an empty folder")


def _is_others(folder: str, name: str) -> bool:
    """Whether a folder in a folder is a link or empty."""
    path = os.path.join(folder, name)
    return os.path.islink(path) or not os.listdir(path)


def _listed(path: str) -> set[str]:
    """The files that a manifest lists, and itself; none if there is no manifest of ours."""
    try:
        with open(path, "rb") as file:
            content = load_json(file.read(), path)
        return {MANIFEST, *content["files"]} if content["schema"] == SCHEMA else set()
    except (OSError, FormatError, KeyError, TypeError):
        return set()
