"""How to evaluate: the checked options, and which of them can be combined."""

from __future__ import annotations

from fastrank.arguments import (
    DEFAULT_VERSION,
    RANK_BY,
    TREC_EVAL_VERSIONS,
    check_version,
    finite,
    flag,
    integer,
)
from fastrank.data.columns import Frozen
from fastrank.errors import MeasureError, OptionError
from fastrank.formats.line_files import EXCLUDE, IGNORE_IDENTICAL_IDS
from fastrank.keywords import Keyword, TypedDict
from fastrank.measures.binding import refuse_more_than_grades
from fastrank.measures.selection import Selection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, ClassVar

    from fastrank.choices import Duplicates, Missing, NoRelevant, RankBy, Ties, TrecEvalVersion
    from fastrank.formats.line_files import Exclusions
    from fastrank.measures.selection import BoundMeasure, Measures, Selection

# Orders of documents with equal scores that depend on their grades.
BY_GRADE = ("best", "worst", "average")
# The depth of rankings without -M.
MAX_RETRIEVED = 2**31 - 1


class Options(Frozen):
    """How to evaluate, as `evaluation_options` makes it of what a caller gave.

    relevance_format: -R of trec_eval. query: the only one to evaluate. original: do as the command
    trec_eval, which reads a number from whatever it begins with, and stops at a first query whose
    judgments are all negative. The others are described in judging/options.py, but for
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


# Orders of documents with equal scores.
TIES = ("docno_desc", "docno_asc", "given", *BY_GRADE)


class LevelOptions(TypedDict, total=False):
    """Which grades are relevant, and which trec_eval version to follow."""

    relevance_level: float
    trec_eval_version: TrecEvalVersion


class FilterOptions(TypedDict, total=False):
    """Which documents to remove from the rankings."""

    ignore_identical_ids: bool
    exclude: Mapping[Any, Iterable[Any]] | None


class DepthOptions(LevelOptions, total=False):
    """`LevelOptions`, and the depth of the rankings."""

    depth: int | None


class LabelOptions(DepthOptions, total=False):
    """How to evaluate rankings of documents that are all judged."""

    no_relevant: NoRelevant
    collection_size: int


class SearchedOptions(LabelOptions, total=False):
    """How to evaluate rankings returned by a search."""

    missing: Missing
    judged_only: bool
    ties: Ties


class ArrayOptions(SearchedOptions, FilterOptions, total=False):
    """How to evaluate rankings with ids and scores."""

    duplicates: Duplicates


class EvaluationOptions(ArrayOptions, total=False):
    """How to evaluate a run."""

    rank_by: RankBy


def check_level(name: str, level: Any) -> float:
    """The lowest relevant grade, an int if it is whole.

    Raises OptionError, and TypeError for values that are not numbers.
    """
    if hasattr(level, "__index__"):
        return integer(name, level)
    number = finite(name, level)
    if not abs(number) < 2.0**63:
        raise OptionError(name, f"expected a 64-bit number, found {level}")
    return int(number) if number.is_integer() else number


def number(text: str) -> float:
    """Parse a grade on the command line; argparse shows the function's name in its messages."""
    return check_level("relevance_level", float(text) if set(text) & set(".eE") else int(text))


