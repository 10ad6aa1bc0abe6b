"""Evaluate runs against judgments."""

from __future__ import annotations

from functools import lru_cache
from typing import cast, overload

from fastrank.arguments import check_threads
from fastrank.data.preferences import Preferences
from fastrank.data.texts import decoded
from fastrank.evaluation.prepared import Prepared, file_state
from fastrank.judging.evaluation_options import EVALUATION, EvaluationOptions, evaluation_options
from fastrank.judging.options import bind_measures, check_options
from fastrank.keywords import takes, with_defaults
from fastrank.measures.selection import Selection
from fastrank.plurals import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from typing_extensions import Unpack

    from fastrank.data.qrels import Qrels
    from fastrank.data.run import Run
    from fastrank.formats.files import Source
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure, Measures
    from fastrank.scores.scores import Scores

    Judgments = Qrels | Preferences
    """Judgments as objects of fastrank."""
    Convertible = Any
    """What judgments or a run can be made from: a dict of dicts, a frame of pandas or polars, an
    Arrow table, a Hugging Face Dataset, an object of ranx, or tuples. See
    [In-memory data](../index.md#in-memory-data)."""
    Runs = (
        list[Any] | tuple[Any, ...] | Iterator[Any]
        | Mapping[Any, Run | str | os.PathLike[str] | Mapping[Any, Mapping[Any, Any]]]
    )  # fmt: skip
    """Several runs, each of which is a Run, a file, or what a run can be made from."""


# Rows of one run, which are tuples.
@overload
def evaluate(
    qrels: Judgments | Convertible | Source, run: list[tuple[Any, ...]],
    measures: Measures = ..., *, threads: int | None = ..., executor: Any = ...,
    progress: bool | None = ..., **options: Unpack[EvaluationOptions],
) -> Scores: ...  # fmt: skip


@overload
def evaluate(
    qrels: Judgments | Convertible | Source, run: Runs, measures: Measures = ..., *,
    threads: int | None = ..., executor: Any = ..., progress: bool | None = ...,
    **options: Unpack[EvaluationOptions],
) -> list[Scores]: ...  # fmt: skip


@overload
def evaluate(
    qrels: Judgments | Convertible | Source, run: Run | Convertible | Source,
    measures: Measures = ..., *, threads: int | None = ..., executor: Any = ...,
    progress: bool | None = ..., **options: Unpack[EvaluationOptions],
) -> Scores: ...  # fmt: skip


