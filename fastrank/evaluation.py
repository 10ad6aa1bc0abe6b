"""Measures over judged rankings: values per query, and their summary."""

from __future__ import annotations

from fastrank.columns import Graded, Preferences, Qrels, Run, Texts
from fastrank.errors import EvaluationError, NoQueriesError
from fastrank.judge import Matched, StoppedError, match
from fastrank.levels import DEFAULT_COMPAT, check_compat
from fastrank.native import kernels
from fastrank.native.buffers import filled, zeros
from fastrank.plan import Options, Plan, judging_options
from fastrank.scores import Scores
from fastrank.selection import Selection
from fastrank.stream import PLACEHOLDER, FileJudge, Streamed
from fastrank.trec import python_warning, read_run
from fastrank.zscores import to_zscores

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from fastrank.files import Source
    from fastrank.judge import Judged
    from fastrank.pieces import Pieces
    from fastrank.selection import BoundMeasure
    from fastrank.trec import Warn
    from fastrank.zscores import ZScores

    Judgments = Qrels | Preferences | Graded
    Measures = str | Iterable[str]

MAX_RETRIEVED = 2**31 - 1


def evaluate(
    qrels: Judgments,
    run: Run | Source | Sequence[Run | Source],
    measures: Measures = "official",
    *,
    relevance_level: int = 1,
    complete: bool = False,
    judged_only: bool = False,
    max_retrieved: int | None = None,
    collection_size: int = 0,
    compat: str = DEFAULT_COMPAT,
    threads: int | None = None,
) -> Scores | list[Scores]:
    """Evaluate a run against judgments, or several runs.

    run: a Run in memory, or a file as `read_run` takes it, which is then judged while it is read,
        without keeping it; of a list of them, each is evaluated: a list of Scores comes back.
    measures: names in trec_eval's notation (`map`, `P.5,10`, `ndcg.1=3,2=9`, `official`, ...), one
        string with blanks between them or several strings.
    relevance_level: the lowest grade that is relevant (trec_eval -l).
    complete: average over all judged queries, not only those in the run (-c).
    judged_only: drop documents without a grade >= 0 from the rankings (-J).
    max_retrieved: cut rankings after so many documents (-M).
    collection_size: number of documents in the collection, for `utility` (-N).
    compat: "9.0.8" or "10.0": whose numbers to compute, and how to read comments in a file.
    threads: how many may judge a file; by default as many as help. The values do not depend on it.

    Measures for plain judgments, for judgment groups and for preferences cannot be mixed in one
    call. Raises TypeError for other objects, MeasureError for unknown measures or impossible
    parameters, NoQueriesError when no query has both judgments and results, EvaluationError for
    a query that cannot be evaluated, such as one whose ranking holds a document twice, ReadError
    and FormatError for a file. Definitions: trec_eval.
    """
    runs: list[Any] = list(run) if isinstance(run, (list, tuple)) else [run]
    for one in runs:
        check_nouns(qrels, one)
    deepest = MAX_RETRIEVED if max_retrieved is None else _integer("max_retrieved", max_retrieved)
    if deepest < 0:
        raise ValueError(f"max_retrieved {max_retrieved}: expected 0 or more")
    if threads is not None and _integer("threads", threads) < 1:
        raise ValueError(f"threads {threads}: expected 1 or more")
    selection = Selection(measures.split() if isinstance(measures, str) else measures)
    bound = selection.bind(check_compat(compat))
    needed = {own.measure.on for own in bound}
    by_group = "groups" in needed and needed <= {"groups", "run", "queries"}
    relevance_format = "qrels_jg" if by_group else "qrels"
    if isinstance(qrels, Preferences):
        relevance_format = "prefs"
    options = Options(
        compat=compat,
        relevance_format=relevance_format,
        relevance_level=_integer("relevance_level", relevance_level),
        complete=complete,
        judged_only=judged_only,
        max_retrieved=deepest,
        collection_size=_integer("collection_size", collection_size),
        query=None,
    )
    reader = None
    scores = []
    for one in runs:
        if not isinstance(one, Run):
            reader = reader or RunReader(qrels, bound, options)
            one = reader.read(one, threads=threads)
        scores.append(evaluate_bound(qrels, one, bound, options))
    return scores if isinstance(run, (list, tuple)) else scores[0]


