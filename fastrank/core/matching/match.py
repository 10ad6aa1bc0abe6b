"""The one way from a run of any form to a judged run: files while they are read, else in memory."""

from __future__ import annotations

from fastrank.common.messages import python_warning
from fastrank.core.formats.files.chunks import Content, FileParts
from fastrank.core.formats.files.source import SourceFile
from fastrank.core.formats.trec.reader import note_tags, parse, read_trec_run
from fastrank.core.matching.files import match_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.common.messages import Warn
    from fastrank.core.matching.judged import JudgedRun
    from fastrank.core.matching.plan import Plan


def match(
    plan: Plan, run: object, *, threads: int | None = None, warn: Warn = python_warning
) -> JudgedRun:
    """Judge a run, anything one can be made from, or the SourceFile of a file in TREC format.

    threads: the maximum number of threads that judge a file, by default as many as are useful.
    Raises ReadError and FormatError for a file, InputError and TypeError for invalid runs.
    """
    if type(run) is not dict or type(next(iter(run.values()), None)) is not dict:
        if not isinstance(run, SourceFile):
            # The trec_eval command does without the module.
            from fastrank.core.formats.inputs import open_run

            options = plan.options
            run = open_run(
                run, trec_eval_version=options.trec_eval_version, rank_by=options.rank_by
            )
        if isinstance(run, SourceFile):
            return _match_file(plan, run, threads, warn)
    # The trec_eval command does without the module for most runs.
    from fastrank.core.matching.dicts import match_dicts

    return match_dicts(plan, run)


def _match_file(plan: Plan, file: SourceFile, threads: int | None, warn: Warn) -> JudgedRun:
    options, strict = plan.options, not plan.options.original
    how: dict[str, Any] = {"trec_eval_version": options.trec_eval_version, "warn": warn}
    with file:
        content = None
        if plan.streams:
            # If judging gives up, the file is read again.
            content = None if file.rereadable else file.read()
            parts = FileParts(file, threads)
            if content is not None:
                parts = FileParts(Content(content), 1)
            judged = match_file(plan.texts, parts)
            file.check_unchanged()
            if judged is not None:
                if strict:
                    note_tags(file.name, content or file.beginning(), judged.tag, warn)
                return judged
        if content is not None:
            run = parse(content, file.name, "trec_results", strict=strict, **how)
        else:
            rank_by = options.rank_by
            run = read_trec_run(file, rank_by=rank_by, threads=threads, strict=strict, **how)
    # The trec_eval command does without the module for most runs.
    from fastrank.core.matching.texts import match_texts

    return match_texts(plan.texts, run)
