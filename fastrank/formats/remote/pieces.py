"""Read remote files like local ones: in parts, in turn by several threads, or as a whole."""

from __future__ import annotations

import io

from fastrank.formats.remote.blocks import Blocks
from fastrank.formats.source import Pieces, Reader, compression_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class RemoteFile(Protocol):
        """A file in a store. All methods raise ReadError.

        size: in bytes, None if the store does not provide ranges or the size. head: the first
        block, or, without a size, the first bytes, enough to detect the format.
        """

        size: int | None
        head: bytes

        def fetch(self, start: int, view: memoryview) -> None:
            """Fill the view with the bytes from `start` on; only with a size, in any thread."""

        def stream(self) -> Any:
            """A binary file object with what follows the head."""

        def check_unchanged(self) -> None:
            """Raise ReadError if the file changed since it was opened."""

        def close(self) -> None:
            """Close connections that are open."""


class RemotePieces(Pieces):
    """A file in a store: see Pieces. Without ranges, each reader requests the whole file."""

    def __init__(self, name: str, file: RemoteFile) -> None:
        self.name = name
        self.compression = compression_of(file.head)
        self.rereadable = True
        self._remote, self._may_be_empty = file, False
        self._ranges = file.size
        self._blocks = Blocks(file.fetch, file.size or 0, file.head)
        # An empty file has no parts, so that reading it is an error.
        self.size = None if self.compression else file.size or None

    def close(self) -> None:
        """Close the connections; the readers stop working."""
        self._remote.close()
        self._blocks.close()

    def read(self) -> bytes:
        """The whole decompressed content. Raises ReadError."""
        if self.size is None:
            return super().read()
        # Its memory becomes the result without a copy.
        buffer = io.BytesIO()
        buffer.seek(self.size - 1)
        buffer.write(b"\0")
        with buffer.getbuffer() as view:
            self.part(0, self.size).readinto(view)
        self.check_unchanged()
        return buffer.getvalue()

    def check_unchanged(self) -> None:
        """Raise ReadError if the file changed since it was opened."""
        self._remote.check_unchanged()

    def _part(self, start: int, stop: int) -> Reader:
        return _Range(self.name, self._blocks, start, stop)

    def stored(self) -> Reader:
        """A reader of the whole content as it is stored."""
        if self._ranges is not None:
            return _Range(self.name, self._blocks, 0, self._ranges)
        return _Whole(self.name, self._remote)


class _Range(Reader):
    """A range of a remote file."""

    def __init__(self, name: str, blocks: Blocks, start: int, stop: int) -> None:
        super().__init__(name, may_be_empty=stop > 0)
        self._blocks, self._at, self._stop = blocks, start, stop

    def _some(self, view: memoryview) -> int:
        if self._at == self._stop:
            return 0
        count = self._blocks.copy(self._at, self._stop, view)
        self._at += count
        return count


class _Whole(Reader):
    """A remote file from its beginning, requested only when more than its head is needed."""

    def __init__(self, name: str, file: RemoteFile) -> None:
        super().__init__(name, may_be_empty=False)
        self._file, self._head = file, file.head
        self._stream: Any = None

    def _some(self, view: memoryview) -> int:
        if self._head:
            given = self._head[: len(view)]
            self._head = self._head[len(given) :]
            view[: len(given)] = given
            return len(given)
        if self._stream is None:
            self._stream = self._file.stream()
        count: int = self._stream.readinto(view)
        return count
