"""The options of the commands that evaluate."""

from __future__ import annotations

import argparse

from fastrank.cli.flags import add_flags, add_measures, add_output, at_least
from fastrank.cli.output_formats import DIGITS, FORMATS
from fastrank.comparing.options import METHODS, RESAMPLES
from fastrank.evaluation.evaluator import evaluate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.cli.parser import Parser


def add_evaluation_options(parser: Parser, kind: type) -> None:
    """Declare what to compute, how to print it, and the options of a kind."""
    add = parser.add_argument
    add_measures(parser, "official")
    add("-q", "--per-query", action="store_true", help="also print the values of each query")
    add("-n", "--no-summary", action="store_true", help="do not print values over all queries")
    add(
        "--interval",
        nargs="?",
        const=METHODS[0],
        choices=METHODS,
        metavar="METHOD",
        help=f"also print the confidence interval of each mean: {', '.join(METHODS)} (default:"
        f" {METHODS[0]}); not in trec",
    )
    add("--level", type=float, metavar="P", help="confidence level of --interval (default: 0.95)")
    add(
        "--resamples",
        type=at_least(1),
        metavar="N",
        help=f"number of resamples of --interval, except t (default: {RESAMPLES})",
    )
    add("--seed", type=at_least(0), metavar="N", help="seed of resamples (default: 0)")
    add_output(parser, FORMATS, "trec")
    add(
        "--digits",
        type=at_least(0),
        metavar="N",
        help=f"decimals in table, markdown and latex (default: {DIGITS})",
    )
    add(
        "--transpose",
        action="store_true",
        help="one row per measure in table, markdown and latex",
    )
    add(
        "--no-bold",
        action="store_true",
        help="do not set the best values in bold in markdown and latex",
    )
    add_flags(parser, evaluate, kind)
    add(
        "-c",
        dest="missing",
        action="store_const",
        const="zero",
        default=argparse.SUPPRESS,
        help="same as --missing zero",
    )
