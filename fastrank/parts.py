"""A run file in parts, one for each thread, and each part in pieces through one buffer."""

from __future__ import annotations

import os
from _thread import allocate_lock, start_new_thread
from itertools import pairwise

from fastrank.kernels import places as at
from fastrank.native.buffers import zeros
from fastrank.pieces import Pieces, Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# What a thread reads at once: with all that is noted of its lines it stays in the second cache.
PIECE = 1 << 18
# The shortest line of a run, `q Q d r s t` with its newline.
SHORTEST_LINE = 12
# Below this, starting a thread and finding where to cut costs more than it gains.
WORTH_A_THREAD = 32 << 20
MOST_THREADS = 8
# However many are asked for: each has buffers of its own, and every cut has to be looked for.
MOST_PARTS = 256
# How far to look for a change of query: at first, and before the cut is given up.
NEAR_CUT, FARTHEST_CUT = 1 << 16, 1 << 22


def default_threads(size: int, worth_a_thread: int = WORTH_A_THREAD) -> int:
    """How many threads help with something of a size, by default a file of so many bytes."""
    if hasattr(os, "sched_getaffinity"):
        processors = len(os.sched_getaffinity(0))
    else:
        processors = os.cpu_count() or 1
    return max(1, min(processors, MOST_THREADS, size // worth_a_thread))


def block_index() -> tuple[Any, Any, Any]:
    """Scratch for the index of a block of lines, which kernels/fields.py makes."""
    return zeros("B", at.MARK_BYTES), zeros("B", at.MARK_BYTES), zeros("q", at.NEWLINE_PLACES)


class Content(Reader):
    """A run that is in memory, as a reader."""

    def __init__(self, content: bytes) -> None:
        super().__init__("<bytes>", may_be_empty=True)
        self._rest = memoryview(content)

    def _some(self, view: memoryview) -> int:
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


class Parts:
    """Where a run is cut: each part from one of `cuts` to the next.

    `readers` can be had as often as the run can be read.
    """

    def __init__(self, file: Pieces | bytes, threads: int | None) -> None:
        self._file = file
        if isinstance(file, bytes):
            self.cuts = [0, len(file)]
        elif file.size is None:
            # Compressed: who knows how long it is.
            self.cuts = [0, PIECE]
        else:
            count = default_threads(file.size) if threads is None else min(threads, MOST_PARTS)
            self.cuts = _cuts(file, count)

    def __len__(self) -> int:
        return len(self.cuts) - 1

    @property
    def size_is_known(self) -> bool:
        """Whether the cuts say how long the run is; that of a compressed one do not."""
        return isinstance(self._file, bytes) or self._file.size is not None

    @property
    def rooms(self) -> list[int]:
        """How much of each part to read at once."""
        return [min(PIECE, stop - start + 1) for start, stop in pairwise(self.cuts)]

    def readers(self) -> list[Reader]:
        """A reader of each part."""
        file = self._file
        if isinstance(file, bytes):
            return [Content(file)]
        if file.size is None:
            return [file.whole()]
        return [file.part(start, stop) for start, stop in pairwise(self.cuts)]


class Feeder:
    """A buffer through which the text of a part is fed to a kernel, piece by piece.

    `prepare(text, lines, cursor, state)` makes the function that calls the kernel with this buffer,
    which has room for so many lines.
    """

    def __init__(self, prepare: Callable[[Any, int, Any, Any], Callable[[], int]]) -> None:
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
        self._step = self._prepare(text, room // SHORTEST_LINE + 2, self._cursor, self.state)

    def feed_text(self, text: bytes) -> None:
        """Feed a text that is in memory and has no comments."""
        self.begin(min(PIECE, len(text) + 1), comments=False)
        self.feed(Content(text))

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
    """Feed each part through a feeder, all but the first in threads.

    The tag of the last line, or None if a kernel stopped. Raises what the first raised that failed.
    """
    feeders = feeders[: len(parts)]
    readers = parts.readers()
    for feeder, room in zip(feeders, parts.rooms, strict=True):
        feeder.begin(room, comments=comments)
    in_threads(lambda part: feeders[part].feed(readers[part]), len(feeders))
    if any(feeder.status != at.DONE for feeder in feeders):
        return None
    return next((feeder.tag for feeder in reversed(feeders) if feeder.tag), b"")


def in_threads(work: Callable[[int], None], count: int) -> None:
    """Call work(0), ..., work(count - 1) at once, the first in this thread.

    Raises what the first raised that failed.
    """
    failures: dict[int, BaseException] = {}

    def attempt(number: int, running: Any) -> None:
        try:
            work(number)
        except BaseException as error:
            failures[number] = error
        finally:
            running.release()

    # Not `threading`, whose import takes a command longer than all that these threads wait for.
    locks = [allocate_lock() for _ in range(count)]
    for lock in locks:
        lock.acquire()
    for number in range(1, count):
        try:
            start_new_thread(attempt, (number, locks[number]))
        except RuntimeError:
            # The system gives no more threads.
            attempt(number, locks[number])
    attempt(0, locks[0])
    for lock in locks:
        lock.acquire()
    if failures:
        raise failures[min(failures)]


def _cuts(file: Pieces, threads: int) -> list[int]:
    """Where the parts of a file begin, and its end."""
    size = file.size or 0
    cuts = [0]
    for number in range(1, threads):
        cut = _change_of_query(file, size * number // threads, size)
        if cuts[-1] < cut < size:
            cuts.append(cut)
    return [*cuts, size]


def _change_of_query(file: Pieces, start: int, size: int) -> int:
    """The first line after `start` whose query is not that of the line before; `size` if none."""
    for reach in (NEAR_CUT, FARTHEST_CUT):
        stop = min(start + reach, size)
        text = bytearray(stop - start)
        file.part(start, stop).readinto(text)
        first, *lines = text.split(b"\n")
        position = start + len(first) + 1
        before = None
        for line in lines[:-1]:
            query = line.split(None, 1)[:1] or before
            if before is not None and query != before:
                return position
            before = query
            position += len(line) + 1
    return size
