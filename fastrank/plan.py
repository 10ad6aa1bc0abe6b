"""What has to be judged for a set of measures: judged once, shared by all of them."""

from __future__ import annotations

from fastrank.columns import Frozen, Graded, Preferences
from fastrank.errors import EvaluationError
from fastrank.judge import Judged, JudgingOptions, Matched, count_preferences, judge, judge_groups
from fastrank.levels import DEFAULT_COMPAT
from fastrank.native import kernels
from fastrank.native.buffers import filled, zeros
from fastrank.trec import split_groups

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.columns import Qrels, Run
    from fastrank.selection import BoundMeasure

    Judgments = Qrels | Preferences | Graded

# With gains that are not whole numbers trec_eval's table of all grades up to the highest is
# needed (see kernels/gains.py), and looked through for every document; this is the highest grade
# for which we make one. The original's time grows with the square of it.
LARGEST_DENSE_GRADE = 2**20


class Options(Frozen):
    """How to evaluate; see `evaluate` for the meaning. `relevance_format`: -R of trec_eval."""

    __slots__ = (
        "collection_size", "compat", "complete", "judged_only", "max_retrieved", "query",
        "relevance_format", "relevance_level",
    )  # fmt: skip

    compat: str
    relevance_format: str
    relevance_level: int
    complete: bool
    judged_only: bool
    max_retrieved: int
    collection_size: int
    query: bytes | None


def judging_options(bound: list[BoundMeasure], options: Options) -> JudgingOptions:
    """How to judge rankings for these measures."""
    return JudgingOptions(
        relevance_level=options.relevance_level,
        max_retrieved=options.max_retrieved,
        judged_only=options.judged_only,
        list_unjudged=options.relevance_level < 0
        or any(grade == -1 for own in bound for grade, _ in own.pairs),
        single_precision=options.compat == DEFAULT_COMPAT,
        collection_size=options.collection_size,
    )


