"""Judge rankings by the rows of the judgments, whose other columns grades cannot carry."""

from __future__ import annotations

from fastrank.judging.rankings import judge_rankings
from fastrank.native.buffers import filled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.judging.matching import MatchedQueries
    from fastrank.judging.needs import JudgingOptions
    from fastrank.native import records


def judge_rows(
    qrels: Qrels, run: Run, matched: MatchedQueries, options: JudgingOptions
) -> records.Rankings:
    """The matched rankings with the row of each listed document in the judgments as its grade.

    Documents with a negative grade are listed, too. Raises QueryError as `judge_rankings`.
    """
    rows = qrels.changed(grade_column=filled("q", list(range(len(qrels.docs)))), scale=None)
    options = options.changed(relevance_level=0, list_unjudged=False, stop_if_none_judged=False)
    return judge_rankings(rows, run, matched, options).columns
