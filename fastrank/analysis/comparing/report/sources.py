"""What the values of a report are from: files with their digests, judgments, and rankings."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping

from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.inputs import as_qrels, as_run, is_file
from fastrank.core.formats.load import read_run
from fastrank.core.formats.tables.to_run import apply_order
from fastrank.core.formats.trec.digests import file_digest
from fastrank.core.formats.trec.line_files import as_exclusions
from fastrank.core.matching.filters import rows_of, without_excluded, without_repeats
from fastrank.core.native.buffers import filled
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.core.formats.inputs import RunLike, RunsLike
    from fastrank.core.formats.run import Run


class Sources:
    """The judgments and the runs that were compared.

    files: of those that are files, (role, path, SHA-256). runs: without the documents that the
    evaluation dropped. dropped: {system: the numbers of excluded and of duplicate documents}.
    """

    def __init__(self, comparison: Comparison, qrels: Any, runs: RunsLike) -> None:
        self._evaluation = comparison.evaluation
        version = self._evaluation.get("trec_eval_version", DEFAULT_VERSION)
        self._how: dict[str, Any] = {"trec_eval_version": version}
        by_system = _in_order(runs, comparison.names)
        digests = [("qrels", qrels, file_digest(qrels))]
        digests += [(system, run, file_digest(run)) for system, run in by_system.items()]
        self.files = [(role, name_of(source), digest) for role, source, digest in digests if digest]
        self.judgments: Any = as_qrels(qrels, **self._how)
        self.runs: dict[str, Run] = {}
        self.dropped: dict[str, list[int]] = {}
        queries = set(map(os.fsencode, comparison.queries))
        for system, run in by_system.items():
            self.runs[system], *self.dropped[system] = self._filtered(self._read(run), queries)

    def _read(self, run: Any) -> Run:
        """A run, ranked as it was for the comparison; warnings were given then."""
        rank_by = self._evaluation.get("rank_by", "score")
        if is_file(run):
            return read_run(run, rank_by=rank_by, warn=lambda _: None, **self._how)
        return apply_order(as_run(run, **self._how), rank_by)

    @property
    def graded(self) -> bool:
        """Whether documents have grades; preferences have none."""
        return hasattr(self.judgments, "grades")

    def to_inspect(self, measure: str) -> str:
        """What makes a page of the rankings: a command if all are files, else a line of Python."""
        if len(self.files) > len(self.runs):
            paths = [path for _, path, _ in self.files]
            return shlex.join(["fastrank", "inspect", "-m", measure, "-o", "inspect.html", *paths])
        return f'fr.inspect(qrels, runs, {measure!r}).write("inspect.html")'

    def _filtered(self, run: Run, queries: set[bytes]) -> tuple[Run, int, int]:
        """A run without the documents that the evaluation dropped, and how many of the queries."""
        rankings = filled("q", [i for i, query in enumerate(run.queries) if query in queries])
        before = rows_of(run, rankings)
        exclude = as_exclusions(self._evaluation.get("exclude"))
        identical = self._evaluation.get("ignore_identical_ids", False)
        run = without_excluded(run, exclude, identical=identical)
        between = rows_of(run, rankings)
        duplicates = self._evaluation.get("duplicates", "error")
        if duplicates != "error":
            run = without_repeats(run, by_score=duplicates == "max")
        return run, before - between, between - rows_of(run, rankings)


def _in_order(runs: RunsLike, names: list[str]) -> dict[str, RunLike]:
    """The run of each system. Raises OptionError unless there is one for each."""
    if isinstance(runs, Mapping):
        missing = [name for name in names if name not in runs]
        if missing:
            raise OptionError("runs", f"no run {missing[0]!r}, which was compared")
        return {name: runs[name] for name in names}
    if not isinstance(runs, (list, tuple)) or len(runs) != len(names):
        actual = len(runs) if isinstance(runs, (list, tuple)) else type(runs).__name__
        raise OptionError("runs", f"expected a list of {len(names)} runs, found {actual}")
    return dict(zip(names, runs, strict=True))
