"""Compress and decompress gzip, bzip2, xz and zstd in bounded memory."""

from __future__ import annotations

import sys

from fastrank.errors import ReadError
from fastrank.lazy import optional

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
        return _compress(pieces, _zstd(name))
    return pieces


def _zstd(name: str) -> Any:
    try:
        from compression.zstd import ZstdCompressor

        return ZstdCompressor()
    except ImportError:
        pass
    zstandard = optional("zstandard", f"{name}: compressing with zstd", "zstd")
    return zstandard.ZstdCompressor().compressobj()


def _compress(pieces: Iterable[bytes], compressor: Any) -> Iterator[bytes]:
    for piece in pieces:
        compressed_piece = compressor.compress(piece)
        if compressed_piece:
            yield compressed_piece
    yield compressor.flush()


# Input is read in small pieces because a finished member returns a copy of its unused input.
_INPUT = 1 << 16
_OUTPUT = 1 << 18


class Unpacker:
    """Decompresses members one after the other; a truncated or broken member is an error.

    The file objects and one-shot functions of these modules either ignore broken data after the
    first member, or accept a truncated file.
    """

    def __init__(self, kind: str, readinto: Callable[[memoryview], int], name: str) -> None:
        self._kind = kind
        self._name = name
        self._readinto = readinto
        self._buffer = memoryview(bytearray(_INPUT))
        self._start: Callable[[], Any] | None = None
        self._member: Any = None
        self._unused = b""

    def next(self) -> bytes:
        """The next decompressed bytes, at most about 256 kB; none at the end. Raises ReadError."""
        try:
            if self._start is None:
                self._start = _STARTS[self._kind]()
            return self._next(self._start)
        except ReadError:
            raise
        except ImportError as error:
            hint = ""
            if self._kind == "zstd" and sys.version_info < (3, 14):
                hint = ": pip install 'fastrank-eval[zstd]'"
            needed = f"needs the Python module '{error.name}'{hint}"
            raise ReadError(self._name, f"{self._kind} compression {needed}") from error
        except Exception as error:
            # The libraries raise a dozen types (EOFError, zlib.error, LZMAError, ...) for the same
            # problem.
            raise ReadError(self._name, f"broken {self._kind} data: {error}") from error

    def _next(self, start: Callable[[], Any]) -> bytes:
        while True:
            piece = b""
            if self._member is None:
                # Zero bytes may pad the end, as tape archives and xz itself do.
                piece, self._unused = self._unused.lstrip(b"\0"), b""
                if not piece:
                    self._unused = self._input()
                    if not self._unused:
                        return b""
                    continue
                self._member = start()
            elif self._member.needs_input:
                piece = self._input()
                if not piece:
                    raise EOFError("the file is truncated")
            text: bytes = self._member.decompress(piece, _OUTPUT)
            if self._member.eof:
                self._unused, self._member = self._member.unused_data, None
            if text:
                return text

    def _input(self) -> bytes:
        return bytes(self._buffer[: self._readinto(self._buffer)])


def _start_gzip() -> Callable[[], Any]:
    try:
        from isal import igzip_lib
    except ImportError:
        return _Gunzip
    return lambda: igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)


def _start_bzip2() -> Callable[[], Any]:
    import bz2

    return bz2.BZ2Decompressor


def _start_xz() -> Callable[[], Any]:
    import lzma

    return lzma.LZMADecompressor


def _start_zstd() -> Callable[[], Any]:
    if sys.version_info >= (3, 14):
        from compression import zstd

        starter: Callable[[], Any] = zstd.ZstdDecompressor
        return starter
    import zstandard

    return lambda: _Unzstd(zstandard.ZstdDecompressor().decompressobj())


# Functions that make the decompressor of a member, with the interface of bz2: `decompress(piece,
# most)`, `needs_input`, `eof` and `unused_data`.
_STARTS = {"gzip": _start_gzip, "bzip2": _start_bzip2, "xz": _start_xz, "zstd": _start_zstd}


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


class _Unzstd:
    """The decompressor of the package zstandard with the interface of bz2.

    The package decompresses all its input at once, and 64 kB may decompress to 2 GB. So it gets one
    block at a time, which decompresses to at most 128 kB. Only sizes are parsed here (RFC 8878);
    the package detects errors.
    """

    def __init__(self, member: Any) -> None:
        self._member = member
        self._held = b""
        self._at = 0
        self._due = 0
        self._begun = False
        self._checksum = 0
        self.needs_input = True

    def decompress(self, piece: bytes, _most: int) -> bytes:
        if piece:
            self._held = self._held[self._at :] + piece
            self._at = 0
        if not self._due:
            self._due = self._size_of_next()
        given = self._held[self._at : self._at + self._due]
        self._at += len(given)
        self._due -= len(given)
        self.needs_input = not given or self._at == len(self._held)
        text: bytes = self._member.decompress(given)
        return text

    @property
    def eof(self) -> bool:
        finished: bool = self._member.eof
        return finished

    @property
    def unused_data(self) -> bytes:
        rest: bytes = self._member.unused_data + self._held[self._at :]
        return rest

    def _size_of_next(self) -> int:
        """The size of the next header or block, or 0 if more input is needed to know it."""
        held = self._held[self._at : self._at + 8]
        if not self._begun:
            size = self._size_of_header(held)
            self._begun = size > 0
            return size
        if len(held) < 3:
            return 0
        header = int.from_bytes(held[:3], "little")
        repeated = (header >> 1 & 3) == 1
        # The checksum is passed with the last block, or it would be taken for a block header.
        is_last = header & 1
        return 3 + (1 if repeated else header >> 3) + (self._checksum if is_last else 0)

    def _size_of_header(self, held: bytes) -> int:
        if len(held) < 8:
            return 0
        if held[1:4] == b"\x2a\x4d\x18" and held[0] >> 4 == 5:
            # A skippable frame.
            return 8 + int.from_bytes(held[4:8], "little")
        flags = held[4]
        single_segment = flags >> 5 & 1
        self._checksum = 4 * (flags >> 2 & 1)
        content_size = (single_segment, 2, 4, 8)[flags >> 6]
        dictionary = (0, 1, 2, 4)[flags & 3]
        return 5 + (not single_segment) + dictionary + content_size
