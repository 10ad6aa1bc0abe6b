"""What measures need of judging: which rankings, judged how."""

from __future__ import annotations

from fastrank.arguments import DEFAULT_VERSION
from fastrank.data.columns import Frozen
from fastrank.data.qrels import Graded, Qrels, lowest_code
from fastrank.errors import MeasureError
from fastrank.measures.trec import GAINS
from fastrank.native import codes
from fastrank.native.records import RankingOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from fastrank.data.qrels import Preferences
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure

# Orders of tied documents that comparing two of them decides.
DIRECTIONS = {
    "docno_desc": codes.LARGER_ID_FIRST,
    "docno_asc": codes.SMALLER_ID_FIRST,
    "given": codes.FIRST_LINE_FIRST,
}
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


class JudgingOptions(Frozen):
    """How rankings are cut and judged; the names are those of `fastrank.evaluate`.

    stop_if_none_judged: a first query with only negative grades cannot be judged.
    """

    __slots__ = (
        "collection_size", "judged_only", "list_unjudged", "max_retrieved", "relevance_level",
        "single_precision", "stop_if_none_judged", "ties", "unjudged_between",
    )  # fmt: skip
    defaults: ClassVar[dict[str, Any]] = {
        "stop_if_none_judged": False, "ties": "docno_desc", "unjudged_between": False,
    }  # fmt: skip

    relevance_level: int
    max_retrieved: int
    judged_only: bool
    list_unjudged: bool
    single_precision: bool
    collection_size: int
    stop_if_none_judged: bool
    ties: str
    unjudged_between: bool

    def codes(self) -> RankingOptions:
        """The options as the kernels take them."""
        return RankingOptions(
            level=self.relevance_level,
            max_retrieved=self.max_retrieved,
            judged_only=self.judged_only,
            list_unjudged=self.list_unjudged,
            single_precision=self.single_precision,
            stop_if_none_judged=self.stop_if_none_judged,
            tie_direction=DIRECTIONS.get(self.ties, codes.LARGER_ID_FIRST),
            # How NaN ranks is a matter of trec_eval's sort, which only its own order of ties
            # repeats.
            refuse_nan=self.ties != "docno_desc",
        )


def judging_options(
    measures: list[BoundMeasure], options: Options, judgments: Qrels | Preferences | Graded
) -> JudgingOptions:
    """How to judge rankings for these measures."""
    level = lowest_code(judgments, options.relevance_level)
    return JudgingOptions(
        relevance_level=level,
        max_retrieved=options.max_retrieved,
        judged_only=options.judged_only,
        list_unjudged=level < 0
        or any(grade == -1 for bound in measures for grade, _ in bound.pairs)
        or any(
            bound.options is not None and bound.options.get("rel", 0) <= -1 for bound in measures
        ),
        single_precision=options.trec_eval_version == DEFAULT_VERSION,
        stop_if_none_judged=options.original and options.relevance_format == "qrels",
        ties=options.ties,
        unjudged_between=options.unjudged_between,
        collection_size=options.collection_size,
    )


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
        and {bound.measure.needs for bound in measures}.isdisjoint(BEYOND_RANKINGS)
    )


def needs_all_queries(measures: list[BoundMeasure]) -> bool:
    """Whether a measure depends on which documents are judged for any query."""
    return any(bound.measure.needs == "annotated" for bound in measures)


def needs_column(measures: list[BoundMeasure]) -> bool:
    """Whether a measure depends on a column of the judgments other than the grades."""
    return any(bound.measure.needs in BY_COLUMN for bound in measures)


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


def last_rank(measures: list[BoundMeasure]) -> int:
    """The rank below which none of the measures looks."""
    last = 0
    for bound in measures:
        if bound.measure.needs not in ("ranking", *GAINS) or bound.measure.below_cutoff:
            return ALL_RANKS
        if bound.options is None and bound.measure.takes == "cutoffs":
            last = max(last, *map(int, bound.numbers))
        elif bound.options is not None and bound.options.get("cutoff"):
            last = max(last, bound.options["cutoff"])
        else:
            return ALL_RANKS
    return last


def needs_ties(measures: list[BoundMeasure]) -> bool:
    """Whether a measure depends on which documents have equal scores, in whatever order."""
    return any(bound.measure.needs == "ties" for bound in measures)


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
