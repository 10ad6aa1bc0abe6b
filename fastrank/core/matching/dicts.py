"""Judgments and runs that are dicts, as they are: no loop over documents, no copy of their ids."""

from __future__ import annotations

from _weakref import ref
from array import array
from collections.abc import Mapping
from itertools import accumulate, chain, pairwise, repeat

from fastrank.core.data.texts import as_texts, decoded, encoded
from fastrank.core.formats.qrels import Graded
from fastrank.core.formats.run import Run
from fastrank.core.matching.judged import Judged, JudgedRun
from fastrank.core.matching.queries import PLACEHOLDER
from fastrank.core.matching.texts import match_texts
from fastrank.core.native import codes, kernels, records
from fastrank.core.native.buffers import columns, zeros
from fastrank.core.native.objects import addresses, api_with_numpy, are_small
from fastrank.core.native.records.objects import DictRun, DictScratch, IndexedQrels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from fastrank.core.data.texts import Texts
    from fastrank.core.formats.qrels import Qrels
    from fastrank.core.matching.options import Options
    from fastrank.core.matching.plan import Plan
    from fastrank.core.native.records.objects import PythonApi

# Integers from which on memory is mapped: 8 MB. For smaller sizes, reusing freed memory is
# faster than mapping new pages.
LARGE = 1 << 20


class DictJudgments(Graded):
    """Judgments {query: {document: grade}} of str and int, indexed; made by `index_judgments`.

    columns: what kernels see of them. The ids of the documents, which `held` keeps alive, must not
    go. most_judged: the largest number of judgments of a query. A pickle holds only the dicts.
    """

    dicts: dict[str, dict[str, int]]
    api: PythonApi
    held: list[Any]
    columns: IndexedQrels
    most_judged: int

    @property
    def largest_grade(self) -> int:
        """The largest grade; 0 where none is."""
        return max(self.columns.grade_values[: self.columns.grade_offsets[-1]], default=0)

    def select(self, picks: Iterable[int]) -> DictJudgments:
        """The judgments of the queries with these indexes."""
        queries = list(self.dicts)
        chosen = index_judgments({queries[i]: self.dicts[queries[i]] for i in picks})
        assert chosen is not None
        return chosen

    def as_texts(self) -> Qrels:
        """The judgments with texts as ids of documents."""
        from fastrank.core.formats.tables.to_qrels import qrels_from_dict

        return qrels_from_dict(self.dicts, source="qrels")

    def __reduce__(self) -> tuple[object, ...]:
        return index_judgments, (self.dicts,)


def _indexed(
    queries: Texts, dicts: dict[str, dict[str, int]], held: list[str] | None = None
) -> DictJudgments | None:
    """Index dicts, whose keys are str and whose values are int; None for others.

    held: all keys, where the dicts may change later; None is returned if they have changed.
    """
    api, rows = api_with_numpy(), list(dicts.values())
    if api is None or not set(map(type, rows)) <= {dict}:
        return None
    lengths = list(map(len, rows))
    count = sum(lengths)
    if held is not None and len(held) != count:
        return None
    # For each judgment there are four words of its text and at most four places in a table.
    size = 10 * count + len(rows)
    memory = zeros("q", size) if size >= LARGE else memoryview(bytearray(8 * size))
    memory = memory.cast("B").cast("q")
    columns = IndexedQrels(
        offsets=array("q", accumulate(lengths, initial=0)),
        docs=memory[:count],
        texts=memory[4 * count : 8 * count],
        grades=memory[count : 2 * count],
        table_offsets=zeros("q", len(rows) + 1),
        tables=memory[8 * count :].cast("B").cast("i"),
        grade_offsets=zeros("q", len(rows) + 1),
        grade_values=memory[2 * count : 3 * count],
        grade_counts=memory[3 * count : 4 * count],
    )
    keys = 0 if held is None else id(held)
    if kernels.index_dicts(api, addresses(rows), keys, columns) < len(rows):
        return None
    return DictJudgments(
        queries=queries,
        offset_column=columns.offsets,
        grade_column=columns.grades,
        dicts=dicts,
        api=api,
        held=rows if held is None else held,
        columns=columns,
        most_judged=max(lengths, default=0),
    )


def index_judgments(judgments: Mapping[Any, Any], *, copied: bool = True) -> DictJudgments | None:
    """Index judgments {query: {document: grade}}; None unless all are dicts of str and int.

    copied: the dicts may change later. Without it, what they hold must stay the same as long as
    runs are judged, which takes half of the time.
    """
    if not (set(map(type, judgments)) <= {str} and set(map(type, judgments.values())) <= {dict}):
        return None
    dicts, indexed = dict(judgments), None
    if not all(dicts.values()):
        dicts = {query: documents for query, documents in dicts.items() if documents}
    try:
        queries = as_texts(list(map(str.encode, dicts)))
    except UnicodeEncodeError:
        return None
    if not copied:
        indexed = _indexed(queries, dicts, list(chain.from_iterable(dicts.values())))
    if indexed is None:
        dicts = {query: dict(documents) for query, documents in dicts.items()}
        indexed = _indexed(queries, dicts)
    return indexed


