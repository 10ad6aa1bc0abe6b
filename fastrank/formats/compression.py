"""Compress output according to the name of the file."""

from __future__ import annotations

from fastrank.lazy import optional

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
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
