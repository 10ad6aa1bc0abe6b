"""What measures need of judging: which rankings, judged how."""

from __future__ import annotations

from fastrank.data.qrels import Graded, Qrels, lowest_code
from fastrank.errors import MeasureError
from fastrank.measures.trec import GAINS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.data.qrels import Preferences
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure

# The columns of judgments that measures need beside the grades, and how judgments have them.
BY_COLUMN = {
    "strata": "judgments with strata: files with lines of query, iteration, document, stratum and"
    " grade, or tables with a column stratum",
    "subtopics": "judgments with subtopics: files with the subtopic as the second field of each"
    " line, or tables with a column subtopic or iteration",
}
# No ranking is longer.
ALL_RANKS = 2**63 - 1
# What measures need for which the ranks of judged documents are not enough.
BEYOND_RANKINGS = ("annotated", "ties", *BY_COLUMN)


def judging_options(
    measures: list[BoundMeasure], options: Options, judgments: Qrels | Preferences | Graded
) -> Options:
    """How to judge rankings for these measures: relevance_level is the code of the grade.

    list_unjudged: whether documents that are not judged, or below grade 0, are listed too.
    """
    level = lowest_code(judgments, options.relevance_level)
    list_unjudged = level < 0 or any(map(_sees_unjudged, measures))
    if level == options.relevance_level and not list_unjudged:
        return options
    made: Options = options.changed(relevance_level=level, list_unjudged=list_unjudged)
    return made


def _sees_unjudged(bound: BoundMeasure) -> bool:
    """Whether a measure gives a gain to unjudged documents, or counts them as relevant."""
    level = 0 if bound.options is None else bound.options.get("rel", 0)
    return level <= -1 or any(grade == -1 for grade, _ in bound.pairs)


def rankings_suffice(
    judgments: Qrels | Preferences | Graded, measures: list[BoundMeasure], options: Options,
    ties: str = "docno_desc",
) -> bool:  # fmt: skip
    """Whether only the ranks of judged documents matter, with equal scores in this order.

    In that case a run can be judged without loading it into memory.
    """
    return (
        isinstance(judgments, (Qrels, Graded))
        and options.relevance_format == "qrels"
        and options.ties == ties
        and options.rank_by == "score"
        and not options.has_filters
        and needs_of(measures).isdisjoint(BEYOND_RANKINGS)
    )


def needs_of(measures: list[BoundMeasure]) -> set[str]:
    """What measures need: "ranking", "ties", one of BY_COLUMN and so on."""
    return {bound.measure.needs for bound in measures}


def last_rank(measures: list[BoundMeasure]) -> int:
    """The rank below which none of the measures looks."""
    last = 0.0
    for bound in measures:
        if bound.measure.needs not in ("ranking", *GAINS) or bound.measure.below_cutoff:
            return ALL_RANKS
        for place in range(len(bound.names)):
            last = max(last, bound.parameters(place).get("cutoff", ALL_RANKS))
    return int(min(last, ALL_RANKS))


def check_columns(
    judgments: Qrels | Preferences | Graded, measures: list[BoundMeasure], options: Options
) -> None:
    """Raise MeasureError for measures of strata or subtopics that the judgments do not have."""
    for bound in measures:
        if bound.measure.needs not in BY_COLUMN:
            continue
        name = bound.names[0].decode()
        if not _has_column(judgments, bound.measure.needs):
            reason = BY_COLUMN[bound.measure.needs]
            raise MeasureError(bound.measure.name, f"'{name}' needs {reason}")
        if bound.measure.needs == "strata" and options.judged_only:
            reason = "estimates what was not judged, and does not support judged_only"
            raise MeasureError(bound.measure.name, f"'{name}' {reason}")


def _has_column(judgments: Qrels | Preferences | Graded, needed: str) -> bool:
    if not isinstance(judgments, Qrels):
        return False
    if needed == "strata":
        return judgments.strata is not None
    # The trec_eval command does without the module.
    from fastrank.judging.column_judgments import has_subtopics

    return has_subtopics(judgments)


def needs_rankings(measures: list[BoundMeasure], options: Options) -> bool:
    """Whether a measure needs the judged rankings."""
    return first_with_rankings(measures, options) < len(measures)


def first_with_rankings(measures: list[BoundMeasure], options: Options) -> int:
    """The index of the first measure that needs the judged rankings, or the number of measures."""
    for place, bound in enumerate(measures):
        if bound.measure.kernel and _fits(bound, options):
            return place
    return len(measures)


def first_impossible(measures: list[BoundMeasure], options: Options) -> tuple[int, str] | None:
    """The index of the first measure that fails for every query, and the reason."""
    for place, bound in enumerate(measures):
        if not _fits(bound, options):
            on = {"groups": "qrels_jg", "preferences": "(prefs or qrels_prefs)"}
            return place, (
                f"rel_info format not {on.get(bound.measure.needs, 'qrels')}:"
                f" '{bound.measure.name}' cannot be computed from -R {options.relevance_format}"
            )
        if bound.measure.takes == "weights" and len(bound.numbers) != 4:
            return place, (
                f"improper number of coefficients: '{bound.measure.name}' takes 4,"
                f" found {len(bound.numbers)}"
            )
    return None


def _fits(bound: BoundMeasure, options: Options) -> bool:
    """Whether a measure applies to the format of the judgments."""
    needed = {"groups": "qrels_jg", "preferences": "prefs"}.get(bound.measure.needs, "qrels")
    return bound.measure.needs in ("run", "queries") or needed == options.relevance_format
