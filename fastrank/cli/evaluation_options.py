"""What the commands that evaluate have in common: their options, and what they tell of queries."""

from __future__ import annotations

import argparse
import os

from fastrank.arguments import COMPAT_LEVELS, DEFAULT_COMPAT
from fastrank.cli.layouts import LAYOUTS
from fastrank.cli.output import complain
from fastrank.cli.relevance import add_relevance_level
from fastrank.judging.options import MISSING, NO_RELEVANT
from fastrank.scores.text import LEFT_OUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.scores.scores import Scores


def add_evaluation_options(parser: argparse.ArgumentParser) -> None:
    """Declare what to compute, for which queries and documents, and how to print it."""
    add = parser.add_argument
    add(
        "-m", "--measure", action="append", default=[], metavar="MEASURE",
        help="a measure in any notation (map, P.5,10, nDCG@10) or a set such as official (default)"
        " or all_trec; may be given several times; see fastrank measures",
    )  # fmt: skip
    add("-q", "--per-query", action="store_true", help="also print the values of each query")
    add("-n", "--no-summary", action="store_true", help="print no values over all queries")
    add("--format", choices=LAYOUTS, default="trec", help="how to print the values (trec)")
    add(
        "-o", "--output", metavar="FILE",
        help="write to a file, which is replaced when all is done, or not at all",
    )  # fmt: skip
    add(
        "-c", "--complete", action="store_true",
        help="average over all judged queries, not only those with results",
    )  # fmt: skip
    add_relevance_level(parser)
    add(
        "-J", "--judged-only", action="store_true", help="drop unjudged documents from the rankings"
    )
    add(
        "-M", "--max-retrieved", type=at_least(0), metavar="N",
        help="cut rankings after so many documents",
    )  # fmt: skip
    add("--depth", type=at_least(0), metavar="N", help="the same under another name")
    add(
        "-N", "--collection-size", type=int, default=0, metavar="N",
        help="number of documents in the collection, for utility",
    )  # fmt: skip
    add(
        "--missing", choices=MISSING,
        help="judged queries without results: left out (skip, the default), 0 in the means (zero,"
        " the same as -c), or an error",
    )  # fmt: skip
    add(
        "--no-relevant", choices=NO_RELEVANT, default="zero",
        help="judged queries without a relevant document: evaluated (zero), left out, or an error",
    )  # fmt: skip
    add(
        "--compat", choices=COMPAT_LEVELS,
        default=os.environ.get("FASTRANK_COMPAT") or DEFAULT_COMPAT,
        help=f"which trec_eval's numbers to compute ($FASTRANK_COMPAT or {DEFAULT_COMPAT})",
    )  # fmt: skip


def at_least(least: int) -> type[int]:
    """The type of an option that takes integers which are not below the least."""

    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{value}: expected {least} or more")
        return value

    # argparse names the function in its messages.
    number.__name__ = "number"
    return number  # type: ignore[return-value]


def check_compat(given: argparse.Namespace, name: str) -> bool:
    """Whether the level is one there is; argparse does not look at defaults."""
    if given.compat in COMPAT_LEVELS:
        return True
    expected = " or ".join(COMPAT_LEVELS)
    complain(f"{name}: FASTRANK_COMPAT={given.compat}: expected {expected}")
    return False


def tell_left_out(where: str, scores: Scores, absent: str, *, complete: bool) -> None:
    """Say what is not in the means, and what was left out; `absent`: of the judged queries."""
    if scores.missing and not complete:
        complain(
            f"{where}: {scores.missing} {absent} and are not averaged in (-c counts them as 0)"
        )
    for name, what in LEFT_OUT.items():
        if scores.counts.get(name):
            complain(f"{where}: {scores.counts[name]} {what}")
