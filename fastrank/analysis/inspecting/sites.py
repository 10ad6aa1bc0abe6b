"""Write a folder of pages: as a whole, and only over an earlier one."""

from __future__ import annotations

import errno
import json
import os
import shutil
from hashlib import sha256
from importlib import import_module

from fastrank.core.formats.tables.records import load_json
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# The file that marks a folder as our site, with the digests of the other files.
MANIFEST = "manifest.json"
SCHEMA = "fastrank.site/1"
NAMED = 3


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
    unique = f"{os.getpid()}-{os.urandom(6).hex()}"
    scratch, before = (
        os.path.join(above, f".{name}-{suffix}-{unique}") for suffix in ("new", "old")
    )
    try:
        for path, content in {**files, MANIFEST: _manifest(files)}.items():
            file_path = os.path.join(scratch, path)
            os.makedirs(os.path.dirname(file_path), exist_ok=True)
            with open(file_path, "wb") as file:
                file.write(content)
        if os.path.exists(target):
            shutil.copymode(target, scratch)
            os.rename(target, before)
        try:
            os.rename(scratch, target)
        except BaseException:
            if os.path.exists(before):
                os.rename(before, target)
            raise
    finally:
        for folder in (scratch, before):
            shutil.rmtree(folder, ignore_errors=True)


def check_folder(output: str | os.PathLike[str]) -> None:
    """Raise InputError for a folder with files of others, NotADirectoryError for a file.

    The files of an earlier site are those that its manifest lists.
    """
    target = os.path.realpath(output)
    if not os.path.exists(target):
        return
    if not os.path.isdir(target):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), target)
    paths = {
        os.path.relpath(os.path.join(folder, name), target)
        for folder, _, names in os.walk(target)
        for name in names
    }
    others = sorted(paths - _listed(os.path.join(target, MANIFEST)))
    if others:
        shown = ", ".join(others[:NAMED]) + (", ..." if len(others) > NAMED else "")
        reason = f"has files that fastrank did not write there: {shown}"
        raise InputError(target, f"{reason}; choose an empty folder")


def _listed(path: str) -> set[str]:
    """The files that a manifest lists, and itself; none if there is no manifest of ours."""
    try:
        with open(path, "rb") as file:
            content = load_json(file.read(), path)
        return {MANIFEST, *content["files"]} if content["schema"] == SCHEMA else set()
    except (OSError, FormatError, KeyError, TypeError):
        return set()
