"""Values of runs of one query, in memory that serves again: one compiled call for each run."""

from __future__ import annotations

from fastrank.core.evaluation.dict_evaluator import DictEvaluator
from fastrank.core.evaluation.values import Values
from fastrank.core.matching.dicts import DictBatch, DictJudgments
from fastrank.core.matching.judged import JudgedRun
from fastrank.core.native import kernels
from fastrank.core.native.buffers import FreeList, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fastrank.core.data.row_dicts import RowDicts
    from fastrank.core.matching.plan import Plan

    Arrange = Callable[[Values], RowDicts]

# Documents up to which a query is evaluated so: meanwhile no other thread runs.
MOST_DOCUMENTS = 1023
# Evaluators with the same measures whose memory is kept for others.
MOST_KEPT = 4


class OneQuery:
    """Memory for one ranking, and what judges it and makes a dict of its values in one call.

    deepest: how many documents there is room for. May be used by one thread at a time.
    """

    def __init__(self, plan: Plan, index: DictJudgments, documents: int, arrange: Arrange) -> None:
        batch = DictBatch(index, plan.judging, 1, documents)
        self.deepest, self._run = batch.deepest, batch.run
        # Looking at the types of all keys takes no time where they are few.
        self._run.check_keys[0] = 1
        run = JudgedRun(queries=[0], judged=batch.judged, missing=0, tag=b"")
        # A copy of the plan, whose memory could otherwise refer to this.
        values = Values(plan.changed(), run, repeats=True)
        self._rows, self._owner = arrange(values), zeros("q", 1)
        self._empty, columns = self._rows.prepare()
        fill = "fill_dicts", (index.api, self._owner, *columns)
        calls = [("judge_dicts", batch.arguments), *values.calls, fill]
        self._evaluate = kernels.prepare_all(calls, whole=1)

    def row(self, number: int, documents: dict[str, float]) -> dict[str, float] | None:
        """The values of a ranking {document: score} for the query with this index.

        None for one that the kernel cannot read, or that is not valid.
        """
        row = self._empty.copy()
        dicts, lengths, queries, _ = self._run
        dicts[0], lengths[0], queries[0] = id(documents), len(documents), number
        self._owner[0] = id(row)
        return row if self._evaluate() else None


class JudgedAnew(OneQuery):
    """The same for judgments of one query, which change: `judge_by` comes before `row`."""

    def __init__(self, plan: Plan, index: DictJudgments, arrange: Arrange) -> None:
        super().__init__(plan, index, index.most_judged - 1, arrange)
        self._index, self._judged = index, zeros("q", 1)
        self._unused = zeros("i", len(index.columns.tables))
        self._reindex = kernels.prepare("index_dicts", index.api, self._judged, 0, index.columns)

    def judge_by(self, judgments: dict[str, int], largest_grade: int) -> bool:
        """Index judgments {document: grade}, at most `deepest`, which must not change.

        Returns whether they are str and int, the latter up to a grade.
        """
        columns = self._index.columns
        columns.tables[:] = self._unused
        columns.offsets[1], self._judged[0] = len(judgments), id(judgments)
        return self._reindex() == 1 and self._index.largest_grade <= largest_grade


class Layout:
    """Measures and options, and memory that evaluators with these have left for the next ones.

    arrange: makes dicts of values. largest_grade: the largest one that is allowed. runs: how many
    were evaluated without memory that serves again.
    """

    def __init__(self, arrange: Arrange, largest_grade: int) -> None:
        self.arrange, self._largest_grade = arrange, largest_grade
        self.free, self.runs = FreeList(MOST_KEPT), 0

    def plan(self, judged: Mapping[str, Mapping[str, int]]) -> Plan:
        """The plan for judgments {query: {document: grade}}."""
        raise NotImplementedError

    def take(self, judgments: dict[str, int]) -> JudgedAnew | None:
        """Free memory, with these judgments, if there is some and they are as it takes."""
        memory: JudgedAnew | None = self.free.take(lambda memory: memory.deepest >= len(judgments))
        if memory is not None:
            self.free.keep(memory)
            if memory.judge_by(judgments, self._largest_grade):
                return memory
        return None

    def make(self, judgments: dict[str, int], documents: int) -> JudgedAnew | None:
        """Memory for these judgments and as many documents, which `take` finds later."""
        room = 1 << max(documents, len(judgments)).bit_length()
        plan = self.plan({"": dict.fromkeys(map(str, range(room)), 0)})
        self.free.keep(JudgedAnew(plan, plan.judgments, self.arrange))
        return self.take(judgments)


class OneByOne:
    """Evaluates runs of single queries; `general` evaluates any.

    What does not pay for one run is prepared for the second one: of the evaluator or, where it has
    judgments of one query, of the layout. May be used by several threads.
    """

    def __init__(self, layout: Layout, judged: Mapping[str, Mapping[str, int]]) -> None:
        self._layout, self._runs = layout, 0
        self._judgments: dict[str, int] | None = None
        # Methods of lists are atomic: a thread takes what it uses.
        self._free: list[OneQuery] = []
        if len(judged) == 1:
            [(query, judgments)] = judged.items()
            is_plain = type(query) is str and query.isascii() and type(judgments) is dict
            if is_plain and len(judgments) <= MOST_DOCUMENTS:
                self._judgments = dict(judgments)
                judged = {query: self._judgments}
                memory = layout.take(self._judgments)
                if memory is not None:
                    self._free.append(memory)
        self._judged = judged
        self._numbers = dict(zip(judged, range(len(judged))))  # noqa: B905
        # It raises errors for judgments that are not valid.
        self._general = None if self._free else self._make_general()

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "_free": []}

    def _make_general(self) -> DictEvaluator:
        return DictEvaluator(self._layout.plan(self._judged), self._judged, self._layout.arrange)

    @property
    def general(self) -> DictEvaluator:
        """An evaluator that takes any run."""
        if self._general is None:
            self._general = self._make_general()
        return self._general

    def row(self, query: str, documents: dict[str, float]) -> dict[str, float] | None:
        """The values of a ranking {document: score} of a query; None if `general` is needed."""
        number = self._numbers.get(query)
        if number is None or len(documents) > MOST_DOCUMENTS:
            return None
        try:
            memory: OneQuery | None = self._free.pop()
        except IndexError:
            memory = None
        if memory is None or len(documents) > memory.deepest:
            memory = self._prepare(len(documents))
            if memory is None:
                return None
        row = memory.row(number, documents)
        self._free.append(memory)
        return row

    def _prepare(self, documents: int) -> OneQuery | None:
        """Memory for so many documents, if it pays and the judgments are as it takes."""
        layout, plan = self._layout, self.general.plan
        if not isinstance(plan.judgments, DictJudgments):
            return None
        self._runs += 1
        if self._judgments is None:
            few = self._runs < 2
            return None if few else OneQuery(plan, plan.judgments, documents, layout.arrange)
        layout.runs += 1
        fit = sum(memory.deepest >= documents for memory in layout.free)
        if self._runs < 2 and (layout.runs < 2 or fit == MOST_KEPT):
            return None
        return layout.make(self._judgments, documents)
