"""How to evaluate: the options, what may be given for them, and together with what."""

from __future__ import annotations

from fastrank.arguments import at_least, check_choice, finite, flag, integer
from fastrank.data.columns import Frozen
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from fastrank.formats.exclusions import Exclusions
    from fastrank.measures.selection import BoundMeasure

# Orders of documents with equal scores; those of the second kind ask for their grades.
TIES = ("docno_desc", "docno_asc", "given", "best", "worst", "average")
BY_GRADE = ("best", "worst", "average")
MISSING = ("skip", "zero", "error")
NO_RELEVANT = ("zero", "skip", "error")
DUPLICATES = ("error", "first", "max")
# As deep as a ranking goes without -M.
MAX_RETRIEVED = 2**31 - 1


class Options(Frozen):
    """How to evaluate; see `evaluate` for the meaning. `relevance_format`: -R of trec_eval."""

    __slots__ = (
        "collection_size", "compat", "complete", "duplicates", "exclude", "ignore_identical_ids",
        "judged_only", "max_retrieved", "missing_is_error", "no_relevant", "order", "query",
        "relevance_format", "relevance_level", "ties",
    )  # fmt: skip
    defaults: ClassVar[dict[str, Any]] = {
        "duplicates": "error", "exclude": {}, "ignore_identical_ids": False,
        "missing_is_error": False, "no_relevant": "zero", "order": "score", "ties": "docno_desc",
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


def relevance(level: Any) -> float:
    """The lowest grade that is relevant, an int if it is whole.

    Raises OptionError, TypeError for what is no number.
    """
    if hasattr(level, "__index__"):
        return integer("relevance_level", level)
    number = finite("relevance_level", level)
    if not abs(number) < 2.0**63:
        raise OptionError("relevance_level", f"expected a 64-bit number, found {level}")
    return int(number) if number.is_integer() else number


def settle_missing(missing: str | None, *, complete: bool) -> str:
    """What happens to judged queries that the run lacks. `complete` is trec_eval's way to say zero.

    Raises OptionError if both are given and disagree.
    """
    complete = flag("complete", complete)
    if missing is None:
        return "zero" if complete else "skip"
    check_choice("missing", missing, MISSING)
    if complete and missing != "zero":
        raise OptionError(
            "missing", f"found {missing!r} together with complete=True, which means 'zero'"
        )
    return missing


def settle_depth(depth: int | None, max_retrieved: int | None) -> int:
    """Where rankings are cut; `max_retrieved` is trec_eval's name for it.

    Raises OptionError below 0, and if both are given and disagree.
    """
    for name, value in (("depth", depth), ("max_retrieved", max_retrieved)):
        if value is not None:
            at_least(name, value, 0)
    if depth is not None and max_retrieved is not None and depth != max_retrieved:
        raise OptionError(
            "depth", f"found {depth} together with max_retrieved={max_retrieved}, its other name"
        )
    settled = max_retrieved if depth is None else depth
    return MAX_RETRIEVED if settled is None else integer("depth", settled)


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


def check_options(bound: list[BoundMeasure], options: Options) -> None:
    """Raise OptionError or MeasureError for options that these measures cannot have."""
    check_format(options)
    if options.ties in BY_GRADE:
        # The trec_eval command does without the modules.
        from fastrank.measures.ties import check_expected, refuse_annotated

        if options.ties == "average":
            check_expected(bound)
        refuse_annotated(bound, f"ties={options.ties!r} orders documents by those of one query")
