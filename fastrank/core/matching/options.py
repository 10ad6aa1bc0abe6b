"""How to evaluate: the checked options, which of them can be combined, and what measures need."""

from __future__ import annotations

from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.core.data.columns import Frozen
from fastrank.core.measures.selection import Selection
from fastrank.core.native import codes
from fastrank.core.native.records import RankingOptions
from fastrank.errors import MeasureError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.common.choices import RankBy, TrecEvalVersion
    from fastrank.core.formats.trec.line_files import Exclusions
    from fastrank.core.measures.bound import BoundMeasure
    from fastrank.core.measures.selection import Measures

# Orders of documents with equal scores: those that comparing two of them decides, and those that
# depend on their grades.
DIRECTIONS = {
    "docno_desc": codes.LARGER_ID_FIRST,
    "docno_asc": codes.SMALLER_ID_FIRST,
    "given": codes.FIRST_LINE_FIRST,
}
BY_GRADE = ("best", "worst", "average")
# The depth of rankings without -M.
MAX_RETRIEVED = 2**31 - 1
# The columns of judgments that measures need beside the grades, and how judgments have them.
BY_COLUMN = {
    "strata": "judgments with strata: files with lines of query, iteration, document, stratum and"
    " grade, or tables with a column stratum",
    "subtopics": "judgments with subtopics: files with the subtopic as the second field of each"
    " line, or tables with a column subtopic or iteration",
}


class Options(Frozen):
    """How to evaluate, as `evaluation_options` makes it of what a caller gave.

    relevance_format: -R of trec_eval. query: the only one to evaluate. original: do as the command
    trec_eval, which reads a number from whatever it begins with, and stops at a first query whose
    judgments are all negative. The others are described in matching/keywords.py, but for
    unjudged_between: the ties "best" and "worst" place unjudged documents between relevant and
    other ones. Shares of the judged documents that a ranking cut at a depth holds are the highest
    and the lowest so. list_unjudged: see `Plan.judging`, which sets it.
    """

    trec_eval_version: TrecEvalVersion = DEFAULT_VERSION
    relevance_format: str = "qrels"
    relevance_level: float = 1
    complete: bool = False
    judged_only: bool = False
    max_retrieved: int = MAX_RETRIEVED
    collection_size: int = 0
    query: bytes | None = None
    ties: str = "docno_desc"
    missing_is_error: bool = False
    no_relevant: str = "zero"
    original: bool = False
    rank_by: RankBy = "score"
    ignore_identical_ids: bool = False
    exclude: Exclusions = {}  # noqa: RUF012
    duplicates: str = "error"
    unjudged_between: bool = False
    list_unjudged: bool = False

    @property
    def is_cut(self) -> bool:
        """Whether a depth was given."""
        return self.max_retrieved < MAX_RETRIEVED

    @property
    def has_filters(self) -> bool:
        """Whether documents leave the rankings before they are judged."""
        return bool(self.exclude) or self.ignore_identical_ids or self.duplicates != "error"

    @property
    def evaluates_missing(self) -> bool:
        """Whether queries without results are evaluated, which only trec_eval 10.0 does (-c)."""
        return self.complete and self.trec_eval_version != DEFAULT_VERSION

    @property
    def keeps_queries(self) -> bool:
        """Whether queries without a relevant document are evaluated."""
        return self.no_relevant in ("zero", "one")

    def codes(self) -> RankingOptions:
        """The options of `Plan.judging` as the kernels take them."""
        return RankingOptions(
            level=int(self.relevance_level),
            max_retrieved=self.max_retrieved,
            judged_only=self.judged_only,
            list_unjudged=self.list_unjudged,
            single_precision=self.trec_eval_version == DEFAULT_VERSION,
            stop_if_none_judged=self.original and self.relevance_format == "qrels",
            tie_direction=DIRECTIONS.get(self.ties, codes.LARGER_ID_FIRST),
            # How NaN ranks is a matter of trec_eval's sort, which only its own order of ties
            # repeats.
            refuse_nan=self.ties != "docno_desc",
        )


def check_format(options: Options) -> None:
    """Raise OptionError for an option that does not apply to the format of the judgments."""
    if options.relevance_format == "prefs":
        if options.ties != "docno_desc":
            raise OptionError(
                "ties",
                f"found {options.ties!r}, but preferences support only the default, trec_eval's"
                " order of tied documents (smaller id first)",
            )
        if options.no_relevant != "zero":
            raise OptionError(
                "no_relevant",
                f"found {options.no_relevant!r}, but preferences have no relevant documents",
            )
    if options.relevance_format == "qrels_jg" and options.no_relevant == "one":
        raise OptionError(
            "no_relevant", "found 'one', but judgment groups differ in which documents are relevant"
        )
    if options.relevance_format == "qrels_jg" and options.ties in BY_GRADE:
        raise OptionError(
            "ties",
            f"found {options.ties!r}, but tied documents cannot be ordered by grade: judgment"
            " groups give a document several grades",
        )
    if options.ties == "average" and options.judged_only and options.is_cut:
        raise OptionError(
            "ties",
            "'average' does not support judged_only with a depth: no closed form is known, because"
            " the number of remaining documents depends on the order of ties",
        )


def check_options(measures: list[BoundMeasure], options: Options) -> None:
    """Raise OptionError or MeasureError for options that these measures do not support."""
    check_format(options)
    if options.ties in BY_GRADE:
        # The trec_eval command does without the module.
        from fastrank.core.measures.over_ties import check_expected, refuse_more_than_grades

        if options.ties == "average":
            check_expected(measures, is_cut=options.is_cut)
        else:
            # The trec_eval command does without the module.
            from fastrank.common.faces import option

            reason = f"{option('ties', options.ties)} orders documents by the grades of one query"
            refuse_more_than_grades(measures, reason)
    if options.is_cut:
        for bound in measures:
            if bound.measure.needs == "ties":
                name = bound.names[0].decode()
                raise MeasureError(
                    bound.measure.name,
                    f"'{name}' does not support a depth, because which documents of a tie it"
                    " removes depends on their order; PairAccuracy does",
                )


# Parsing four names takes as long as evaluating two queries of 100 documents.
_BOUND: dict[tuple[str, ...], list[BoundMeasure]] = {}
# The same lists, which are returned again, by their addresses.
KEPT: dict[int, list[BoundMeasure]] = {}
MOST_BOUND = 64


def bind_measures(asked: Measures, options: Options) -> list[BoundMeasure]:
    """The requested measures with parameters. Raises MeasureError for invalid ones.

    With ties="average", measures without an expected value are omitted from sets of measures.
    """
    version = options.trec_eval_version
    if options.ties == "average":
        from fastrank.core.measures.over_ties import has_expected_value

        return Selection(asked).bind(
            version, keep=lambda bound: has_expected_value(bound, is_cut=options.is_cut)
        )
    names = (asked,) if isinstance(asked, str) else asked
    if not isinstance(names, (list, tuple)) or set(map(type, names)) != {str}:
        return Selection(asked).bind(version)
    key = version, *names
    measures = _BOUND.get(key)
    if measures is None:
        measures = Selection(names).bind(version)
        # A user may give a name to another function.
        if all(bound.measure.needs != "custom" for bound in measures):
            if len(_BOUND) >= MOST_BOUND:
                _BOUND.clear()
                KEPT.clear()
            _BOUND[key] = KEPT[id(measures)] = measures
    return measures
