"""What the commands that evaluate have in common: their options and warnings."""

from __future__ import annotations

import argparse

from fastrank.arguments import TREC_EVAL_VERSIONS
from fastrank.cli.flags import add_flags, at_least
from fastrank.cli.output import add_output_flag, complain
from fastrank.cli.output_formats import DIGITS, FORMATS
from fastrank.comparing.options import METHODS, RESAMPLES
from fastrank.judging.keywords import EVALUATION
from fastrank.keywords import select

# What counts queries without results as 0, on the command line.
ZERO = "--missing zero"


def add_evaluation_options(parser: argparse.ArgumentParser, kind: type) -> None:
    """Declare what to compute, how to print it, and the options of a kind."""
    add = parser.add_argument
    add(
        "-m", "--measure", action="append", default=[], metavar="MEASURE",
        help="measure in any notation (map, P.5,10, nDCG@10) or set of measures (official,"
        " all_trec); may be repeated (default: official); `fastrank measures` lists them",
    )  # fmt: skip
    add("-q", "--per-query", action="store_true", help="also print the values of each query")
    add("-n", "--no-summary", action="store_true", help="do not print values over all queries")
    add(
        "--interval", nargs="?", const=METHODS[0], choices=METHODS, metavar="METHOD",
        help=f"also print the confidence interval of each mean: {', '.join(METHODS)} (default:"
        f" {METHODS[0]}); not in trec",
    )  # fmt: skip
    add(
        "--level", type=float, metavar="P",
        help="the confidence level of --interval (default: 0.95)",
    )  # fmt: skip
    add(
        "--resamples", type=at_least(1), metavar="N",
        help="the number of resamples of --interval, except t"
        f" (default: {RESAMPLES})",
    )  # fmt: skip
    add("--seed", type=at_least(0), metavar="N", help="the seed of resamples (default: 0)")
    add(
        "--format", choices=FORMATS,
        help="output format (default: by the name of the -o file, such as .csv; else trec)",
    )  # fmt: skip
    add(
        "--digits", type=at_least(0), metavar="N",
        help=f"decimals in table, markdown and latex (default: {DIGITS})",
    )  # fmt: skip
    add(
        "--transpose", action="store_true",
        help="one row per measure in table, markdown and latex",
    )  # fmt: skip
    add(
        "--no-bold",
        action="store_true",
        help="do not set the best values in bold in markdown and latex",
    )
    add_output_flag(parser)
    add_flags(
        parser,
        select(kind, EVALUATION),
        variables={"trec_eval_version": "FASTRANK_TREC_EVAL_VERSION"},
    )
    add(
        "-c", dest="missing", action="store_const", const="zero", default=argparse.SUPPRESS,
        help="same as --missing zero",
    )  # fmt: skip


def check_version(given: argparse.Namespace, name: str) -> bool:
    """Whether the version exists; argparse does not check defaults."""
    if given.trec_eval_version in TREC_EVAL_VERSIONS:
        return True
    expected = " or ".join(TREC_EVAL_VERSIONS)
    complain(f"{name}: FASTRANK_TREC_EVAL_VERSION={given.trec_eval_version}: expected {expected}")
    return False
