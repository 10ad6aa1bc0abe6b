"""Split a run file into parts for threads, and feed each part to a kernel through a buffer."""

from __future__ import annotations

from _thread import allocate_lock
from itertools import pairwise

from fastrank.core.data.texts import spans
from fastrank.core.formats.files.source import Reader, SourceFile
from fastrank.core.native import codes, kernels, records
from fastrank.core.native.buffers import zeros
from fastrank.core.native.codes import PIECE, SHORTEST_LINE
from fastrank.core.native.threads import default_threads, in_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    # Makes a call of a kernel from a reader, the maximum number of lines, and the state.
    Prepare: TypeAlias = Callable[[records.LineReader, int, records.Reading], Callable[[], int]]

# Room for ids of queries without judgments before Python takes them, and how many recent ones a
# kernel does not store again.
UNKNOWN_ROOM, RECENT = 1 << 16, 1 << 10
# The maximum number of parts: each needs its own buffers and a search for its cut.
MOST_PARTS = 256
# How far to look for a change of query: at first, and before the cut is given up.
NEAR_CUT, FARTHEST_CUT = 1 << 16, 1 << 22
# How far to look for the end of a query, at first.
NEAR_QUERY = 256
# The shortest part that threads take in turn, which limits how long the last thread works alone: in
# bytes, or for a small file as a fraction of a thread's share.
SHORT_PART, SHARES = 4 << 20, 8


class Content(SourceFile):
    """A run in memory, as a file that can be read in parts."""

    def __init__(self, content: bytes) -> None:
        self.name, self.size = "<bytes>", len(content)
        self._content = memoryview(content)

    def _part(self, start: int, stop: int) -> Reader:
        return Reader(self.name, may_be_empty=True, waiting=self._content[start:stop])


