"""Run files judged while they are read: one buffer per thread, however large the file.

A file is cut where its query changes, one part for each thread. What cannot be done from pieces
(a query whose lines are scattered, a repeated document, a line that holds no result) makes the
file be read as a whole instead: the readers and the judging of runs in memory know all cases and
say what is wrong.
"""

from __future__ import annotations

import os
from itertools import pairwise

from fastrank import pieces, trec
from fastrank.columns import Frozen, Qrels
from fastrank.judge import Judged, byte_order
from fastrank.kernels import places as at
from fastrank.levels import DEFAULT_COMPAT
from fastrank.native import kernels
from fastrank.native.buffers import filled, table_size, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.columns import Run
    from fastrank.judge import JudgingOptions
    from fastrank.pieces import Pieces, Reader, Source
    from fastrank.trec import Warn

# What a thread reads at once: with all that is noted of its lines it stays in the caches.
PIECE = 1 << 20
# The shortest line of a run, `q Q d r s t` with its newline.
SHORTEST_LINE = 12
# Below this, starting a thread and finding where to cut costs more than it gains.
WORTH_A_THREAD = 32 << 20
MOST_THREADS = 8
# How far to look for a change of query: at first, and before the cut is given up.
NEAR_CUT, FARTHEST_CUT = 1 << 16, 1 << 22
# The document that trec_eval 10.0 gives a query without results under -c.
PLACEHOLDER = b"ceci_nest_pas_un_docno"


class Streamed(Frozen):
    """The judged queries of a run that is not in memory.

    queries: places in the judgments, in byte order of the ids. missing: how many judged queries
    have no results. absent: the places in `queries` of those that got a placeholder document
    instead. tag: the run's name.
    """

    __slots__ = ("absent", "judged", "missing", "queries", "tag")

    queries: Any
    judged: Judged
    missing: int
    absent: list[int]
    tag: bytes


