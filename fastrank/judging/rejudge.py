"""Judged rankings as they would be under other options, without judging again."""

from __future__ import annotations

from fastrank.data.grade_scale import Graded
from fastrank.data.qrels import Qrels
from fastrank.data.run import Run
from fastrank.data.texts import Texts
from fastrank.judging.judged import Judged
from fastrank.judging.memory import judge
from fastrank.judging.queries import Matched
from fastrank.native import kernels
from fastrank.native.buffers import filled, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from fastrank.judging.judged import JudgingOptions


def rejudge(
    judged: Judged, *, level: int | None, judged_only: bool, unretrieved: Iterable[int] = ()
) -> Judged:
    """The same rankings for another level of relevance, or of their judged documents only.

    unretrieved: the places of queries that have a placeholder for a ranking; theirs become empty.
    """
    own, queries = judged.columns, len(judged)
    wanted = own.level if level is None else level
    rejudged = own.changed(
        offsets=zeros("q", queries + 1),
        ranks=zeros("q", len(own.ranks)),
        grades=zeros("q", len(own.ranks)),
        num_ret=zeros("q", queries),
        num_rel=zeros("q", queries),
        num_rel_ret=zeros("q", queries),
        level=wanted,
    )
    kernels.judge_otherwise(own, wanted, judged_only, rejudged)
    for place in unretrieved:
        rejudged.num_ret[place] = 0
    return Judged(columns=rejudged)


def judge_nothing(qrels: Qrels | Graded, queries: Any, options: JudgingOptions) -> Judged:
    """Empty rankings for the given queries of the judgments."""
    if isinstance(qrels, Graded):
        qrels = _with_texts(qrels)
    nothing = Texts(b"", zeros("q", 0), zeros("q", 0))
    run = Run(
        queries=nothing, docs=nothing, tag=b"", source="", offset_column=zeros("q", 2),
        score_column=zeros("d", 0),
    )  # fmt: skip
    matched = Matched(judgments=queries, rankings=zeros("q", len(queries)))
    return judge(qrels, run, matched, options, groups=True)


def _with_texts(judgments: Graded) -> Qrels:
    """The same judgments with made up ids of documents, all of them different."""
    rows = range(len(judgments.grade_column))
    ids = b"".join(b"%08x" % row for row in rows)
    docs = Texts(ids, filled("q", [8 * row for row in rows]), filled("q", [8] * len(rows)))
    return Qrels(
        queries=judgments.queries, docs=docs, groups=docs, source="",
        offset_column=judgments.offset_column, grade_column=judgments.grade_column,
        scale=judgments.scale,
    )  # fmt: skip
