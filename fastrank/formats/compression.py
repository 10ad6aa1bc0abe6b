"""Compression of what is written, by the name of the file."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any


def packed(pieces: Iterable[bytes], name: str) -> Iterable[bytes]:
    """The pieces, compressed if the name ends in .gz, .bz2, .xz or .zst.

    Raises ImportError for .zst where there is nothing that does it.
    """
    ending = name.lower()
    if ending.endswith(".gz"):
        import zlib

        return _squeezed(pieces, zlib.compressobj(6, zlib.DEFLATED, 16 + zlib.MAX_WBITS))
    if ending.endswith(".bz2"):
        import bz2

        return _squeezed(pieces, bz2.BZ2Compressor())
    if ending.endswith(".xz"):
        import lzma

        return _squeezed(pieces, lzma.LZMACompressor())
    if ending.endswith(".zst"):
        return _squeezed(pieces, _zstd(name))
    return pieces


def _zstd(name: str) -> Any:
    try:
        from compression.zstd import ZstdCompressor

        return ZstdCompressor()
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError as error:
        reason = "needs zstandard (pip install 'fastrank-eval[zstd]')"
        raise ImportError(f"{name}: {reason}") from error
    return zstandard.ZstdCompressor().compressobj()


def _squeezed(pieces: Iterable[bytes], compressor: Any) -> Iterator[bytes]:
    for piece in pieces:
        squeezed = compressor.compress(piece)
        if squeezed:
            yield squeezed
    yield compressor.flush()
