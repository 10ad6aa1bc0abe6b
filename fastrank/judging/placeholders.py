"""The placeholder that trec_eval 10.0 -c uses for the results of missing queries."""

from __future__ import annotations

from fastrank.data.run import Run
from fastrank.data.texts import TextColumn, Texts
from fastrank.native.buffers import filled, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.measures.selection import BoundMeasure

# The only document of such a ranking.
PLACEHOLDER = b"ceci_nest_pas_un_docno"


def with_placeholder(run: Run) -> Run:
    """Append a query with one document, which trec_eval 10.0 uses for missing queries."""
    (text, starts, lengths), offsets, scores = run.columns
    rows = len(scores)
    docs = bytes(text) + PLACEHOLDER, zeros("q", rows + 1), zeros("q", rows + 1)
    extended = Texts(*docs)
    if isinstance(run.docs, TextColumn):
        extended = type(run.docs)(*docs, run.docs.rows, run.docs.unit)
    extended.starts[:rows], extended.lengths[:rows] = starts, lengths
    extended.starts[rows], extended.lengths[rows] = len(text), len(PLACEHOLDER)
    values, ranges = zeros("d", rows + 1), zeros("q", len(offsets) + 1)
    values[:rows], values[rows] = scores, 1.0
    ranges[: len(offsets)], ranges[len(offsets)] = offsets, rows + 1
    named = Texts(
        run.queries.buffer,
        filled("q", [*run.queries.starts, 0]),
        filled("q", [*run.queries.lengths, 0]),
    )
    return Run(
        queries=named, docs=extended, tag_bytes=run.tag_bytes, source=run.source,
        offset_column=ranges, score_column=values,
    )  # fmt: skip


def clear_placeholders(
    measures: list[BoundMeasure], values: list[Any], placeholders: list[int]
) -> None:
    """Zero the values that trec_eval 10.0 zeroes for missing queries.

    It knows them by their printed names, which have no parameters other than cutoffs.
    """
    for bound, column in zip(measures, values, strict=True):
        measure = bound.measure
        if not measure.zeroed:
            continue
        for j, name in enumerate(bound.canonical):
            if measure.takes == "cutoffs" or name == measure.name.encode():
                for i in placeholders:
                    column[i * bound.width + j] = b"" if measure.is_text else 0.0
