"""The command `fastrank estimate`: means from a few human judgments and those of a model."""

from __future__ import annotations

from fastrank.cli.command import Command
from fastrank.cli.flags import add_flags, add_measures, add_output, add_plot, given_options
from fastrank.cli.output_formats import WITH_HTML, of_results
from fastrank.judges.estimate import estimate
from fastrank.judges.plans import read_plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

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
FORMATS = of_results("Estimated means")
OPTIONS = (
    "population",
    "judges",
    "interval",
    "level",
    "correction",
    "resamples",
    "seed",
    "partial",
)


def _declare(parser: Parser) -> None:
    add = parser.add_argument
    add(
        "--human",
        required=True,
        metavar="QRELS",
        help="judgments of people for a random sample of queries",
    )
    add(
        "--judge",
        required=True,
        action="append",
        metavar="QRELS",
        help="judgments of a model for all queries; may be repeated",
    )
    add(
        "--plan",
        metavar="FILE",
        help="plan of `fastrank plan` that drew the pairs of --human, instead of whole queries",
    )
    add_measures(parser, "", required=True)
    add_flags(parser, estimate, OPTIONS)
    add_output(parser, FORMATS, "table")
    add_plot(parser)
    add("runs", nargs="+", metavar="RUN", help="run in any format, may be compressed")


def _estimated(given: argparse.Namespace) -> JudgeEstimate:
    found = estimate(
        given.human,
        given.judge,
        given.runs,
        given.measure,
        plan=None if given.plan is None else read_plan(given.plan),
        **given_options(given, OPTIONS),
    )
    if given.plot is not None:
        found.plot(path=given.plot)
    return found


COMMAND = Command(
    "fastrank estimate",
    _declare,
    _estimated,
    usage=("--human QRELS --judge QRELS RUN...",),
    epilog=EPILOG,
    writers=FORMATS,
    suffixes=WITH_HTML,
    outputs=("output", "plot"),
)
