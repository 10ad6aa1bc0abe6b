"""The command `fastrank spans`: from places in texts to judgments of chunks, and measures."""

from __future__ import annotations

from inspect import signature

from fastrank.analysis.spans.evaluate import MEASURES, evaluate_spans
from fastrank.analysis.spans.qrels import span_qrels
from fastrank.analysis.spans.readers import lookup_of, read_chunks, read_spans
from fastrank.cli.command import Command, flag_of
from fastrank.cli.flags import INPUTS, METHOD, given_options
from fastrank.core.formats import formats
from fastrank.core.formats.endings import SUFFIXES
from fastrank.core.formats.inputs import run_names
from fastrank.core.formats.load import write_qrels
from fastrank.core.results.result import FORMS
from fastrank.core.scores.tables import table
from fastrank.core.scores.text import notes
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from fastrank.cli.parser import Parser
    from fastrank.core.results.table import Table

QRELS_FORMATS = formats.written_formats("qrels")
EPILOG = f"""\
examples:
  fastrank spans spans.csv chunks.csv -o chunks.qrels
  fastrank spans --min-overlap 0.3 spans.csv chunks.csv -o chunks.qrels
  fastrank spans --texts texts/ spans.csv chunks.jsonl -o chunks.qrels
  fastrank spans -m 'SpanRecall@5 SpanIoU@5' spans.csv chunks.csv runs/*.run

SPANS has the columns query, document, start, end, and optionally grade and
evidence; CHUNKS chunk, document, start, end, or text instead of start and end,
which needs --texts. Both are CSV, TSV, JSON, JSONL or parquet; places are
characters. Without RUN, judgments of the chunks are written, as
{", ".join(QRELS_FORMATS)};
with RUN, a table of these measures of the text, as
{", ".join(FORMS)}:
{MEASURES}

Exit status: 0 for success, 1 for wrong inputs, 2 for invalid options.
"""
# Options of judgments, which the measures do not use.
OPTIONS = ("min_overlap", "characters", "of", "grade", "subtopics")


def _declare(parser: Parser) -> None:
    add = parser.add
    add("SPANS", "places in documents that are evidence for queries")
    add("CHUNKS", "the chunks of the documents, with their places")
    add("[RUN ...]", "runs of chunks, to evaluate the text they retrieve", dest="runs")
    add("-m, --measure MEASURE ...", "measure of text of the runs", group=INPUTS)
    parser.add_texts()
    parser.add_output()
    parser.add_flags(span_qrels, OPTIONS, group=METHOD)
    parser.add_flags(evaluate_spans, ["missing"])


def _run(arguments: argparse.Namespace) -> Table | None:
    _check_options(arguments)
    texts = lookup_of(arguments.texts) if arguments.texts else None
    spans, chunks = read_spans(arguments.spans, texts), read_chunks(arguments.chunks, texts)
    if not arguments.runs:
        qrels = span_qrels(spans, chunks, **given_options(arguments, OPTIONS))
        write_qrels(qrels, arguments.output or "-", arguments.format)
        return None
    measures, scores = arguments.measure or MEASURES, []
    for run in arguments.runs:
        scores.append(evaluate_spans(spans, chunks, run, measures, missing=arguments.missing))
        for note in notes(scores[-1]):
            arguments.command.warn(note)
    # The notes were warnings.
    return table(scores, run_names(arguments.runs)).changed(notes=())


def _check_options(arguments: argparse.Namespace) -> None:
    """Raise OptionError for options that have no effect."""
    with_runs = f"with{'' if arguments.runs else 'out'} a RUN"
    if arguments.format not in (allowed := FORMS if arguments.runs else QRELS_FORMATS):
        expected = f"{with_runs}, expected one of {', '.join(allowed)}"
        raise OptionError("--format", f"{expected}, found {arguments.format}")
    of_qrels, of_runs = signature(span_qrels).parameters, signature(evaluate_spans).parameters
    defaults = {name: of_qrels[name].default for name in OPTIONS}
    if not arguments.runs:
        defaults = {"measure": None, "missing": of_runs["missing"].default}
    for name, default in defaults.items():
        if getattr(arguments, name) != default:
            raise OptionError(flag_of(name), f"no effect {with_runs}")


COMMAND = Command(
    "fastrank spans",
    _declare,
    _run,
    usage=("SPANS CHUNKS [RUN...]",),
    epilog=EPILOG,
    formats=dict.fromkeys((*FORMS, *QRELS_FORMATS)),
    suffixes=formats.SUFFIXES | SUFFIXES,
    default=lambda arguments: "table" if arguments.runs else "trec",
)
