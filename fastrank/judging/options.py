"""How to evaluate: the options after they were checked, and which go together."""

from __future__ import annotations

from fastrank.data.columns import Frozen
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from fastrank.formats.exclusions import Exclusions
    from fastrank.measures.selection import BoundMeasure, Selection

# Orders of documents with equal scores that ask for their grades.
BY_GRADE = ("best", "worst", "average")
# As deep as a ranking goes without -M.
MAX_RETRIEVED = 2**31 - 1


class Options(Frozen):
    """How to evaluate, as `evaluation_options` makes it of what a caller gave.

    relevance_format: -R of trec_eval. query: the only one to evaluate. original: do as the command
    trec_eval, which reads a number from whatever it begins with, and stops at a first query whose
    judgments are all negative. The others are described in judging/evaluation_options.py.
    """

    __slots__ = (
        "collection_size", "compat", "complete", "duplicates", "exclude", "ignore_identical_ids",
        "judged_only", "max_retrieved", "missing_is_error", "no_relevant", "order", "original",
        "query", "relevance_format", "relevance_level", "ties",
    )  # fmt: skip
    defaults: ClassVar[dict[str, Any]] = {
        "duplicates": "error", "exclude": {}, "ignore_identical_ids": False,
        "missing_is_error": False, "no_relevant": "zero", "order": "score", "original": False,
        "ties": "docno_desc",
    }  # fmt: skip

    compat: str
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
    order: str
    original: bool
    ignore_identical_ids: bool
    exclude: Exclusions
    duplicates: str

    @property
    def is_cut(self) -> bool:
        """Whether a depth was given."""
        return self.max_retrieved < MAX_RETRIEVED

    @property
    def can_stream(self) -> bool:
        """Whether a run can be judged while it is read: rows stay, and rank as in trec_eval."""
        filters = self.exclude or self.ignore_identical_ids or self.duplicates != "error"
        return not filters and self.ties == "docno_desc" and self.order == "score"


def check_format(options: Options) -> None:
    """Raise OptionError for an option without a meaning for the format of the judgments."""
    if options.relevance_format == "prefs":
        if options.ties != "docno_desc":
            raise OptionError(
                "ties",
                f"found {options.ties!r}, but for preferences there is only trec_eval's own order"
                " of tied documents (the smaller id first), which the default stands for",
            )
        if options.no_relevant != "zero":
            raise OptionError(
                "no_relevant",
                f"found {options.no_relevant!r}, but preferences have no relevant documents",
            )
    if options.relevance_format == "qrels_jg" and options.no_relevant == "one":
        raise OptionError(
            "no_relevant", "found 'one', but judgment groups differ in what is relevant for a query"
        )
    if options.relevance_format == "qrels_jg" and options.ties in BY_GRADE:
        raise OptionError(
            "ties",
            f"found {options.ties!r}, but judgment groups give one document several grades, and"
            " tied documents cannot be ordered by them",
        )
    if options.ties == "average" and options.judged_only and options.is_cut:
        raise OptionError(
            "ties",
            "found 'average' together with judged_only and a depth: how many documents are left"
            " depends on the order of tied ones, and no closed form is known",
        )


def check_options(measures: list[BoundMeasure], options: Options) -> None:
    """Raise OptionError or MeasureError for options that these measures cannot have."""
    check_format(options)
    if options.ties in BY_GRADE:
        # The trec_eval command does without the modules.
        from fastrank.measures.ties import check_expected, refuse_annotated

        if options.ties == "average":
            check_expected(measures, is_cut=options.is_cut)
        refuse_annotated(measures, f"ties={options.ties!r} orders documents by those of one query")


def bind_measures(asked: Selection, options: Options) -> list[BoundMeasure]:
    """The measures asked for, with parameters. Raises MeasureError for impossible ones.

    Of a set of measures, those without an expected value are left out where ties="average".
    """
    if options.ties != "average":
        return asked.bind(options.compat)
    from fastrank.measures.ties import has_expected_value

    return asked.bind(
        options.compat, keep=lambda bound: has_expected_value(bound, is_cut=options.is_cut)
    )
