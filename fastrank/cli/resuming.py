"""`fastrank eval --resume`: take the scores of runs from a store, and add those that are new."""

from __future__ import annotations

import os

from fastrank.errors import OptionError
from fastrank.evaluation.evaluate_many import evaluate_run
from fastrank.formats.digests import judgments_digest
from fastrank.formats.source import name_of
from fastrank.judging.keywords import EvaluationOptions
from fastrank.keywords import names_of
from fastrank.messages import counted
from fastrank.results_store.records import settings_of
from fastrank.results_store.resuming import Resumed, fingerprint, state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import Any

    from fastrank.cli.run_scores import RunScores
    from fastrank.evaluation.evaluate_many import Shared
    from fastrank.results_store.resuming import Fingerprint
    from fastrank.scores.scores import Scores


def evaluate_file(shared: Shared, path: str) -> tuple[Scores, list[str], Fingerprint | None]:
    """The scores of a file, warnings, and the fingerprint of the content that was evaluated."""
    state = state_of(path)
    scores, warnings = evaluate_run(shared, path)
    return scores, warnings, fingerprint(path, state)


class StoredScores:
    """The scores of runs, from a store if it has them.

    Runs that cannot be evaluated are not stored, nor are those that cause a warning, nor pipes.
    Raises FastrankError for an invalid store.
    """

    def __init__(self, given: argparse.Namespace, runs: RunScores) -> None:
        if given.resume == "-":
            raise OptionError("--resume", "expected a file, found standard output (-)")
        if given.output is not None and os.path.realpath(given.output) == os.path.realpath(
            given.resume
        ):
            raise OptionError("--resume", f"expected another file than that of -o: {given.resume}")
        options = {name: getattr(given, name) for name in names_of(EvaluationOptions)}
        # The file of --exclude may be a pipe, which can be read only once.
        options["exclude"] = runs.options.exclude
        settings = settings_of(
            name_of(given.qrels),
            judgments_digest(runs.qrels),
            given.measures or ["official"],
            {**options, "relevance_format": runs.options.relevance_format},
        )
        self._warn, self._path, self._runs = given.command.warn, given.resume, runs
        self._resumed = Resumed(given.resume, settings, runs.bound, self._warn)

    def of(self, paths: list[str]) -> Iterator[Scores | None]:
        """The scores of each run, in order; None for one that cannot be evaluated."""
        # One by one, unless runs are sent to processes: others may add to the store meanwhile.
        for batch in [paths] if self._runs.jobs > 1 else ([path] for path in paths):
            entries = [self._resumed.find(path) for path in batch]
            new = [path for path, entry in zip(batch, entries, strict=True) if entry is None]
            values = self._runs.values(new, evaluate_file)
            for path, entry in zip(batch, entries, strict=True):
                scores = entry and self._resumed.load(entry)
                if scores is None:
                    # An entry that cannot be read any more is evaluated here.
                    found = self._runs.values([path], evaluate_file) if entry else values
                    scores = self._added(path, next(found))
                yield scores
            # The processes end.
            next(values, None)

    def _added(self, path: str, value: Any) -> Scores | None:
        """The scores of a value of `evaluate_file`, which are stored."""
        if value is None:
            return None
        scores: Scores = value[0]
        _, warnings, known = value
        if known is not None and not warnings:
            self._resumed.add(path, known, scores)
        return scores

    @property
    def failed(self) -> bool:
        """Whether scores could not be stored."""
        return self._resumed.failed

    def close(self, count: int) -> None:
        """Close the store, and report how many of the runs were taken from it."""
        self._resumed.close()
        if self._resumed.found:
            runs = counted(count, "run")
            self._warn(f"{self._resumed.found} of {runs} taken from {self._path}")
