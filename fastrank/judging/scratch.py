"""Memory for judging: what kernels fill, and what they work with."""

from __future__ import annotations

from fastrank.judging.judged import Judged
from fastrank.native import codes, kernels, records
from fastrank.native.buffers import columns, filled, table_size, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.grade_scale import Graded
    from fastrank.data.qrels import Qrels
    from fastrank.judging.needs import JudgingOptions
    from fastrank.native.buffers import Recycled


def judging_scratch(deepest: int, most: int) -> records.JudgingScratch:
    """Memory for judging one query: `deepest` results at most, by `most` judgments."""
    # Links are loaded 64 at once, and columns stored up to 12 in excess.
    more = max(deepest, most) + 64
    # Four places a hash, where fewer hashes meet than in two, while they stay in the second cache.
    size = table_size(more)
    return records.JudgingScratch(
        table=zeros(
            "q", max(table_size(deepest + most), codes.SORT_COLUMNS * deepest + codes.SORT_BYTES)
        ),
        judged_hashes=zeros("q", most),
        places=zeros("q", more),
        row_index=records.RowIndex(
            table=zeros("i", 2 * size if size <= 1 << 16 else size),
            links=zeros("i", more),
            clock=filled("q", [1]),
        ),
        keys=zeros("d", deepest),
        hashes=zeros("q", deepest),
        rows=zeros("q", deepest),
    )


def ranking_scratch(deepest: int) -> records.RankingScratch:
    """Memory for ordering as many results as `deepest`."""
    return records.RankingScratch(
        keys=zeros("d", deepest), order=zeros("q", deepest), merge=zeros("q", deepest)
    )


def room_for_ties(queries: int, documents: int) -> records.Ties:
    """The ties of at most these numbers of queries and documents, to be filled by a kernel."""
    return records.Ties(*columns("q", queries + 1, documents, documents))


def room_for_judged(
    qrels: Qrels | Graded, queries: Any, listed: int, options: JudgingOptions,
    memory: Recycled | None = None,
) -> Judged:  # fmt: skip
    """The judged rankings of some queries, to be filled by a kernel.

    They have room for `listed` documents. memory: where that of these comes from; by default
    it is new.
    """
    count, judged = len(queries), kernels.count_picked(qrels.offset_column, queries)
    wanted = (("q", listed), ("q", listed))
    ranks, grades = memory.make(*wanted) if memory else (zeros(*one) for one in wanted)
    return Judged(
        columns=records.Rankings(
            offsets=zeros("q", count + 1),
            ranks=ranks,
            grades=grades,
            grade_offsets=zeros("q", count + 1),
            grade_values=zeros("q", judged),
            grade_counts=zeros("q", judged),
            num_ret=zeros("q", count),
            num_rel=zeros("q", count),
            num_rel_ret=zeros("q", count),
            level=options.relevance_level,
            collection_size=options.collection_size,
        )
    )
