"""Judgments of chunks, made from spans."""

from __future__ import annotations

import warnings

import numpy as np

from fastrank.analysis.spans.readers import read_chunks, read_spans
from fastrank.analysis.spans.stretches import combined, meeting, number_texts, on_line
from fastrank.common.arguments import at_least, check_choice, finite, flag
from fastrank.common.messages import closest, counted, did_you_mean, first_few
from fastrank.core.data.texts import decoded
from fastrank.core.formats.qrels import Qrels
from fastrank.errors import InputError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from fastrank.analysis.spans.readers import Chunks, ChunksLike, Spans, SpansLike
    from fastrank.common.arrays import Integers
    from fastrank.common.choices import OverlapOf, SpanGrade
    from fastrank.core.formats.texts.lookup import TextsLike

OF = ("span", "chunk")
GRADES = ("max", "sum", "share")
# How many documents or spans a message names.
NAMED = 5


def span_qrels(
    spans: SpansLike,
    chunks: ChunksLike,
    *,
    min_overlap: float = 0.5,
    characters: int | None = None,
    of: OverlapOf = "span",
    grade: SpanGrade = "max",
    subtopics: bool = False,
    texts: TextsLike | None = None,
) -> Qrels:
    """Make judgments of chunks: a chunk is relevant to a query if it has enough of a span.

    spans: the evidence, as in `fastrank.spans.read_spans`.
    chunks: as in `fastrank.spans.read_chunks`.
    min_overlap: the least share of the span (see `of`) that is in the chunk, above 0, at most 1.
    characters: the least number of characters that they have in common, instead of a share.
    of: what the overlap is a share of, the "span" or the "chunk".
    grade: the grade of a chunk with enough of several spans: "max", the highest of theirs; "sum",
        the sum; "share", the sum of their grades times the shares. Spans with the same evidence
        count once, with the highest of these.
    subtopics: judge chunks by piece of evidence, for measures of subtopics (StRecall, alpha_nDCG,
        ERR_IA), which count each piece once. Evidence without a name is `document:start-end`.
    texts: the texts of the documents, as in the readers.

    Chunks that overlap spans, but none enough, have grade 0. Warns of evidence that no chunk has
    enough of; a query whose spans are in no chunk is left out. Raises what the readers raise,
    InputError for spans in documents without chunks, and OptionError.

    >>> spans = {"query": ["q1", "q1"], "document": ["a", "a"], "start": [3, 20], "end": [9, 24]}
    >>> chunks = {"chunk": ["c1", "c2", "c3"], "document": ["a", "a", "a"],
    ...           "start": [0, 8, 16], "end": [10, 18, 26]}
    >>> fr.span_qrels(spans, chunks).to_dict()
    {'q1': {'c1': 1, 'c2': 0, 'c3': 1}}
    >>> fr.span_qrels(spans, chunks, min_overlap=0.1, of="chunk", grade="share").to_dict()
    {'q1': {'c1': 0.6, 'c2': 0.1, 'c3': 0.4}}
    """
    spans, chunks = read_spans(spans, texts), read_chunks(chunks, texts)
    least = finite("min_overlap", min_overlap)
    if not 0.0 < least <= 1.0:
        raise OptionError("min_overlap", f"expected a number above 0, at most 1, found {least}")
    if characters is not None:
        characters = at_least("characters", characters, 1)
    check_choice("of", of, OF)
    check_choice("grade", grade, GRADES)
    by_piece = flag("subtopics", subtopics)
    sides = list(map(on_line, (spans, chunks), number_documents(spans, chunks)))
    rows, chunk_rows = meeting(*sides)
    (starts, ends), (other_starts, other_ends) = (
        (side[0][indices], side[1][indices])
        for side, indices in zip(sides, (rows, chunk_rows), strict=True)
    )
    overlaps = np.minimum(ends, other_ends) - np.maximum(starts, other_starts)
    shares = overlaps / ((ends - starts) if of == "span" else (other_ends - other_starts))
    enough = shares >= least if characters is None else overlaps >= characters
    _warn_of_lost(spans, chunks, rows, rows[enough])
    grades = np.where(enough, spans.grades[rows], 0)
    if grade == "share":
        grades = grades * shares
    # The best span of a piece counts.
    rows, chunk_rows, grades = _merged(spans.pieces, rows, chunk_rows, grades, add=False)
    names = None
    if by_piece:
        names = [_name(spans, row) for row in rows]
    else:
        (queries,), _ = number_texts(spans.queries)
        rows, chunk_rows, grades = _merged(queries, rows, chunk_rows, grades, add=grade != "max")
    return Qrels.from_arrays(spans.queries.take(rows), chunks.ids.take(chunk_rows), grades, names)


def _merged(
    groups: Integers, rows: Integers, chunk_rows: Integers, grades: npt.NDArray[Any], *, add: bool
) -> tuple[Integers, Integers, npt.NDArray[Any]]:
    """One row for each chunk and group of spans, with the sum or the highest of the grades."""
    keys = combined(groups[rows], chunk_rows)
    _, firsts, inverse = np.unique(keys, return_index=True, return_inverse=True)
    merged = np.zeros(len(firsts), grades.dtype)
    (np.add if add else np.maximum).at(merged, inverse, grades)
    return rows[firsts], chunk_rows[firsts], merged


def number_documents(spans: Spans, chunks: Chunks) -> list[Integers]:
    """The numbers of the documents of spans and of chunks.

    Raises InputError for spans in documents without chunks.
    """
    numbers, names = number_texts(chunks.documents, spans.documents)
    covered = int(numbers[0].max()) + 1
    if len(names) > covered:
        lacking = names.decoded()[covered:]
        hint = did_you_mean(map(repr, closest(lacking[0], names.decoded()[:covered])))
        listed = first_few([repr(name) for name in lacking], NAMED, count=True)
        count = counted(len(lacking), "document")
        raise InputError(chunks.table.source, f"no chunks of {count} with spans: {listed}{hint}")
    return numbers[::-1]


def _name(spans: Spans, row: int) -> str:
    location = f"{decoded(spans.documents[row])}:{spans.starts[row]}-{spans.ends[row]}"
    return spans.evidence[row] or location


def _warn_of_lost(spans: Spans, chunks: Chunks, met: Integers, enough: Integers) -> None:
    """Warn of evidence that no chunk has enough of.

    met: the spans with a chunk. enough: those of which a chunk has enough.
    """
    lost = (spans.grades > 0) & ~np.isin(spans.pieces, spans.pieces[enough])
    if lost.any():
        _, rows = np.unique(spans.pieces[lost], return_index=True)
        shown = [
            f"{decoded(spans.queries[row])!r:.60} ({_name(spans, row):.60})"
            for row in np.flatnonzero(lost)[rows]
        ]
        left_out = len(set(spans.queries) - set(spans.queries.take(met)))
        counts = counted(left_out, "query has", "queries have") if left_out else ""
        warnings.warn(
            f"{chunks.table.source}: no chunk has enough of {counted(len(shown), 'piece')} of"
            f" evidence, of {first_few(shown, NAMED, count=True)}; lower min_overlap, or use"
            f" characters, or of='chunk'{counts and f'; {counts} no judgment at all'}",
            UserWarning,
            stacklevel=3,
        )
