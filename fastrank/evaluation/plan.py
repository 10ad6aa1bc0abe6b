"""What has to be judged for a set of measures: judged once, shared by all of them."""

from __future__ import annotations

from fastrank.data.grade_scale import Graded, lowest_code, whose
from fastrank.data.grouping import split_groups
from fastrank.data.preferences import Preferences
from fastrank.data.qrels import Qrels
from fastrank.data.texts import decoded
from fastrank.errors import EvaluationError
from fastrank.judging.judged import Judged, StoppedError
from fastrank.judging.memory import judge, judge_groups
from fastrank.judging.options import Options as Options
from fastrank.judging.options import (
    check_options,
    judging_options,
    needs_run,
)
from fastrank.judging.preferences import count_preferences
from fastrank.judging.queries import Matched
from fastrank.native import kernels, records
from fastrank.native.buffers import filled, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.run import Run
    from fastrank.data.texts import Ids
    from fastrank.judging.ties import Tied
    from fastrank.measures.selection import BoundMeasure
    from fastrank.native.record import Record

    Judgments = Qrels | Preferences | Graded

# With gains that are not whole numbers trec_eval's table of all grades up to the highest is
# needed (see kernels/measures/gains.py), and looked through for every document; this is the highest
# grade for which we make one. The original's time grows with the square of it.
LARGEST_DENSE_GRADE = 2**20


