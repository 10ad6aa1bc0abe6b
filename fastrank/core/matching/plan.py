"""The input of an evaluation: judgments, measures and options, checked together."""

from __future__ import annotations

from fastrank.core.data.texts import text_order
from fastrank.core.formats.qrels import (
    Graded,
    Preferences,
    Qrels,
    lowest_code,
    queries_with_relevant,
)
from fastrank.core.matching.options import BY_COLUMN, KEPT, MOST_BOUND, Options, check_options
from fastrank.core.measures.trec import GAINS
from fastrank.core.native.buffers import FreeList, filled
from fastrank.errors import MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import functools
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from fastrank.core.measures.bound import BoundMeasure
    from fastrank.core.measures.custom import Function
    from fastrank.core.native.record import Int64Array

    Judgments = Qrels | Preferences | Graded
    Fact = TypeVar("Fact")
    FileState = tuple[str, int, int]
    """The absolute path, size and time of change of a file."""

# No ranking is longer.
ALL_RANKS = 2**63 - 1
# The needs of measures for which the ranks of judged documents are not enough.
BEYOND_RANKINGS = frozenset(("annotated", "ties", *BY_COLUMN))


if TYPE_CHECKING:
    once = functools.cached_property
else:

    class once:  # noqa: N801
        """A property that is computed when it is first asked for, as that of functools.

        Several threads may compute it; all get the same value.
        """

        def __init__(self, function: Callable[[object], object]) -> None:
            self._function, self.__doc__ = function, function.__doc__

        def __get__(self, owner: object, kind: type) -> object:
            if owner is None:
                return self
            return owner.__dict__.setdefault(self._function.__name__, self._function(owner))


class Requirements:
    """The needs of measures under some options, whatever the judgments are.

    Raises OptionError or MeasureError for options that the measures do not support.
    """

    def __init__(self, measures: list[BoundMeasure], options: Options) -> None:
        check_options(measures, options)
        self.measures, self.options = measures, options

    @once
    def needs(self) -> frozenset[str]:
        """The needs of the measures: "ranking", "ties", one of BY_COLUMN and so on."""
        return frozenset(bound.measure.needs for bound in self.measures)

    @once
    def only_rankings(self) -> bool:
        """Whether the ranks of judged documents are enough, but for the order of equal scores."""
        return (
            self.options.relevance_format == "qrels"
            and self.options.rank_by == "score"
            and not self.options.has_filters
            and self.needs.isdisjoint(BEYOND_RANKINGS)
        )

    @once
    def sees_unjudged(self) -> bool:
        """Whether a measure gives a gain to unjudged documents, or counts them as relevant."""
        return any(map(_sees_unjudged, self.measures))

    @once
    def last_rank(self) -> int:
        """The rank below which none of the measures looks."""
        last = 0.0
        for bound in self.measures:
            if bound.measure.needs not in ("ranking", *GAINS) or bound.measure.below_cutoff:
                return ALL_RANKS
            for number in range(len(bound.names)):
                last = max(last, bound.parameters(number).get("cutoff", ALL_RANKS))
        return int(min(last, ALL_RANKS))

    @once
    def first_with_rankings(self) -> int:
        """The index of the first measure that needs the judged rankings, or their number."""
        for number, bound in enumerate(self.measures):
            if bound.measure.kernel and self._applies(bound):
                return number
        return len(self.measures)

    @once
    def needs_rankings(self) -> bool:
        """Whether a measure needs the judged rankings."""
        return self.first_with_rankings < len(self.measures)

    @once
    def first_impossible(self) -> tuple[int, str] | None:
        """The index of the first measure that fails for every query, and the reason."""
        for number, bound in enumerate(self.measures):
            if not self._applies(bound):
                on = {"groups": "qrels_jg", "preferences": "(prefs or qrels_prefs)"}
                return number, (
                    f"rel_info format not {on.get(bound.measure.needs, 'qrels')}:"
                    f" '{bound.measure.name}' cannot be computed from"
                    f" -R {self.options.relevance_format}"
                )
            if bound.measure.takes == "weights" and len(bound.numbers) != 4:
                return number, (
                    f"improper number of coefficients: '{bound.measure.name}' takes 4,"
                    f" found {len(bound.numbers)}"
                )
        return None

    def _applies(self, bound: BoundMeasure) -> bool:
        """Whether a measure applies to the format of the judgments."""
        format = {"groups": "qrels_jg", "preferences": "prefs"}.get(bound.measure.needs, "qrels")
        return bound.measure.needs in ("run", "queries") or format == self.options.relevance_format


