"""Memory for judging: what kernels fill, and what they work with."""

from __future__ import annotations

from fastrank.judging.judged import Judged
from fastrank.native import kernels
from fastrank.native.buffers import filled, table_size, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.grade_scale import Graded
    from fastrank.data.qrels import Qrels
    from fastrank.judging.needs import JudgingOptions
    from fastrank.native.buffers import Recycled


def hit_scratch(deepest: int, most: int) -> tuple[Any, ...]:
    """Room for finding as many judged documents as `most` among as many results as `deepest`.

    Words for a table of all, hashes of the judged ones, places, and the index that
    kernels/judging/row_index.py makes.
    """
    # Links are loaded 64 at once, and columns stored up to 12 in excess.
    more = max(deepest, most) + 64
    # Four places a hash, where fewer hashes meet than in two, while they stay in the second cache.
    size = table_size(more)
    return (
        zeros("q", table_size(deepest + most)),
        zeros("q", most),
        zeros("q", more),
        zeros("i", 2 * size if size <= 1 << 16 else size),
        zeros("i", more),
        filled("q", [1]),
    )


def room_for_judged(
    qrels: Qrels | Graded, queries: Any, listed: int, options: JudgingOptions,
    memory: Recycled | None = None,
) -> tuple[Judged, tuple[Any, ...]]:  # fmt: skip
    """Columns for the judged rankings of some queries, with so many listed documents at most.

    Returns them as Judged, and as the kernels want them to be filled. memory: where that of the
    listed documents comes from; by default it is new.
    """
    count, judged = len(queries), kernels.count_picked(qrels.offset_column, queries)
    wanted = (("q", listed), ("q", listed))
    ranks, grades = memory.make(*wanted) if memory else (zeros(*one) for one in wanted)
    columns = (
        zeros("q", count + 1), ranks, grades, zeros("q", count + 1),
        zeros("q", judged), zeros("q", judged), zeros("q", count), zeros("q", count),
        zeros("q", count),
    )  # fmt: skip
    shared = (options.relevance_level, options.collection_size)
    return Judged(columns=(*columns, *shared)), columns


def judging_scratch(qrels: Qrels, deepest: int) -> tuple[Any, ...]:
    """Room for judging one query at a time, with as many results as `deepest`."""
    most = kernels.widest(qrels.offset_column)
    return (
        *hit_scratch(deepest, most),
        zeros("d", deepest),
        zeros("q", deepest),
        zeros("q", deepest),
    )
