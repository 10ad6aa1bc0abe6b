"""Judgments, measures and options, ready to evaluate runs."""

from __future__ import annotations

import os
import stat

from fastrank.evaluation.scoring import score
from fastrank.formats.trec import python_warning
from fastrank.judging.judge import RunJudge
from fastrank.judging.queries import choose_queries, count_without_relevant
from fastrank.measures.custom import functions_of, with_functions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.formats.trec import Warn
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure
    from fastrank.scores.scores import Scores


FileState = tuple[str, int, int]


def file_state(source: Any) -> FileState | None:
    """The absolute path, size and time of change of a file; None for anything else."""
    if not isinstance(source, (str, os.PathLike)):
        return None
    try:
        status = os.stat(source)
    except (OSError, ValueError):
        return None
    path = os.path.abspath(os.fsdecode(source))
    return (path, status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def _begins_with_integer(run: dict[Any, Any]) -> bool:
    """Whether the first score of a dict is an integer, as grades are."""
    documents = next(iter(run.values()), None)
    return isinstance(documents, dict) and type(next(iter(documents.values()), None)) is int


class Prepared:
    """Evaluates runs against judgments, of which the options choose the queries.

    May be used by several threads, and pickled for other processes. Raises OptionError and
    MeasureError for options that do not apply to the judgments or the measures.

    file: of the judgments, if they were read from one that other processes may read.
    keeps_ties: whether Scores of dicts have their `ties` where that takes a copy of the rankings.
    """

    def __init__(
        self,
        judgments: Any,
        bound: list[BoundMeasure],
        options: Options,
        file: FileState | None = None,
    ) -> None:
        self.judgments, self._left_out = choose_queries(judgments, options)
        self.bound, self.options = bound, options
        self.file = file
        self.keeps_ties = False
        self._no_relevant: int | None = None
        self._judge = RunJudge(self.judgments, bound, options)

    def __getstate__(self) -> dict[str, Any]:
        # A judge has reusable memory.
        kept = {name: value for name, value in vars(self).items() if name != "_judge"}
        return {**kept, "functions": functions_of(self.bound)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        functions = state.pop("functions")
        vars(self).update(state)
        self.bound = with_functions(self.bound, functions)
        self._judge = RunJudge(self.judgments, self.bound, self.options)

    def scores_of(self, run: Any, threads: int | None, warn: Warn = python_warning) -> Scores:
        """Evaluate a run, as `Evaluator.evaluate` takes it. warn: is called with warnings."""
        if isinstance(run, dict) and _begins_with_integer(run):
            # Imported late: few scores are integers.
            from fastrank.formats.dicts import warn_if_swapped

            warn_if_swapped(self.judgments, run, warn)
        judged = self._judge.judge(run, threads=threads, warn=warn)
        if self._no_relevant is None:
            self._no_relevant = count_without_relevant(self.judgments, self.options)
        scores = score(
            self.judgments, judged, self.bound, self.options,
            left_out=self._left_out, no_relevant=self._no_relevant,
        )  # fmt: skip
        if judged.judged is not None and judged.judged.has_ties:
            # Imported late: many runs have no ties.
            from fastrank.evaluation.ties import ties_of

            given = self.judgments, judged, self.bound, self.options, self._left_out
            ties = ties_of(*given, kept=self.keeps_ties)
            scores = scores if ties is None else scores.changed(ties=ties)
        self._judge.release(judged)
        return scores