# Requirements by the id of measures in KEPT; finding them takes as long as judging a short ranking.
_REQUIREMENTS: dict[int, Requirements] = {}


def requirements(measures: list[BoundMeasure], options: Options) -> Requirements:
    """The requirements of measures under options.

    They are found once for measures that `bind_measures` keeps. Requirements of what users made,
    their functions and exclusions, are not kept.
    """
    if options.exclude or KEPT.get(id(measures)) is not measures:
        return Requirements(measures, options)
    requires = _REQUIREMENTS.get(id(measures))
    if (
        requires is None
        or requires.measures is not measures
        or (requires.options is not options and vars(requires.options) != vars(options))
    ):
        if len(_REQUIREMENTS) >= MOST_BOUND:
            _REQUIREMENTS.clear()
        requires = _REQUIREMENTS[id(measures)] = Requirements(measures, options)
    return requires


class Plan:
    """Judgments, measures and options, checked together, and what follows from them.

    Only what is kept to save time changes after it is made, and several threads may use it.
    judgments: of the queries to evaluate. skipped: the ids of judged queries that the options leave
    out. query_order: the ids of all judged queries in the order of the scores, by default byte
    order. file: of the judgments, if they were read from one that other processes may read.
    rankings_suffice: whether only the ranks of judged documents matter, but for the order of equal
    scores; in that case a run can be judged as it is, without a copy of it in memory. streams: the
    same, with equal scores in the order of trec_eval.

    Raises OptionError and MeasureError for options that the measures do not support, MeasureError
    for measures of columns that the judgments do not have.
    """

    def __init__(
        self,
        judgments: Judgments,
        measures: list[BoundMeasure],
        options: Options,
        *,
        skipped: Sequence[bytes] = (),
        query_order: Sequence[bytes] | None = None,
        file: FileState | None = None,
    ) -> None:
        self.judgments: Any = judgments
        self.measures, self.options = measures, options
        self.requires = requires = requirements(measures, options)
        self.skipped, self.query_order = skipped, query_order
        self.file = file
        # How many rankings the last run of dicts had, and whether such runs are in the memory.
        self.last_count, self.reuses_dict_memory = -1, False
        self._known: dict[Callable[[Plan], object], Any] = {}
        has_rankings = isinstance(judgments, (Qrels, Graded))
        self.rankings_suffice: bool = requires.only_rankings and has_rankings
        self.streams = self.rankings_suffice and options.ties == "docno_desc"
        for bound in measures:
            if bound.measure.needs in BY_COLUMN:
                _check_column(bound, self)

    @classmethod
    def of(
        cls,
        judgments: Judgments,
        measures: list[BoundMeasure],
        options: Options,
        file: FileState | None = None,
    ) -> Plan:
        """The plan for those queries of judgments that the options do not leave out.

        Raises EvaluationError for a query without a relevant document if that is an error.
        """
        chosen: Judgments = judgments
        skipped: Sequence[bytes] = ()
        if not options.keeps_queries:
            # Imported late: few plans skip queries.
            from fastrank.core.matching.queries import choose_queries

            # Wrong options are named before judgments, as in all functions.
            check_options(measures, options)
            chosen, skipped = choose_queries(judgments, options)
        plan = cls(chosen, measures, options, skipped=skipped, file=file)
        plan.__dict__["all_judgments"] = judgments
        return plan

    def __reduce__(self) -> tuple[object, ...]:
        return plan_again, (self.all_judgments, *self.settings())

    def settings(self) -> tuple[Any, ...]:
        """The arguments of `plan_again` beside judgments."""
        # The trec_eval command does without the module.
        from fastrank.core.measures.custom import functions_of

        functions = functions_of(self.measures)
        return functions, self.measures, self.options, self.file

    def changed(self, **fields: object) -> Plan:
        """A plan with other judgments, measures or options, and with memory of its own."""
        parts = {"judgments": self.judgments, "measures": self.measures, "options": self.options}
        return Plan(**(parts | fields), skipped=self.skipped, query_order=self.query_order)

    def known(self, function: Callable[[Plan], Fact]) -> Fact:
        """The result of a function of the plan, which is called once."""
        try:
            fact: Fact = self._known[function]
        except KeyError:
            fact = self._known[function] = function(self)
        return fact

    @once
    def all_judgments(self) -> Judgments:
        """The judgments of all queries."""
        judgments: Judgments = self.judgments
        return judgments

    @property
    def texts(self) -> Plan:
        """The plan with texts as ids of documents."""
        # A plan that kept itself would be a cycle, and its memory would stay until a garbage
        # collection.
        is_this = isinstance(self.judgments, (Qrels, Preferences))
        return self if is_this else self.known(_with_texts)

    @once
    def judging(self) -> Options:
        """How to judge rankings: relevance_level is the code of the grade.

        list_unjudged: whether documents that are not judged, or below grade 0, are listed too.
        """
        options = self.options
        level = lowest_code(self.judgments, options.relevance_level)
        list_unjudged = level < 0 or self.requires.sees_unjudged
        if level == options.relevance_level and not list_unjudged:
            return options
        return options.changed(relevance_level=level, list_unjudged=list_unjudged)

    @once
    def memory(self) -> FreeList:
        """Memory that serves again for the next run."""
        return FreeList()

    @once
    def order(self) -> Int64Array:
        """int64[m], the places of the queries to evaluate, in byte order of their ids."""
        queries, only = self.judgments.queries, self.options.query
        order = text_order(queries)
        return order if only is None else filled("q", [i for i in order if queries[i] == only])

    @once
    def no_relevant(self) -> int:
        """How many judged queries have no relevant document."""
        judgments = self.judgments
        if isinstance(judgments, Preferences):
            return 0
        relevant = queries_with_relevant(judgments, self.judging.relevance_level)
        return len(judgments.offset_column) - 1 - len(relevant)


