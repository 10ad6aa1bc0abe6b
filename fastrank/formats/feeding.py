"""The text of a run, fed to a kernel piece by piece through one buffer for each thread."""

from __future__ import annotations

from fastrank.data.texts import spans
from fastrank.formats.file_parts import SHORTEST_LINE, Parts
from fastrank.formats.source import Reader
from fastrank.native import codes as at
from fastrank.native import records
from fastrank.native.buffers import zeros
from fastrank.native.threads import in_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    # What makes, of a reader, how many lines its text can have and the state, a call of a kernel.
    Prepare: TypeAlias = Callable[[records.LineReader, int, Any], Callable[[], int]]


def line_reader(text: Any, cursor: Any) -> records.LineReader:
    """A text with memory for the index of a block, which kernels/parsing/block_index.py makes."""
    marks = (zeros("B", at.MARK_BYTES) for _ in range(2))
    index = records.BlockIndex(*marks, newlines=zeros("q", at.NEWLINE_PLACES))
    return records.LineReader(text=text, block=index, cursor=cursor)


def result_fields(lines: int) -> records.ResultFields:
    """Memory for the fields of so many lines."""
    return records.ResultFields(docs=spans(lines), scores=spans(lines))


class Feeder:
    """A buffer through which the text of a part is fed to a kernel, piece by piece.

    `prepare(reader, lines, state)` makes the function that calls the kernel with this buffer, which
    has room for so many lines.
    """

    def __init__(self, prepare: Prepare) -> None:
        self._prepare = prepare
        self._cursor, self.state = zeros("q", at.CURSOR_SIZE), zeros("q", at.STATE_SIZE)
        self._room = 0
        self._text: Any = b""
        self.tag = b""

    @property
    def status(self) -> int:
        """DONE, or why the kernel stopped before the end."""
        return int(self.state[at.STATUS])

    @property
    def met_comment(self) -> bool:
        """Whether the line at which the kernel stopped looks like a comment."""
        start = self._cursor[at.POSITION]
        line = bytes(self._text[start : start + 64])
        return self.status == at.MALFORMED and line.lstrip().startswith(b"#")

    def begin(self, room: int, *, comments: bool) -> None:
        """Have room for so many bytes at once; forget what was. comments: whether # begins one."""
        self._cursor[at.COMMENTS] = comments
        for i in range(at.STATE_SIZE):
            self.state[i] = 0
        self.tag = b""
        if room > self._room:
            self._reserve(max(room, SHORTEST_LINE))

    def _reserve(self, room: int) -> None:
        text = zeros("B", room + at.SLACK)
        text[: self._room] = self._text[: self._room]
        self._room, self._text = room, text
        reader = line_reader(text, self._cursor)
        self._step = self._prepare(reader, room // SHORTEST_LINE + 2, self.state)

    def feed_text(self, text: bytes) -> None:
        """Feed a text that is in memory and has no comments."""
        parts = Parts(text, 1)
        self.begin(parts.room, comments=False)
        self.feed(*parts.readers())

    def feed(self, reader: Reader) -> None:
        """Feed all that a reader has to the kernel, or as much as it takes."""
        waiting = 0
        while True:
            size = waiting + reader.readinto(self._text[waiting : self._room])
            ended = size < self._room
            self._cursor[at.SIZE], self._cursor[at.ENDED] = size, ended
            place = reader.place() or (at.NO_FILE, 0, 0)
            self._cursor[at.FILE], self._cursor[at.NEXT], self._cursor[at.STOP] = place
            done = self._step()
            reader.pass_to(self._cursor[at.NEXT])
            size = self._cursor[at.SIZE]
            if self._cursor[at.TAG_SIZE]:
                start = self._cursor[at.TAG]
                self.tag = bytes(self._text[start : start + self._cursor[at.TAG_SIZE]])
            if ended or self.status != at.DONE:
                return
            waiting = size - done
            self._text[:waiting] = self._text[done:size]
            if size == waiting == self._room:
                # A query that fills the buffer needs a larger one, and is begun anew.
                self._reserve(4 * self._room)


def feed_all(feeders: list[Feeder], parts: Parts, *, comments: bool) -> bytes | None:
    """Feed each part between the cuts through a feeder of its own, all but the first in threads.

    The tag of the last line, or None if a kernel stopped. Raises what the first raised that failed.
    """
    feeders, readers = feeders[: len(parts)], parts.readers()
    for feeder, room in zip(feeders, parts.rooms, strict=True):
        feeder.begin(room, comments=comments)
    in_threads(lambda part: feeders[part].feed(readers[part]), len(feeders))
    if any(feeder.status != at.DONE for feeder in feeders):
        return None
    return next((feeder.tag for feeder in reversed(feeders) if feeder.tag), b"")


def feed_in_turn(feeders: list[Feeder], parts: Parts, *, comments: bool) -> bytes | None:
    """The same, each feeder being fed the next part when it is done with one."""
    turns = parts.turns()
    tags = {-1: b""}
    for feeder in feeders:
        feeder.begin(parts.room, comments=comments)

    def work(number: int) -> None:
        feeder = feeders[number]
        try:
            while feeder.status == at.DONE and (turn := turns.take()):
                part, reader = turn
                feeder.tag = b""
                feeder.feed(reader)
                if feeder.tag:
                    tags[part] = feeder.tag
        finally:
            turns.end()

    in_threads(work, len(feeders))
    if any(feeder.status != at.DONE for feeder in feeders):
        return None
    return tags[max(tags)]
