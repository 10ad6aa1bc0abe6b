"""Evaluate runs against judgments; errors where the two share nothing."""

from __future__ import annotations

import os
import stat
from typing import cast, overload

from fastrank.common.arguments import check_threads
from fastrank.common.keywords import check_names, takes
from fastrank.common.messages import counted, python_warning
from fastrank.core.data.texts import decoded
from fastrank.core.evaluation.scoring import scores_of
from fastrank.core.formats.qrels import Preferences
from fastrank.core.matching.keywords import EVALUATION, EvaluationOptions, evaluation_options
from fastrank.core.matching.match import match
from fastrank.core.matching.options import bind_measures
from fastrank.core.matching.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.common.messages import Warn
    from fastrank.common.parallel import Workers
    from fastrank.core.formats.inputs import QrelsLike, RunLike, RunsLike
    from fastrank.core.matching.plan import FileState
    from fastrank.core.measures.selection import Measures
    from fastrank.core.scores.scores import Scores


# Rows of one run, which are tuples.
@overload
def evaluate(
    qrels: QrelsLike,
    run: list[tuple[Any, ...]],
    measures: Measures = ...,
    *,
    threads: int | None = ...,
    executor: Workers | None = ...,
    progress: bool | None = ...,
    **options: Unpack[EvaluationOptions],
) -> Scores: ...


@overload
def evaluate(
    qrels: QrelsLike,
    run: RunsLike,
    measures: Measures = ...,
    *,
    threads: int | None = ...,
    executor: Workers | None = ...,
    progress: bool | None = ...,
    **options: Unpack[EvaluationOptions],
) -> list[Scores]: ...


@overload
def evaluate(
    qrels: QrelsLike,
    run: RunLike,
    measures: Measures = ...,
    *,
    threads: int | None = ...,
    executor: Workers | None = ...,
    progress: bool | None = ...,
    **options: Unpack[EvaluationOptions],
) -> Scores: ...


@takes(EvaluationOptions, EVALUATION)
def evaluate(
    qrels: QrelsLike,
    run: RunLike | RunsLike,
    measures: Measures = "official",
    *,
    threads: int | None = None,
    executor: Workers | None = None,
    progress: bool | None = None,
    **options: Unpack[EvaluationOptions],
) -> Scores | list[Scores]:
    """Evaluate one or more runs against judgments; to evaluate more runs later, use `Evaluator`.

    qrels: Qrels or Preferences, or anything Qrels can be made from: a dict
        {query: {document: grade}} or {query: [document, ...]} (with grade 1), a pandas or polars
        frame, an Arrow table, a Hugging Face Dataset, Qrels of ranx, tuples (query, document,
        grade), named tuples as used by ir_measures and ir_datasets, or a file as `read_qrels`
        takes it.
    run: a Run, or anything one can be made from, as for qrels; or a list, an iterator, or a dict
        {name: run} of several. A file in TREC format is judged while it is read, without keeping
        it, and a dict is not converted: the scores they hold for queries without judgments are not
        read. A query with an empty dict is evaluated, as a query whose ranking is empty.
    measures: names in the notation of trec_eval (`map`, `P.5,10`, `ndcg.1=3,2=9`, `official`, ...),
        pytrec_eval (`P_10`), ir_measures (`nDCG@10`, `AP(rel=2)@100`) or papers (`mrr@10`), see
        `parse_measure`; in strings, separated by blanks or commas. Or functions, see `measure`.
        Values have the requested names; those of `P.5,10` are trec_eval's, `P_5` and `P_10`.
    threads: the maximum number of threads that judge a file, by default as many as are useful; with
        an executor, one. The values do not depend on it.
    executor: evaluates a list of runs in threads, processes, or on a cluster: any
        concurrent.futures.Executor, a client of Dask, or a pool of multiprocessing or Ray; see
        docs/scale-out.md. Processes read the files themselves.
    progress: whether to show a progress bar for a list of runs; by default on a terminal for long
        work.
    **options: see `EvaluationOptions`.

    Returns Scores, or a list of them for several runs, with `Scores.name`; `Scores.counts` has the
    numbers of queries and documents that were missing or skipped.

    Measures for plain judgments, for judgment groups and for preferences cannot be mixed in one
    call. Raises TypeError for other objects; InputError for dicts, frames and tables that are not
    valid judgments or runs; OptionError for invalid or contradictory options and those that do not
    apply to the judgments; MeasureError for unknown measures or invalid parameters; NoQueriesError
    if no query has both judgments and results; EvaluationError for a query that cannot be
    evaluated, such as one whose ranking has a duplicate document; ReadError and FormatError for a
    file. If runs in a list fail, the others are evaluated, and RunError names the first one and has
    the Scores of the others. The definitions are trec_eval's.

    >>> qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
    >>> run = {"q1": {"d1": 0.5, "d2": 0.75}, "q2": {"d3": 0.9}}
    >>> scores = fr.evaluate(qrels, run, "map RR@10")
    >>> scores.mean
    {'map': 0.75, 'RR@10': 0.75}
    >>> scores["map"].tolist()
    [0.5, 1.0]
    >>> print(fr.evaluate("data/digits.qrels", "data/profile.run", "map P.10", ties="average"))
    map   0.3447
    P_10  0.8989
    """
    if options:
        check_names(evaluate, options)
    # The judgments serve this call alone, so that the dicts cannot change meanwhile.
    plan = plan_of(qrels, measures, options, copied=False)
    return scores_of_runs(plan, run, threads, executor, progress)


