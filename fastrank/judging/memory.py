"""Judge runs in memory, for all judgments, measures and options."""

from __future__ import annotations

from fastrank.data.preferences import Preferences
from fastrank.judging.judged import QueryError
from fastrank.judging.matching import match_run
from fastrank.judging.needs import (
    judging_options,
    needs_all_queries,
    needs_column,
    needs_rankings,
    needs_ties,
)
from fastrank.judging.options import BY_GRADE
from fastrank.judging.rankings import judge_groups, judge_rankings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.judging.judged import JudgedRun
    from fastrank.judging.matching import MatchedQueries
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure


class MemoryJudge:
    """Judges runs in memory: by grades, by judgment groups or by preferences."""

    def __init__(
        self, judgments: Qrels | Preferences, measures: list[BoundMeasure], options: Options
    ) -> None:
        self.judgments, self._measures, self._options = judgments, measures, options
        self._judging = judging_options(measures, options, judgments)

    def judge(self, run: Run, matched: MatchedQueries | None = None) -> JudgedRun:
        """Judge a run; a query that cannot be judged is returned as `failure`.

        matched: as `match_run` takes it.
        """
        run, matched, judged = match_run(self.judgments, run, self._options, matched)
        if not needs_rankings(self._measures, self._options):
            return judged
        try:
            rankings = self._rankings(run, matched)
        except QueryError as failure:
            # trec_eval has printed the values of the queries before this one.
            before = matched.first(failure.place)
            rankings = self._rankings(run, before) if len(before) else {}
            rankings["failure"] = failure.with_traceback(None)
        found: JudgedRun = judged.changed(**rankings)
        return found

    def _rankings(self, run: Run, matched: MatchedQueries) -> dict[str, Any]:
        """The fields of JudgedRun for the matched rankings. Raises QueryError."""
        # The trec_eval command does without the modules it has no use for.
        given = run, matched, self._judging
        if isinstance(self.judgments, Preferences):
            from fastrank.judging.preferences import count_preferences

            return {"preferences": count_preferences(self.judgments, *given)}
        if self._options.relevance_format == "qrels_jg":
            return {"groups": judge_groups(self.judgments, *given)}
        by_column: dict[str, Any] = {}
        qrels = self.judgments
        if needs_column(self._measures):
            from fastrank.judging.by_column import judge_by_column, with_distinct_documents

            level = self._options.relevance_level
            by_column = judge_by_column(qrels, self._measures, level, *given)
            qrels = with_distinct_documents(qrels, self._measures)
        if self._options.ties in BY_GRADE:
            from fastrank.judging.tie_orders import judge_ties

            tied = judge_ties(self.judgments, *given)
            judged: dict[str, Any] = {"judged": tied.judged, "tied": tied}
        else:
            judged = {"judged": judge_rankings(qrels, *given), "by_column": by_column}
        if needs_ties(self._measures) and self._options.ties != "average":
            from fastrank.judging.tie_orders import judge_ties

            unordered = self._judging.changed(ties="average")
            judged["tied"] = judge_ties(qrels, run, matched, unordered)
        if needs_all_queries(self._measures):
            from fastrank.judging.all_queries import judge_by_all_queries

            judged |= judge_by_all_queries(self.judgments, *given)
        return judged
