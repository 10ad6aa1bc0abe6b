"""Judge rankings by columns of judgments other than the grades: strata and subtopics."""

from __future__ import annotations

from fastrank.judging.strata import strata_of
from fastrank.judging.subtopics import subtopics_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.judging.matching import MatchedQueries
    from fastrank.judging.needs import JudgingOptions
    from fastrank.measures.selection import BoundMeasure
    from fastrank.native.record import Record

WITHOUT_RANKINGS = ("queries", "run")


def judge_by_column(
    qrels: Qrels, measures: list[BoundMeasure], level: float, run: Run, matched: MatchedQueries,
    options: JudgingOptions,
) -> dict[str, Record]:  # fmt: skip
    """The matched rankings for each column that a measure needs. Raises QueryError."""
    needs = {bound.measure.needs for bound in measures}
    found: dict[str, Record] = {}
    if "strata" in needs:
        found["strata"] = strata_of(qrels, level).judge(qrels, run, matched, options)
    if "subtopics" in needs:
        found["subtopics"] = subtopics_of(qrels).judge(run, matched, options, level)
    return found


def with_distinct_documents(qrels: Qrels, measures: list[BoundMeasure]) -> Qrels:
    """The judgments with one row per document, if all measures that use rankings use subtopics."""
    needs = {bound.measure.needs for bound in measures}.difference(WITHOUT_RANKINGS)
    return subtopics_of(qrels).documents if needs == {"subtopics"} else qrels