class FileParts:
    """A run in parts, for at most `threads` threads.

    The parts can be read as often as the run itself.
    """

    def __init__(self, file: SourceFile, threads: int | None) -> None:
        # The size of a compressed file is unknown.
        self._file, self.size, self.threads = file, file.size, 1
        self._cuts: list[int] = []
        if file.size is not None:
            threads = default_threads(file.size) if threads is None else threads
            self.threads = min(threads, MOST_PARTS)

    @property
    def cuts(self) -> list[int]:
        """The starts of parts of about equal length, if possible one per thread, and the end."""
        if not self._cuts:
            size, cuts = PIECE if self.size is None else self.size, [0]
            for number in range(1, self.threads):
                cut = change_of_query(self._file, size * number // self.threads)
                if cut is not None and cut > cuts[-1]:
                    cuts.append(cut)
            self._cuts = [*cuts, size]
        return self._cuts

    def __len__(self) -> int:
        return len(self.cuts) - 1

    @property
    def room(self) -> int:
        """How many bytes to read at once from a part."""
        return PIECE if self.size is None else min(PIECE, self.size + 1)

    def readers(self) -> list[Reader]:
        """A reader of each part between `cuts`."""
        if self.size is None:
            return [self._file.whole()]
        return [self._file.part(start, stop) for start, stop in pairwise(self.cuts)]

    def queue(self) -> WorkQueue:
        """Parts for threads that take the next part when they finish one.

        Parts get shorter towards the end, so that all threads finish at about the same time even if
        one is slower.
        """
        is_shared = self.size is not None and self.threads > 1
        return WorkQueue(self._shorter_and_shorter() if is_shared else iter(self.readers()))

    def _shorter_and_shorter(self) -> Iterator[Reader]:
        start, size = 0, self.size or 0
        shortest = min(SHORT_PART, size // (SHARES * self.threads))
        while True:
            stop, length = start, max(shortest, (size - start) * 3 // (4 * self.threads), 1)
            cut = None
            while cut is None and stop < size - length:
                stop += length
                cut = change_of_query(self._file, stop)
                length = max(length, FARTHEST_CUT)
            stop = size if cut is None else cut
            yield self._file.part(start, stop)
            start = stop
            if start == size:
                return


class WorkQueue:
    """Numbered readers that threads take in turn."""

    def __init__(self, readers: Iterator[Reader]) -> None:
        self._readers = enumerate(readers)
        self._lock = allocate_lock()

    def take(self) -> tuple[int, Reader] | None:
        """The next number and reader, or None at the end."""
        with self._lock:
            return next(self._readers, None)

    def end(self) -> None:
        """Hand out no more readers."""
        with self._lock:
            self._readers = enumerate(())


def change_of_query(file: SourceFile, start: int) -> int | None:
    """The start of a line after `start` whose query differs from that of the line before.

    None if none is found nearby.
    """
    size = file.size or 0
    for reach in (NEAR_CUT, FARTHEST_CUT):
        text = bytearray(min(start + reach, size) - start)
        file.part(start, start + len(text)).readinto(text)
        cut = _first_change(text)
        if cut is not None:
            return start + cut
    return None


def _first_change(text: bytearray) -> int | None:
    """The start of the first line with another query than the first whole line.

    None if the last whole line has that query, too. Uses bisection, because the lines of a query
    are usually adjacent.
    """
    del text[text.rfind(b"\n") + 1 :]
    low, high = text.find(b"\n") + 1, text.rfind(b"\n", 0, -1) + 1
    first = _query_from(text, low)
    if high <= low or _query_from(text, high) in (first, b""):
        return None
    while True:
        middle = text.rfind(b"\n", low, (low + high) // 2) + 1 or text.find(b"\n", low) + 1
        if middle >= high:
            return high
        if _query_from(text, middle) == first:
            low = middle
        else:
            high = middle


def _query_from(text: bytearray, line: int) -> bytes:
    """The query of the first line from `line` on that is not blank, or empty."""
    words: list[bytearray] = []
    for stop in (line + NEAR_QUERY, len(text)):
        words = text[line:stop].split(None, 1)
        if len(words) == 2:
            break
    return bytes(words[0]) if words else b""


def line_reader(text: bytes | memoryview, cursor: records.Cursor) -> records.LineReader:
    """A text with memory for a block index, see kernels/parsing/block_index.py."""
    marks = (zeros("B", codes.MARK_BYTES) for _ in range(2))
    newlines, bounds = zeros("q", codes.NEWLINE_PLACES), zeros("q", codes.BOUNDS)
    block = records.BlockIndex(*marks, newlines=newlines, bounds=bounds)
    return records.LineReader(text=text, block=block, cursor=cursor)


def result_fields(lines: int) -> records.ResultFields:
    """Memory for the fields of `lines` lines."""
    return records.ResultFields(docs=spans(lines), scores=spans(lines))


def unknown_queries(*, keep: bool) -> records.UnknownQueries:
    """Memory for ids of queries without judgments, if they are to be kept."""
    sizes = (UNKNOWN_ROOM, RECENT) if keep else (0, 0)
    return records.UnknownQueries(ids=zeros("B", sizes[0]), recent=zeros("q", sizes[1]))


class ChunkReader:
    """A buffer through which the text of a part is fed to a kernel, piece by piece.

    `prepare(reader, lines, state)` makes the function that calls the kernel with this buffer, which
    has room for `lines` lines. unknown: where the kernel stores the ids of queries without
    judgments, which are moved to `unknown_ids`. start: numbers of the state at the beginning other
    than 0. part: the number of the last part that was fed.
    """

    def __init__(
        self, prepare: Prepare, unknown: records.UnknownQueries | None = None, **start: int
    ) -> None:
        self._prepare, self._unknown, self._start = prepare, unknown, start
        self.part = 0
        self.unknown_ids: set[bytes] = set()
        self._cursor, self.state = records.Cursor(), records.Reading()
        # Size, memory, and the function that calls the kernel with it: changed together, so that
        # they match even after an interrupt or a lack of memory.
        self._buffer: tuple[int, Any, Callable[[], int] | None] = (0, b"", None)
        self.tag = b""

    @property
    def status(self) -> int:
        """DONE, or why the kernel stopped before the end."""
        return self.state.status

    @property
    def met_comment(self) -> bool:
        """Whether the line at which the kernel stopped is malformed and looks like a comment.

        Which fields seem misplaced also depends on the line before, which the kernel may not know.
        """
        start = self._cursor.position
        line = bytes(self._buffer[1][start : start + 64])
        return self.status == codes.MALFORMED and line.lstrip().startswith(b"#")

    def begin(self, room: int, *, comments: bool, strict: bool) -> None:
        """Have room for a number of bytes at once; forget what was.

        comments: whether # begins one. strict: what is not all a number ends the reading, and so do
        fields in the column of others.
        """
        self._cursor.assign(comments=comments, checked=strict)
        self.state.clear(refused=codes.STRICTLY if strict else codes.AS_C, **self._start)
        self.unknown_ids.clear()
        self.tag = b""
        if room > self._buffer[0]:
            self._reserve(max(room, SHORTEST_LINE))

    def _reserve(self, room: int) -> None:
        before, old, _ = self._buffer
        text = zeros("B", room + codes.SLACK)
        text[:before] = old[:before]
        reader = line_reader(text, self._cursor)
        step = self._prepare(reader, kernels.most_lines(room), self.state)
        self._buffer = room, text, step

    def feed_text(self, text: bytes) -> None:
        """Feed a text that is in memory and has no comments."""
        parts = FileParts(Content(text), 1)
        self.begin(parts.room, comments=False, strict=False)
        self.feed(*parts.readers())

    def feed(self, reader: Reader) -> None:
        """Feed the reader's content to the kernel until the end or until the kernel stops."""
        waiting, cursor = 0, self._cursor
        while True:
            room, text, step = self._buffer
            assert step is not None
            size = waiting + reader.readinto(text[waiting:room])
            ended = size < room
            cursor.size, cursor.ended = size, ended
            part = reader.place() or (codes.NO_FILE, 0, 0)
            cursor.file, cursor.file_position, cursor.file_stop = part
            done = step()
            reader.pass_to(cursor.file_position)
            size = cursor.size
            if cursor.tag_size:
                self.tag = bytes(text[cursor.tag : cursor.tag + cursor.tag_size])
            if self._unknown is not None:
                ids = self._unknown.ids[: self.state.unknown_bytes]
                self.unknown_ids.update(bytes(ids).split())
            # A kernel also stops where it has no room for more ids.
            if (ended and done == size) or self.status != codes.DONE:
                return
            waiting = size - done
            text[:waiting] = text[done:size]
            if size == waiting == room:
                # A query that fills the buffer needs a larger one, and is read again.
                self._reserve(4 * room)


def feed_all(
    feeders: list[ChunkReader], parts: FileParts, *, comments: bool, strict: bool
) -> bytes | None:
    """Feed each part between the cuts through one feeder, all but the first in new threads.

    Returns the tag of the last line, or None if a kernel stopped. Raises the error of the first
    part that failed.
    """
    feeders, readers = feeders[: len(parts)], parts.readers()
    for part, feeder in enumerate(feeders):
        feeder.begin(parts.room, comments=comments, strict=strict)
        feeder.part = part
    in_threads(lambda part: feeders[part].feed(readers[part]), len(feeders))
    if any(feeder.status != codes.DONE for feeder in feeders):
        return None
    return next((feeder.tag for feeder in reversed(feeders) if feeder.tag), b"")


def feed_in_turn(
    feeders: list[ChunkReader], parts: FileParts, *, comments: bool, strict: bool
) -> bytes | None:
    """Like `feed_all`, but each feeder takes the next part when it finishes one."""
    queue = parts.queue()
    tags = {-1: b""}
    for feeder in feeders:
        feeder.begin(parts.room, comments=comments, strict=strict)

    def work(number: int) -> None:
        feeder = feeders[number]
        try:
            while feeder.status == codes.DONE and (taken := queue.take()):
                feeder.part, reader = taken
                feeder.tag = b""
                feeder.feed(reader)
                if feeder.tag:
                    tags[feeder.part] = feeder.tag
        finally:
            queue.end()

    in_threads(work, len(feeders))
    if any(feeder.status != codes.DONE for feeder in feeders):
        return None
    return tags[max(tags)]


def met_comment(feeders: list[ChunkReader]) -> bool:
    """Whether the first line that could not be read looks like a comment.

    The first in the file: which other ones are reached depends on the threads.
    """
    stopped = [feeder for feeder in feeders if feeder.status != codes.DONE]
    return bool(stopped) and min(stopped, key=lambda feeder: feeder.part).met_comment