def _room(
    index: DictJudgments, options: Options, count: int, deepest: int
) -> tuple[DictRun, Judged, tuple[object, ...]]:
    """Memory for `count` rankings of at most `deepest` documents, and for what judging makes of it.

    With the arguments of the kernel.
    """
    judged = len(index.grade_column)
    listed = min(judged, count * min(deepest, index.most_judged))
    grades = min(judged, count * index.most_judged)
    memory = columns(
        "q",
        count + 1,
        listed,
        listed,
        count + 1,
        grades,
        grades,
        *[count] * 3,
        count + 1,
        listed,
        listed,
        *[count] * 3,
        1,
        *[deepest] * 5,
        codes.SORT_COLUMNS * deepest + codes.SORT_BYTES,
    )
    level, size = int(options.relevance_level), options.collection_size
    rankings, ties = records.Rankings(*memory[:9], level, size), records.Ties(*memory[9:12])
    run = DictRun(*memory[12:16])
    docs, texts, lengths, ranks, rows, work = memory[16:]
    scratch = DictScratch(
        docs, texts, lengths, zeros("d", deepest), records.Hits(ranks, rows), work
    )
    into = records.RankingsAndTies(rankings, ties)
    arguments = index.api, run, index.columns, options.codes(), scratch, into
    return run, Judged(columns=rankings, ties=ties), arguments


def _fill(
    run: DictRun, dicts: list[dict[str, object]], lengths: list[int], queries: list[int]
) -> None:
    """Point to dicts. lengths: their numbers of documents. queries: theirs in the judgments."""
    run.dicts[:], run.lengths[:] = addresses(dicts), array("q", lengths)
    run.queries[:] = array("q", queries)
    run.check_keys[0] = not are_small(dicts, lengths)


class DictBatch:
    """Memory for `count` rankings of about `deepest` documents, which serves for several runs.

    run, judged: where they are, and what the kernel makes of them, whose arguments are beside.
    prepared: for the caller, what computes values of the rankings that are in the memory; it must
    not refer to the batch.
    """

    def __init__(self, index: DictJudgments, options: Options, count: int, deepest: int) -> None:
        # Some of the next rankings may be deeper.
        self.count, self.deepest = count, 1 << deepest.bit_length()
        self.prepared: Any = None
        # The run whose rankings are in this memory, while it exists.
        self._user: Callable[[], object] = _nobody
        self.run, self.judged, self.arguments = _room(index, options, count, self.deepest)
        self._call = kernels.prepare("judge_dicts", *self.arguments)

    def serves(self, count: int, deepest: int) -> bool:
        """Whether the memory has room for these rankings and nobody uses those that it has."""
        return count == self.count and deepest <= self.deepest and self._user() is None

    def lend(self, run: JudgedRun) -> JudgedRun:
        """A run with the rankings of this memory, which no other run gets while it exists."""
        self._user = ref(run)
        return run

    def judge(self, dicts: list[dict[str, object]], lengths: list[int], queries: list[int]) -> bool:
        """Judge as many rankings as there is room for; False as for `judge_dicts`."""
        _fill(self.run, dicts, lengths, queries)
        return bool(self._call() == self.count)


def _nobody() -> None:
    """In the place of a reference to what uses memory."""


def match_dicts(plan: Plan, run: Run | Mapping[Any, Any]) -> JudgedRun:
    """Judge a run {query: {document: score}}, the queries in the byte order of their ids.

    It is judged as it is where ranks and grades suffice, else as texts. A query that cannot be
    judged is returned as `failure`. A query with an empty dict has a ranking without documents.
    Raises InputError and TypeError.
    """
    if isinstance(run, Run):
        return match_texts(plan.texts, run)
    as_it_is = plan.streams and not plan.judging.list_unjudged
    judged = _judged_run_of_dicts(plan, run) if as_it_is and are_texts(run) else None
    if judged is not None:
        return judged
    from fastrank.core.formats.inputs import refuse_mixed
    from fastrank.core.formats.tables.to_run import run_from_dict

    refuse_mixed(run)
    return match_texts(plan.texts, run_from_dict(run, source="run", rank_by=plan.options.rank_by))


