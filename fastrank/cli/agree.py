"""The command `fastrank agree`: how far two runs, or two rankings of systems, agree."""

from __future__ import annotations

import os

from fastrank.analysis.comparing.agreement import systems_table
from fastrank.analysis.comparing.overlap import overlap, rbo
from fastrank.cli.command import Command
from fastrank.cli.flags import INPUTS, METHOD, VARIABLES, given_options
from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.core.results.result import FORMS
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from fastrank.cli.parser import Parser
    from fastrank.core.results.table import Table

EPILOG = """\
examples:
  fastrank agree before.run after.run
  fastrank agree --depth 100 -p 0.98 -o overlap.csv bm25.run ours.run
  fastrank eval -m map -m P.10 --format csv -o a.csv qrels-a.txt runs/*.gz
  fastrank eval -m map -m P.10 --format csv -o b.csv qrels-b.txt runs/*.gz
  fastrank agree --systems a.csv b.csv

columns for two runs, with a row per query, then the means:
  shared@k    number of documents that both have in the top k
  jaccard@k   shared@k / number of distinct documents in both top k
  rbo         extrapolated rank-biased overlap of the complete rankings
  tau         Kendall's tau-b of the documents that both rankings have
  ktu         Kendall's tau union, with the first run as the original
A query that only one run has counts as an empty ranking in the other.

columns for two rankings of systems (--systems), with a row per measure:
  systems     number of systems
  tau_b, tau_a, weighted_tau
              Kendall's tau-b and tau-a, weighted tau
  tau_ap, tau_ap_b
              AP correlation, with the first file as the truth; its symmetric
              form for ties
  rbo         extrapolated rank-biased overlap

Exit status: 0 for success, 1 for wrong inputs, 2 for invalid options.
"""
DEPTH = 10


def _declare(parser: Parser) -> None:
    add = parser.add
    add("RUN", "run in any format, may be compressed; - is standard input", dest="run_a")
    add("RUN", "the run to compare it with", dest="run_b")
    add("--systems", "rank systems by their means in two CSV files", group=INPUTS)
    parser.add_output()
    depth = {"help": f"first documents for shared and jaccard (default: {DEPTH})", "group": METHOD}
    parser.add_flags(overlap, ["depth"], defaults={"depth": None}, depth=depth)
    parser.add_flags(rbo, ["p", "variant"], group=METHOD)
    parser.add_flags(overlap, ["trec_eval_version"])


def _compared(arguments: argparse.Namespace) -> Table:
    if arguments.systems:
        if arguments.depth is not None:
            raise OptionError("--depth", "no effect with --systems")
        if arguments.trec_eval_version != (
            os.environ.get(VARIABLES["trec_eval_version"]) or DEFAULT_VERSION
        ):
            raise OptionError("--trec-eval-version", "no effect with --systems")
        return systems_table(
            arguments.run_a, arguments.run_b, p=arguments.p, variant=arguments.variant
        )
    return overlap(**given_options(arguments, overlap))


COMMAND = Command(
    "fastrank agree",
    _declare,
    _compared,
    usage=("RUN RUN", "--systems CSV CSV"),
    epilog=EPILOG,
    formats=FORMS,
)
