"""`fastrank eval --resume`: take the scores of runs from a store, and add those that are new."""

from __future__ import annotations

import os

from fastrank.cli.flags import given_options
from fastrank.cli.output import complain
from fastrank.errors import OptionError
from fastrank.formats.digests import judgments_digest
from fastrank.judging.evaluation_options import EVALUATION
from fastrank.plurals import counted
from fastrank.stores.evaluation import settings_of
from fastrank.stores.resuming import Resumed, fingerprint
from fastrank.stores.run_files import state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from fastrank.cli.run_scores import RunScores
    from fastrank.scores.scores import Scores


class StoredScores:
    """The scores of runs, from a store if it has them.

    Runs that cannot be evaluated are not stored, nor are those that cause a warning, nor pipes.
    failed: whether scores could not be stored. Raises FastrankError for an invalid store.
    """

    def __init__(self, name: str, given: argparse.Namespace, runs: RunScores) -> None:
        if given.output is not None and os.path.realpath(given.output) == os.path.realpath(
            given.resume
        ):
            raise OptionError("--resume", f"expected another file than that of -o: {given.resume}")
        options = given_options(given, EVALUATION)
        settings = settings_of(
            given.qrels,
            judgments_digest(runs.all_judgments),
            given.measure or ["official"],
            {**options, "relevance_format": runs.options.relevance_format},
        )
        self._name, self._path, self._runs = name, given.resume, runs
        self._resumed = Resumed(given.resume, settings, runs.bound, self._warn)
        self.failed = False

    def of(self, path: str) -> Scores | None:
        """The scores of a run; None if it cannot be evaluated."""
        found: Scores | None = None
        try:
            found = self._resumed.get(path)
        except OSError as error:
            self._fail(error)
        if found is not None:
            return found
        state, warnings = state_of(path), self._runs.warnings
        scores = self._runs.of(path)
        if scores is None or self.failed or self._runs.warnings > warnings:
            return scores
        known = fingerprint(path, state)
        try:
            if known is not None:
                self._resumed.add(path, known, scores)
        except OSError as error:
            self._fail(error)
        return scores

    def close(self, count: int) -> None:
        """Close the store, and report how many of the runs were taken from it."""
        self._resumed.close()
        if self._resumed.found:
            runs = counted(count, "run")
            self._warn(f"{self._resumed.found} of {runs} taken from {self._path}")

    def _fail(self, error: OSError) -> None:
        self.failed = True
        self._warn(f"cannot write {self._path}: {error.strerror}; further scores are not stored")

    def _warn(self, message: str) -> None:
        complain(f"{self._name}: {message}")
