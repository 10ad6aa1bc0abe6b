"""Runs in memory, judged as texts, for which there are all kinds of judgments and options.

Other forms of runs know some of these, and leave the rest to this module.
"""

from __future__ import annotations

from fastrank.core.formats.qrels import Preferences
from fastrank.core.matching.judged import QueryError
from fastrank.core.matching.options import BY_COLUMN, BY_GRADE
from fastrank.core.matching.queries import match_run
from fastrank.core.matching.rankings import (
    judge_by_all_queries,
    judge_groups,
    judge_rankings,
    judge_ties,
)
from fastrank.core.native import records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.core.formats.run import Run
    from fastrank.core.matching.judged import JudgedRun
    from fastrank.core.matching.plan import Plan


def match_texts(plan: Plan, run: Run, matched: records.Matched | None = None) -> JudgedRun:
    """Judge a run by grades, by judgment groups or by preferences.

    A query that cannot be judged is returned as `failure`. matched: as `match_run` takes it.
    """
    run, matched, judged = match_run(plan.judgments, run, plan.options, matched)
    if not plan.requires.needs_rankings:
        return judged
    try:
        rankings = rankings_of(plan, run, matched)
    except QueryError as failure:
        # trec_eval has printed the values of the queries before this one.
        before = records.Matched(*(column[: failure.place] for column in matched))
        rankings = {}
        if failure.place:
            rankings = rankings_of(plan, run, before)
        rankings["failure"] = failure.with_traceback(None)
    judged_run: JudgedRun = judged.changed(**rankings)
    return judged_run


def rankings_of(plan: Plan, run: Run, matched: records.Matched) -> dict[str, Any]:
    """The fields of JudgedRun for the matched rankings. Raises QueryError."""
    # Imported late: few measures and options need the modules.
    judgments, options, needs = plan.judgments, plan.options, plan.requires.needs
    ranked = run, matched, plan.judging
    if isinstance(judgments, Preferences):
        from fastrank.core.matching.preferences import count_preferences

        return {"others": {"preferences": count_preferences(judgments, *ranked)}}
    if options.relevance_format == "qrels_jg":
        return {"others": {"groups": judge_groups(judgments, *ranked)}}
    others: dict[str, object] = {}
    qrels = judgments
    if not needs.isdisjoint(BY_COLUMN):
        from fastrank.core.matching.column_judgments import judge_by_column, with_distinct_documents

        others |= judge_by_column(qrels, needs, options.relevance_level, *ranked)
        qrels = with_distinct_documents(qrels, needs)
    tied = None
    if options.ties in BY_GRADE:
        tied = judge_ties(judgments, *ranked)
    judged = judge_rankings(qrels, *ranked) if tied is None else tied.judged
    if "ties" in needs and options.ties != "average":
        tied = judge_ties(qrels, run, matched, plan.judging.changed(ties="average"))
    if "annotated" in needs:
        others["annotated"] = judge_by_all_queries(judgments, *ranked)
    return {"judged": judged, "tied": tied, "others": others}