EVALUATION = (
    Keyword(
        "relevance_level", 1, "lowest grade that counts as relevant",
        """the lowest grade that counts as relevant (trec_eval -l). Like grades, it may have a
        fraction.""",
        check=check_level, letter="l", metavar="N", parse=number,
    ),
    Keyword(
        "rank_by", "score",
        "what to rank documents by: their scores, the rank column, or the given order of lines",
        """what to rank documents by. "score": highest first; "rank": the rank column of a file
        or frame, smallest first, ignoring the scores; "given": the order of the lines, rows or
        items. By rank or as given, there are no ties. A rank that is not an integer, or that
        appears twice in a query, is an error. A Run has no ranks; `read_run` can read a file by
        rank.""",
        choices=RANK_BY,
    ),
    Keyword(
        "ties", "docno_desc",
        "order of documents with equal scores: ids descending (docno_desc) or ascending"
        " (docno_asc), as given, best or worst by grade, or the expected value over all orders"
        " (average)",
        """the order of documents with equal scores (compared as 32-bit floats in 9.0.8).
        "docno_desc": larger id first, in byte order, as in trec_eval; "docno_asc": smaller id
        first; "given": the order of the lines. "best" and "worst": highest or lowest grade first,
        with documents not in the judgments below grade 0. This is the best or worst order for
        measures that increase when a higher grade moves up, such as map, P, recip_rank and ndcg.
        "average": the exact expected value over all orders (McSherry and Najork, ECIR 2008), for
        map, P, recall, Rprec, recip_rank, success, ndcg, bpref, RBP, set measures and others;
        the remaining measures raise MeasureError, which lists those that have one, and are omitted
        from sets of measures such as official.""",
        choices=TIES,
    ),
    Keyword(
        "missing", "skip",
        "how to treat judged queries that have no results: skip them, count them as 0 in values"
        " and means (zero), or raise an error",
        """how to treat judged queries that have no results. "skip": ignore them; "zero": count
        each as 0, in the values per query and in the means (trec_eval -c); "error": raise
        EvaluationError.""",
        choices=("skip", "zero", "error"),
    ),
    Keyword(
        "no_relevant", "zero",
        "how to treat judged queries without a relevant document: evaluate them (zero), count them"
        " as 1 in measures that are exactly 1 for a perfect ranking of enough relevant documents"
        " (one), skip them, or raise an error",
        """how to treat judged queries without a relevant document. "zero": evaluate them, which
        gives 0 for most measures; "one": count those with results as 1, also in geometric means, in
        every measure that is exactly 1 for a perfect ranking of enough relevant documents, as
        LightGBM, XGBoost and CatBoost do; "skip": ignore them everywhere; "error": raise
        EvaluationError. "one" leaves out the measures that only approach their best value (ERR,
        RBP, rbp, NRBP), have none (DCG, dcg, utility, yaap), or can exceed 1 (alpha_nDCG, nERR_IA,
        nNRBP, iP, infNDCG). For it, a document is relevant by the level of the measure, or, for
        nDCG and others with gains, if it has a gain.""",
        choices=("zero", "one", "skip", "error"),
    ),
    IGNORE_IDENTICAL_IDS,
    EXCLUDE,
    Keyword(
        "duplicates", "error",
        "how to treat duplicate documents in a ranking: raise an error, or keep the first line or"
        " the highest score (max)",
        """how to treat duplicate documents in a ranking. "error": raise an error; "first":
        keep the first line; "max": keep the line with the highest score. A duplicate document in
        the judgments of an evaluated query is always an error.""",
        choices=("error", "first", "max"),
    ),
    Keyword(
        "depth", None, "keep only the first N documents of each ranking",
        "keep only the first `depth` documents of each ranking (trec_eval -M).", least=1,
        letter="M", metavar="N",
    ),
    Keyword(
        "judged_only", False, "remove unjudged documents from the rankings",
        "drop documents without a grade >= 0 from the rankings (trec_eval -J).", check=flag,
        letter="J",
    ),
    Keyword(
        "collection_size", 0, "number of documents in the collection, used by utility",
        "number of documents in the collection, for `utility` (trec_eval -N).", check=integer,
        letter="N", metavar="N", parse=int,
    ),
    Keyword(
        "trec_eval_version", DEFAULT_VERSION, "the version of trec_eval to reproduce",
        """"9.0.8" or "10.0": the version of trec_eval whose numbers to compute and whose rules
        for comments in files to follow.""",
        check=lambda _, given: check_version(given), choices=TREC_EVAL_VERSIONS,
    ),
)  # fmt: skip

# Nothing changes options once they are made.
DEFAULTS = Options()


def evaluation_options(given: Mapping[str, Any]) -> Options:
    """Check the given options of an evaluation with qrels; the others have their defaults.

    Raises OptionError for invalid values, TypeError for other types.
    """
    if not given:
        return DEFAULTS
    values = {
        own.name: own.checked(given[own.name])
        for own in EVALUATION
        if given.get(own.name, own.default) is not own.default
    }
    missing = values.pop("missing", "skip")
    values["max_retrieved"] = values.pop("depth", MAX_RETRIEVED)
    values["exclude"] = values.get("exclude") or {}
    return Options(**values, complete=missing == "zero", missing_is_error=missing == "error")


class Request:
    """Measures with their parameters, and options; `given`: options as passed to `evaluate`."""

    def __init__(self, measures: Measures, given: Mapping[str, Any]) -> None:
        self.options = evaluation_options(given)
        self.measures = bind_measures(Selection(measures), self.options)
        check_options(self.measures, self.options)
        refuse_more_than_grades(self.measures, "only `evaluate` supports it")
