"""Measures over judged rankings: values per query, and their summary."""

from __future__ import annotations

from fastrank.columns import Preferences, Qrels, Run
from fastrank.errors import EvaluationError, NoQueriesError
from fastrank.judge import StoppedError
from fastrank.levels import DEFAULT_COMPAT, check_compat
from fastrank.native import kernels
from fastrank.native.buffers import zeros
from fastrank.options import (
    DUPLICATES,
    NO_RELEVANT,
    TIES,
    Options,
    check_choice,
    integer,
    settle_depth,
    settle_missing,
)
from fastrank.options import MAX_RETRIEVED as MAX_RETRIEVED
from fastrank.participation import (
    choose_queries,
    clear_placeholders,
    count_without_relevant,
    evaluates_missing,
    match_queries,
    missing_queries,
    with_placeholder,
    without_documents,
)
from fastrank.plan import Plan, check_options, judging_options
from fastrank.scores import Scores
from fastrank.selection import Selection
from fastrank.stream import FileJudge, Streamed
from fastrank.trec import python_warning, read_run
from fastrank.zscores import to_zscores

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from fastrank.files import Source
    from fastrank.judge import Judged
    from fastrank.pieces import Pieces
    from fastrank.selection import BoundMeasure
    from fastrank.trec import Warn
    from fastrank.zscores import ZScores

    Judgments = Qrels | Preferences
    Measures = str | Iterable[str]


