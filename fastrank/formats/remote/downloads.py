"""Temporary local copies of remote files, for what cannot be read in pieces."""

from __future__ import annotations

import contextlib
import os
import tempfile

from fastrank.errors import ReadError
from fastrank.formats.remote.blocks import BLOCK
from fastrank.formats.remote.reasons import is_missing
from fastrank.formats.source import open_pieces
from fastrank.formats.unfinished import removed_by_signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


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


def is_there(url: str) -> bool:
    """Whether there is a file at a URL. Raises ReadError if that cannot be known."""
    try:
        with open_pieces(url):
            return True
    except ReadError as error:
        if is_missing(error):
            return False
        raise


@contextlib.contextmanager
def downloaded(url: str) -> Iterator[str]:
    """The path of a temporary file with the content of a URL, compressed or not.

    Raises ReadError, and OSError if the temporary file cannot be written.
    """
    with temporary_file() as path:
        with open_pieces(url) as pieces, open(path, "wb") as file:
            reader, buffer = pieces.stored(), memoryview(bytearray(BLOCK))
            while count := reader.readinto(buffer):
                file.write(buffer[:count])
            pieces.check_unchanged()
        yield path