def _judged_run_of_dicts(plan: Plan, run: Mapping[str, Any]) -> JudgedRun | None:
    """Judge a run of dicts; None for one that has to be judged as texts."""
    # The conversion refuses anything but a dict of dicts, whether it is judged or not.
    kinds = set(map(type, run.values()))
    if not (kinds <= {dict} or all(issubclass(kind, Mapping) for kind in kinds)):
        return None
    numbers = plan.known(query_numbers)
    rankings: dict[int | None, object] = dict(zip(map(numbers.get, run), run.values(), strict=True))
    unjudged_queries: list[bytes] = []
    if None in rankings:
        del rankings[None]
        unknown = [query for query in run if query not in numbers]
        # A look at each of them would take half as long as judging does.
        if hasattr(next(iter(run[unknown[-1]].values()), None), "items"):
            return None
        try:
            unjudged_queries = list(map(encoded, unknown))
        except UnicodeEncodeError:
            return None
    missing = len(numbers) - len(rankings)
    placeholders: list[int] = []
    if missing and plan.options.evaluates_missing:
        placeholders = [n for n in range(len(numbers)) if n not in rankings]
        rankings.update(zip(placeholders, repeat({decoded(PLACEHOLDER): 1.0})))
    positions: list[Any] = sorted(rankings)
    queries = list(map(plan.order.__getitem__, positions))
    judged, batch = judge_dicts(plan, list(map(rankings.__getitem__, positions)), queries)
    if judged is None:
        return None
    judged_run = JudgedRun(
        queries=queries,
        judged=judged,
        missing=missing,
        placeholders=placeholders,
        tag=b"",
        unjudged_queries=unjudged_queries,
    )
    return judged_run if batch is None else batch.lend(judged_run)


def query_numbers(plan: Plan) -> dict[str, int]:
    """The position of each judged query in the order of the ids."""
    if isinstance(plan.judgments, DictJudgments):
        names = list(plan.judgments.dicts)
    else:
        names = list(map(decoded, plan.judgments.queries))
    return dict(zip(map(names.__getitem__, plan.order), range(len(names))))  # noqa: B905


def index_of(plan: Plan) -> DictJudgments | None:
    """Qrels, indexed; None where a document is twice in a query, or that cannot be done."""
    qrels = plan.judgments
    ids = list(map(decoded, qrels.docs.take(range(len(qrels.docs)))))
    grades = qrels.grade_column.tolist()
    rows = [
        dict(zip(ids[first:stop], grades[first:stop], strict=True))
        for first, stop in pairwise(qrels.offset_column)
    ]
    if sum(map(len, rows)) < len(ids):
        return None
    return _indexed(qrels.queries, dict(zip(map(decoded, qrels.queries), rows, strict=True)))


def judge_dicts(
    plan: Plan, rankings: list[object], queries: list[int]
) -> tuple[Judged | None, DictBatch | None]:
    """Judge the rankings of the queries with these indexes, and what has the memory of the result.

    The latter only where it is reused once nothing refers to it. Nothing is judged if a ranking has
    ids that are not str or not UTF-8, or scores that are not numbers.
    """
    judgments = plan.judgments
    index = judgments if isinstance(judgments, DictJudgments) else plan.known(index_of)
    if index is None:
        return None, None
    # Memory is prepared for more runs when there is a second one.
    count, serves_again = len(rankings), len(rankings) == plan.last_count
    plan.last_count = count
    dicts: list[Any] | None = rankings if set(map(type, rankings)) <= {dict} else _plain(rankings)
    while dicts is not None:
        lengths = list(map(len, dicts))
        deepest = max(lengths, default=0)
        batch = _batch(plan, index, count, deepest, make=serves_again)
        if batch is None:
            run, judged, arguments = _room(index, plan.judging, count, deepest)
            _fill(run, dicts, lengths, queries)
            if kernels.judge_dicts(*arguments) == count:
                return judged, None
        elif batch.judge(dicts, lengths, queries):
            return batch.judged, batch
        # Numbers of other types become floats, once.
        dicts = _plain(dicts) if dicts is rankings else None
    return None, None


def _batch(
    plan: Plan, index: DictJudgments, count: int, deepest: int, *, make: bool
) -> DictBatch | None:
    """Memory of an earlier run for so many rankings, if it is free, or new memory like it."""
    if not (make or plan.reuses_dict_memory):
        return None
    batch: DictBatch | None = plan.memory.take(
        lambda memory: type(memory) is DictBatch and memory.serves(count, deepest)
    )
    if batch is None and make:
        batch = DictBatch(index, plan.judging, count, deepest)
    if batch is not None:
        plan.reuses_dict_memory = True
        plan.memory.keep(batch)
    return batch


def are_texts(ids: Iterable[object]) -> bool:
    """Whether all ids are of type str or of a kind of it."""
    kinds = set(map(type, ids))
    return kinds <= {str} or all(issubclass(kind, str) for kind in kinds)


def _plain(run: list[Any]) -> list[dict[Any, float]] | None:
    """Rankings as dicts of floats, whatever kind of mapping and number they were; None if one has
    a score that is not a number."""
    copies = []
    for documents in run:
        # Listed first: the code that makes floats of numbers may change the dicts.
        ids, scores = list(documents), list(documents.values())
        if any(map(_is_no_number, set(map(type, scores)))):
            return None
        try:
            copies.append(dict(zip(ids, map(float, scores))))  # noqa: B905
        except (OverflowError, TypeError, ValueError):
            return None
    return copies


def _is_no_number(kind: type) -> bool:
    return issubclass(kind, (str, bytes)) or not hasattr(kind, "__float__")
