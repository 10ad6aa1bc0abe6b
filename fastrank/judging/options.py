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
from fastrank.measures.binding import check_expected, has_expected_value, refuse_more_than_grades
from fastrank.measures.selection import Selection
from fastrank.native import codes
from fastrank.native.records import RankingOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from fastrank.choices import Duplicates, Missing, NoRelevant, RankBy, Ties, TrecEvalVersion
    from fastrank.formats.line_files import Exclusions
    from fastrank.measures.selection import BoundMeasure, Measures

# Orders of documents with equal scores: those that comparing two of them decides, and those that
# depend on their grades.
DIRECTIONS = {
    "docno_desc": codes.LARGER_ID_FIRST,
    "docno_asc": codes.SMALLER_ID_FIRST,
    "given": codes.FIRST_LINE_FIRST,
}
BY_GRADE = ("best", "worst", "average")
TIES = (*DIRECTIONS, *BY_GRADE)
# The depth of rankings without -M.
MAX_RETRIEVED = 2**31 - 1


class Options(Frozen):
    """How to evaluate, as `evaluation_options` makes it of what a caller gave.

    relevance_format: -R of trec_eval. query: the only one to evaluate. original: do as the command
    trec_eval, which reads a number from whatever it begins with, and stops at a first query whose
    judgments are all negative. The others are described in judging/options.py, but for
    unjudged_between: the ties "best" and "worst" place unjudged documents between relevant and
    other ones. Shares of the judged documents that a ranking cut at a depth holds are the highest
    and the lowest so. list_unjudged: see `judging_options`, which sets it.
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

    def codes(self) -> RankingOptions:
        """The options of `judging_options` as the kernels take them."""
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
    if options.ties == "average":
        check_expected(measures, is_cut=options.is_cut)
    elif options.ties in BY_GRADE:
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


# Parsing four names takes as long as evaluating two queries of 100 documents.
_BOUND: dict[tuple[str, ...], list[BoundMeasure]] = {}
MOST_BOUND = 64


def bind_measures(asked: Measures, options: Options) -> list[BoundMeasure]:
    """The requested measures with parameters. Raises MeasureError for invalid ones.

    With ties="average", measures without an expected value are omitted from sets of measures.
    """
    version = options.trec_eval_version
    if options.ties == "average":
        return Selection(asked).bind(
            version, keep=lambda bound: has_expected_value(bound, is_cut=options.is_cut)
        )
    names: Any = (asked,) if isinstance(asked, str) else asked
    if not isinstance(names, (list, tuple)) or set(map(type, names)) != {str}:
        return Selection(asked).bind(version)
    key = version, *names
    found = _BOUND.get(key)
    if found is None:
        found = Selection(names).bind(version)
        # A user may give a name to another function.
        if all(bound.measure.needs != "custom" for bound in found):
            if len(_BOUND) >= MOST_BOUND:
                _BOUND.clear()
            _BOUND[key] = found
    return found


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
        self.measures = bind_measures(measures, self.options)
        check_options(self.measures, self.options)
        refuse_more_than_grades(self.measures, "only `evaluate` supports it")
