"""The protocol of judges, and the choice of the judge for a run."""

from __future__ import annotations

from fastrank.formats.chunks import Content, FileParts
from fastrank.formats.source import SourceFile
from fastrank.formats.trec import parse, python_warning, read_open_run, read_trec_run
from fastrank.judging.needs import check_columns, rankings_suffice
from fastrank.judging.streaming import FileJudge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol, TypeVar

    from fastrank.data.qrels import Preferences, Qrels
    from fastrank.formats.trec import Warn
    from fastrank.judging.dicts import DictJudgments, DictStore
    from fastrank.judging.judged import JudgedRun
    from fastrank.judging.memory import MemoryJudge
    from fastrank.judging.options import Options
    from fastrank.measures.selection import BoundMeasure

    Given = TypeVar("Given", contravariant=True)

    class Judge(Protocol[Given]):
        """Judges runs of one kind; made for judgments, measures and options.

        judgments: the judgments to which the query indexes of a JudgedRun refer.
        """

        judgments: Any

        def judge(self, run: Given, /) -> JudgedRun:
            """Judge a run."""


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
        self.judgments, self._measures, self._options = judgments, measures, options
        self._rankings_suffice = rankings_suffice(judgments, measures, options)
        self._store: DictStore | None = None
        self._memory: MemoryJudge | None = None
        # Those that no thread is using; each keeps its memory for the next file.
        self._idle: list[FileJudge] = []

    def judge(
        self, run: Any, *, threads: int | None = None, warn: Warn = python_warning
    ) -> JudgedRun:
        """Judge a run, anything one can be made from, or the SourceFile of a file in TREC format.

        threads: the maximum number of threads that judge a file, by default as many as are useful.
        Raises ReadError and FormatError for a file, InputError and TypeError for invalid runs.
        """
        if not isinstance(run, SourceFile):
            # The trec_eval command does without the module.
            from fastrank.formats.inputs import open_run

            options = self._options
            run = open_run(
                run, trec_eval_version=options.trec_eval_version, rank_by=options.rank_by
            )
        if isinstance(run, SourceFile):
            return self._judge_file(run, threads, warn)
        return self._in_memory(run)

    def release(self, judged: JudgedRun) -> None:
        """Let the next run have the memory of a judged run, which must not be used any more."""
        if self._store is not None:
            self._store.release(judged.batch)

    def _in_memory(self, run: Any) -> JudgedRun:
        """Judge a run in memory."""
        if self._memory is None:
            # The trec_eval command does without the modules for most runs.
            from fastrank.judging.dicts import DictStore
            from fastrank.judging.memory import MemoryJudge

            given = self._measures, self._options
            self._store = DictStore(self.judgments, *given)
            self._memory = MemoryJudge(self._store, *given)
        return self._memory.judge(run)

    def _judge_file(self, file: SourceFile, threads: int | None, warn: Warn) -> JudgedRun:
        options = self._options
        version, strict = options.trec_eval_version, not options.original
        with file:
            content = None
            if self._rankings_suffice:
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
                run = parse(
                    content,
                    file.name,
                    "trec_results",
                    trec_eval_version=version,
                    warn=warn,
                    strict=strict,
                )
            elif strict:
                rank_by = options.rank_by
                run = read_trec_run(
                    file, trec_eval_version=version, rank_by=rank_by, warn=warn, threads=threads
                )
            else:
                run = read_open_run(
                    file, trec_eval_version=version, warn=warn, threads=threads, strict=False
                )
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
            return FileJudge(judgments, self._measures, self._options)
