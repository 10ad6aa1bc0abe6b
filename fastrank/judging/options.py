"""How to evaluate: the checked options, and which of them can be combined."""

from __future__ import annotations

from fastrank.arguments import DEFAULT_VERSION
from fastrank.data.columns import Frozen
from fastrank.errors import MeasureError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from fastrank.choices import RankBy, TrecEvalVersion
    from fastrank.formats.line_files import Exclusions
    from fastrank.measures.selection import BoundMeasure, Selection

# Orders of documents with equal scores that depend on their grades.
BY_GRADE = ("best", "worst", "average")
# The depth of rankings without -M.
MAX_RETRIEVED = 2**31 - 1


class Options(Frozen):
    """How to evaluate, as `evaluation_options` makes it of what a caller gave.

    relevance_format: -R of trec_eval. query: the only one to evaluate. original: do as the command
    trec_eval, which reads a number from whatever it begins with, and stops at a first query whose
    judgments are all negative. The others are described in judging/keywords.py, but for
    unjudged_between: the ties "best" and "worst" place unjudged documents between relevant and
    other ones. Shares of the judged documents that a ranking cut at a depth holds are the highest
    and the lowest so.
    """

    __slots__ = (
        "collection_size", "complete", "duplicates", "exclude", "ignore_identical_ids",
        "judged_only", "max_retrieved", "missing_is_error", "no_relevant", "original", "query",
        "rank_by", "relevance_format", "relevance_level", "ties", "trec_eval_version",
        "unjudged_between",
    )  # fmt: skip
    defaults: ClassVar[dict[str, Any]] = {
        "collection_size": 0, "complete": False, "duplicates": "error", "exclude": {},
        "ignore_identical_ids": False, "judged_only": False, "max_retrieved": MAX_RETRIEVED,
        "missing_is_error": False, "no_relevant": "zero", "original": False, "query": None,
        "rank_by": "score", "relevance_format": "qrels", "relevance_level": 1,
        "ties": "docno_desc", "trec_eval_version": DEFAULT_VERSION, "unjudged_between": False,
    }  # fmt: skip

    trec_eval_version: TrecEvalVersion
    relevance_format: str
    relevance_level: float
    complete: bool
    judged_only: bool
    max_retrieved: int
    collection_size: int
    query: bytes | None
    ties: str
    missing_is_error: bool
    no_relevant: str
    original: bool
    rank_by: RankBy
    ignore_identical_ids: bool
    exclude: Exclusions
    duplicates: str
    unjudged_between: bool

    @property
    def is_cut(self) -> bool:
        """Whether a depth was given."""
        return self.max_retrieved < MAX_RETRIEVED

    @property
    def has_filters(self) -> bool:
        """Whether documents leave the rankings before they are judged."""
        return bool(self.exclude) or self.ignore_identical_ids or self.duplicates != "error"


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
        # The trec_eval command does without the modules.
        from fastrank.measures.binding import check_expected, refuse_more_than_grades

        if options.ties == "average":
            check_expected(measures, is_cut=options.is_cut)
        else:
            reason = f"ties={options.ties!r} orders documents by the grades of one query"
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


def bind_measures(asked: Selection, options: Options) -> list[BoundMeasure]:
    """The requested measures with parameters. Raises MeasureError for invalid ones.

    With ties="average", measures without an expected value are omitted from sets of measures.
    """
    if options.ties != "average":
        return asked.bind(options.trec_eval_version)
    from fastrank.measures.binding import has_expected_value

    return asked.bind(
        options.trec_eval_version,
        keep=lambda bound: has_expected_value(bound, is_cut=options.is_cut),
    )