def plan_again(
    judgments: Judgments,
    functions: dict[int, Function],
    measures: list[BoundMeasure],
    *settings: Any,
) -> Plan:
    """A plan that was pickled, or one like it for other judgments."""
    from fastrank.core.measures.custom import with_functions

    return Plan.of(judgments, with_functions(measures, functions), *settings)


def _with_texts(plan: Plan) -> Plan:
    return plan.changed(judgments=plan.judgments.as_texts())


def _sees_unjudged(bound: BoundMeasure) -> bool:
    """Whether a measure gives a gain to unjudged documents, or counts them as relevant."""
    level = 0 if bound.options is None else bound.options.get("rel", 0)
    return level <= -1 or any(grade == -1 for grade, _ in bound.pairs)


def _check_column(bound: BoundMeasure, plan: Plan) -> None:
    """Raise MeasureError for a measure of strata or subtopics that the judgments do not have."""
    column, name = bound.measure.needs, bound.names[0].decode()
    if not _has_column(plan.judgments, column):
        raise MeasureError(bound.measure.name, f"'{name}' needs {BY_COLUMN[column]}")
    if column == "strata" and plan.options.judged_only:
        reason = "estimates what was not judged, and does not support judged_only"
        raise MeasureError(bound.measure.name, f"'{name}' {reason}")


def _has_column(judgments: Judgments, column: str) -> bool:
    if not isinstance(judgments, Qrels):
        return False
    if column == "strata":
        return judgments.strata is not None
    # The trec_eval command does without the module.
    from fastrank.core.matching.column_judgments import has_subtopics

    return has_subtopics(judgments)
