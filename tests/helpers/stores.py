"""Stores of `fastrank eval --resume`, changed as another version of fastrank would write them."""

from __future__ import annotations

import zlib
from pathlib import Path


def rewrite(store: Path, old: str, new: str) -> None:
    """Replace text in all lines, and update their checksums."""
    store.write_text("".join(map(signed, store.read_text().replace(old, new).splitlines())))


def signed(line: str) -> str:
    """A line with its checksum."""
    body = line.rpartition(',"crc":')[0]
    return f'{body},"crc":"{zlib.crc32(body.encode()):08x}"}}\n'
