"""Evaluate several runs, in this thread or with an executor."""

from __future__ import annotations

import os
from concurrent.futures import CancelledError

from fastrank.common.messages import counted, python_warning
from fastrank.common.parallel import Outcome, outcomes
from fastrank.common.progress import bar
from fastrank.core.evaluation import evaluator
from fastrank.core.evaluation.evaluator import file_state
from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.inputs import as_qrels, run_names
from fastrank.core.matching.plan import plan_again
from fastrank.errors import FastrankError, FormatError, OptionError, ReadError, RunError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from typing import Any

    from fastrank.common.choices import TrecEvalVersion
    from fastrank.common.parallel import Workers
    from fastrank.core.data.texts import Ids
    from fastrank.core.matching.plan import Plan
    from fastrank.core.scores.scores import Scores


def evaluate_runs(
    plan: Plan,
    runs: Sequence[object],
    *,
    keys: Sequence[object] | None = None,
    executor: Workers | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> list[Scores]:
    """The Scores of each run; the arguments are those of `Evaluator.evaluate`.

    keys: names of the runs, for errors. All runs are evaluated; then raises RunError if one failed.
    An interrupt gets the attribute `scores`, with those of the first runs.
    """
    scores: list[Scores | None] = []
    errors: dict[int, Exception] = {}
    skipped = 0
    tasks = runs
    if executor is not None:
        # An executor has a worker for each processor.
        threads = threads or 1
        tasks = [_for_worker(run) for run in runs]
    results = evaluate_each(plan, tasks, executor=executor, threads=threads)
    try:
        with bar("evaluate", len(runs), "runs", progress) as shown:
            for value, error in results:
                if value is not None:
                    for message in value[1]:
                        python_warning(message)
                elif isinstance(error, CancelledError):
                    skipped += 1
                elif error is not None:
                    for message in warnings_of(error):
                        python_warning(message)
                    errors[len(scores)] = error
                scores.append(None if value is None else value[0])
                shown.update(1)
    except KeyboardInterrupt as interrupt:
        vars(interrupt)["scores"] = scores
        raise
    finally:
        results.close()
    if errors:
        raise _run_error(runs, keys, scores, errors, skipped)
    names = run_names(runs) if keys is None else map(str, keys)
    return [
        run_scores.changed(given_name=name) if name else run_scores
        for run_scores, name in zip(scores, names, strict=True)
        if run_scores is not None
    ]


def _evaluate_run(shared: Shared, run: object) -> tuple[Scores, list[str]]:
    """The scores of a run, ready to be sent, and the warnings."""
    messages: list[str] = []
    try:
        scores = evaluator.scores_of_run(shared.plan, run, shared.threads, messages.append)
    except FastrankError as error:
        # An error travels between processes with its attributes.
        vars(error)["warnings"] = messages
        raise
    return shared.to_send(scores), messages


def warnings_of(error: Exception | None) -> list[str]:
    """The warnings of a run that failed."""
    return getattr(error, "warnings", [])


def evaluate_each(
    plan: Plan, runs: Sequence[object], *, executor: Workers | None, threads: int | None
) -> Generator[Outcome, None, None]:
    """Yield an Outcome for each run, whose value is a tuple: the Scores and a list of warnings."""
    restored = _Restored(plan)
    results = outcomes(executor, _evaluate_run, runs, shared=Shared(plan, threads))
    try:
        for value, error in results:
            yield Outcome(value and (restored.of(value[0]), value[1]), error)
    finally:
        results.close()


class Shared:
    """The input of workers. Processes read the judgments from their file, if there is one.

    is_copy: whether this is in another process.
    """

    def __init__(self, plan: Plan, threads: int | None, is_copy: bool = False) -> None:
        self.plan, self.threads, self._is_copy = plan, threads, is_copy

    def to_send(self, scores: Scores) -> Scores:
        """The Scores, in another process without what `_Restored` adds."""
        if not self._is_copy:
            return scores
        light: Scores = scores.changed(bound=[], coverage=scores.coverage.changed(judged=[]))
        return light

    def __reduce__(self) -> tuple[object, ...]:
        file = self.plan.file
        # A file that has changed has other judgments.
        if file is None or file_state(file[0]) != file:
            return Shared, (self.plan, self.threads, True)
        version = self.plan.options.trec_eval_version
        return _read, (file[0], version, self.plan.settings(), self.threads)


def _read(
    path: str, version: TrecEvalVersion, settings: tuple[Any, ...], threads: int | None
) -> Shared:
    judgments = as_qrels(path, trec_eval_version=version)
    return Shared(plan_again(judgments, *settings), threads, is_copy=True)


class _Restored:
    """Makes Scores of other processes share what all Scores of an evaluator share."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._queries: Ids | None = None
        self._found: object = None

    def of(self, scores: Scores) -> Scores:
        """The same Scores, with the measures and judged queries, and without copies of ids."""
        measures = self._plan.measures
        if scores.bound is measures:
            return scores
        coverage = scores.coverage
        if coverage.found != self._found:
            self._found = coverage.found
        if scores.query_ids != self._queries:
            self._queries = scores.query_ids
        judged = self._plan.judgments.queries
        coverage = coverage.changed(judged=judged, found=self._found)
        restored: Scores = scores.changed(
            bound=measures, coverage=coverage, query_ids=self._queries
        )
        return restored


def _for_worker(run: object) -> object:
    """The run, a file by its absolute path: workers may have other working directories."""
    if isinstance(run, (str, os.PathLike)):
        if os.fspath(run) == "-":
            raise OptionError("executor", "workers cannot read standard input (-); read it first")
        if os.path.exists(run):
            return os.path.abspath(run)
    return run


def _run_error(
    runs: Sequence[object],
    keys: Sequence[object] | None,
    scores: list[Scores | None],
    errors: dict[int, Exception],
    skipped: int,
) -> RunError:
    """The error for the first run that failed."""
    index, error = next(iter(errors.items()))
    run = runs[index]
    if keys is not None:
        name = str(keys[index])
    elif isinstance(run, (str, os.PathLike)):
        name = name_of(os.fsdecode(run))
    else:
        name = f"run {index + 1}"
    reason = str(error) or type(error).__name__
    if keys is None and isinstance(error, (ReadError, FormatError)):
        # Its path is the name.
        line = f"line {error.line}: " if isinstance(error, FormatError) else ""
        reason = f"{line}{error.reason}"
    more = []
    if len(errors) > 1:
        more.append(f"{counted(len(errors) - 1, 'other run')} failed, too")
    if skipped:
        more.append(f"{counted(skipped, 'run was', 'runs were')} not evaluated")
    if more:
        reason += f" ({'; '.join(more)})"
    failed = RunError(name, reason)
    failed.scores, failed.errors = scores, errors
    failed.__cause__ = error
    return failed