@takes(EvaluationOptions, EVALUATION)
def evaluate(
    qrels: Judgments | Convertible | Source,
    run: Run | Convertible | Source | Sequence[Run | Convertible | Source],
    measures: Measures = "official",
    *,
    threads: int | None = None,
    executor: Any = None,
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
    >>> found = fr.evaluate(qrels, run, "map RR@10")
    >>> found.mean
    {'map': 0.75, 'RR@10': 0.75}
    >>> found["map"].tolist()
    [0.5, 1.0]
    >>> print(fr.evaluate("data/digits.qrels", "data/profile.run", "map P.10", ties="average"))
    map   0.3447
    P_10  0.8989
    """
    evaluator = Evaluator(qrels, measures, **with_defaults(evaluate, options))
    found: Scores | list[Scores] = evaluator.evaluate(
        run, threads=threads, executor=executor, progress=progress
    )
    return found


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
        qrels: Judgments | Convertible | Source,
        measures: Measures = "official",
        **options: Unpack[EvaluationOptions],
    ) -> None:
        # Imported late: the trec_eval command does not need it.
        from fastrank.formats.inputs import as_qrels
        from fastrank.judging.dict_index import index_judgments

        checked = evaluation_options(with_defaults(Evaluator.__init__, options))
        bound = _bind(measures, checked)
        file = file_state(qrels)
        judgments: Any = index_judgments(qrels) if isinstance(qrels, dict) else None
        if judgments is None:
            judgments = as_qrels(qrels, trec_eval_version=checked.trec_eval_version)
        needed = {own.measure.needs for own in bound}
        by_group = "groups" in needed and needed <= {"groups", "run", "queries"}
        relevance_format = "qrels_jg" if by_group else "qrels"
        if isinstance(judgments, Preferences):
            relevance_format = "prefs"
        checked = checked.changed(relevance_format=relevance_format)
        check_options(bound, checked)
        self._prepared = Prepared(judgments, bound, checked, file)

    def __repr__(self) -> str:
        names = " ".join(decoded(name) for bound in self._prepared.bound for name in bound.names)
        queries = counted(len(self._prepared.judgments), "judged query", "judged queries")
        return f"<Evaluator of {names}: {queries}>"

    # Rows of one run, which are tuples.
    @overload
    def evaluate(
        self, run: list[tuple[Any, ...]], *, threads: int | None = None,
        executor: Any = None, progress: bool | None = None,
    ) -> Scores: ...  # fmt: skip

    @overload
    def evaluate(
        self, run: Runs, *, threads: int | None = None,
        executor: Any = None, progress: bool | None = None,
    ) -> list[Scores]: ...  # fmt: skip

    @overload
    def evaluate(
        self, run: Run | Convertible | Source, *, threads: int | None = None,
        executor: Any = None, progress: bool | None = None,
    ) -> Scores: ...  # fmt: skip

    def evaluate(
        self,
        run: Run | Convertible | Source | Sequence[Run | Convertible | Source],
        *,
        threads: int | None = None,
        executor: Any = None,
        progress: bool | None = None,
    ) -> Scores | list[Scores]:
        """Evaluate a run, or each of several: a list, an iterator, or a dict {name: run}.

        The arguments and errors are those of `evaluate`.

        >>> evaluator = fr.Evaluator("data/digits.qrels", "map")
        >>> evaluator.evaluate("data/pca.run").mean
        {'map': 0.34933767225585727}
        """
        check_threads(threads)
        if isinstance(run, dict) and _holds_scores(run):
            return self._prepared.scores_of(run, threads)
        # Imported late: the trec_eval command does not need it.
        from fastrank.formats.run_names import are_named, is_path, run_name
        from fastrank.formats.tuples import is_row

        keys = None
        if are_named(run):
            keys, run = list(run), list(run.values())
        elif hasattr(run, "__next__") and not hasattr(run, "read"):
            run = list(cast("Iterator[Any]", run))
        if not isinstance(run, (list, tuple)) or is_row(next(iter(run), None)):
            scores = self._prepared.scores_of(run, threads)
            return scores.changed(given_name=run_name(run)) if is_path(run) else scores
        # Imported late: most calls have one run.
        from fastrank.evaluation.several_runs import evaluate_runs

        return evaluate_runs(
            self._prepared, run, keys=keys, executor=executor, threads=threads, progress=progress
        )


def _holds_scores(run: dict[Any, Any]) -> bool:
    """Whether the first query of a dict has a score; most dicts are recognized by this alone."""
    documents = next(iter(run.values()), None)
    return type(documents) is dict and hasattr(next(iter(documents.values()), None), "__float__")


def _bind(measures: Measures, options: Options) -> list[BoundMeasure]:
    """The requested measures with parameters. Raises MeasureError for invalid ones."""
    names: Any = (measures,) if isinstance(measures, str) else measures
    is_listed = isinstance(names, (list, tuple)) and set(map(type, names)) == {str}
    if is_listed and options.ties != "average":
        return _bind_names(tuple(names), options.trec_eval_version)
    return bind_measures(Selection(measures), options)


# Parsing four names takes as long as evaluating two queries of 100 documents.
@lru_cache(maxsize=64)
def _bind_names(names: tuple[str, ...], trec_eval_version: str) -> list[BoundMeasure]:
    return Selection(names).bind(trec_eval_version)