@takes(EvaluationOptions, EVALUATION)
class Evaluator:
    """Evaluates any number of runs against judgments that are prepared only once.

    The arguments are those of `evaluate`. An Evaluator may be used by several threads, and pickled
    for other processes, which prepare the judgments again.

    >>> import fastrank as fr
    >>> evaluator = fr.Evaluator({"q1": {"d1": 1}}, "map P.5")
    >>> evaluator.evaluate({"q1": {"d1": 0.5, "d2": 0.75}}).mean["map"]
    0.5
    """

    def __init__(
        self,
        qrels: QrelsLike,
        measures: Measures = "official",
        **options: Unpack[EvaluationOptions],
    ) -> None:
        if options:
            check_names(Evaluator.__init__, options)
        self._plan = plan_of(qrels, measures, options)

    def __repr__(self) -> str:
        names = " ".join(decoded(name) for bound in self._plan.measures for name in bound.names)
        queries = counted(len(self._plan.judgments), "judged query", "judged queries")
        return f"<Evaluator of {names}: {queries}>"

    # Rows of one run, which are tuples.
    @overload
    def evaluate(
        self,
        run: list[tuple[Any, ...]],
        *,
        threads: int | None = None,
        executor: Workers | None = None,
        progress: bool | None = None,
    ) -> Scores: ...

    @overload
    def evaluate(
        self,
        run: RunsLike,
        *,
        threads: int | None = None,
        executor: Workers | None = None,
        progress: bool | None = None,
    ) -> list[Scores]: ...

    @overload
    def evaluate(
        self,
        run: RunLike,
        *,
        threads: int | None = None,
        executor: Workers | None = None,
        progress: bool | None = None,
    ) -> Scores: ...

    def evaluate(
        self,
        run: RunLike | RunsLike,
        *,
        threads: int | None = None,
        executor: Workers | None = None,
        progress: bool | None = None,
    ) -> Scores | list[Scores]:
        """Evaluate a run, or each of several: a list, an iterator, or a dict {name: run}.

        The arguments and errors are those of `evaluate`.

        >>> evaluator = fr.Evaluator("data/digits.qrels", "map")
        >>> evaluator.evaluate("data/pca.run").mean
        {'map': 0.34933767225585727}
        """
        return scores_of_runs(self._plan, run, threads, executor, progress)


def scores_of_runs(
    plan: Plan,
    run: object,
    threads: int | None = None,
    executor: Workers | None = None,
    progress: bool | None = None,
) -> Scores | list[Scores]:
    """The scores of a run or of several; the arguments are those of `evaluate`."""
    if threads is not None:
        check_threads(threads)
    # Most dicts are recognized by this alone.
    if hasattr(_first_score(run), "__float__"):
        return scores_of_run(plan, run, threads)
    # Imported late: the trec_eval command does not need it.
    from fastrank.core.formats.inputs import are_named, are_rows, is_path, run_name

    keys = None
    if are_named(run):
        keys, run = list(run), list(run.values())
    elif hasattr(run, "__next__") and not hasattr(run, "read"):
        run = list(cast("Iterator[Any]", run))
    if not isinstance(run, (list, tuple)) or are_rows(run):
        scores = scores_of_run(plan, run, threads)
        return scores.changed(given_name=run_name(run)) if is_path(run) else scores
    # Imported late: most calls have one run.
    from fastrank.core.evaluation.evaluate_many import evaluate_runs

    return evaluate_runs(
        plan, run, keys=keys, executor=executor, threads=threads, progress=progress
    )


def _first_score(run: object) -> object:
    """The score of the first document of the first query of a dict; None for anything else."""
    documents = next(iter(run.values()), None) if isinstance(run, dict) else None
    return next(iter(documents.values()), None) if isinstance(documents, dict) else None


def file_state(source: object) -> FileState | None:
    """The absolute path, size and time of change of a file; None for anything else."""
    if not isinstance(source, (str, os.PathLike)):
        return None
    try:
        status = os.stat(source)
    except (OSError, ValueError):
        return None
    path = os.path.abspath(os.fsdecode(source))
    return (path, status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def scores_of_run(
    plan: Plan, run: Any, threads: int | None = None, warn: Warn = python_warning
) -> Scores:
    """The scores of a run, as `Evaluator.evaluate` takes it. warn: is called with warnings."""
    if type(_first_score(run)) is int:
        # Imported late: few scores are integers.
        from fastrank.core.formats.swapped import warn_if_swapped

        rankings = (docs.values() for docs in run.values() if isinstance(docs, dict))
        warn_if_swapped(plan.judgments, rankings, warn)
    judged = match(plan, run, threads=threads, warn=warn)
    if judged.judged is None or not judged.judged.has_ties:
        return scores_of(plan, judged)
    # Imported late: many runs have no ties.
    from fastrank.core.evaluation.ties import scores_and_ties

    return scores_and_ties(plan, judged)


def plan_of(
    qrels: object, measures: Measures, options: Mapping[str, object], *, copied: bool = True
) -> Plan:
    """The plan for judgments in any form, measures and options as `evaluate` takes them.

    copied: as for `index_judgments`.
    """
    checked = evaluation_options(options)
    bound = bind_measures(measures, checked)
    # Imported late: the trec_eval command does not need it.
    from fastrank.core.formats.inputs import as_qrels
    from fastrank.core.matching.dicts import DictJudgments, index_judgments

    file = None
    judgments: Any = qrels if isinstance(qrels, DictJudgments) else None
    if isinstance(qrels, dict):
        judgments = index_judgments(qrels, copied=copied)
    if judgments is None:
        file = file_state(qrels)
        judgments = as_qrels(qrels, trec_eval_version=checked.trec_eval_version)
    needs = {measure.measure.needs for measure in bound}
    if isinstance(judgments, Preferences):
        checked = checked.changed(relevance_format="prefs")
    elif "groups" in needs and needs <= {"groups", "run", "queries"}:
        checked = checked.changed(relevance_format="qrels_jg")
    return Plan.of(judgments, bound, checked, file)
