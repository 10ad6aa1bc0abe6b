"""The options of everything that evaluates: what each means, its default, and what may be given."""

from __future__ import annotations

from fastrank.arguments import (
    COMPAT_LEVELS,
    DEFAULT_COMPAT,
    ORDERS,
    check_compat,
    finite,
    flag,
    integer,
)
from fastrank.errors import OptionError
from fastrank.formats.exclusions import EXCLUDE
from fastrank.judging.options import BY_GRADE, MAX_RETRIEVED, Options
from fastrank.keywords import Keyword, TypedDict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

# Orders of documents with equal scores.
TIES = ("docno_desc", "docno_asc", "given", *BY_GRADE)


class LevelOptions(TypedDict, total=False):
    """What is relevant, by which trec_eval."""

    relevance_level: float
    compat: str


class FilterOptions(TypedDict, total=False):
    """Documents that leave a ranking."""

    ignore_identical_ids: bool
    exclude: Mapping[Any, Iterable[Any]] | None


class DepthOptions(LevelOptions, total=False):
    """The same, in rankings of some depth."""

    depth: int | None


class LabelOptions(DepthOptions, total=False):
    """How to evaluate rankings of documents that all are judged."""

    no_relevant: str
    max_retrieved: int | None
    collection_size: int


class SearchedOptions(LabelOptions, total=False):
    """How to evaluate rankings that a search finds."""

    missing: str | None
    complete: bool
    judged_only: bool
    ties: str


class ArrayOptions(SearchedOptions, FilterOptions, total=False):
    """How to evaluate rankings with ids and scores."""

    duplicates: str


class EvaluationOptions(ArrayOptions, total=False):
    """How to evaluate a run."""

    order: str


def check_level(name: str, level: Any) -> float:
    """The lowest grade that is relevant, an int if it is whole.

    Raises OptionError, TypeError for what is no number.
    """
    if hasattr(level, "__index__"):
        return integer(name, level)
    number = finite(name, level)
    if not abs(number) < 2.0**63:
        raise OptionError(name, f"expected a 64-bit number, found {level}")
    return int(number) if number.is_integer() else number


def number(text: str) -> float:
    """A grade as the command line has it; argparse names the function in its messages."""
    return check_level("relevance_level", float(text) if set(text) & set(".eE") else int(text))