class Plan:
    """What has to be judged for the measures, judged once and shared by them."""

    def __init__(self, judgments: Judgments, bound: list[BoundMeasure], options: Options) -> None:
        check_options(bound, options)
        self.judgments, self.bound, self.options = judgments, bound, options
        self.judged: Judged | None = None
        self._annotated: Judged | None = None
        self._tied: Tied | None = None
        self._groups: Any = None
        self._group_offsets: Any = None
        self._preferences: records.PreferenceCounts | None = None
        self._gained: dict[Any, records.GainedRankings] = {}
        self._variants: dict[Any, Judged] = {}
        # Places of queries that have a placeholder for a ranking.
        self.unretrieved: list[int] = []
        self._others: Plan | None = None

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
        judging = judging_options(self.bound, self.options, self.judgments)
        if isinstance(self.judgments, Preferences):
            self._preferences = count_preferences(self.judgments, run, matched, judging)
        elif self.options.relevance_format == "qrels_jg":
            split, offsets = split_groups(self.judgments)
            self._groups, self._group_offsets = judge_groups(split, offsets, run, matched, judging)
        elif self.options.ties in ("best", "worst", "average"):
            from fastrank.judging.ties import judge_ties

            self._tied = judge_ties(self.judgments, run, matched, judging)
            self.judged = self._tied.judged
        else:
            self.judged = judge(self.judgments, run, matched, judging)
            if needs_run(self.bound):
                from fastrank.judging.known_documents import judge_annotated

                self._annotated = judge_annotated(self.judgments, run, matched, judging)

    def values(self, own: BoundMeasure, queries: int) -> Any:
        """The values of a measure, queries * width of them; a list of texts for relstring.

        Raises EvaluationError, and StoppedError where a function of the user's fails.
        """
        values = self._computed(own, queries)
        if own.options is not None and own.measure.average == "mean":
            for place in self.unretrieved:
                for j in range(own.width):
                    values[place * own.width + j] = 0.0
        return values

    def _computed(self, own: BoundMeasure, queries: int) -> Any:
        measure = own.measure
        if not measure.kernel:
            return None
        if measure.on == "own":
            return self._own_values(own)
        if self._tied is not None and self.options.ties == "average":
            return self._expected(own, self._tied, queries)
        kernel = getattr(kernels, measure.kernel)
        numbers = filled("d", own.numbers)
        if measure.name == "relstring":
            return self._relevance_strings(own, queries)
        values = zeros("d", queries * own.width)
        if measure.on == "preferences":
            kernel(self._preferences, numbers, values)
        elif measure.on == "groups":
            by_group = zeros("d", len(self._groups) * own.width)
            kernel(self._groups.columns, numbers, by_group)
            kernels.average_groups(by_group, own.width, self._group_offsets, values)
        elif measure.on == "ranking":
            kernel(self.judged_for(own).columns, numbers, values)
        elif measure.on == "annotated":
            assert self._annotated is not None
            kernel(self._annotated.columns, numbers, values)
        else:
            kernel(self.gains(own), numbers, values)
        return values

    def _own_values(self, own: BoundMeasure) -> Any:
        from fastrank.evaluation.custom_values import own_values
        from fastrank.measures.custom import OwnMeasure

        assert isinstance(own.measure, OwnMeasure)
        assert own.options is not None
        scale = None if isinstance(self.judgments, Preferences) else self.judgments.scale
        level = own.options.get("rel", self.options.relevance_level)
        return own_values(own.measure, self.judged_for(own), scale, level)

    def _expected(self, own: BoundMeasure, tied: Tied, queries: int) -> Any:
        """The expected values of a measure over the orders of tied documents."""
        from fastrank.measures.ties import EXPECTED

        name = EXPECTED[own.measure.kernel]
        plain = name == own.measure.kernel
        columns: Record
        if own.measure.on == "ranking":
            judged = self.judged_for(own)
            columns = judged.columns if plain else tied.columns(judged)
        else:
            columns = self.gains(own) if plain else tied.gained(self.gains(own))
        values = zeros("d", queries * own.width)
        getattr(kernels, name)(columns, filled("d", own.numbers), values)
        return values

    def judged_for(self, own: BoundMeasure) -> Judged:
        """The rankings as judged for a measure: by its own level, of judged documents only."""
        assert self.judged is not None
        if own.options is None:
            return self.judged
        level, judged_only = own.options.get("rel"), own.options.get("judged_only", False)
        if level is None and not judged_only and not self.unretrieved:
            return self.judged
        if level is not None:
            level = lowest_code(self.judgments, level)
        key = level, judged_only
        if key not in self._variants:
            from fastrank.judging.rejudge import rejudge

            self._variants[key] = rejudge(
                self.judged, level=level, judged_only=judged_only, unretrieved=self.unretrieved
            )
        return self._variants[key]

    def with_missing(self, own: BoundMeasure, values: Any, queries: Ids) -> Any:
        """The values of the evaluated queries, and after them those of all other judged ones."""
        if self._others is None:
            from fastrank.judging.rejudge import judge_nothing

            assert not isinstance(self.judgments, Preferences)
            evaluated = set(queries)
            everyone = enumerate(self.judgments.queries)
            places = [place for place, query in everyone if query not in evaluated]
            judging = judging_options(self.bound, self.options, self.judgments)
            self._others = Plan(self.judgments, self.bound, self.options)
            try:
                self._others.judged = judge_nothing(self.judgments, filled("q", places), judging)
            except StoppedError as stop:
                query = self.judgments.queries[places[stop.place]]
                raise stop.error(own.measure.name, query) from None
        others = self._others.judged
        assert others is not None
        if not len(others):
            return values
        return filled("d", [*values, *self._others.values(own, len(others))])

    def _relevance_strings(self, own: BoundMeasure, queries: int) -> list[bytes]:
        assert self.judged is not None
        assert not isinstance(self.judgments, Preferences)
        if self.judgments.scale is not None:
            row, grade = self.judgments.scale.first_fraction(self.judgments.grade_column)
            query, document = whose(self.judgments, row)
            reason = f"'{own.measure.name}' shows each grade as a digit, which is not possible for"
            where = f"{grade!r}, that of document {document} of query '{decoded(query)}'"
            raise EvaluationError(own.measure.name, query, f"{reason} {where}")
        num_ret = self.judged.columns.num_ret
        wanted = own.numbers[0]
        length = int(min(wanted, max(num_ret))) if wanted >= 0 else 0
        codes = zeros("B", queries * length)
        kernels.relevance_string(self.judged.columns, filled("d", []), codes)
        return [
            bytes(codes[i * length : i * length + min(length, num_ret[i])]) for i in range(queries)
        ]

    def gains(self, own: BoundMeasure) -> records.GainedRankings:
        """The rankings with the gains that a measure gives to grades."""
        judged = self.judged_for(own)
        rescale = own.measure.on == "unit gains"
        assert not isinstance(self.judgments, Preferences)
        if self.judgments.scale is not None:
            from fastrank.evaluation.gains import scaled_gains

            return scaled_gains(own, judged, self.judgments, rescale=rescale)
        if own.options is not None and own.measure.on in ("gains", "stops"):
            from fastrank.evaluation.gains import exact_gains

            pairs = exact_gains(own, judged.columns.grade_values, self.judgments)
        else:
            pairs = [(int(grade), gain) for grade, gain in own.pairs]
        key = (tuple(pairs), rescale, id(judged))
        if key not in self._gained:
            self._gained[key] = self._assign_gains(own, judged, pairs, rescale)
        return self._gained[key]

    def _assign_gains(
        self, own: BoundMeasure, judged: Judged, pairs: list[tuple[int, float]], rescale: bool
    ) -> records.GainedRankings:
        rankings = judged.columns
        # Grades that no document has also take part where trec_eval looks for the largest gain.
        dense = own.options is None and any(
            rescale or gain != gain or gain % 1 for _, gain in pairs
        )
        room = kernels.widest(rankings.grade_offsets)
        if dense:
            room = max(rankings.grade_values, default=0) + 1
            if room > LARGEST_DENSE_GRADE:
                raise EvaluationError(
                    own.measure.name,
                    self.judgments.queries[0],
                    f"grade {room - 1} is too large for gains that are not whole numbers",
                )
        room += len(pairs)
        listed, distinct = rankings.offsets[len(judged)], rankings.grade_offsets[len(judged)]
        gained = records.GainedRankings(
            offsets=rankings.offsets,
            ranks=rankings.ranks,
            gains=zeros("d", listed),
            ideal_offsets=zeros("q", len(judged) + 1),
            ideal_gains=zeros("d", distinct),
            ideal_counts=zeros("q", distinct),
            num_ret=rankings.num_ret,
            num_rel=rankings.num_rel,
        )
        named = records.GradeGains(
            grades=filled("q", [grade for grade, _ in pairs]),
            gains=filled("d", [gain for _, gain in pairs]),
        )
        table = records.GainTable(
            grades=zeros("q", room),
            gains=zeros("d", room),
            counts=zeros("q", room),
            order=zeros("q", room),
            merge=zeros("q", room),
        )
        kernels.assign_gains(rankings, named, dense, rescale, table, gained)
        return gained
