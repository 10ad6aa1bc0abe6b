"""Read files with two fields a line."""

from __future__ import annotations

from fastrank.errors import FormatError
from fastrank.formats import files
from fastrank.formats.source import read_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastrank.formats.files import Source


def pairs_of(source: Source, fields: str) -> Iterator[tuple[int, bytes, bytes]]:
    """The number of each line, from 1, and its two fields, which white space separates.

    fields: their names, for errors. Empty lines are skipped. Raises ReadError and FormatError.
    """
    for number, line in enumerate(read_all(source).split(b"\n"), 1):
        found = line.split()
        if len(found) == 2:
            yield number, found[0], found[1]
        elif found:
            reason = f"expected 2 fields ({fields}), found {len(found)}"
            raise FormatError(files.name_of(source), number, reason)