EVALUATION = (
    Keyword(
        "relevance_level", 1, "the lowest grade that is relevant",
        """the lowest grade that is relevant (trec_eval -l). It may have a fraction, as grades
        may.""",
        check=check_level, letter="l", metavar="N", parse=number,
    ),
    Keyword(
        "order", "score",
        "what documents are ranked by: their scores, the rank column, or as the lines stand",
        """what documents are ranked by. "score": the highest first; "rank": the rank column of a
        file or frame, the smallest first, whatever the scores are; "given": the order of the
        lines, rows or items. By rank or as given, nothing ties. A rank that is no integer, or
        stands twice in a query, is an error. A Run keeps no ranks: see `load_run` for how to
        read them.""",
        choices=ORDERS,
    ),
    Keyword(
        "ties", "docno_desc",
        "order of documents with equal scores; docno_desc: larger id first; average: the expected"
        " value over all orders",
        """the order of documents with equal scores (equal as 32-bit floats at 9.0.8).
        "docno_desc": larger id first, in byte order, as trec_eval does; "docno_asc": smaller id
        first; "given": as the lines stand. "best" and "worst": highest or lowest grade first,
        documents outside the judgments ranking below grade 0. That is the best or worst order
        for measures that gain when a higher grade moves up, such as map, P, recip_rank and ndcg.
        "average": the exact expected value over all orders (McSherry and Najork, ECIR 2008), for
        map, P, recall, Rprec, recip_rank, success, ndcg, bpref, RBP, set measures and others that
        docs/options.md lists; other measures raise MeasureError, and are left out of sets of
        measures such as official. Without "docno_desc" a score that is NaN is an error.""",
        choices=TIES,
    ),
    Keyword(
        "missing", None,
        "judged queries without results: left out (skip, the default), 0 in the values and"
        " means (zero, the same as -c), or an error",
        """how to treat judged queries without results. "skip": left out (the default); "zero":
        each counts as 0, in the values per query and in the means (-c); "error".""",
        choices=("skip", "zero", "error"),
    ),
    Keyword(
        "no_relevant", "zero",
        "judged queries without a relevant document: evaluated (zero), 1 in every measure of which"
        " that is the best value (one), left out (skip), or an error",
        """what judged queries without a relevant document are. "zero": evaluated, which gives 0
        for most measures; "one": 1 in every measure of which that is the best value, if they have
        results, as LightGBM, XGBoost and CatBoost count them; "skip": left out of everything;
        "error". For "one" a document is relevant by the level of the measure, for nDCG, ERR and
        RBP if it has a gain.""",
        choices=("zero", "one", "skip", "error"),
    ),
    Keyword(
        "ignore_identical_ids", False, "leave out documents whose id is the query's",
        "leave out documents whose id is the query's, before ranks are given.", check=flag,
    ),
    EXCLUDE,
    Keyword(
        "duplicates", "error",
        "a document twice in a ranking: an error, or its first line or highest score counts",
        """a document twice in a ranking. "error"; "first": its first line counts; "max": its
        highest score. A document twice in the judgments of an evaluated query is always an
        error.""",
        choices=("error", "first", "max"),
    ),
    Keyword(
        "depth", None, "cut rankings after so many documents",
        "cut rankings after so many documents (-M).", least=1, metavar="N",
    ),
    Keyword(
        "complete", False, "average over all judged queries, not only those with results",
        'trec_eval\'s name for missing="zero" (-c).', check=flag, letter="c",
    ),
    Keyword(
        "judged_only", False, "drop unjudged documents from the rankings",
        "drop documents without a grade >= 0 from the rankings (-J).", check=flag, letter="J",
    ),
    Keyword(
        "max_retrieved", None, "the same as --depth", "trec_eval's name for depth.", least=0,
        letter="M", metavar="N",
    ),
    Keyword(
        "collection_size", 0, "number of documents in the collection, for utility",
        "number of documents in the collection, for `utility` (-N).", check=integer, letter="N",
        metavar="N", parse=int,
    ),
    Keyword(
        "compat", DEFAULT_COMPAT, "which trec_eval's numbers to compute",
        """"9.0.8" or "10.0": whose numbers to compute, and how to read comments in a file.""",
        check=lambda _, given: check_compat(given), choices=COMPAT_LEVELS,
    ),
)  # fmt: skip


def evaluation_options(given: Mapping[str, Any]) -> Options:
    """Check options that were given, for judgments of documents; the others have their defaults.

    Raises OptionError for impossible or contradictory values, TypeError for other types.
    """
    values = {
        option.name: option.checked(given.get(option.name, option.default)) for option in EVALUATION
    }
    missing = _missing(values.pop("missing"), complete=values.pop("complete"))
    return Options(
        **values | {
            "exclude": values["exclude"] or {},
            "max_retrieved": _depth(values.pop("depth"), values["max_retrieved"]),
        },
        relevance_format="qrels",
        complete=missing == "zero",
        missing_is_error=missing == "error",
        query=None,
    )  # fmt: skip


def _missing(missing: str | None, *, complete: bool) -> str:
    """What happens to judged queries that the run lacks. Raises OptionError for a contradiction."""
    if missing is None:
        return "zero" if complete else "skip"
    if complete and missing != "zero":
        raise OptionError(
            "missing", f"found {missing!r} together with complete=True, which means 'zero'"
        )
    return missing


def _depth(depth: int | None, max_retrieved: int | None) -> int:
    """Where rankings are cut. Raises OptionError for a contradiction."""
    if depth is not None and max_retrieved is not None and depth != max_retrieved:
        raise OptionError(
            "depth", f"found {depth} together with max_retrieved={max_retrieved}, its other name"
        )
    if depth is None:
        return MAX_RETRIEVED if max_retrieved is None else max_retrieved
    return depth
