"""Compress and decompress gzip, bzip2, xz and zstd in bounded memory."""

from __future__ import annotations

import sys

from fastrank.common.lazy import optional
from fastrank.errors import ReadError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any


def compressed(pieces: Iterable[bytes], name: str) -> Iterable[bytes]:
    """The pieces, compressed if the name ends in .gz, .bz2, .xz or .zst.

    Raises ImportError for .zst without a module for it.
    """
    ending = name.lower()
    if ending.endswith(".gz"):
        import zlib

        return _compress(pieces, zlib.compressobj(6, zlib.DEFLATED, 16 + zlib.MAX_WBITS))
    if ending.endswith(".bz2"):
        import bz2

        return _compress(pieces, bz2.BZ2Compressor())
    if ending.endswith(".xz"):
        import lzma

        return _compress(pieces, lzma.LZMACompressor())
    if ending.endswith(".zst"):
        zstd = optional(_ZSTD, f"{name}: compressing with zstd", "zstd")
        return _compress(pieces, zstd.ZstdCompressor())
    return pieces


def _compress(pieces: Iterable[bytes], compressor: Any) -> Iterator[bytes]:
    for piece in pieces:
        compressed_piece = compressor.compress(piece)
        if compressed_piece:
            yield compressed_piece
    yield compressor.flush()


# Python's module, or what brings it to older versions.
_ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
# Input is read in small pieces because a finished member returns a copy of its unused input.
_INPUT = 1 << 16
_OUTPUT = 1 << 18


def unpacked(kind: str, readinto: Callable[[memoryview], int], name: str) -> Iterator[bytes]:
    """The decompressed content in pieces of at most about 256 kB, then empty ones without end.

    Decompresses members one after the other; a truncated or broken member is an error. The file
    objects and one-shot functions of these modules either ignore broken data after the first
    member, or accept a truncated file. Raises ReadError.
    """
    buffer = memoryview(bytearray(_INPUT))

    def more() -> bytes:
        return bytes(buffer[: readinto(buffer)])

    try:
        start = _decompressor(kind)
        waiting = more()
        while waiting:
            member, piece = start(), waiting
            while True:
                text = member.decompress(piece, _OUTPUT)
                if text:
                    yield text
                if member.eof:
                    break
                piece = more() if member.needs_input else b""
                if member.needs_input and not piece:
                    raise EOFError("the file is truncated")
            # Zero bytes may pad the end, as tape archives and xz itself do.
            waiting = member.unused_data.lstrip(b"\0")
            while not waiting and (piece := more()):
                waiting = piece.lstrip(b"\0")
    except ReadError:
        raise
    except ImportError as error:
        hint = ""
        if kind == "zstd" and sys.version_info < (3, 14):
            hint = ": pip install 'fastrank-eval[zstd]'"
        needed = f"needs the Python module '{error.name}'{hint}"
        raise ReadError(name, f"{kind} compression {needed}") from error
    except Exception as error:
        # The libraries raise a dozen types (EOFError, zlib.error, LZMAError, ...) for the same
        # problem.
        raise ReadError(name, f"broken {kind} data: {error}") from error
    while True:
        yield b""


def _decompressor(kind: str) -> Callable[[], Any]:
    """A factory of decompressors of a member, with the interface of bz2: `decompress(piece,
    most)`, `needs_input`, `eof` and `unused_data`.
    """
    if kind == "gzip":
        try:
            from isal import igzip_lib
        except ImportError:
            return _Gunzip
        return lambda: igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
    if kind == "bzip2":
        import bz2

        return bz2.BZ2Decompressor
    if kind == "xz":
        import lzma

        return lzma.LZMADecompressor
    from importlib import import_module

    starter: Callable[[], Any] = import_module(_ZSTD).ZstdDecompressor
    return starter


class _Gunzip:
    """zlib's decompressor with the interface of bz2."""

    def __init__(self) -> None:
        import zlib

        # Deflate's largest window, and the header and checksum of gzip.
        self._member = zlib.decompressobj(zlib.MAX_WBITS + 16)

    def decompress(self, piece: bytes, most: int) -> bytes:
        return self._member.decompress(self._member.unconsumed_tail + piece, most)

    @property
    def needs_input(self) -> bool:
        return not self._member.unconsumed_tail

    @property
    def eof(self) -> bool:
        return self._member.eof

    @property
    def unused_data(self) -> bytes:
        return self._member.unused_data
