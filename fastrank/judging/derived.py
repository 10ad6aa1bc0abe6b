"""Derive judged rankings without a run: for other options, and empty ones."""

from __future__ import annotations

from fastrank.data.grade_scale import Graded
from fastrank.data.qrels import Qrels
from fastrank.data.run import Run
from fastrank.data.texts import Texts
from fastrank.judging.judged import Judged
from fastrank.judging.matching import MatchedQueries
from fastrank.judging.rankings import judge_rankings
from fastrank.native import kernels
from fastrank.native.buffers import filled, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from fastrank.judging.needs import JudgingOptions


def derive(
    judged: Judged, *, level: int | None, judged_only: bool, placeholders: Iterable[int] = (),
    call: Callable[..., Any] | None = None,
) -> Judged:  # fmt: skip
    """The same rankings with another relevance level, or with only their judged documents.

    placeholders: the places of rankings of a placeholder document, which become empty. call: is
    called instead of the kernel, with its name and arguments.
    """
    rankings, queries = judged.columns, len(judged)
    wanted = rankings.level if level is None else level
    derived = rankings.changed(
        offsets=zeros("q", queries + 1),
        ranks=zeros("q", len(rankings.ranks)),
        grades=zeros("q", len(rankings.ranks)),
        num_ret=zeros("q", queries),
        num_rel=zeros("q", queries),
        num_rel_ret=zeros("q", queries),
        level=wanted,
    )
    given = rankings, wanted, judged_only, derived
    if call is None:
        kernels.judge_otherwise(*given)
    else:
        call("judge_otherwise", *given)
    for place in placeholders:
        derived.num_ret[place] = 0
    return Judged(columns=derived)


def empty_rankings(qrels: Qrels | Graded, queries: Any, options: JudgingOptions) -> Judged:
    """Empty rankings for the given queries of the judgments."""
    if isinstance(qrels, Graded):
        qrels = _with_texts(qrels)
    options = options.changed(stop_if_none_judged=False)
    return judge_rankings(qrels, *without_results(queries), options)


def without_results(queries: Any) -> tuple[Run, MatchedQueries]:
    """A run with one empty ranking, matched with the given queries of the judgments."""
    nothing = Texts(b"", zeros("q", 0), zeros("q", 0))
    run = Run(
        queries=nothing, docs=nothing, tag_bytes=b"", source="", offset_column=zeros("q", 2),
        score_column=zeros("d", 0),
    )  # fmt: skip
    return run, MatchedQueries(judgments=queries, rankings=zeros("q", len(queries)))


def _with_texts(judgments: Graded) -> Qrels:
    """The same judgments with generated, unique document ids."""
    rows = range(len(judgments.grade_column))
    ids = b"".join(b"%08x" % row for row in rows)
    docs = Texts(ids, filled("q", [8 * row for row in rows]), filled("q", [8] * len(rows)))
    return Qrels(
        queries=judgments.queries, docs=docs, groups=docs, source="",
        offset_column=judgments.offset_column, grade_column=judgments.grade_column,
        scale=judgments.scale,
    )  # fmt: skip
