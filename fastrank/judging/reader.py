"""Runs as they are evaluated: in memory, or judged already while they were read."""

from __future__ import annotations

from fastrank.data.qrels import Qrels
from fastrank.formats.trec import python_warning, read_run
from fastrank.judging.options import judging_options, needs_run
from fastrank.judging.queries import evaluates_missing
from fastrank.judging.streaming import FileJudge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fastrank.data.preferences import Preferences
    from fastrank.data.run import Run
    from fastrank.formats.files import Source
    from fastrank.formats.source import Pieces
    from fastrank.formats.trec import Warn
    from fastrank.judging.dicts import DictJudge
    from fastrank.judging.judged import JudgedRun
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure


class RunReader:
    """Reads runs for evaluation, judging them meanwhile where that can be done."""

    def __init__(
        self, judgments: Qrels | Preferences, bound: list[BoundMeasure], options: Options
    ) -> None:
        self._compat, self._order = options.compat, options.order
        self._judging = judging_options(bound, options, judgments)
        self._only, self._with_absent = options.query, evaluates_missing(options)
        # Judgments by which a run can be judged without being in memory.
        self._qrels: Qrels | None = None
        if (
            isinstance(judgments, Qrels)
            and options.relevance_format == "qrels"
            and options.can_stream
            and not needs_run(bound)
        ):
            self._qrels = judgments
        self._files: FileJudge | None = None
        self._dicts: DictJudge | None = None

    def read(
        self,
        source: Source | Pieces,
        *,
        threads: int | None = None,
        warn: Warn = python_warning,
    ) -> JudgedRun | Run:
        """A run file in TREC's format. Raises ReadError and FormatError."""
        if self._qrels is None:
            return read_run(
                source, compat=self._compat, order=self._order, warn=warn, threads=threads
            )
        if self._files is None:
            self._files = FileJudge(
                self._qrels,
                self._judging,
                only=self._only,
                with_absent=self._with_absent,
                compat=self._compat,
            )
        return self._files.judge(source, threads=threads, warn=warn)

    def judge_dict(self, run: Mapping[Any, Any]) -> JudgedRun | Run:
        """A run of the form {query: {document: score}}. Raises InputError."""
        from collections.abc import Mapping

        # What is no dict of dicts is for the conversion to refuse, whether it is judged or not.
        nested = all(issubclass(kind, Mapping) for kind in set(map(type, run.values())))
        if self._qrels is not None and nested:
            if self._dicts is None:
                from fastrank.judging.dicts import DictJudge

                self._dicts = DictJudge(
                    self._qrels, self._judging, only=self._only, with_absent=self._with_absent
                )
            judged = self._dicts.judge(run)
            if judged is not None:
                return judged
        from fastrank.formats.dicts import run_from_dict

        return run_from_dict(run, source="run", order=self._order)
