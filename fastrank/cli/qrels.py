"""The command `fastrank qrels`: merge judgments, compare two versions, find unjudged documents."""

from __future__ import annotations

from fastrank.cli.command import Command
from fastrank.cli.flags import add_files, add_flags, add_output, add_output_file
from fastrank.cli.output_formats import OF_TABLES
from fastrank.formats.load import write_qrels
from fastrank.judges.merging import diff_qrels, merge_qrels, merged, unjudged
from fastrank.messages import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from fastrank.cli.parser import Parser

EPILOG = """\
examples:
  fastrank qrels merge people.qrels crowd.qrels -o all.qrels
  fastrank qrels diff old.qrels new.qrels
  fastrank qrels holes qrels.txt runs/*.run

`fastrank qrels merge --help` and so on explain the steps.
"""
MERGE_EPILOG = """\
examples:
  fastrank qrels merge people.qrels crowd.qrels -o all.qrels
  fastrank qrels merge --prefer majority a.qrels b.qrels c.qrels -o all.qrels

The number of pairs with different grades is written to standard error.

Exit status: 0 for success, 1 for wrong inputs or, with --conflicts error, for
pairs with different grades, 2 for invalid options.
"""
DIFF_EPILOG = """\
examples:
  fastrank qrels diff old.qrels new.qrels
  fastrank qrels diff old.qrels new.qrels -o changes.csv

Exit status: 0 whether or not they differ, 1 for wrong inputs, 2 for invalid
options.
"""
HOLES_EPILOG = """\
examples:
  fastrank qrels holes qrels.txt runs/*.run
  fastrank qrels holes --by pair -k 20 qrels.txt ours.run -o to-judge.csv

Exit status: 0 for success, 1 for wrong inputs, 2 for invalid options.
"""


def _declare_merge(parser: Parser) -> None:
    parser.add_argument(
        "qrels", nargs="+", metavar="QRELS", help="judgments in any format, the first judge's first"
    )
    add_flags(parser, merge_qrels, ["prefer", "conflicts"])
    add_output_file(parser)


def _merge(given: argparse.Namespace) -> int:
    found, conflicts = merged(given.qrels, given.prefer, given.conflicts)
    write_qrels(found, given.output or "-", None if given.output else "trec")
    if conflicts:
        count = counted(conflicts, "pair")
        given.command.warn(f"{count} with different grades; chosen: {given.prefer}")
    return 0


def _declare_diff(parser: Parser) -> None:
    parser.add_argument("a", metavar="OLD", help="judgments in any format; - is standard input")
    parser.add_argument("b", metavar="NEW", help="the later judgments")
    add_output(parser, OF_TABLES, "table")


def _declare_holes(parser: Parser) -> None:
    add_files(parser, runs=True)
    add_flags(parser, unjudged, ["k", "by"], defaults={"by": "run"})
    add_output(parser, OF_TABLES, "table")
    add_flags(parser, unjudged, ["trec_eval_version"])


STEPS = {
    "merge the judgments of several judges": Command(
        "fastrank qrels merge", _declare_merge, _merge, usage=("QRELS...",), epilog=MERGE_EPILOG
    ),
    "show what changed between two versions of judgments": Command(
        "fastrank qrels diff",
        _declare_diff,
        lambda given: diff_qrels(given.a, given.b),
        usage=("OLD NEW",),
        epilog=DIFF_EPILOG,
        writers=OF_TABLES,
    ),
    "find the unjudged documents in the top ranks of runs": Command(
        "fastrank qrels holes",
        _declare_holes,
        lambda given: unjudged(
            given.qrels,
            given.runs,
            given.k,
            by=given.by,
            trec_eval_version=given.trec_eval_version,
        ),
        usage=("QRELS RUN...",),
        epilog=HOLES_EPILOG,
        writers=OF_TABLES,
    ),
}


def _declare(parser: Parser) -> None:
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    for does, command in STEPS.items():
        step = command.name.split()[-1]
        description = f"{does[0].upper()}{does[1:]}."
        command.declare(steps.add_parser(step, help=does, description=description))


# Its steps run.
COMMAND = Command("fastrank qrels", _declare, _merge, epilog=EPILOG)
