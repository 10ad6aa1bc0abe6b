"""Read run files into columns in pieces, keeping only the ids of the text.

This halves the memory, and allocating memory is the slowest part of reading.
"""

from __future__ import annotations

from itertools import pairwise

from fastrank.data.grouping import Groups
from fastrank.data.run import Run
from fastrank.data.texts import LineFields, Texts
from fastrank.formats.chunks import PIECE, SHORTEST_LINE, ChunkReader, FileParts, result_fields
from fastrank.native import codes, kernels, records
from fastrank.native.buffers import Recycled, zeros
from fastrank.native.threads import in_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from fastrank.formats.source import SourceFile

# The memory of the last run; reusing it makes reading several runs twice as fast.
_MEMORY = Recycled()


def read_run_columns(
    file: SourceFile, parts: FileParts, *, comments: bool, strict: bool
) -> Run | None:
    """Read a run in parts, one thread per part; None unless each line is one plain result.

    Raises ReadError.
    """
    bases = _lines_before(file, parts)
    # Each line takes a row, so lines that are too short for a result do not fit.
    if any(base > cut // SHORTEST_LINE for base, cut in zip(bases, parts.cuts, strict=False)):
        return None
    columns = _Columns(parts.cuts[-1])
    feeders = [columns.feeder(base) for base in bases]
    for feeder, room, base, cut in zip(feeders, parts.rooms, bases, parts.cuts, strict=False):
        feeder.begin(room, comments=comments, strict=strict)
        feeder.state.assign(rows=base, kept=cut)
    readers = parts.readers()
    in_threads(lambda part: feeders[part].feed(readers[part]), len(feeders))
    file.check_unchanged()
    ends = [feeder.state.rows for feeder in feeders]
    if ends[:-1] != bases[1:] or any(feeder.status != codes.DONE for feeder in feeders):
        return None
    tag = next((feeder.tag for feeder in reversed(feeders) if feeder.tag), b"")
    return columns.run(file.name, tag, [feeder.state for feeder in feeders], bases)


def _lines_before(file: SourceFile, parts: FileParts) -> list[int]:
    """The number of lines before each part. All threads count a share of each part but the last."""
    threads = len(parts)
    found = [[0] * threads for _ in range(threads)]

    def count(thread: int) -> None:
        text = zeros("B", PIECE)
        for part, (start, stop) in enumerate(pairwise(parts.cuts[:-1])):
            edges = [start + (stop - start) * share // threads for share in (thread, thread + 1)]
            reader = file.part(*edges)
            while size := reader.readinto(text):
                found[part + 1][thread] += kernels.count_lines(text[:size]) - 1

    in_threads(count, threads)
    bases = list(map(sum, found))
    return [sum(bases[: part + 1]) for part in range(threads)]


class _Columns:
    """The columns of a run of `size` bytes; only filled memory is used."""

    def __init__(self, size: int) -> None:
        rows = size // SHORTEST_LINE + 1
        self._kept, self._starts, self._lengths, self._scores, *self._stretches = _MEMORY.make(
            ("B", size + codes.SLACK), ("q", rows), ("q", rows), ("d", rows), *[("q", rows)] * 3
        )

    def feeder(self, base: int) -> ChunkReader:
        """A feeder that fills the rows from `base` on with a part of the run."""

        docs = records.Texts(self._kept, self._starts, self._lengths)
        stretches = records.Stretches(*(column[base:] for column in self._stretches))
        scores = self._scores

        def prepare(
            reader: records.LineReader, _: int, state: records.Reading
        ) -> Callable[[], int]:
            fields = result_fields(codes.CHUNK)
            return kernels.prepare("pack_run", reader, docs, scores, stretches, fields, state)

        return ChunkReader(prepare)

    def run(self, name: str, tag: bytes, states: list[records.Reading], bases: list[int]) -> Run:
        """The run that was read."""
        rows, kept, stretches = states[-1].rows, states[-1].kept, 0
        for state, base in zip(states, bases, strict=True):
            found = state.stretches
            for column in self._stretches:
                column[stretches : stretches + found] = column[base : base + found]
            stretches += found
        text = self._kept[: kept + codes.SLACK]
        *queries, first_rows = (column[:stretches] for column in self._stretches)
        groups = Groups(Texts(text, *queries), first_rows, rows)
        starts, lengths = groups.reorder(self._starts), groups.reorder(self._lengths)
        return Run(
            queries=groups.queries,
            docs=LineFields(text, starts, lengths, groups.order, "line"),
            tag_bytes=tag,
            source=name,
            offset_column=groups.offsets,
            score_column=groups.reorder(self._scores),
        )
