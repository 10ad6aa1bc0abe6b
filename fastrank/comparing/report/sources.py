"""What a report shows besides the comparison: files, rankings and judgments."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.arguments import DEFAULT_VERSION
from fastrank.errors import OptionError
from fastrank.formats.digests import file_digest
from fastrank.formats.inputs import as_qrels, as_run, is_file
from fastrank.formats.line_files import as_exclusions
from fastrank.formats.load import read_run
from fastrank.formats.runs import apply_order
from fastrank.formats.source import name_of
from fastrank.judging.filters import rows_of, without_excluded, without_repeats
from fastrank.judging.rankings import rank_documents
from fastrank.native.buffers import filled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison
    from fastrank.data.run import Run

Ranking = list[tuple[str, float]]


class Rankings:
    """The rankings of the systems, and the judgments.

    files: of those that are files, (role, path, SHA-256). dropped: {system: the numbers of excluded
    and of duplicate documents that the evaluation dropped, and that are not shown}.
    """

    def __init__(self, comparison: Comparison, qrels: Any, runs: Any) -> None:
        self._version = version = comparison.evaluation.get("trec_eval_version", DEFAULT_VERSION)
        self._ties = comparison.evaluation.get("ties", "docno_desc")
        given = _in_order(runs, comparison.names)
        self.files = _hashes({"qrels": qrels} | given)
        self.judgments: Any = as_qrels(qrels, trec_eval_version=version)
        self.runs: dict[str, Run] = {}
        self.dropped: dict[str, tuple[int, int]] = {}
        queries = set(map(_bytes, comparison.queries))
        for name, run in given.items():
            found, *dropped = _filtered(
                _read(run, comparison.evaluation), comparison.evaluation, queries
            )
            self.runs[name], self.dropped[name] = found, (dropped[0], dropped[1])

    def ranking(self, system: str, query: str) -> Ranking:
        """The documents of a query with their scores, in the order of the evaluation."""
        results = _rows_of(self.runs[system], query)
        return rank_documents(
            list(results.items()), self.grades(query),
            ties=self._ties, trec_eval_version=self._version,
        )  # fmt: skip

    def grades(self, query: str) -> dict[str, float]:
        """The grades of the judged documents of a query."""
        judged = self.judgments
        # Preferences have no grades.
        found = _rows_of(judged, query) if hasattr(judged, "grades") else {}
        return dict(found)


def _read(run: Any, evaluation: Mapping[str, Any]) -> Run:
    """A run, ranked as it was for the comparison; warnings were given then."""
    rank_by = evaluation.get("rank_by", "score")
    version = evaluation.get("trec_eval_version", DEFAULT_VERSION)
    if is_file(run):
        return read_run(run, rank_by=rank_by, trec_eval_version=version, warn=_ignored)
    return apply_order(as_run(run, trec_eval_version=version), rank_by)


def _filtered(run: Run, evaluation: Mapping[str, Any], queries: set[bytes]) -> tuple[Run, int, int]:
    """The run without the documents that the evaluation dropped, and how many of the queries."""
    exclude = as_exclusions(evaluation.get("exclude"))
    rankings = filled("q", [i for i, query in enumerate(run.queries) if query in queries])
    before = rows_of(run, rankings)
    run = without_excluded(run, exclude, identical=evaluation.get("ignore_identical_ids", False))
    between = rows_of(run, rankings)
    duplicates = evaluation.get("duplicates", "error")
    if duplicates != "error":
        run = without_repeats(run, by_score=duplicates == "max")
    return run, before - between, between - rows_of(run, rankings)


def _ignored(message: str) -> None:
    """No warning is given twice."""


def _bytes(doc: str) -> bytes:
    return doc.encode("utf-8", "surrogateescape")


def _rows_of(given: Any, query: str) -> dict[str, Any]:
    """The documents of a query; a query without any is not an error."""
    try:
        return dict(given[query])
    except KeyError:
        return {}


def _in_order(runs: Any, names: list[str]) -> dict[str, Any]:
    """The run of each system. Raises OptionError unless there is one for each."""
    if isinstance(runs, Mapping):
        missing = [name for name in names if name not in runs]
        if missing:
            raise OptionError("runs", f"no run {missing[0]!r}, which was compared")
        return {name: runs[name] for name in names}
    if not isinstance(runs, (list, tuple)) or len(runs) != len(names):
        found = len(runs) if isinstance(runs, (list, tuple)) else type(runs).__name__
        raise OptionError("runs", f"expected a list of {len(names)} runs, found {found}")
    return dict(zip(names, runs, strict=True))


def _hashes(given: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    found = []
    for role, source in given.items():
        digest = file_digest(source)
        if digest is not None:
            found.append((role, name_of(source), digest))
    return found
