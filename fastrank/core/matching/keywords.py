"""The options of an evaluation, as keywords of functions and flags of commands."""

from __future__ import annotations

from fastrank.common.arguments import (
    DEFAULT_VERSION,
    RANK_BY,
    TREC_EVAL_VERSIONS,
    check_version,
    finite,
    flag,
    integer,
)
from fastrank.common.keywords import Keyword, TypedDict
from fastrank.core.formats.trec.line_files import EXCLUDE, IGNORE_IDENTICAL_IDS
from fastrank.core.matching.options import (
    BY_GRADE,
    DIRECTIONS,
    MAX_RETRIEVED,
    Options,
    bind_measures,
    check_options,
)
from fastrank.core.measures.over_ties import refuse_more_than_grades
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from fastrank.common.choices import (
        Duplicates,
        Missing,
        NoRelevant,
        RankBy,
        Ties,
        TrecEvalVersion,
    )
    from fastrank.core.measures.selection import Measures

# Orders of documents with equal scores.
TIES = (*DIRECTIONS, *BY_GRADE)


class LevelOptions(TypedDict, total=False):
    """Which grades are relevant, and which trec_eval version to follow."""

    relevance_level: float
    trec_eval_version: TrecEvalVersion


class FilterOptions(TypedDict, total=False):
    """Which documents to remove from the rankings."""

    ignore_identical_ids: bool
    exclude: Mapping[Any, Iterable[object]] | None


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


EVALUATION = (
    Keyword(
        "relevance_level",
        1,
        """the lowest relevant grade (trec_eval -l). Like grades, it may have a fraction.""",
        check=check_level,
    ),
    Keyword(
        "rank_by",
        "score",
        """what to rank documents by. With "score", highest first; with "rank", by the rank column
        of a file or frame, smallest first, ignoring the scores; with "given", in the order of the
        lines, rows or items. By rank or as given, there are no ties. A rank that is not an integer,
        or that appears twice in a query, is an error. A Run has no ranks; `read_run` can read a
        file by rank.""",
        choices=RANK_BY,
    ),
    Keyword(
        "ties",
        "docno_desc",
        """the order of equal scores. These are compared as 32-bit floats in 9.0.8. Documents are in
        the order "docno_desc", larger id first, in byte order, as in trec_eval; "docno_asc",
        smaller id first; "given", the order of the lines; "best" or "worst", highest or lowest
        grade first; or "average", the expected value over all orders. For "best" and "worst",
        documents not in the judgments are below grade 0; they are the best or worst order for
        measures that increase when a higher grade moves up, such as map, P, recip_rank and ndcg.
        "average" is exact (McSherry and Najork, ECIR 2008), for map, P, recall, Rprec, recip_rank,
        success, ndcg, bpref, RBP, set measures and others; the remaining measures raise
        MeasureError, which lists those that have one, and are omitted from sets of measures such as
        official.""",
        choices=TIES,
    ),
    Keyword(
        "missing",
        "skip",
        """judged queries without results. "skip" ignores them, "zero" counts each as 0, in the
        values per query and in the means (trec_eval -c), and "error" raises EvaluationError.""",
        choices=("skip", "zero", "error"),
    ),
    Keyword(
        "no_relevant",
        "zero",
        """queries without a relevant document. "zero" evaluates them, which
        gives 0 for most measures; "one" counts those with results as 1, also in geometric means, in
        every measure that is exactly 1 for a perfect ranking of enough relevant documents, as
        LightGBM, XGBoost and CatBoost do; "skip" ignores them everywhere; "error" raises
        EvaluationError. "one" leaves out the measures that only approach their best value (ERR,
        RBP, rbp, NRBP), have none (DCG, dcg, utility, yaap), or can exceed 1 (alpha_nDCG, nERR_IA,
        nNRBP, iP, infNDCG). For it, a document is relevant by the level of the measure, or, for
        nDCG and others with gains, if it has a gain.""",
        choices=("zero", "one", "skip", "error"),
    ),
    IGNORE_IDENTICAL_IDS,
    EXCLUDE,
    Keyword(
        "duplicates",
        "error",
        """duplicate documents in a ranking. "error" raises an error, "first" keeps the
        first line, and "max" the line with the highest score. A duplicate document in
        the judgments of an evaluated query is always an error.""",
        choices=("error", "first", "max"),
    ),
    Keyword("depth", None, "keep only the first `depth` of each ranking (trec_eval -M).", least=1),
    Keyword(
        "judged_only", False, "drop documents without a grade >= 0 (trec_eval -J).", check=flag
    ),
    Keyword(
        "collection_size",
        0,
        "the collection's size, for `utility`. It is trec_eval's -N.",
        check=integer,
    ),
    Keyword(
        "trec_eval_version",
        DEFAULT_VERSION,
        """the version of trec_eval to follow. "9.0.8" and "10.0" have some other numbers, and other
        rules for comments in files.""",
        check=lambda _, version: check_version(version),
        choices=TREC_EVAL_VERSIONS,
    ),
)

# Nothing changes options once they are made.
DEFAULTS = Options()


def evaluation_options(options: Mapping[str, object]) -> Options:
    """Check the given options of an evaluation with qrels; the others have their defaults.

    Raises OptionError for invalid values, TypeError for other types.
    """
    if not options:
        return DEFAULTS
    values = {
        keyword.name: keyword.checked(options[keyword.name])
        for keyword in EVALUATION
        if options.get(keyword.name, keyword.default) is not keyword.default
    }
    if not values:
        return DEFAULTS
    missing = values.pop("missing", "skip")
    values["max_retrieved"] = values.pop("depth", MAX_RETRIEVED)
    values["exclude"] = values.get("exclude") or {}
    return Options(**values, complete=missing == "zero", missing_is_error=missing == "error")


class Request:
    """Measures with their parameters, and options; `options`: as passed to `evaluate`."""

    def __init__(self, measures: Measures, options: Mapping[str, object]) -> None:
        self.options = evaluation_options(options)
        self.measures = bind_measures(measures, self.options)
        check_options(self.measures, self.options)
        refuse_more_than_grades(self.measures, "only `evaluate` supports it")
