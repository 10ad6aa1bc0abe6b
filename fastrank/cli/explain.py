"""The command `fastrank explain`: which documents add how much to the values of a query, and under
which settings the values are those of another tool."""

from __future__ import annotations

from fastrank.cli.command import Command
from fastrank.cli.flags import ZERO, add_files, add_flags, add_output, given_options
from fastrank.cli.output import without_controls
from fastrank.cli.output_formats import format_of_output
from fastrank.errors import OptionError
from fastrank.explaining.against import explain_options
from fastrank.explaining.explain import MEASURES, explain, explained
from fastrank.judging.keywords import EvaluationOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from fastrank.cli.parser import Parser
    from fastrank.explaining.explanation import Explanation

EPILOG = """\
examples:
  fastrank explain -m ndcg_cut.5 -m map --query q0004 qrels.txt run.txt
  fastrank explain -m map --other after.run qrels.txt before.run
  fastrank explain --query q0004 --other after.run qrels.txt before.run
  fastrank explain --query q0004 --document d0097 qrels.txt run.txt
  fastrank explain --query q0004 --documents corpus.jsonl -o q0004.html \\
      qrels.txt run.txt
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


def _declare(parser: Parser) -> None:
    add_files(parser)
    add = parser.add_argument
    asked = parser.add_mutually_exclusive_group()
    add(
        "--query",
        group=asked,
        metavar="QUERY",
        help="the id of the query to explain (default with --other: the query that differs most in"
        " the first measure)",
    )
    add(
        "--against",
        group=asked,
        metavar="FILE",
        help="find the settings that give the values in FILE: the output of trec_eval, or JSON"
        " {measure: mean} or {query: {measure: value}}",
    )
    add(
        "-m",
        "--measure",
        action="append",
        default=[],
        metavar="MEASURE",
        help=f"measure in any notation; may be repeated (default: {MEASURES}; with --against, all"
        " of FILE; NAME=MEASURE if FILE has another name for it)",
    )
    add("--other", metavar="RUN", help="explain how the values of RUN change in this run")
    add(
        "--document",
        action="append",
        default=[],
        metavar="ID",
        help="print only how this document counts in each measure; may be repeated",
    )
    add(
        "--documents",
        metavar="FILE",
        help="titles to show: JSON lines with _id, title and text, as corpus.jsonl of BEIR",
    )
    add_flags(parser, explain, ["rows"])
    add_output(parser, FORMATS, "text")
    add_flags(parser, explain, EvaluationOptions)


def _explained(given: argparse.Namespace) -> str:
    """The explanation, as text."""
    if given.against is not None:
        return _shown(_against(given))
    form = given.format or format_of_output(given.output, FORMATS, "text", SUFFIXES)
    found = explained(
        given.qrels,
        given.run,
        given.measure or MEASURES,
        given.query,
        given.other,
        given.documents,
        given.rows,
        given_options(given, EvaluationOptions),
        zero=ZERO,
    )
    documents = list(map(found.document, given.document))
    if documents and found.chosen:
        documents.insert(0, found.chosen)
    if form == "html" and given.output is not None and not documents:
        return _shown(found.to_html(page=True).removesuffix("\n"))
    return _shown("\n".join(documents) or FORMATS[form](found))


def _against(given: argparse.Namespace) -> str:
    """What gives the values of the other tool. Raises OptionError for flags without effect."""
    for flag in ("other", "document", "documents", "format"):
        if getattr(given, flag):
            raise OptionError(f"--{flag}", "no effect with --against")
    options = given_options(given, EvaluationOptions)
    found = explain_options(given.qrels, given.run, given.against, given.measure or None, **options)
    return str(found)


def _shown(text: str) -> str:
    return f"{without_controls(text)}\n"


COMMAND = Command(
    "fastrank explain",
    _declare,
    _explained,
    epilog=EPILOG,
    usage=("--query QUERY QRELS RUN", "--other RUN QRELS RUN", "--against FILE QRELS RUN"),
)
