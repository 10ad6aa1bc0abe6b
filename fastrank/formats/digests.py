"""Digests of files."""

from __future__ import annotations

import os
from hashlib import sha256

from fastrank.errors import ReadError
from fastrank.formats.source import is_url, open_pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PIECE = 1 << 20


def file_digest(source: Any) -> str | None:
    """The SHA-256 of a file's bytes, as `sha256sum` prints it; None for what is not a file.

    source: a path or a URL, or anything else. Raises ReadError.
    """
    if not isinstance(source, (str, os.PathLike)):
        return None
    made = sha256()
    if is_url(os.fspath(source)):
        with open_pieces(source) as pieces:
            reader, buffer = pieces.stored(), memoryview(bytearray(PIECE))
            while count := reader.readinto(buffer):
                made.update(buffer[:count])
            pieces.check_unchanged()
        return made.hexdigest()
    if not os.path.isfile(source):
        return None
    try:
        with open(source, "rb") as file:
            while piece := file.read(PIECE):
                made.update(piece)
    except OSError as error:
        raise ReadError(os.fspath(source), (error.strerror or str(error)).lower()) from error
    return made.hexdigest()