def evaluate(
    qrels: Judgments,
    run: Run | Source | Sequence[Run | Source],
    measures: Measures = "official",
    *,
    relevance_level: int = 1,
    ties: str = "docno_desc",
    missing: str | None = None,
    no_relevant: str = "zero",
    ignore_identical_ids: bool = False,
    exclude: Mapping[Any, Iterable[Any]] | None = None,
    duplicates: str = "error",
    depth: int | None = None,
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
    ties: the order of documents with equal scores (equal as 32-bit floats at 9.0.8).
        "docno_desc": larger id first, in byte order, as trec_eval does; "docno_asc": smaller id
        first; "given": as the lines stand. "best" and "worst": highest or lowest grade first,
        documents outside the judgments ranking below grade 0. That is the best or worst order for
        measures that gain when a higher grade moves up, such as map, P, recip_rank and ndcg.
        "average": the exact expected value over all orders (McSherry and Najork, ECIR 2008), for
        map, map_cut, P, recall, relative_P, Rprec, recip_rank, success, dcg, ndcg and ndcg_cut;
        other measures raise MeasureError. Without "docno_desc" a score that is NaN is an error.
    missing: what judged queries without results are. "skip": left out (the default); "zero": 0 in
        the means (-c); "error".
    no_relevant: what judged queries without a relevant document are. "zero": evaluated, which
        gives 0 for most measures; "skip": left out of everything; "error".
    ignore_identical_ids: leave out documents whose id is the query's, before ranks are given.
    exclude: leave out these documents, a mapping from query to documents (ids of type str, bytes
        or int), in the same way.
    duplicates: a document twice in a ranking. "error"; "first": its first line counts; "max": its
        highest score. A document twice in the judgments of a query is always an error.
    depth: cut rankings after so many documents (-M).
    complete, max_retrieved: trec_eval's names for missing="zero" and depth.
    judged_only: drop documents without a grade >= 0 from the rankings (-J).
    collection_size: number of documents in the collection, for `utility` (-N).
    compat: "9.0.8" or "10.0": whose numbers to compute, and how to read comments in a file.
    threads: how many may judge a file; by default as many as help. The values do not depend on it.

    How many queries and documents were missing or left out is in `Scores.counts`.

    Measures for plain judgments, for judgment groups and for preferences cannot be mixed in one
    call. Raises TypeError for other objects, OptionError for impossible or contradictory options
    and those without a meaning for the judgments, MeasureError for unknown measures or impossible
    parameters, NoQueriesError when no query has both judgments and results, EvaluationError for
    a query that cannot be evaluated, such as one whose ranking holds a document twice, ReadError
    and FormatError for a file. Definitions: trec_eval.
    """
    from fastrank.exclusions import as_exclusions

    runs: list[Any] = list(run) if isinstance(run, (list, tuple)) else [run]
    for one in runs:
        check_nouns(qrels, one)
    check_choice("ties", ties, TIES)
    check_choice("no_relevant", no_relevant, NO_RELEVANT)
    check_choice("duplicates", duplicates, DUPLICATES)
    missing = settle_missing(missing, complete=complete)
    deepest = settle_depth(depth, max_retrieved)
    if threads is not None and integer("threads", threads) < 1:
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
        relevance_level=integer("relevance_level", relevance_level),
        complete=missing == "zero",
        judged_only=judged_only,
        max_retrieved=deepest,
        collection_size=integer("collection_size", collection_size),
        query=None,
        ties=ties,
        missing_is_error=missing == "error",
        no_relevant=no_relevant,
        ignore_identical_ids=bool(ignore_identical_ids),
        exclude=as_exclusions(exclude),
        duplicates=duplicates,
    )
    check_options(bound, options)
    chosen, skipped = choose_queries(qrels, options)
    reader = None
    scores = []
    for one in runs:
        if not isinstance(one, Run):
            reader = reader or RunReader(chosen, bound, options)
            one = reader.read(one, threads=threads)
        scores.append(evaluate_bound(chosen, one, bound, options, skipped=skipped))
    return scores if isinstance(run, (list, tuple)) else scores[0]


def check_nouns(judgments: object, run: object) -> None:
    """Raise TypeError, with a hint, unless these are judgments and a run or a file."""
    if not isinstance(judgments, (Qrels, Preferences)):
        found = type(judgments).__name__
        raise TypeError(f"qrels: expected Qrels or Preferences, found {found} (see read_qrels)")
    if not (isinstance(run, (Run, str)) or hasattr(run, "read") or hasattr(run, "__fspath__")):
        found = type(run).__name__
        raise TypeError(f"run: expected a Run or a file, found {found} (see read_run)")


class RunReader:
    """Reads run files for evaluation, judging them meanwhile where that can be done."""

    def __init__(self, judgments: Judgments, bound: list[BoundMeasure], options: Options) -> None:
        check_options(bound, options)
        self._compat = options.compat
        self._judge: FileJudge | None = None
        if (
            isinstance(judgments, Qrels)
            and options.relevance_format == "qrels"
            and options.can_stream
        ):
            self._judge = FileJudge(
                judgments,
                judging_options(bound, options),
                only=options.query,
                with_absent=evaluates_missing(options),
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
    skipped: int = 0,
) -> Scores:
    """Evaluate measures that are already looked up; `watch` sees the judged rankings.

    skipped: how many queries `choose_queries` has left out of the judgments. Raises
    NoQueriesError, OptionError, MeasureError and EvaluationError; the latter's `before` has the
    queries before the one that failed.
    """
    plan = Plan(judgments, bound, options)
    failure: EvaluationError | None = None
    removed = repeated = 0
    if isinstance(run, Streamed):
        queries = judgments.queries.take(run.queries)
        absent, missing = run.absent, run.missing
        if plan.needs_judging:
            plan.judged = run.judged
        if options.missing_is_error and missing:
            raise missing_queries(judgments, queries)
    else:
        matched, missing = match_queries(judgments, run, options)
        if options.missing_is_error and missing:
            raise missing_queries(judgments, judgments.queries.take(matched.judgments))
        if not options.can_stream:
            run, removed, repeated = without_documents(run, matched, options)
        if missing and evaluates_missing(options):
            run = with_placeholder(run)
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
        left = f"; {skipped} without a relevant document were left out" if skipped else ""
        raise NoQueriesError(f"No queries with both results and relevance info{left}")
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
        clear_placeholders(bound, values, absent)
    if zscores is not None:
        to_zscores(bound, values, queries, zscores)
    scores = Scores(
        bound=bound,
        counts={
            "missing": missing,
            "no_relevant": count_without_relevant(judgments, options),
            "skipped": skipped,
            "removed": removed,
            "repeated": repeated,
        },
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
            assert isinstance(judgments, Qrels)
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
