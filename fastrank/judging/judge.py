"""The choice of the judge for a run: of files while they are read, or in memory."""

from __future__ import annotations

from fastrank.formats.chunks import Content, FileParts
from fastrank.formats.source import SourceFile
from fastrank.formats.trec import parse, python_warning, read_trec_run
from fastrank.judging.options import Options, check_columns, rankings_suffice
from fastrank.judging.streaming import FileJudge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.qrels import Preferences, Qrels
    from fastrank.formats.trec import Warn
    from fastrank.judging.dicts import DictJudge, DictJudgments
    from fastrank.judging.judged import JudgedRun
    from fastrank.measures.selection import BoundMeasure


class RunJudge:
    """Judges runs of any kind: files while they are read, others in memory.

    May be called from several threads. options: which `check_options` has accepted. Raises
    MeasureError for measures of columns that the judgments do not have.
    """

    def __init__(
        self,
        judgments: Qrels | Preferences | DictJudgments,
        measures: list[BoundMeasure],
        options: Options,
    ) -> None:
        check_columns(judgments, measures, options)
        self.judgments, self.measures, self.options = judgments, measures, options
        self._memory: DictJudge | None = None
        # Those that no thread is using; each keeps its memory for the next file.
        self._idle: list[FileJudge] = []

    def judge(
        self, run: Any, *, threads: int | None = None, warn: Warn = python_warning
    ) -> JudgedRun:
        """Judge a run, anything one can be made from, or the SourceFile of a file in TREC format.

        threads: the maximum number of threads that judge a file, by default as many as are useful.
        Raises ReadError and FormatError for a file, InputError and TypeError for invalid runs.
        """
        if type(run) is dict and type(next(iter(run.values()), None)) is dict:
            return self._in_memory(run)
        if not isinstance(run, SourceFile):
            # The trec_eval command does without the module.
            from fastrank.formats.inputs import open_run

            options = self.options
            run = open_run(
                run,
                trec_eval_version=options.trec_eval_version,
                rank_by=options.rank_by,
            )
        if isinstance(run, SourceFile):
            return self._judge_file(run, threads, warn)
        return self._in_memory(run)

    def _in_memory(self, run: Any) -> JudgedRun:
        """Judge a run in memory."""
        if self._memory is None:
            # The trec_eval command does without the module for most runs.
            from fastrank.judging.dicts import DictJudge

            self._memory = DictJudge(self.judgments, self.measures, self.options)
        return self._memory.judge(run)

    def _judge_file(self, file: SourceFile, threads: int | None, warn: Warn) -> JudgedRun:
        options, strict = self.options, not self.options.original
        how: dict[str, Any] = {"trec_eval_version": options.trec_eval_version, "warn": warn}
        with file:
            content = None
            if rankings_suffice(self.judgments, self.measures, options):
                # What is judged in vain is read again.
                content = None if file.rereadable else file.read()
                judge = self._file_judge()
                parts = FileParts(file, threads)
                if content is not None:
                    parts = FileParts(Content(content), 1)
                judged = judge.judge(parts)
                self._idle.append(judge)
                file.check_unchanged()
                if judged is not None:
                    return judged
            if content is not None:
                run = parse(content, file.name, "trec_results", strict=strict, **how)
            else:
                rank_by = options.rank_by
                run = read_trec_run(file, rank_by=rank_by, threads=threads, strict=strict, **how)
        return self._in_memory(run)

    def _file_judge(self) -> FileJudge:
        # `if self._idle` could be wrong a moment later, in another thread.
        try:
            return self._idle.pop()
        except IndexError:
            judgments: Any = self.judgments
            if hasattr(judgments, "dicts"):
                # The trec_eval command does without the module.
                from fastrank.judging.dicts import with_texts

                judgments = with_texts(judgments)
            return FileJudge(judgments, self.measures, self.options)
