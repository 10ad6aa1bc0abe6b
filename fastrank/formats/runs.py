"""Runs read into columns, ranked by rank or as given instead of by score; their metadata.

Reading in pieces and keeping only the ids of the text halves the memory, and allocating memory is
the slowest part of reading.

Where the rank column or the given order counts, a document's score becomes minus its rank, so that
every measure follows the ranks.
"""

from __future__ import annotations

from itertools import pairwise, takewhile

from fastrank.data.grouping import Groups
from fastrank.data.run import Run
from fastrank.data.texts import LineFields, Texts, decoded
from fastrank.errors import FormatError, InputError
from fastrank.formats.chunks import (
    PIECE,
    SHORTEST_LINE,
    ChunkReader,
    FileParts,
    feed_all,
    result_fields,
)
from fastrank.formats.source import byte_lines
from fastrank.native import codes, kernels, records
from fastrank.native.buffers import Recycled, zeros
from fastrank.native.threads import in_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from fastrank.formats.source import Source, SourceFile

# Larger ranks may be equal as 32-bit floats, which trec_eval 9.0.8 compares.
LAST_RANK = 2**24


def apply_order(run: Run, rank_by: str) -> Run:
    """Rank a run that has no rank column by score or in the given order.

    Raises InputError for rank_by="rank".
    """
    if rank_by == "rank":
        reason = "expected ranks, found only scores; files and data frames can have a rank column"
        raise InputError(run.source, f"rank_by='rank': {reason}")
    return run if rank_by == "score" else rank_as_given(run)


def rank_as_given(run: Run) -> Run:
    """Rank each query's documents in the given order. Raises InputError for too many."""
    import numpy

    sizes = numpy.diff(run.offsets)
    if len(sizes) and sizes.max() > LAST_RANK:
        query = decoded(run.queries[int(sizes.argmax())])
        reason = f"query {query!r}: expected at most {LAST_RANK} results, found {sizes.max()}"
        raise InputError(run.source, f"rank_by='given': {reason}")
    scores = zeros("d", len(run.docs))
    numpy.asarray(scores)[:] = numpy.repeat(run.offsets[:-1], sizes) - numpy.arange(len(scores)) - 1
    ranked: Run = run.changed(score_column=scores)
    return ranked


def rank_by_field(run: Run) -> Run:
    """Rank a run in TREC format, whose text is still in memory, by its rank column.

    Raises FormatError for an invalid rank, InputError for a duplicate rank.
    """
    scores = zeros("d", len(run.docs))
    wrong = kernels.read_ranks(run.docs.columns, LAST_RANK, scores)
    if wrong >= 0:
        end = run.docs.starts[wrong] + run.docs.lengths[wrong]
        rank, *_ = bytes(run.docs.buffer[end : end + 80]).split()
        reason = f"expected an integer rank of at most {LAST_RANK}, found"
        found = rank.decode("utf-8", "replace")
        raise FormatError(run.source, run.docs.line(wrong), f"{reason} {found!r:.60}")
    return with_distinct_ranks(run.changed(score_column=scores))


def with_distinct_ranks(run: Run) -> Run:
    """The run, whose scores are minus the ranks. Raises InputError for duplicate ranks."""
    import numpy

    firsts = run.offsets[(run.offsets > 0) & (run.offsets < len(run.docs))]
    falls = numpy.diff(run.scores) < 0
    falls[firsts - 1] = True
    # Most files are sorted by rank, which is quick to check.
    if not falls.all():
        for first, stop in zip(run.offset_column[:-1], run.offset_column[1:], strict=True):
            _refuse_repeat(run, first, run.scores[first:stop])
    return run


def _refuse_repeat(run: Run, first: int, scores: Any) -> None:
    """Raise InputError if two scores are equal; they begin at row `first`."""
    import numpy

    order = numpy.argsort(-scores, kind="stable")
    equal = numpy.flatnonzero(numpy.diff(scores[order]) == 0)
    if not len(equal):
        return
    one, other = (first + int(order[place]) for place in (equal[0], equal[0] + 1))
    query = run.queries[int(numpy.searchsorted(run.offsets, one, "right")) - 1]
    docs = " and ".join(repr(run.docs[row].decode("utf-8", "replace")) for row in (one, other))
    where = f"{run.docs.unit}s {run.docs.line(one)} and {run.docs.line(other)}"
    rank = -int(run.score_column[one])
    reason = f"query {decoded(query)!r}: documents {docs} both have rank {rank}, {where}"
    raise InputError(run.source, reason)


START, END = b"ir_metadata.start", b"ir_metadata.end"


def run_metadata(source: Source) -> str | None:
    """The ir_metadata header of a run file as YAML text; None if the file does not begin with one.

    That is what is between the lines `# ir_metadata.start` and `# ir_metadata.end`, without the
    `#` of each line. A file object is read from its position. Raises ReadError. Source: Breuer,
    Keller and Schaer, 'ir_metadata: an extensible metadata schema for IR experiments', SIGIR 2022.

    >>> import io
    >>> run = b"# ir_metadata.start\\n# actor:\\n#   team: x\\n# ir_metadata.end\\nq Q0 d 1 1 t\\n"
    >>> fr.run_metadata(io.BytesIO(run))
    'actor:\\n  team: x\\n'
    """
    found: list[str] = []
    for line in takewhile(lambda line: line.startswith(b"#"), byte_lines(source)):
        text = line[1:].removeprefix(b" ").rstrip()
        if text == END:
            return "".join(f"{own}\n" for own in found[1:])
        if found or text == START:
            found.append(text.decode("utf-8", "surrogateescape"))
    return None


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
    feeders = [columns.feeder(base, cut) for base, cut in zip(bases, parts.cuts, strict=False)]
    tag = feed_all(feeders, parts, comments=comments, strict=strict)
    file.check_unchanged()
    states = [feeder.state for feeder in feeders]
    if tag is None or [state.rows for state in states[:-1]] != bases[1:]:
        return None
    return columns.run(file.name, tag, states, bases)


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

    def feeder(self, base: int, cut: int) -> ChunkReader:
        """A feeder that fills the rows from `base` on with the part of the run from `cut` on."""

        docs = records.Texts(self._kept, self._starts, self._lengths)
        stretches = records.Stretches(*(column[base:] for column in self._stretches))
        scores = self._scores

        def prepare(
            reader: records.LineReader, _: int, state: records.Reading
        ) -> Callable[[], int]:
            fields = result_fields(codes.CHUNK)
            return kernels.prepare("pack_run", reader, docs, scores, stretches, fields, state)

        return ChunkReader(prepare, rows=base, kept=cut)

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
