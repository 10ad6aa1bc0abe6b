"""The arguments that name qrels and runs, and the evaluation of the runs one by one."""

from __future__ import annotations

import os

from fastrank.cli.command import UsageError
from fastrank.cli.flags import INPUTS, at_least, given_options
from fastrank.cli.output import may_show_progress
from fastrank.core.data.texts import decoded
from fastrank.core.evaluation.evaluator import scores_of_run
from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.load import GROUPED, read_qrels
from fastrank.core.matching.keywords import EvaluationOptions, evaluation_options
from fastrank.core.matching.options import Options, bind_measures, check_options
from fastrank.core.matching.plan import Plan
from fastrank.core.measures.notation import canonical_names
from fastrank.core.measures.suggestions import evaluated_name
from fastrank.errors import FastrankError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import Any

    from fastrank.cli.parser import Parser
    from fastrank.core.scores.scores import Scores

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

    def __init__(self, arguments: argparse.Namespace, measures: list[str]) -> None:
        self._warn = arguments.command.warn
        self._threads, self._jobs = arguments.threads, arguments.jobs
        self._progress = None if may_show_progress(arguments) else False
        if self._jobs > 1 and "-" in arguments.runs:
            raise OptionError("--jobs", "the processes cannot read standard input (-)")
        self.failed, self._is_broken = 0, False
        options = _options(arguments)
        bound = bind_measures(measures, options)
        check_options(bound, options)
        form: Any = RELEVANCE_FORMATS[arguments.relevance_format]
        self.qrels = read_qrels(
            arguments.qrels, form, trec_eval_version=arguments.trec_eval_version, warn=self._warn
        )
        self._plan = Plan.of(self.qrels, bound, options)
        self.judgments = self._plan.judgments

    def order_by(self, measure: str) -> tuple[str, str]:
        """The name of a measure in the results, given in any spelling, and its better direction.

        Raises OptionError for one that is not evaluated, and if no direction is better.
        """
        names = {
            canonical: (decoded(name), bound.measure.better)
            for bound in self._plan.measures
            for name, canonical in zip(bound.names, bound.canonical, strict=True)
        }
        spelled = [name.encode() for name in canonical_names(measure)]
        if len(spelled) != 1 or spelled[0] not in names:
            listed = [name for name, _ in names.values()]
            reason = f"{measure!r} is not evaluated; evaluated are {', '.join(listed)}"
            raise OptionError("--sort", reason + evaluated_name(measure, listed))
        name, better = names[spelled[0]]
        if not better:
            raise OptionError("--sort", f"neither higher nor lower values of {name} are better")
        return name, better

    def of(self, paths: list[str]) -> Iterator[Scores | None]:
        """The scores of each run, in order; None for one that cannot be evaluated."""
        in_processes = self._jobs > 1 and len(paths) > 1
        return self._in_processes(paths) if in_processes else self._one_by_one(paths)

    def _one_by_one(self, paths: list[str]) -> Iterator[Scores | None]:
        for path in paths:
            try:
                scores = scores_of_run(self._plan, path, self._threads, self._warn)
            except (FastrankError, ImportError) as error:
                self._fail(path, error)
                yield None
            else:
                yield scores

    def _in_processes(self, paths: list[str]) -> Iterator[Scores | None]:
        # Imported late: they take longer than the evaluation of a small file.
        from fastrank.cli.jobs import processes
        from fastrank.common.progress import bar
        from fastrank.core.evaluation.evaluate_many import evaluate_each, warnings_of

        executors = processes(min(self._jobs, len(paths)))
        with executors as executor, bar("evaluate", len(paths), "runs", self._progress) as shown:
            outcomes = evaluate_each(
                self._plan, paths, executor=executor, threads=self._threads or 1
            )
            for path, (value, error) in zip(paths, outcomes, strict=True):
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


def check_names(arguments: argparse.Namespace) -> None:
    """Raise UsageError unless --name is given once for each run, without --tags, or not used."""
    if arguments.names is None:
        return
    if arguments.tags:
        raise UsageError("--name and --tags cannot be combined")
    if len(arguments.names) != len(arguments.runs):
        raise UsageError(
            f"--name: expected one for each of {len(arguments.runs)} runs,"
            f" found {len(arguments.names)}"
        )


def _options(arguments: argparse.Namespace) -> Options:
    """The evaluation options. Raises OptionError, and errors of the --exclude file."""
    options = evaluation_options(given_options(arguments, EvaluationOptions))
    preferences = arguments.relevance_format in ("prefs", "qrels_prefs")
    relevance_format = "prefs" if preferences else arguments.relevance_format
    return options.changed(relevance_format=relevance_format)


def _explained(error: FastrankError | ImportError, path: str) -> str:
    """The error message, with the run's path unless it names that or the qrels as wrong."""
    names_it = hasattr(error, "path") or bool(getattr(error, "source", None))
    return str(error) if names_it else f"{name_of(path)}: {error}"
