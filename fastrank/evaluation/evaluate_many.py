"""Evaluate several runs, in this thread or with an executor."""

from __future__ import annotations

import os
from concurrent.futures import CancelledError

from fastrank.errors import FastrankError, FormatError, OptionError, ReadError, RunError
from fastrank.evaluation.evaluator import file_state, prepared_again
from fastrank.formats.inputs import as_qrels, run_names
from fastrank.formats.source import name_of
from fastrank.formats.trec import python_warning
from fastrank.messages import counted
from fastrank.parallel import Outcome, outcomes
from fastrank.searching.progress import bar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from typing import Any

    from fastrank.evaluation.evaluator import Prepared
    from fastrank.scores.scores import Scores


def evaluate_runs(
    prepared: Prepared,
    runs: Sequence[Any],
    *,
    keys: Sequence[Any] | None = None,
    executor: Any = None,
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
    given = runs
    if executor is not None:
        # An executor has a worker for each processor.
        threads = threads or 1
        runs = [_for_worker(run) for run in runs]
    found = evaluated(prepared, runs, executor=executor, threads=threads)
    try:
        with bar("evaluate", len(runs), "runs", progress) as shown:
            for value, error in found:
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
        found.close()
    if errors:
        raise _run_error(given, keys, scores, errors, skipped)
    names = run_names(given) if keys is None else map(str, keys)
    return [
        one.changed(given_name=name) if name else one
        for one, name in zip(scores, names, strict=True)
        if one is not None
    ]


def _evaluate_run(shared: Shared, run: Any) -> tuple[Scores, list[str]]:
    """The scores of a run, ready to be sent, and the warnings."""
    messages: list[str] = []
    try:
        scores = shared.prepared.scores_of(run, shared.threads, messages.append)
    except FastrankError as error:
        # An error travels between processes with its attributes.
        vars(error)["warnings"] = messages
        raise
    return shared.to_send(scores), messages


def warnings_of(error: Exception | None) -> list[str]:
    """The warnings of a run that failed."""
    return getattr(error, "warnings", [])


def evaluated(
    prepared: Prepared,
    runs: Sequence[Any],
    *,
    executor: Any,
    threads: int | None,
) -> Generator[Outcome, None, None]:
    """Yield an Outcome for each run, whose value is a tuple: the Scores and a list of warnings."""
    restored = _Restored(prepared)
    found = outcomes(executor, _evaluate_run, runs, shared=Shared(prepared, threads))
    try:
        for value, error in found:
            yield Outcome(value and (restored.of(value[0]), value[1]), error)
    finally:
        found.close()


class Shared:
    """What workers need. Processes read the judgments from their file, if there is one.

    is_copy: whether this is in another process.
    """

    def __init__(self, prepared: Prepared, threads: int | None, is_copy: bool = False) -> None:
        self.prepared, self.threads, self._is_copy = prepared, threads, is_copy

    def to_send(self, scores: Scores) -> Scores:
        """The Scores, in another process without what `_Restored` adds."""
        if not self._is_copy:
            return scores
        light: Scores = scores.changed(bound=[], coverage=scores.coverage.changed(judged=[]))
        return light

    def __reduce__(self) -> Any:
        file = self.prepared.file
        # A file that has changed has other judgments.
        if file is None or file_state(file[0]) != file:
            return Shared, (self.prepared, self.threads, True)
        version = self.prepared.options.trec_eval_version
        return _read, (file[0], version, self.prepared.settings(), self.threads)


def _read(path: str, version: Any, settings: tuple[Any, ...], threads: int | None) -> Shared:
    judgments = as_qrels(path, trec_eval_version=version)
    return Shared(prepared_again(judgments, *settings), threads, is_copy=True)


class _Restored:
    """Makes Scores of other processes share what all Scores of an evaluator share."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._queries: Any = None
        self._found: Any = None

    def of(self, scores: Scores) -> Scores:
        """The same Scores, with the measures and judged queries, and without copies of ids."""
        bound = self._prepared.bound
        if scores.bound is bound:
            return scores
        coverage = scores.coverage
        if coverage.found != self._found:
            self._found = coverage.found
        if scores.query_ids != self._queries:
            self._queries = scores.query_ids
        coverage = coverage.changed(judged=self._prepared.judgments.queries, found=self._found)
        restored: Scores = scores.changed(bound=bound, coverage=coverage, query_ids=self._queries)
        return restored


def _for_worker(run: Any) -> Any:
    """The run, a file by its absolute path: workers may have other working directories."""
    if isinstance(run, (str, os.PathLike)):
        if os.fspath(run) == "-":
            raise OptionError("executor", "workers cannot read standard input (-); read it first")
        if os.path.exists(run):
            return os.path.abspath(run)
    return run


def _run_error(
    runs: Sequence[Any],
    keys: Sequence[Any] | None,
    scores: list[Scores | None],
    errors: dict[int, Exception],
    skipped: int,
) -> RunError:
    """The error for the first run that failed."""
    place, first = next(iter(errors.items()))
    run = runs[place]
    if keys is not None:
        name = str(keys[place])
    elif isinstance(run, (str, os.PathLike)):
        name = name_of(os.fsdecode(run))
    else:
        name = f"run {place + 1}"
    reason = str(first) or type(first).__name__
    if keys is None and isinstance(first, (ReadError, FormatError)):
        # Its path is the name.
        line = f"line {first.line}: " if isinstance(first, FormatError) else ""
        reason = f"{line}{first.reason}"
    more = []
    if len(errors) > 1:
        more.append(f"{counted(len(errors) - 1, 'other run')} failed, too")
    if skipped:
        more.append(f"{counted(skipped, 'run was', 'runs were')} not evaluated")
    if more:
        reason += f" ({'; '.join(more)})"
    failed = RunError(name, reason)
    failed.scores, failed.errors = scores, errors
    failed.__cause__ = first
    return failed