def check_nouns(judgments: object, run: object) -> None:
    """Raise TypeError, with a hint, unless these are judgments and a run or a file."""
    if not isinstance(judgments, (Qrels, Preferences)):
        found = type(judgments).__name__
        raise TypeError(f"qrels: expected Qrels or Preferences, found {found} (see read_qrels)")
    if not (isinstance(run, (Run, str)) or hasattr(run, "read") or hasattr(run, "__fspath__")):
        found = type(run).__name__
        raise TypeError(f"run: expected a Run or a file, found {found} (see read_run)")


def _integer(name: str, value: int) -> int:
    """A number that fits the kernels' 64-bit integers."""
    if not hasattr(value, "__index__"):
        raise TypeError(f"{name}: expected an integer, found {type(value).__name__}")
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{name} {value}: expected a 64-bit integer")
    return value.__index__()


class RunReader:
    """Reads run files for evaluation, judging them meanwhile where that can be done."""

    def __init__(self, judgments: Judgments, bound: list[BoundMeasure], options: Options) -> None:
        self._compat = options.compat
        self._judge: FileJudge | None = None
        if isinstance(judgments, Qrels) and options.relevance_format == "qrels":
            self._judge = FileJudge(
                judgments,
                judging_options(bound, options),
                only=options.query,
                with_absent=_evaluates_missing(options),
                compat=options.compat,
            )

    def read(
        self,
        source: Source | Pieces,
        *,
        threads: int | None = None,
        warn: Warn = python_warning,
    ) -> Streamed | Run:
        """The run, in memory or judged already. Raises ReadError and FormatError."""
        if self._judge is None:
            return read_run(source, compat=self._compat, warn=warn)
        return self._judge.judge(source, threads=threads, warn=warn)


def evaluate_bound(
    judgments: Judgments,
    run: Run | Streamed,
    bound: list[BoundMeasure],
    options: Options,
    *,
    zscores: ZScores | None = None,
    watch: Callable[[list[bytes], Judged], None] | None = None,
) -> Scores:
    """Evaluate measures that are already looked up; `watch` sees the judged rankings.

    Raises NoQueriesError and EvaluationError; the latter's `before` has the queries before the
    one that failed.
    """
    plan = Plan(judgments, bound, options)
    failure: EvaluationError | None = None
    if isinstance(run, Streamed):
        queries = judgments.queries.take(run.queries)
        absent, missing = run.absent, run.missing
        if plan.needs_judging:
            plan.judged = run.judged
    else:
        assert not isinstance(judgments, Graded)
        matched, missing = _chosen(judgments, run, options)
        if missing and _evaluates_missing(options):
            run = _with_placeholder(run)
            absent = [i for i, own in enumerate(matched.rankings) if own == len(run) - 1]
        else:
            absent = []
        queries = judgments.queries.take(matched.judgments)
        try:
            plan.judge(run, matched)
        except StoppedError as stop:
            failure = stop.error(plan.first_to_fail(), queries[stop.place])
            matched, queries = matched.first(stop.place), queries[: stop.place]
            absent = [place for place in absent if place < stop.place]
    if not queries and failure is None:
        raise NoQueriesError("No queries with both results and relevance info")
    # What no query survives is found at the first one, unless its ranking fails an earlier
    # measure: trec_eval goes through the measures query by query.
    hopeless = plan.hopeless()
    if hopeless is not None:
        place, reason = hopeless
        if failure is None or queries or place < plan.first_place():
            name = bound[place].measure.name
            raise EvaluationError(name, judgments.queries[0], reason)
    if failure is not None:
        if not queries:
            raise failure
        assert not isinstance(run, Streamed)
        plan.judge(run, matched)
    if watch is not None and plan.judged is not None:
        watch(queries, plan.judged)
    values = [plan.values(own, len(queries)) for own in bound]
    if absent:
        _clear_placeholders(bound, values, absent)
    if zscores is not None:
        to_zscores(bound, values, queries, zscores)
    scores = Scores(
        bound=bound,
        missing=missing,
        tag=run.tag,
        zscored=zscores is not None,
        query_ids=queries,
        value_columns=values,
        summaries=_summaries(bound, values, len(queries), judgments, run.tag, options),
    )
    if failure is not None:
        failure.before = scores
        raise failure
    return scores


