"""Bytes in and out of files: compressed or not, from a pipe or a path, never half-written."""

from __future__ import annotations

import os
import sys

from fastrank.errors import ReadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import BinaryIO

    Source = str | os.PathLike[str] | BinaryIO

# Magic numbers. That of bzip2 is only text ("BZh9"), so the first block's marker is included.
_GZIP = b"\x1f\x8b\x08"
_BZIP2 = (b"1AY&SY", b"\x17rE8P\x90")
_XZ = b"\xfd7zXZ\0"
_ZSTD = b"\x28\xb5\x2f\xfd"


def name_of(source: Source) -> str:
    """What to call a source in messages."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    return str(getattr(source, "name", "<file object>"))


def read(source: Source) -> bytes:
    """The whole content of a path, of `-` (standard input) or of a binary file object.

    gzip, bzip2, xz and zstd are recognised by content and decompressed. An empty file is an
    error, since trec_eval does not read one. Raises ReadError.
    """
    name = name_of(source)
    try:
        if not isinstance(source, (str, os.PathLike)):
            content = source.read()
        elif name == "-" and not os.path.exists(name):
            content = sys.stdin.buffer.read()
        else:
            with open(source, "rb", buffering=0) as file:
                content = file.readall()
    except OSError as error:
        raise ReadError(name, (error.strerror or str(error)).lower()) from error
    if not isinstance(content, bytes):
        raise ReadError(name, f"expected a file that yields bytes, found {type(content).__name__}")
    content = decompressed(content, name)
    if not content:
        raise ReadError(name, "the file is empty")
    return content


def decompressed(content: bytes, name: str) -> bytes:
    """The content, unpacked if it is compressed; `name` is for messages."""
    unpack = _unpacker(content)
    if unpack is None:
        return content
    kind, function = unpack
    try:
        return function(content)
    except ImportError as error:
        raise ReadError(
            name,
            f"{kind}-compressed, which needs the 'zstandard' package:"
            " pip install 'fastrank-eval[zstd]'",
        ) from error
    except Exception as error:
        # The four libraries raise a dozen types (EOFError, zlib.error, LZMAError, ...) that all
        # mean the same to the caller.
        raise ReadError(name, f"broken {kind} data: {error}") from error


def _unpacker(content: bytes) -> tuple[str, Callable[[bytes], bytes]] | None:
    if content.startswith(_GZIP):
        return "gzip", _gunzip
    if content.startswith(b"BZh") and content[4:10] in _BZIP2:
        return "bzip2", _bunzip2
    if content.startswith(_XZ):
        return "xz", _unxz
    if content.startswith(_ZSTD):
        return "zstd", _unzstd
    return None


def _gunzip(content: bytes) -> bytes:
    import gzip

    return gzip.decompress(content)


def _bunzip2(content: bytes) -> bytes:
    import bz2

    return bz2.decompress(content)


def _unxz(content: bytes) -> bytes:
    import lzma

    return lzma.decompress(content)


def _unzstd(content: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return bytes(zstd.decompress(content))
    import io

    import zstandard

    # The one-shot function refuses frames without a content size and stops after the first one.
    with zstandard.ZstdDecompressor().stream_reader(
        io.BytesIO(content), read_across_frames=True
    ) as reader:
        unpacked = reader.read()
    if not unpacked and len(content) > 13:
        raise ValueError("the data ends in the middle of a frame")
    return bytes(unpacked)


def write(target: Source, pieces: Iterable[bytes]) -> None:
    """Write to a path or a binary file object.

    A path gets its content by renaming a finished temporary file beside it: whatever fails, the
    path holds the old content or the new, never a part.
    """
    if not isinstance(target, (str, os.PathLike)):
        for piece in pieces:
            target.write(piece)
        return
    import tempfile

    path = os.path.realpath(target)
    handle, scratch = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".fastrank-")
    try:
        with os.fdopen(handle, "wb") as file:
            for piece in pieces:
                file.write(piece)
        # mkstemp makes private files; give what open() would have given.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(scratch, 0o666 & ~mask)
        os.replace(scratch, path)
    except BaseException:
        os.unlink(scratch)
        raise
