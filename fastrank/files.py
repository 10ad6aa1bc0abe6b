"""Bytes in and out of files: compressed or not, from a pipe or a path, never half-written."""

from __future__ import annotations

import os
import sys

from fastrank.errors import ReadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, BinaryIO

    Source = str | os.PathLike[str] | BinaryIO

# Magic numbers. That of bzip2 is only text ("BZh9"), so the first block's marker is included.
_GZIP = b"\x1f\x8b\x08"
_BZIP2 = (b"1AY&SY", b"\x17rE8P\x90")
_XZ = b"\xfd7zXZ\0"
_ZSTD = b"\x28\xb5\x2f\xfd"
_PIECE = 1 << 16


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
    if not isinstance(source, (str, os.PathLike)) and not hasattr(source, "read"):
        raise TypeError(f"expected a path or a binary file, found {type(source).__name__}")
    try:
        if not isinstance(source, (str, os.PathLike)):
            content: Any = source.read()
        elif name == "-" and not os.path.exists(name):
            content = read_stdin()
        else:
            with open(source, "rb", buffering=0) as file:
                content = file.readall()
    except OSError as error:
        raise ReadError(name, (error.strerror or str(error)).lower()) from error
    except ReadError:
        raise
    except ValueError as error:
        # A path with a NUL byte, or a closed file object.
        raise ReadError(name, str(error)) from error
    if not isinstance(content, (bytes, bytearray, memoryview)):
        found = type(content).__name__
        raise ReadError(name, f"expected a file that yields bytes, found {found}")
    text = decompressed(bytes(content), name)
    if not text:
        raise ReadError(name, "the file is empty")
    return text


def read_stdin() -> bytes:
    """All of standard input. Raises ReadError when there is none."""
    if sys.stdin is None:
        raise ReadError("-", "standard input is closed")
    content: bytes = sys.stdin.buffer.read()
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
        hint = ""
        if kind == "zstd" and sys.version_info < (3, 14):
            hint = ": pip install 'fastrank-eval[zstd]'"
        raise ReadError(
            name, f"{kind}-compressed, which needs the Python module '{error.name}'{hint}"
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
    import io

    # gzip.decompress copies what is left once per member, and bgzip makes one for every 64 kB.
    return gzip.GzipFile(fileobj=io.BytesIO(content)).read()


def _bunzip2(content: bytes) -> bytes:
    import bz2

    return _unpack_members(content, bz2.BZ2Decompressor)


def _unxz(content: bytes) -> bytes:
    import lzma

    return _unpack_members(content, lzma.LZMADecompressor)


def _unzstd(content: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return _unpack_members(content, zstd.ZstdDecompressor)
    import zstandard

    return _unpack_members(content, zstandard.ZstdDecompressor().decompressobj)


def _unpack_members(content: bytes, start: Callable[[], Any]) -> bytes:
    """Unpack members one after the other, of which none may be cut off or be anything else.

    The one-shot functions of these modules drop what follows the first member when it is broken.
    In pieces, because a finished member hands back a copy of what it did not use.
    """
    parts = []
    member = None
    for at in range(0, len(content), _PIECE):
        piece = content[at : at + _PIECE]
        while piece:
            if member is None:
                # Zero bytes may pad the end, as tape archives and xz itself do.
                piece = piece.lstrip(b"\0")
                if not piece:
                    break
                member = start()
            parts.append(member.decompress(piece))
            piece = member.unused_data if member.eof else b""
            member = None if member.eof else member
    if member is not None:
        raise EOFError("the data ends before its end marker")
    return b"".join(parts)


def write(target: Source, pieces: Iterable[bytes]) -> None:
    """Write to a path, to `-` (standard output) or to a binary file object.

    A path gets its content by renaming a finished temporary file beside it: whatever fails, the
    path holds the old content or the new, never a part. A device, pipe or socket is written to.
    """
    if not isinstance(target, (str, os.PathLike)):
        for piece in pieces:
            target.write(piece)
        return
    if os.fspath(target) == "-":
        sys.stdout.buffer.writelines(pieces)
        return
    path = os.path.realpath(target)
    if os.path.exists(target) and not os.path.isfile(path):
        with open(target, "wb") as device:
            device.writelines(pieces)
        return
    _replace(path, pieces)


def _replace(path: str, pieces: Iterable[bytes]) -> None:
    folder, name = os.path.split(path)
    scratch = os.path.join(folder, f".fastrank-{os.getpid()}-{os.urandom(6).hex()}")
    try:
        # Created like any other file, so that the umask applies without our touching it.
        handle = os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    except OSError as error:
        error.filename = path
        raise
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
        if name and os.path.exists(path):
            os.chmod(scratch, os.stat(path).st_mode & 0o7777)
        os.replace(scratch, path)
    except BaseException:
        os.unlink(scratch)
        raise
