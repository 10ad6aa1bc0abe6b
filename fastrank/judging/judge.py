"""What a judge is, and which one judges a run."""

from __future__ import annotations

from _thread import allocate_lock

from fastrank.data.run import Run
from fastrank.formats.chunks import Parts
from fastrank.formats.source import Pieces
from fastrank.formats.trec import parse_run, python_warning, read_pieces, read_run
from fastrank.judging.needs import rankings_suffice
from fastrank.judging.options import check_options
from fastrank.judging.streaming import FileJudge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol, TypeVar

    from fastrank.data.preferences import Preferences
    from fastrank.data.qrels import Qrels
    from fastrank.formats.trec import Warn
    from fastrank.judging.dicts import DictJudge
    from fastrank.judging.judged import JudgedRun
    from fastrank.judging.memory import MemoryJudge
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure

    Given = TypeVar("Given", contravariant=True)

    class Judge(Protocol[Given]):
        """Judges runs of one kind; made for judgments, measures and options.

        judgments: those whose queries a JudgedRun counts.
        """

        judgments: Any

        def judge(self, run: Given, /) -> JudgedRun:
            """Judge a run."""


class RunJudge:
    """Judges runs of any kind, each in the way that suits it best.

    May be called from several threads. Raises OptionError and MeasureError for options that the
    measures cannot have.
    """

    def __init__(
        self, judgments: Qrels | Preferences, measures: list[BoundMeasure], options: Options
    ) -> None:
        check_options(measures, options)
        self.judgments, self._measures, self._options = judgments, measures, options
        self._qrels = rankings_suffice(judgments, measures, options)
        self._memory: MemoryJudge | None = None
        self._files: FileJudge | None = None
        self._dicts: DictJudge | None = None
        # What judges files keeps its memory from one to the next.
        self._reading = allocate_lock()

    def judge(
        self, run: Any, *, threads: int | None = None, warn: Warn = python_warning
    ) -> JudgedRun:
        """Judge a run, or what one can be made from; Pieces are those of a file in TREC's format.

        threads: how many may judge a file, by default as many as help. Raises ReadError and
        FormatError for a file, InputError and TypeError for what is no run.
        """
        if not isinstance(run, Pieces):
            # The trec_eval command does without the module.
            from fastrank.formats.inputs import open_run

            run = open_run(run, order=self._options.order)
        if isinstance(run, Run):
            return self._in_memory(run)
        if isinstance(run, Pieces):
            return self._judge_file(run, threads, warn)
        return self._judge_dict(run)

    def _in_memory(self, run: Run) -> JudgedRun:
        if self._memory is None:
            # The trec_eval command does without the module for most runs.
            from fastrank.judging.memory import MemoryJudge

            self._memory = MemoryJudge(self.judgments, self._measures, self._options)
        return self._memory.judge(run)

    def _judge_file(self, file: Pieces, threads: int | None, warn: Warn) -> JudgedRun:
        options = self._options
        compat, strict = options.compat, not options.original
        with file:
            content = None
            if self._qrels is not None:
                # What is judged in vain is read again.
                content = None if file.rereadable else file.read()
                with self._reading:
                    if self._files is None:
                        self._files = FileJudge(self._qrels, self._measures, self._options)
                    judged = self._files.judge(Parts(file if content is None else content, threads))
                file.check_unchanged()
                if judged is not None:
                    return judged
            if content is not None:
                run = parse_run(content, file.name, compat=compat, warn=warn, strict=strict)
            elif strict:
                order = options.order
                run = read_run(file, compat=compat, order=order, warn=warn, threads=threads)
            else:
                run = read_pieces(file, compat=compat, warn=warn, threads=threads, strict=False)
        return self._in_memory(run)

    def _judge_dict(self, run: Mapping[Any, Any]) -> JudgedRun:
        from collections.abc import Mapping

        # What is no dict of dicts is for the conversion to refuse, whether it is judged or not.
        nested = all(issubclass(kind, Mapping) for kind in set(map(type, run.values())))
        if self._qrels is not None and nested:
            if self._dicts is None:
                from fastrank.judging.dicts import DictJudge

                self._dicts = DictJudge(self._qrels, self._measures, self._options)
            judged = self._dicts.judge(run)
            if judged is not None:
                return judged
        from fastrank.formats.dicts import run_from_dict

        return self._in_memory(run_from_dict(run, source="run", order=self._options.order))
