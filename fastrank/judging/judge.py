"""The protocol of judges, and the choice of the judge for a run."""

from __future__ import annotations

from fastrank.data.grade_scale import Graded
from fastrank.data.run import Run
from fastrank.formats.chunks import Parts
from fastrank.formats.source import Pieces
from fastrank.formats.trec import parse_run, python_warning, read_pieces, read_trec_run
from fastrank.judging.needs import check_columns, rankings_suffice
from fastrank.judging.options import check_options
from fastrank.judging.streaming import FileJudge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol, TypeVar

    from fastrank.data.preferences import Preferences
    from fastrank.data.qrels import Qrels
    from fastrank.formats.trec import Warn
    from fastrank.judging.dict_index import DictJudgments
    from fastrank.judging.dicts import DictJudge
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
    """Judges runs of any kind, each with the fastest suitable judge.

    May be called from several threads. Raises OptionError and MeasureError for options that the
    measures do not support.
    """

    def __init__(
        self,
        judgments: Qrels | Preferences | DictJudgments,
        measures: list[BoundMeasure],
        options: Options,
    ) -> None:
        check_options(measures, options)
        check_columns(judgments, measures, options)
        self.judgments, self._measures, self._options = judgments, measures, options
        self._converted: Any = None
        self._rankings_suffice = rankings_suffice(judgments, measures, options)
        self._memory: MemoryJudge | None = None
        self._dicts: DictJudge | None = None
        # Those that no thread is using; each keeps its memory for the next file.
        self._idle: list[FileJudge] = []

    def judge(
        self, run: Any, *, threads: int | None = None, warn: Warn = python_warning
    ) -> JudgedRun:
        """Judge a run, anything one can be made from, or the Pieces of a file in TREC format.

        threads: the maximum number of threads that judge a file, by default as many as are useful.
        Raises ReadError and FormatError for a file, InputError and TypeError for invalid runs.
        """
        if not isinstance(run, Pieces):
            # The trec_eval command does without the module.
            from fastrank.formats.inputs import open_run

            options = self._options
            run = open_run(
                run, trec_eval_version=options.trec_eval_version, rank_by=options.rank_by
            )
        if isinstance(run, Run):
            return self._in_memory(run)
        if isinstance(run, Pieces):
            return self._judge_file(run, threads, warn)
        return self._judge_dict(run)

    def release(self, judged: JudgedRun) -> None:
        """Let the next run have the memory of a judged run, which must not be used any more."""
        if self._dicts is not None and self._dicts.batches is not None:
            self._dicts.batches.release(judged.batch)

    def _in_memory(self, run: Run) -> JudgedRun:
        if self._memory is None:
            # The trec_eval command does without the module for most runs.
            from fastrank.judging.memory import MemoryJudge

            self._memory = MemoryJudge(self._with_texts(), self._measures, self._options)
        return self._memory.judge(run)

    def _with_texts(self) -> Any:
        """The judgments with the texts of their documents, which those that are dicts lack."""
        if self._converted is None:
            converted = self.judgments
            if isinstance(converted, Graded):
                # The trec_eval command does without the module.
                from fastrank.judging.dict_index import with_texts

                converted = with_texts(converted)
            self._converted = converted
        return self._converted

    def _judge_file(self, file: Pieces, threads: int | None, warn: Warn) -> JudgedRun:
        options = self._options
        version, strict = options.trec_eval_version, not options.original
        with file:
            content = None
            if self._rankings_suffice:
                # What is judged in vain is read again.
                content = None if file.rereadable else file.read()
                judge = self._file_judge()
                judged = judge.judge(Parts(file if content is None else content, threads))
                self._idle.append(judge)
                file.check_unchanged()
                if judged is not None:
                    return judged
            if content is not None:
                run = parse_run(
                    content, file.name, trec_eval_version=version, warn=warn, strict=strict
                )
            elif strict:
                rank_by = options.rank_by
                run = read_trec_run(
                    file, trec_eval_version=version, rank_by=rank_by, warn=warn, threads=threads
                )
            else:
                run = read_pieces(
                    file, trec_eval_version=version, warn=warn, threads=threads, strict=False
                )
        return self._in_memory(run)

    def _file_judge(self) -> FileJudge:
        # `if self._idle` could be wrong a moment later, in another thread.
        try:
            return self._idle.pop()
        except IndexError:
            return FileJudge(self._with_texts(), self._measures, self._options)

    def _judge_dict(self, run: Mapping[Any, Any]) -> JudgedRun:
        from collections.abc import Mapping

        # What is not a dict of dicts is for the conversion to refuse, whether it is judged or not.
        nested = all(issubclass(kind, Mapping) for kind in set(map(type, run.values())))
        if self._rankings_suffice and nested:
            if self._dicts is None:
                from fastrank.judging.dicts import DictJudge

                judgments: Any = self.judgments
                self._dicts = DictJudge(judgments, self._measures, self._options)
            judged = self._dicts.judge(run)
            if judged is not None:
                return judged
        from fastrank.formats.dicts import run_from_dict
        from fastrank.formats.run_names import refuse_mixed

        refuse_mixed(run)
        return self._in_memory(run_from_dict(run, source="run", rank_by=self._options.rank_by))
