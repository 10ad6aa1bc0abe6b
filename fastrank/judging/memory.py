"""Judge runs in memory, in whichever form they come.

A store holds judgments in one form (dicts, rows of integers, labels), and judges runs of that form
as they are. What it cannot judge so it gives as texts, for which there are all kinds of judgments,
measures and options.
"""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.data.qrels import Preferences
from fastrank.judging.judged import JudgedRun, QueryError
from fastrank.judging.needs import (
    judging_options,
    needs_all_queries,
    needs_column,
    needs_rankings,
    needs_ties,
    rankings_suffice,
)
from fastrank.judging.options import BY_GRADE
from fastrank.judging.queries import match_run
from fastrank.judging.rankings import (
    judge_by_all_queries,
    judge_groups,
    judge_rankings,
    judge_ties,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.judging.options import Options
    from fastrank.judging.queries import MatchedQueries
    from fastrank.measures.selection import BoundMeasure

    class Store(Protocol):
        """Judgments in one form, with measures and options.

        judgments: those to which the query indexes of a JudgedRun refer. ties: the order of
        documents with equal scores in which `judge` ranks.
        """

        judgments: Any
        ties: str

        def judge(self, run: Any, /) -> JudgedRun | None:
            """Judge a run as it is, by ranks and grades; None if it must be given as texts."""

        def judgments_as_texts(self) -> Qrels | Preferences:
            """The judgments with texts as documents."""

        def as_texts(self, run: Any, /) -> TextRun:
            """A run with texts as documents."""


class TextRun(Frozen):
    """A run as texts. matched, unknown: its queries, and those without judgments, where the store
    knows them. repeated: makes the error about a document in two rows of it."""

    run: Run
    matched: MatchedQueries | None = None
    unknown: list[bytes] | None = None
    repeated: Callable[[int, int], Exception] | None = None


class MemoryJudge:
    """Judges runs of a store's form. May be called from several threads."""

    def __init__(self, store: Store, measures: list[BoundMeasure], options: Options) -> None:
        self.judgments = store.judgments
        self.store, self._measures, self._options = store, measures, options
        self._as_they_are = rankings_suffice(store.judgments, measures, options, store.ties)
        self._with_texts: Qrels | Preferences | None = None

    def judge(self, run: Any) -> JudgedRun:
        """Judge a run; a query that cannot be judged is returned as `failure`, or raised as the
        store's error."""
        if self._as_they_are:
            judged = self.store.judge(run)
            if judged is not None:
                return judged
        given = self.store.as_texts(run)
        if self._with_texts is None:
            self._with_texts = self.store.judgments_as_texts()
        found = judge_texts(
            self._with_texts, self._measures, self._options, given.run, given.matched
        )
        if given.matched is None:
            return found
        if found.failure is not None and found.failure.repeated is not None and given.repeated:
            raise given.repeated(*found.failure.repeated)
        made: JudgedRun = found.changed(unjudged_queries=given.unknown)
        return made


def judge_texts(
    judgments: Qrels | Preferences,
    measures: list[BoundMeasure],
    options: Options,
    run: Run,
    matched: MatchedQueries | None = None,
) -> JudgedRun:
    """Judge a run by grades, by judgment groups or by preferences.

    A query that cannot be judged is returned as `failure`. matched: as `match_run` takes it.
    """
    run, matched, judged = match_run(judgments, run, options, matched)
    if not needs_rankings(measures, options):
        return judged
    try:
        rankings = _rankings(judgments, measures, options, run, matched)
    except QueryError as failure:
        # trec_eval has printed the values of the queries before this one.
        before = matched.first(failure.place)
        rankings = _rankings(judgments, measures, options, run, before) if len(before) else {}
        rankings["failure"] = failure.with_traceback(None)
    found: JudgedRun = judged.changed(**rankings)
    return found


def _rankings(
    judgments: Any, measures: list[BoundMeasure], options: Options, run: Run,
    matched: MatchedQueries,
) -> dict[str, Any]:  # fmt: skip
    """The fields of JudgedRun for the matched rankings. Raises QueryError."""
    # Imported late: few measures and options need the modules.
    how = judging_options(measures, options, judgments)
    given = run, matched, how
    if isinstance(judgments, Preferences):
        from fastrank.judging.preferences import count_preferences

        return {"preferences": count_preferences(judgments, *given)}
    if options.relevance_format == "qrels_jg":
        return {"groups": judge_groups(judgments, *given)}
    by_column: dict[str, Any] = {}
    qrels = judgments
    if needs_column(measures):
        from fastrank.judging.column_judgments import judge_by_column, with_distinct_documents

        by_column = judge_by_column(qrels, measures, options.relevance_level, *given)
        qrels = with_distinct_documents(qrels, measures)
    if options.ties in BY_GRADE:
        tied = judge_ties(judgments, *given)
        judged: dict[str, Any] = {"judged": tied.judged, "tied": tied}
    else:
        judged = {"judged": judge_rankings(qrels, *given), "by_column": by_column}
    if needs_ties(measures) and options.ties != "average":
        judged["tied"] = judge_ties(qrels, run, matched, how.changed(ties="average"))
    if needs_all_queries(measures):
        judged |= judge_by_all_queries(judgments, *given)
    return judged
