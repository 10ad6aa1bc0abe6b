"""The arguments that name qrels and runs, and the evaluation of the runs one by one."""

from __future__ import annotations

import os

from fastrank.cli.command import UsageError
from fastrank.cli.flags import INPUTS, at_least, given_options
from fastrank.cli.output import may_show_progress
from fastrank.errors import FastrankError, OptionError
from fastrank.evaluation.evaluator import Prepared
from fastrank.formats.load import GROUPED, read_qrels
from fastrank.formats.source import name_of
from fastrank.judging.keywords import EvaluationOptions, evaluation_options
from fastrank.judging.options import Options, bind_measures, check_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import Any

    from fastrank.cli.parser import Parser
    from fastrank.scores.scores import Scores

# The formats of judgments by their names in trec_eval, and here; None is detected.
RELEVANCE_FORMATS = {"qrels": None, **{form: form for form in GROUPED}}


def add_reading_options(parser: Parser) -> None:
    """Declare how to read the qrels and the runs."""
    add = parser.add
    add(
        "-R, --relevance-format FORMAT",
        f"one of {', '.join(RELEVANCE_FORMATS)}",
        choices=RELEVANCE_FORMATS,
        default="qrels",
        group=INPUTS,
    )
    add(
        "--threads N",
        "threads per run (default: $FASTRANK_THREADS, or 8)",
        type=at_least(1),
        default=os.environ.get("FASTRANK_THREADS") or None,
    )
    add(
        "--jobs N",
        "evaluate N runs at once, in processes (default: 1)",
        type=at_least(1),
        default=1,
    )


class RunScores:
    """Evaluates runs, and reports those that fail on standard error; `failed` counts them.

    qrels: all judgments. judgments: those of the queries that are evaluated. Raises FastrankError
    for invalid options and unreadable qrels.
    """

    def __init__(self, given: argparse.Namespace, measures: list[str]) -> None:
        self._warn, self._threads, self._jobs = given.command.warn, given.threads, given.jobs
        self._progress = None if may_show_progress(given) else False
        if self._jobs > 1 and "-" in given.runs:
            raise OptionError("--jobs", "the processes cannot read standard input (-)")
        self.failed, self._is_broken = 0, False
        options = _options(given)
        bound = bind_measures(measures, options)
        check_options(bound, options)
        form: Any = RELEVANCE_FORMATS[given.relevance_format]
        self.qrels: Any = read_qrels(
            given.qrels, form, trec_eval_version=given.trec_eval_version, warn=self._warn
        )
        self._prepared = Prepared(self.qrels, bound, options)
        self.judgments = self._prepared.judgments

    def of(self, paths: list[str]) -> Iterator[Scores | None]:
        """The scores of each run, in order; None for one that cannot be evaluated."""
        if self._jobs > 1 and len(paths) > 1:
            yield from self._in_processes(paths)
            return
        for path in paths:
            try:
                scores = self._prepared.scores_of(path, self._threads, self._warn)
            except (FastrankError, ImportError) as error:
                self._fail(path, error)
                yield None
            else:
                yield scores

    def _in_processes(self, paths: list[str]) -> Iterator[Scores | None]:
        # Imported late: they take longer than the evaluation of a small file.
        from fastrank.cli.jobs import processes
        from fastrank.evaluation.evaluate_many import evaluated, warnings_of
        from fastrank.searching.progress import bar

        executors = processes(min(self._jobs, len(paths)))
        with executors as executor, bar("evaluate", len(paths), "runs", self._progress) as shown:
            found = evaluated(self._prepared, paths, executor=executor, threads=self._threads or 1)
            for path, (value, error) in zip(paths, found, strict=True):
                # Messages and results begin on a line without the bar.
                shown.clear()
                for message in warnings_of(error) if value is None else value[1]:
                    self._warn(message)
                if value is None:
                    self._fail(path, error)
                yield value and value[0]
                shown.update(1)

    def _fail(self, path: str, error: Exception | None) -> None:
        self.failed += 1
        if isinstance(error, (FastrankError, ImportError)):
            self._warn(_explained(error, path))
        elif type(error).__name__ == "BrokenProcessPool":
            # The runs that were sent to the other processes have the same error.
            if not self._is_broken:
                self._warn(
                    f"{name_of(path)}: a process was killed, perhaps because memory is short; use"
                    " fewer --jobs"
                )
            self._is_broken = True
        elif not self._is_broken and error is not None:
            raise error


def check_names(given: argparse.Namespace) -> None:
    """Raise UsageError unless --name is given once for each run, without --tags, or not used."""
    if given.names is None:
        return
    if given.tags:
        raise UsageError("--name and --tags cannot be combined")
    if len(given.names) != len(given.runs):
        raise UsageError(
            f"--name: expected one for each of {len(given.runs)} runs, found {len(given.names)}"
        )


def _options(given: argparse.Namespace) -> Options:
    """The evaluation options. Raises OptionError, and errors of the --exclude file."""
    options = evaluation_options(given_options(given, EvaluationOptions))
    preferences = given.relevance_format in ("prefs", "qrels_prefs")
    relevance_format = "prefs" if preferences else given.relevance_format
    changed: Options = options.changed(relevance_format=relevance_format)
    return changed


def _explained(error: FastrankError | ImportError, path: str) -> str:
    """The error message, with the run's path unless it names that or the qrels as wrong."""
    names_it = hasattr(error, "path") or bool(getattr(error, "source", None))
    return str(error) if names_it else f"{name_of(path)}: {error}"