def _evaluates_missing(options: Options) -> bool:
    """Whether queries without results get values: trec_eval 10.0 under -c, and no other."""
    return options.complete and options.compat != DEFAULT_COMPAT


def _chosen(judgments: Qrels | Preferences, run: Run, options: Options) -> tuple[Matched, int]:
    """The queries to evaluate, and how many judged ones the run lacks."""
    matched = match(judgments, run)
    pairs = list(zip(matched.judgments, matched.rankings, strict=True))
    if options.query is not None:
        pairs = [pair for pair in pairs if judgments.queries[pair[0]] == options.query]
    found = [pair for pair in pairs if pair[1] >= 0]
    missing = len(pairs) - len(found)
    if _evaluates_missing(options):
        # The place that _with_placeholder gives the ranking of queries without results.
        found = [(query, ranking if ranking >= 0 else len(run)) for query, ranking in pairs]
    chosen = Matched(
        judgments=filled("q", [query for query, _ in found]),
        rankings=filled("q", [ranking for _, ranking in found]),
    )
    return chosen, missing


def _with_placeholder(run: Run) -> Run:
    """The run with a last query of one document: what trec_eval 10.0 takes for missing queries."""
    text, offsets, starts, lengths, scores = run.columns
    rows = len(scores)
    extended = Texts(text + PLACEHOLDER, zeros("q", rows + 1), zeros("q", rows + 1))
    extended.starts[:rows], extended.lengths[:rows] = starts, lengths
    extended.starts[rows], extended.lengths[rows] = len(text), len(PLACEHOLDER)
    values, ranges = zeros("d", rows + 1), zeros("q", len(offsets) + 1)
    values[:rows], values[rows] = scores, 1.0
    ranges[: len(offsets)], ranges[len(offsets)] = offsets, rows + 1
    named = Texts(
        extended.buffer,
        filled("q", [*run.queries.starts, 0]),
        filled("q", [*run.queries.lengths, 0]),
    )
    return Run(
        queries=named, docs=extended, tag=run.tag, source=run.source, offset_column=ranges,
        score_column=values,
    )  # fmt: skip


def _clear_placeholders(bound: list[BoundMeasure], values: list[Any], absent: list[int]) -> None:
    """Zero what trec_eval 10.0 zeroes for a query that the run lacks: by printed name."""
    for own, column in zip(bound, values, strict=True):
        for j, name in enumerate(own.names):
            if name in (b"num_ret", b"utility", b"rbp_resid") or name.startswith(b"unj"):
                for i in absent:
                    column[i * own.width + j] = 0.0
            elif name == b"relstring":
                for i in absent:
                    column[i] = b""


def _summaries(
    bound: list[BoundMeasure],
    values: list[Any],
    evaluated: int,
    judgments: Judgments,
    tag: bytes,
    options: Options,
) -> list[Any]:
    """The summary of every measure: a list with one number for each name, or the run's tag."""
    count = len(judgments) if options.complete else evaluated
    made: list[Any] = []
    for own, column in zip(bound, values, strict=True):
        measure = own.measure
        if measure.on == "run":
            made.append([tag])
        elif measure.on == "queries":
            made.append([float(count)])
        elif measure.average == "":
            made.append([])
        elif measure.name == "num_rel" and options.complete:
            assert not isinstance(judgments, Preferences)
            made.append([float(kernels.count_positive(judgments.grade_column))])
        else:
            totals = zeros("d", own.width)
            kernels.add_up(column, own.width, totals)
            wanted = range(len(own.names))
            made.append([_average(measure.average, totals[j], count, evaluated) for j in wanted])
    return made


def _average(kind: str, total: float, count: int, evaluated: int) -> float:
    if kind == "sum":
        return total
    if kind == "mean":
        return total / count
    return float(kernels.geometric_mean(total, count, count - evaluated))
