"""Compressed files, whole and damaged."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import sys
from importlib import import_module
from typing import Any


def zstd(content: bytes) -> bytes:
    """One frame with a checksum, as the zstd command writes it."""
    return zstd_library().compress(  # type: ignore[no-any-return]
        content, options={zstd_library().CompressionParameter.checksum_flag: 1}
    )


def zstd_library() -> Any:
    """Python's module, or what brings it to older versions."""
    return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


# What compresses, and what unpacks, by the ending of a name.
PACKERS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}
UNPACKERS = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
    ".zst": lambda content: zstd_library().decompress(content),
}


def long_text() -> bytes:
    """A run that makes several blocks in every compressed format, and compresses badly."""
    chance = random.Random(1)
    return b"".join(b"q Q0 %d 1 %r t\n" % (i, chance.random()) for i in range(12_000))


def flipped(content: bytes, place: int) -> bytes:
    """The content with one byte changed."""
    return content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :]


class Standard:
    """A standard input with these bytes."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)
