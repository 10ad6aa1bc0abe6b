"""Runs read into columns, ranked by rank instead of by score; their metadata.

Reading in pieces and keeping only the ids of the text halves the memory, and allocating memory is
the slowest part of reading.

Where the rank column counts, a document's score becomes minus its rank, so that every measure
follows the ranks.
"""

from __future__ import annotations

from itertools import pairwise, takewhile

from fastrank.core.data.texts import Groups, LineFields, Texts
from fastrank.core.formats.files.chunks import (
    ChunkReader,
    FileParts,
    feed_all,
    result_fields,
)
from fastrank.core.formats.files.source import byte_lines
from fastrank.core.formats.run import Run
from fastrank.core.formats.tables.to_run import with_distinct_ranks
from fastrank.core.formats.tables.values import LAST_RANK
from fastrank.core.native import codes, kernels, records
from fastrank.core.native.buffers import Recycled, zeros
from fastrank.core.native.codes import PIECE, SHORTEST_LINE
from fastrank.core.native.threads import in_threads
from fastrank.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from fastrank.core.formats.files.source import Source, SourceFile


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
        text = rank.decode("utf-8", "replace")
        raise FormatError(run.source, run.docs.line(wrong), f"{reason} {text!r:.60}")
    return with_distinct_ranks(run.changed(score_column=scores))


START, END = b"ir_metadata.start", b"ir_metadata.end"


def run_metadata(source: Source) -> str | None:
    """The ir_metadata header of a run file as YAML text; None if the file does not begin with one.

    That is what is between the lines `# ir_metadata.start` and `# ir_metadata.end`, without the
    `#` of each line. A file object is read from its position. Raises ReadError. Source: Breuer,
    Keller and Schaer, 'ir_metadata: an extensible metadata schema for IR experiments', SIGIR 2022.

    >>> import io
    >>> from fastrank.core.formats.trec.runs import run_metadata
    >>> run = b"# ir_metadata.start\\n# actor:\\n#   team: x\\n# ir_metadata.end\\nq Q0 d 1 1 t\\n"
    >>> run_metadata(io.BytesIO(run))
    'actor:\\n  team: x\\n'
    """
    lines: list[str] = []
    for line in takewhile(lambda line: line.startswith(b"#"), byte_lines(source)):
        text = line[1:].removeprefix(b" ").rstrip()
        if text == END:
            return "".join(f"{text}\n" for text in lines[1:])
        if lines or text == START:
            lines.append(text.decode("utf-8", "surrogateescape"))
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
    size = parts.cuts[-1]
    rows = size // SHORTEST_LINE + 1
    # Only filled memory is used.
    buffer, starts, lengths, scores, *stretches = _MEMORY.make(
        ("B", size + codes.SLACK),
        *(("q", rows), ("q", rows), ("d", rows), ("q", rows), ("q", rows), ("q", rows)),
    )
    docs = records.Texts(buffer, starts, lengths)

    def feeder(base: int, cut: int) -> ChunkReader:
        """A feeder that fills the rows from `base` on with the part of the run from `cut` on."""
        part_stretches = records.Stretches(*(column[base:] for column in stretches))

        def prepare(
            reader: records.LineReader, _: int, state: records.Reading
        ) -> Callable[[], int]:
            fields = result_fields(codes.CHUNK)
            return kernels.prepare("pack_run", reader, docs, scores, part_stretches, fields, state)

        return ChunkReader(prepare, rows=base, kept=cut)

    feeders = list(map(feeder, bases, parts.cuts))
    tag = feed_all(feeders, parts, comments=comments, strict=strict)
    file.check_unchanged()
    states = [feeder.state for feeder in feeders]
    if tag is None or [state.rows for state in states[:-1]] != bases[1:]:
        return None
    total = 0
    for state, base in zip(states, bases, strict=True):
        count = state.stretches
        for column in stretches:
            column[total : total + count] = column[base : base + count]
        total += count
    text = buffer[: states[-1].kept + codes.SLACK]
    *queries, first_rows = (column[:total] for column in stretches)
    groups = Groups(Texts(text, *queries), first_rows, states[-1].rows)
    return Run(
        queries=groups.queries,
        docs=LineFields(
            text, groups.reorder(starts), groups.reorder(lengths), groups.order, "line"
        ),
        tag_bytes=tag,
        source=file.name,
        offset_column=groups.offsets,
        score_column=groups.reorder(scores),
    )


def _lines_before(file: SourceFile, parts: FileParts) -> list[int]:
    """The number of lines before each part. All threads count a share of each part but the last."""
    threads = len(parts)
    counts = [[0] * threads for _ in range(threads)]

    def count(thread: int) -> None:
        text = zeros("B", PIECE)
        for part, (start, stop) in enumerate(pairwise(parts.cuts[:-1])):
            edges = [start + (stop - start) * share // threads for share in (thread, thread + 1)]
            reader = file.part(*edges)
            while size := reader.readinto(text):
                counts[part + 1][thread] += kernels.count_lines(text[:size]) - 1

    in_threads(count, threads)
    bases = list(map(sum, counts))
    return [sum(bases[: part + 1]) for part in range(threads)]
