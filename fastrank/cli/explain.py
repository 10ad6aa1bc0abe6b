"""The command `fastrank explain`: which documents add how much to the values of a query, and under
which settings the values are those of another tool."""

from __future__ import annotations

import argparse

from fastrank.cli.evaluation_flags import ZERO, check_version
from fastrank.cli.flags import add_flags, at_least, given_options
from fastrank.cli.output import (
    add_output_flag,
    can_be_written,
    guarded,
    report_error,
    without_controls,
    write_output,
)
from fastrank.cli.output_formats import format_of_output
from fastrank.errors import FastrankError, OptionError
from fastrank.explaining.against import explain_options
from fastrank.explaining.explain import MEASURES, ROWS, explained
from fastrank.judging.keywords import EVALUATION, EvaluationOptions
from fastrank.keywords import select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from fastrank.explaining.explanation import Explanation

NAME = "fastrank explain"
EPILOG = """\
examples:
  fastrank explain -m ndcg_cut.5 -m map -q q0004 qrels.txt run.txt
  fastrank explain -m map --other after.run qrels.txt before.run
  fastrank explain -q q0004 --other after.run qrels.txt before.run
  fastrank explain -q q0004 --document d0097 qrels.txt run.txt
  fastrank explain -q q0004 --documents corpus.jsonl -o q0004.html qrels.txt \\
      run.txt
  fastrank explain --against trec_eval.txt qrels.txt run.txt

For each measure: value = sum of the column `adds` / divisor. With --other, the
documents that change the value, the largest change first. With --against,
the options and definitions that give the values of another tool.

Exit status: 0 for success, 1 for wrong inputs, 2 for invalid options.
"""
FORMATS: dict[str, Callable[[Explanation], str]] = {
    "text": str,
    "markdown": lambda explained: explained.to_markdown(),
    "html": lambda explained: explained.to_html(),
}
SUFFIXES = {".md": "markdown", ".htm": "html", ".html": "html"}
OPTIONS = select(EvaluationOptions, EVALUATION)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.usage = (
        f"{NAME} [options] -q QUERY QRELS RUN\n       {NAME} [options] --other RUN QRELS RUN\n"
        f"       {NAME} [options] --against FILE QRELS RUN"
    )
    parser.epilog = EPILOG
    add = parser.add_argument
    add("qrels", metavar="QRELS", help="qrels in any format; - is standard input")
    add("run", metavar="RUN", help="run in any format, may be compressed")
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument(
        "-q", "--query", metavar="QUERY",
        help="the id of the query to explain (default with --other: the query that differs most in"
        " the first measure)",
    )  # fmt: skip
    asked.add_argument(
        "--against", metavar="FILE",
        help="find the settings that give the values in FILE: the output of trec_eval, or JSON"
        " {measure: mean} or {query: {measure: value}}",
    )  # fmt: skip
    add(
        "-m", "--measure", action="append", default=[], metavar="MEASURE",
        help=f"measure in any notation; may be repeated (default: {MEASURES}; with --against, all"
        " of FILE; NAME=MEASURE if FILE has another name for it)",
    )  # fmt: skip
    add("--other", metavar="RUN", help="explain how the values of RUN change in this run")
    add(
        "--document", action="append", default=[], metavar="ID",
        help="print only how this document counts in each measure; may be repeated",
    )  # fmt: skip
    add(
        "--documents", metavar="FILE",
        help="titles to show: JSON lines with _id, title and text, as corpus.jsonl of BEIR",
    )  # fmt: skip
    add(
        "--rows", type=at_least(1), default=ROWS, metavar="N",
        help=f"rows of each table (default: {ROWS})",
    )  # fmt: skip
    add(
        "--format", choices=FORMATS,
        help="output format (default: by the name of the -o file, or text)",
    )  # fmt: skip
    add_output_flag(parser)
    add_flags(parser, OPTIONS, variables={"trec_eval_version": "FASTRANK_TREC_EVAL_VERSION"})


def run(given: argparse.Namespace) -> int:
    """Explain the query; returns the exit status."""
    return guarded(NAME, lambda: _run(given))


def _run(given: argparse.Namespace) -> int:
    if not check_version(given, NAME):
        return 2
    if not can_be_written(NAME, given.output):
        return 1
    try:
        if given.against is not None:
            text = _against(given)
            return write_output(NAME, given.output, _encoded(text))
        form = given.format or format_of_output(given.output, FORMATS, "text", SUFFIXES)
        found = explained(
            given.qrels, given.run, given.measure or MEASURES, given.query, given.other,
            given.documents, given.rows, given_options(given, OPTIONS), zero=ZERO,
        )  # fmt: skip
        documents = list(map(found.document, given.document))
        if documents and found.chosen:
            documents.insert(0, found.chosen)
        if form == "html" and given.output is not None and not documents:
            text = found.to_html(page=True).removesuffix("\n")
        else:
            text = "\n".join(documents) or FORMATS[form](found)
    except FastrankError as error:
        return report_error(NAME, error)
    return write_output(NAME, given.output, _encoded(text))


def _against(given: argparse.Namespace) -> str:
    """What gives the values of the other tool. Raises OptionError for flags without effect."""
    for flag in ("other", "document", "documents", "format"):
        if getattr(given, flag):
            raise OptionError(f"--{flag}", "no effect with --against")
    options = given_options(given, OPTIONS)
    found = explain_options(given.qrels, given.run, given.against, given.measure or None, **options)
    return str(found)


def _encoded(text: str) -> bytes:
    return f"{without_controls(text)}\n".encode("utf-8", "surrogateescape")
