"""Read lines of files that may be larger than memory."""

from __future__ import annotations

from fastrank.errors import FormatError
from fastrank.formats.sniff import open_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastrank.formats.source import Pieces, Source

_BUFFER = 1 << 20
_BYTE_ORDER_MARK = "\ufeff"


def lines_of(source: Source | Pieces, name: str, encoding: str) -> Iterator[tuple[int, str]]:
    """The number, from 1, and text of each line of a file, compressed or not, without line ends.

    Raises ReadError, and FormatError for a line that is not in the encoding.
    """
    with open_source(source) as file:
        reader = file.whole()
        buffer = memoryview(bytearray(_BUFFER))
        number, rest = 0, b""
        while count := reader.readinto(buffer):
            # The last piece is the beginning of a line, which may span several buffers.
            *lines, last = bytes(buffer[:count]).split(b"\n")
            if lines:
                lines[0] = rest + lines[0]
                rest = b""
            rest += last
            for line in lines:
                number += 1
                yield number, _decoded(line, name, number, encoding)
        if rest:
            yield number + 1, _decoded(rest, name, number + 1, encoding)
        file.check_unchanged()


def _decoded(line: bytes, name: str, number: int, encoding: str) -> str:
    try:
        text = line.decode(encoding)
    except UnicodeDecodeError as error:
        byte = f"the byte {line[error.start]:#04x} at column {error.start + 1}"
        reason = f"{byte} is not {encoding}; use encoding='latin-1' for older collections"
        raise FormatError(name, number, reason) from None
    return (text.removeprefix(_BYTE_ORDER_MARK) if number == 1 else text).removesuffix("\r")
