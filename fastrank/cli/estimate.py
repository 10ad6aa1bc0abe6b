"""The command `fastrank estimate`: means from a few human judgments and those of a model."""

from __future__ import annotations

from fastrank.cli.command import Command
from fastrank.cli.flags import add_flags, add_measures, add_output
from fastrank.document.html import html
from fastrank.document.latex import latex
from fastrank.document.markdown import markdown
from fastrank.judges.estimate import estimate
from fastrank.judges.plans import read_plan
from fastrank.judges.shown import document_of_estimate, estimate_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from fastrank.cli.parser import Parser
    from fastrank.judges.estimate import JudgeEstimate

EPILOG = """\
examples:
  fastrank estimate --human people.qrels --judge model.qrels -m map a.run b.run
  fastrank estimate --human people.qrels --judge gpt.qrels --judge llama.qrels \\
      -m nDCG@10 --population queries -o estimate.csv *.run

The queries of --human must be a random sample of those of --judge. Judged
queries that a run lacks count as 0.

formats:
  table, markdown, latex, html
            estimates, differences of pairs of runs, what is assumed
  csv       the estimates in full precision
  json      an object with estimates, pairs and notes

Exit status: 0 for success, 1 for wrong inputs, 2 for invalid options.
"""
SUFFIXES = {
    ".csv": "csv", ".json": "json", ".md": "markdown", ".tex": "latex", ".html": "html",
    ".htm": "html",
}  # fmt: skip
FORMATS: dict[str, Callable[[JudgeEstimate], str]] = {
    "table": lambda found: f"{found}\n",
    "markdown": lambda found: markdown(document_of_estimate(found)) + "\n",
    "latex": lambda found: latex(document_of_estimate(found)) + "\n",
    "html": lambda found: html(document_of_estimate(found), page="Estimated means") + "\n",
    "csv": lambda found: found.table().to_csv(),
    "json": lambda found: estimate_json(found) + "\n",
}
OPTIONS = (
    "population", "judges", "interval", "level", "correction", "resamples", "seed", "partial",
)  # fmt: skip


def _declare(parser: Parser) -> None:
    add = parser.add_argument
    add(
        "--human",
        required=True,
        metavar="QRELS",
        help="judgments of people for a random sample of queries",
    )
    add(
        "--judge", required=True, action="append", metavar="QRELS",
        help="judgments of a model for all queries; may be repeated",
    )  # fmt: skip
    add(
        "--plan", metavar="FILE",
        help="plan of `fastrank plan` that drew the pairs of --human, instead of whole queries",
    )  # fmt: skip
    add_measures(parser, "", required=True)
    add_flags(parser, estimate, OPTIONS)
    add_output(parser, FORMATS, "table")
    add("runs", nargs="+", metavar="RUN", help="run in any format, may be compressed")


def _estimated(given: argparse.Namespace) -> JudgeEstimate:
    return estimate(
        given.human, given.judge, given.runs, given.measure,
        plan=None if given.plan is None else read_plan(given.plan),
        **{name: getattr(given, name) for name in OPTIONS},
    )  # fmt: skip


COMMAND = Command(
    "fastrank estimate", _declare, _estimated, usage=("--human QRELS --judge QRELS RUN...",),
    epilog=EPILOG, writers=FORMATS, suffixes=SUFFIXES,
)  # fmt: skip