def default_threads(size: int) -> int:
    """How many threads help with a file of so many bytes."""
    if hasattr(os, "sched_getaffinity"):
        processors = len(os.sched_getaffinity(0))
    else:
        processors = os.cpu_count() or 1
    return max(1, min(processors, MOST_THREADS, size // WORTH_A_THREAD))


class FileJudge:
    """Judges run files, one after the other, by the same judgments and options.

    only: the one query to evaluate. with_absent: judged queries without results are evaluated too,
    with a placeholder document.
    """

    def __init__(
        self,
        qrels: Qrels,
        options: JudgingOptions,
        *,
        only: bytes | None = None,
        with_absent: bool = False,
        compat: str = DEFAULT_COMPAT,
    ) -> None:
        self._qrels, self._options, self._compat = qrels, options, compat
        self._with_absent = with_absent
        count = len(qrels)
        self._table = zeros("q", table_size(count))
        kernels.intern_texts(
            *qrels.queries.columns, self._table, zeros("q", count), zeros("q", count)
        )
        self._order = byte_order(qrels)
        if only is not None:
            self._order = filled("q", [q for q in self._order if qrels.queries[q] == only])
        self._places = options.places(stop_if_none_judged=True)
        self._parts: list[_Part] = []
        self._found = _Found(0, count, len(qrels.docs))

    def judge(
        self,
        source: Source | Pieces,
        *,
        threads: int | None = None,
        warn: Warn = trec.python_warning,
    ) -> Streamed | Run:
        """Judge a run file; or read it, as `read_run` does, where it cannot be judged in pieces.

        threads: at most so many, by default as many as help. Raises ReadError and FormatError.
        """
        with source if isinstance(source, pieces.Pieces) else pieces.open_pieces(source) as file:
            content = None if file.rereadable else file.read()
            if not self._options.list_unjudged:
                judged = self._judge(file, content, threads)
                if judged is not None:
                    return judged
            if content is None:
                content = file.read()
            return trec.parse_run(content, file.name, compat=self._compat, warn=warn)

    def _judge(self, file: Pieces, content: bytes | None, threads: int | None) -> Streamed | None:
        comments = self._compat != DEFAULT_COMPAT
        tag = self._judge_parts(file, content, threads, comments)
        if tag is None and not comments and self._met_comment():
            tag = self._judge_parts(file, content, threads, True)
        file.check_unchanged()
        return None if tag is None else self._gathered(tag)

    def _judge_parts(
        self, file: Pieces, content: bytes | None, threads: int | None, comments: bool
    ) -> bytes | None:
        """Judge all parts; the tag of the last line, or None if not all could be judged."""
        if content is not None:
            cuts = [0, len(content)]
            readers: list[Any] = [_Content(content)]
        elif file.size is None:
            cuts = [0, PIECE]
            readers = [file.whole()]
        else:
            cuts = _cuts(file, default_threads(file.size) if threads is None else threads)
            readers = [file.part(start, stop) for start, stop in pairwise(cuts)]
        count = len(readers)
        self._make_parts(count + self._with_absent)
        jobs = []
        for part, reader, (start, stop) in zip(self._parts, readers, pairwise(cuts), strict=False):
            part.begin(min(PIECE, stop - start + 1), comments)
            jobs.append((part, reader))
        _judge_all(jobs)
        if any(part.status != at.DONE for part in self._parts[:count]):
            return None
        return next((part.tag for part in reversed(self._parts[:count]) if part.tag), b"")

    def _make_parts(self, count: int) -> None:
        if len(self._parts) < count:
            qrels = self._qrels
            self._found = _Found(count, len(qrels), len(qrels.docs))
            widest = kernels.widest(qrels.offset_column)
            judgments = (*qrels.queries.columns, self._table, *qrels.columns, self._places)
            self._parts = [
                _Part(judgments, widest, self._found.of(number)) for number in range(count)
            ]
        for part in self._parts:
            part.clear()

    def _met_comment(self) -> bool:
        """Whether what ended the judging, in the first part that ended early, is a comment."""
        return next(part.met_comment for part in self._parts if part.status != at.DONE)

    def _gathered(self, tag: bytes) -> Streamed | None:
        """The queries of all parts together; None if that needs all of the run in memory."""
        found = self._found.gathered(self._order, self._qrels, self._places)
        absent: list[int] = []
        if found is None:
            return None
        missing = len(self._order) - len(found[0])
        if self._with_absent and missing:
            present = set(found[0])
            missed = [query for query in self._order if query not in present]
            lines = [
                b"%b Q0 %b 1 1 -\n" % (self._qrels.queries[query], PLACEHOLDER) for query in missed
            ]
            text = b"".join(lines)
            part = self._parts[-1]
            part.begin(min(PIECE, len(text) + 1), comments=False)
            part.judge(_Content(text))
            found = self._found.gathered(self._order, self._qrels, self._places)
            if part.status != at.DONE or found is None:
                return None
            absent = [i for i, query in enumerate(found[0]) if query not in present]
        queries, columns = found
        options = self._options
        columns += (options.relevance_level, options.collection_size)
        judged = Judged(columns=columns)
        return Streamed(queries=queries, judged=judged, missing=missing, absent=absent, tag=tag)


class _Found:
    """What the parts find, each in its own stretch of these columns (kernels/stream.py)."""

    def __init__(self, parts: int, queries: int, documents: int) -> None:
        self._parts, self._queries, self._documents = parts, queries, documents
        self._per_query = [zeros("q", parts * queries) for _ in range(4)]
        self._listed = [zeros("q", parts * documents) for _ in range(2)]

    def of(self, part: int) -> list[Any]:
        """The columns of one part, as the kernel takes them."""
        return [
            column[part * rows : (part + 1) * rows]
            for columns, rows in (
                (self._listed, self._documents),
                (self._per_query, self._queries),
            )
            for column in columns
        ]

    def gathered(self, order: Any, qrels: Qrels, options: Any) -> tuple[Any, Any] | None:
        """The queries found, in the given order, and the columns of `Judged` but for the last two.

        None if a query was found by two parts or cannot be evaluated.
        """
        count, documents = len(order), self._documents
        queries, parts = zeros("q", count), zeros("q", count)
        offsets, grade_offsets = zeros("q", count + 1), zeros("q", count + 1)
        ranks, grades, values, counts = (zeros("q", documents) for _ in range(4))
        num_ret, num_rel, num_rel_ret = (zeros("q", count) for _ in range(3))
        found = kernels.gather_judged(
            order, self._parts, *self._per_query, *self._listed, qrels.offset_column,
            qrels.grade_column, options, queries, parts, offsets, ranks, grades, grade_offsets,
            values, counts, num_ret, num_rel, num_rel_ret,
        )  # fmt: skip
        if found < 0:
            return None
        listed, distinct = offsets[found], grade_offsets[found]
        return queries[:found], (
            offsets[: found + 1], ranks[:listed], grades[:listed], grade_offsets[: found + 1],
            values[:distinct], counts[:distinct], num_ret[:found], num_rel[:found],
            num_rel_ret[:found],
        )  # fmt: skip


class _Part:
    """A buffer, the memory that judging what is in it takes, and what came of it."""

    def __init__(self, judgments: tuple[Any, ...], most_judged: int, found: list[Any]) -> None:
        self._judgments, self._most_judged, self._found = judgments, most_judged, found
        self._cursor, self._state = zeros("q", at.CURSOR_SIZE), zeros("q", at.STATE_SIZE)
        self._room = 0
        self._text: Any = b""
        self._comments = False
        self.tag = b""

    @property
    def status(self) -> int:
        """DONE, or why judging ended before the end."""
        return int(self._state[at.STATUS])

    @property
    def met_comment(self) -> bool:
        """Whether the line at which judging ended looks like a comment."""
        start = self._cursor[at.POSITION]
        line = bytes(self._text[start : start + 64])
        return self.status == at.MALFORMED and line.lstrip().startswith(b"#")

    def clear(self) -> None:
        """Forget what was found."""
        for i in range(at.STATE_SIZE):
            self._state[i] = 0
        firsts = self._found[2]
        if len(firsts):
            firsts.cast("B")[:] = bytes(firsts.nbytes)
        self.tag = b""

    def begin(self, room: int, comments: bool) -> None:
        """Have room for so many bytes at once."""
        if room > self._room or comments != self._comments:
            self._comments = comments
            self._reserve(max(room, self._room, SHORTEST_LINE))

    def _reserve(self, room: int) -> None:
        text = zeros("B", room)
        text[: len(self._text)] = self._text
        self._room, self._text = room, text
        lines = room // SHORTEST_LINE + 2
        integers = [zeros("q", lines) for _ in range(5)]
        numbers = [zeros("d", lines) for _ in range(2)]
        places, hit_ranks, hit_rows = (zeros("q", lines) for _ in range(3))
        self._step = kernels.prepare(
            "stream_run",
            text,
            self._comments,
            *self._judgments,
            zeros("q", at.BLOCK_PLACES),
            zeros("q", at.BLOCK_PLACES),
            *integers,
            zeros("q", table_size(lines + self._most_judged)),
            zeros("q", table_size(self._most_judged)),
            places,
            *numbers,
            hit_ranks,
            hit_rows,
            *self._found,
            self._cursor,
            self._state,
        )

    def judge(self, reader: Reader | _Content) -> None:
        """Judge all that a reader has, or up to where judging ends."""
        waiting = 0
        while True:
            size = waiting + reader.readinto(self._text[waiting:])
            ended = size < self._room
            self._cursor[at.SIZE], self._cursor[at.ENDED] = size, ended
            done = self._step()
            if self._cursor[at.TAG_SIZE]:
                start = self._cursor[at.TAG]
                self.tag = bytes(self._text[start : start + self._cursor[at.TAG_SIZE]])
            if ended or self.status != at.DONE:
                return
            waiting = size - done
            self._text[:waiting] = self._text[done:size]
            if done == 0:
                # A query that fills the buffer: it needs a larger one.
                self._reserve(2 * self._room)


class _Content:
    """A run that is in memory, as a reader."""

    def __init__(self, content: bytes) -> None:
        self._rest = memoryview(content)

    def readinto(self, view: memoryview) -> int:
        """Fill the view; the number of bytes, less than its length only at the end."""
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def _judge_all(jobs: list[tuple[_Part, Reader | _Content]]) -> None:
    """Judge each part with its reader, all but the first in threads; raises what the first raised
    that failed."""
    if len(jobs) == 1:
        part, reader = jobs[0]
        part.judge(reader)
        return
    from threading import Thread

    failures: dict[int, BaseException] = {}

    def attempt(number: int) -> None:
        part, reader = jobs[number]
        try:
            part.judge(reader)
        except BaseException as error:
            failures[number] = error

    threads = [Thread(target=attempt, args=(number,)) for number in range(1, len(jobs))]
    for thread in threads:
        thread.start()
    attempt(0)
    for thread in threads:
        thread.join()
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
