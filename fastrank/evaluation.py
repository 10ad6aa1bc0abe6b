"""Measures over judged rankings: values per query, and their summary."""

from __future__ import annotations

from fastrank.columns import Preferences, Qrels, Run, Texts
from fastrank.errors import EvaluationError, NoQueriesError
from fastrank.judge import Matched, StoppedError, match
from fastrank.levels import DEFAULT_COMPAT, check_compat
from fastrank.native import kernels
from fastrank.native.buffers import filled, zeros
from fastrank.plan import Options, Plan
from fastrank.scores import Scores
from fastrank.selection import Selection
from fastrank.zscores import to_zscores

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from fastrank.judge import Judged
    from fastrank.selection import BoundMeasure
    from fastrank.zscores import ZScores

    Judgments = Qrels | Preferences

MAX_RETRIEVED = 2**31 - 1
# The document that trec_eval 10.0 gives a query without results under -c.
PLACEHOLDER = b"ceci_nest_pas_un_docno"


def evaluate(
    qrels: Judgments,
    run: Run,
    measures: str | Iterable[str] = "official",
    *,
    relevance_level: int = 1,
    complete: bool = False,
    judged_only: bool = False,
    max_retrieved: int | None = None,
    collection_size: int = 0,
    compat: str = DEFAULT_COMPAT,
) -> Scores:
    """Evaluate a run against judgments.

    measures: names in trec_eval's notation (`map`, `P.5,10`, `ndcg.1=3,2=9`, `official`, ...), one
        string with blanks between them or several strings.
    relevance_level: the lowest grade that is relevant (trec_eval -l).
    complete: average over all judged queries, not only those in the run (-c).
    judged_only: drop documents without a grade >= 0 from the rankings (-J).
    max_retrieved: cut rankings after so many documents (-M).
    collection_size: number of documents in the collection, for `utility` (-N).
    compat: "9.0.8" or "10.0": whose numbers to compute.

    Measures for plain judgments, for judgment groups and for preferences cannot be mixed in one
    call. Raises TypeError for other objects, MeasureError for unknown measures or impossible
    parameters, NoQueriesError when no query has both judgments and results, EvaluationError for
    a query that cannot be evaluated, such as one whose ranking holds a document twice.
    Definitions: trec_eval.
    """
    check_nouns(qrels, run)
    deepest = MAX_RETRIEVED if max_retrieved is None else _integer("max_retrieved", max_retrieved)
    if deepest < 0:
        raise ValueError(f"max_retrieved {max_retrieved}: expected 0 or more")
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
    return evaluate_bound(qrels, run, bound, options)


def check_nouns(judgments: object, run: object) -> None:
    """Raise TypeError, with a hint, unless these are judgments and a run."""
    if not isinstance(judgments, (Qrels, Preferences)):
        found = type(judgments).__name__
        raise TypeError(f"qrels: expected Qrels or Preferences, found {found} (see read_qrels)")
    if not isinstance(run, Run):
        raise TypeError(f"run: expected a Run, found {type(run).__name__} (see read_run)")


def _integer(name: str, value: int) -> int:
    """A number that fits the kernels' 64-bit integers."""
    if not hasattr(value, "__index__"):
        raise TypeError(f"{name}: expected an integer, found {type(value).__name__}")
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{name} {value}: expected a 64-bit integer")
    return value.__index__()


def evaluate_bound(
    judgments: Judgments,
    run: Run,
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
    matched, missing = _chosen(judgments, run, options)
    has_placeholders = missing > 0 and _evaluates_missing(options)
    if has_placeholders:
        run = _with_placeholder(run)
    if not len(matched):
        raise NoQueriesError("No queries with both results and relevance info")
    queries = [judgments.queries[i] for i in matched.judgments]
    plan = Plan(judgments, run, bound, options)
    failure: EvaluationError | None = None
    try:
        plan.judge(matched)
    except StoppedError as stop:
        failure = stop.error(plan.first_to_fail(), queries[stop.place])
        matched, queries = matched.first(stop.place), queries[: stop.place]
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
        plan.judge(matched)
    if watch is not None and plan.judged is not None:
        watch(queries, plan.judged)
    values = [plan.values(own, len(queries)) for own in bound]
    if has_placeholders:
        _clear_placeholders(bound, values, matched, len(run) - 1)
    if zscores is not None:
        to_zscores(bound, values, queries, zscores)
    scores = Scores(
        bound=bound,
        missing=missing,
        tag=run.tag,
        zscored=zscores is not None,
        query_ids=queries,
        value_columns=values,
        summaries=_summaries(bound, values, len(queries), judgments, run, options),
    )
    if failure is not None:
        failure.before = scores
        raise failure
    return scores


def _evaluates_missing(options: Options) -> bool:
    """Whether queries without results get values: trec_eval 10.0 under -c, and no other."""
    return options.complete and options.compat != DEFAULT_COMPAT


def _chosen(judgments: Judgments, run: Run, options: Options) -> tuple[Matched, int]:
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


def _clear_placeholders(
    bound: list[BoundMeasure], values: list[Any], matched: Matched, placeholder: int
) -> None:
    """Zero what trec_eval 10.0 zeroes for a query that the run lacks: by printed name."""
    missing = [i for i, ranking in enumerate(matched.rankings) if ranking == placeholder]
    for own, column in zip(bound, values, strict=True):
        for j, name in enumerate(own.names):
            if name in (b"num_ret", b"utility", b"rbp_resid") or name.startswith(b"unj"):
                for i in missing:
                    column[i * own.width + j] = 0.0
            elif name == b"relstring":
                for i in missing:
                    column[i] = b""


def _summaries(
    bound: list[BoundMeasure],
    values: list[Any],
    evaluated: int,
    judgments: Judgments,
    run: Run,
    options: Options,
) -> list[Any]:
    """The summary of every measure: a list with one number for each name, or the run's tag."""
    count = len(judgments) if options.complete else evaluated
    made: list[Any] = []
    for own, column in zip(bound, values, strict=True):
        measure = own.measure
        if measure.on == "run":
            made.append([run.tag])
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
