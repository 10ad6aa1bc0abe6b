"""Judges rankings of a run in memory: which ranks and grades the judged documents have."""

from __future__ import annotations

from fastrank.judging.judged import QueryError
from fastrank.judging.problems import what_is_wrong
from fastrank.judging.scratch import judging_scratch, room_for_judged
from fastrank.native import codes as at
from fastrank.native import kernels
from fastrank.native.buffers import zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.judging.judged import Judged
    from fastrank.judging.matching import Matched
    from fastrank.judging.needs import JudgingOptions


def judge_rankings(
    qrels: Qrels, run: Run, matched: Matched, options: JudgingOptions, *, groups: bool = False
) -> Judged:
    """Judge the matched rankings. Raises QueryError at the first query that cannot be judged.

    A repeated document, in a ranking or in a query's judgments, cannot; nor can, as in
    trec_eval and unless judging by `groups`, a first query that has only negative grades.
    """
    deepest = kernels.widest(run.offset_column)
    listed = kernels.count_picked(run.offset_column, matched.rankings)
    problem = zeros("q", 3)
    judged, columns = room_for_judged(qrels, matched.judgments, listed, options)
    done = kernels.judge_rankings(
        *qrels.columns,
        *run.columns,
        matched.judgments,
        matched.rankings,
        options.places(stop_if_none_judged=not groups),
        *judging_scratch(qrels, deepest),
        *columns,
        problem,
    )
    if problem[0] != at.FINE:
        raise QueryError(done, what_is_wrong(problem, qrels, run))
    return judged
