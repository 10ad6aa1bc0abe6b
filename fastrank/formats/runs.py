"""Rank runs by rank or as given instead of by score; read the metadata of a run file.

Where the rank column or the given order counts, a document's score becomes minus its rank, so that
every measure follows the ranks.
"""

from __future__ import annotations

from fastrank.data.texts import decoded
from fastrank.errors import FormatError, InputError
from fastrank.formats.source import open_source
from fastrank.native import kernels
from fastrank.native.buffers import zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.run import Run
    from fastrank.formats.source import Source


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
HEADER_PIECE = 1 << 16


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
    for line in _comments(source):
        text = line[1:].removeprefix(b" ").rstrip()
        if text == END:
            return "".join(f"{own}\n" for own in found[1:])
        if found or text == START:
            found.append(text.decode("utf-8", "surrogateescape"))
    return None


def _comments(source: Source) -> list[bytes]:
    """The lines at the beginning of a file that begin with `#`."""
    with open_source(source) as pieces:
        reader, buffer = pieces.whole(), bytearray(HEADER_PIECE)
        content = b""
        while count := reader.readinto(buffer):
            content += buffer[:count]
            lines = content.split(b"\n")
            # The last line may be incomplete.
            if not all(line.startswith(b"#") for line in lines[:-1]):
                break
    lines = content.split(b"\n")
    rest = next((i for i, line in enumerate(lines) if not line.startswith(b"#")), len(lines))
    return lines[:rest]