class Plan:
    """What has to be judged for the measures, judged once and shared by them."""

    def __init__(self, judgments: Judgments, bound: list[BoundMeasure], options: Options) -> None:
        self.judgments, self.bound, self.options = judgments, bound, options
        self.judged: Judged | None = None
        self._groups: Any = None
        self._group_offsets: Any = None
        self._preferences: tuple[Any, ...] = ()
        self._gained: dict[Any, tuple[Any, ...]] = {}

    def fits(self, own: BoundMeasure) -> bool:
        """Whether a measure is one for the format of the judgments."""
        needed = {"groups": "qrels_jg", "preferences": "prefs"}.get(own.measure.on, "qrels")
        return own.measure.on in ("run", "queries") or needed == self.options.relevance_format

    def first_place(self) -> int:
        """The place of the first measure that needs the judged rankings."""
        places = range(len(self.bound))
        return next(
            (
                place
                for place in places
                if self.bound[place].measure.kernel and self.fits(self.bound[place])
            ),
            len(self.bound),
        )

    def first_to_fail(self) -> str:
        """The measure that trec_eval would name when a ranking cannot be judged."""
        return self.bound[self.first_place()].measure.name

    def hopeless(self) -> tuple[int, str] | None:
        """The first measure that fails whatever the query is, and why."""
        for place, own in enumerate(self.bound):
            if not self.fits(own):
                on = {"groups": "qrels_jg", "preferences": "(prefs or qrels_prefs)"}
                return place, (
                    f"rel_info format not {on.get(own.measure.on, 'qrels')}:"
                    f" '{own.measure.name}' cannot be computed from -R"
                    f" {self.options.relevance_format}"
                )
            if own.measure.takes == "weights" and len(own.numbers) != 4:
                return place, (
                    f"improper number of coefficients: '{own.measure.name}' takes 4,"
                    f" found {len(own.numbers)}"
                )
        return None

    @property
    def needs_judging(self) -> bool:
        """Whether any measure needs the judged rankings."""
        return self.first_place() < len(self.bound)

    def judge(self, run: Run, matched: Matched) -> None:
        """Judge the rankings, if any measure needs that. Raises StoppedError."""
        if not self.needs_judging:
            return
        assert not isinstance(self.judgments, Graded)
        judging = judging_options(self.bound, self.options)
        if isinstance(self.judgments, Preferences):
            self._preferences = count_preferences(self.judgments, run, matched, judging)
        elif self.options.relevance_format == "qrels_jg":
            split, offsets = split_groups(self.judgments)
            self._groups, self._group_offsets = judge_groups(split, offsets, run, matched, judging)
        else:
            self.judged = judge(self.judgments, run, matched, judging)

    def values(self, own: BoundMeasure, queries: int) -> Any:
        """The values of a measure, queries * width of them; a list of texts for relstring."""
        measure = own.measure
        if not measure.kernel:
            return None
        kernel = getattr(kernels, measure.kernel)
        numbers = filled("d", own.numbers)
        if measure.name == "relstring":
            return self._relevance_strings(own, queries)
        values = zeros("d", queries * own.width)
        if measure.on == "preferences":
            kernel(*self._preferences, numbers, values)
        elif measure.on == "groups":
            by_group = zeros("d", len(self._groups) * own.width)
            kernel(*self._groups.columns, numbers, by_group)
            kernels.average_groups(by_group, own.width, self._group_offsets, values)
        elif measure.on == "ranking":
            assert self.judged is not None
            kernel(*self.judged.columns, numbers, values)
        else:
            kernel(*self.gains(own), numbers, values)
        return values

    def _relevance_strings(self, own: BoundMeasure, queries: int) -> list[bytes]:
        assert self.judged is not None
        _, _, _, _, _, _, num_ret, *_ = self.judged.columns
        wanted = own.numbers[0]
        length = int(min(wanted, max(num_ret))) if wanted >= 0 else 0
        codes = zeros("B", queries * length)
        kernels.relevance_string(*self.judged.columns, filled("d", []), codes)
        return [
            bytes(codes[i * length : i * length + min(length, num_ret[i])]) for i in range(queries)
        ]

    def gains(self, own: BoundMeasure) -> tuple[Any, ...]:
        """The columns of the record `Gained` for the gains that a measure gives to grades."""
        rescale = own.measure.on == "unit gains"
        key = (tuple(own.pairs), rescale)
        if key not in self._gained:
            self._gained[key] = self._assign_gains(own, rescale)
        return self._gained[key]

    def _assign_gains(self, own: BoundMeasure, rescale: bool) -> tuple[Any, ...]:
        assert self.judged is not None
        offsets, ranks, grades, grade_offsets, grade_values, grade_counts, num_ret, num_rel, *_ = (
            self.judged.columns
        )
        # Grades that no document has also take part where the largest gain is looked for.
        dense = any(rescale or gain != gain or gain % 1 for _, gain in own.pairs)
        room = kernels.widest(grade_offsets)
        if dense:
            room = max(grade_values, default=0) + 1
            if room > LARGEST_DENSE_GRADE:
                raise EvaluationError(
                    own.measure.name,
                    self.judgments.queries[0],
                    f"grade {room - 1} is too large for gains that are not whole numbers",
                )
        room += len(own.pairs)
        listed, distinct = offsets[len(offsets) - 1], grade_offsets[len(grade_offsets) - 1]
        gains, ideal_offsets = zeros("d", listed), zeros("q", len(offsets))
        ideal_gains, ideal_counts = zeros("d", distinct), zeros("q", distinct)
        kernels.assign_gains(
            offsets,
            grades,
            grade_offsets,
            grade_values,
            grade_counts,
            filled("q", [grade for grade, _ in own.pairs]),
            filled("d", [gain for _, gain in own.pairs]),
            dense,
            rescale,
            zeros("q", room),
            zeros("d", room),
            zeros("q", room),
            zeros("q", room),
            zeros("q", room),
            gains,
            ideal_offsets,
            ideal_gains,
            ideal_counts,
        )
        return offsets, ranks, gains, ideal_offsets, ideal_gains, ideal_counts, num_ret, num_rel
