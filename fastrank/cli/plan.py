"""The command `fastrank plan`: what people should judge next."""

from __future__ import annotations

from fastrank.cli.command import Command
from fastrank.cli.flags import add_flags, add_output_file, at_least, given_options
from fastrank.cli.output import check_distinct, encoded
from fastrank.formats import files
from fastrank.formats.compression import compressed
from fastrank.judges.plans import plan_judgments

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from fastrank.cli.parser import Parser

EPILOG = """\
examples:
  fastrank plan -n 200 --judge model.qrels --plan plan.json -o judge.tsv *.run
  fastrank estimate --plan plan.json --human judged.tsv --judge model.qrels \\
      -m P@10 *.run
  fastrank plan --by queries --difference 0.05 --judge model.qrels \\
      --plan plan.json -o judge.tsv *.run

The output is for assessors: query, document and an empty grade, separated by
tabs, in random order, without ranks and the judge's grades. The plan keeps the
strata and probabilities.

Exit status: 0 for success, 1 for wrong inputs, 2 for invalid options.
"""
OPTIONS = ("depth", "by", "allocation", "difference", "measure", "correlation", "seed")


def _declare(parser: Parser) -> None:
    add = parser.add_argument
    add("runs", nargs="+", metavar="RUN", help="run in any format, may be compressed")
    add(
        "-n",
        "--budget",
        type=at_least(1),
        metavar="N",
        help="how many pairs or queries people can judge",
    )
    add(
        "--judge",
        metavar="QRELS",
        help="judgments of a model, by whose grades the pool is stratified",
    )
    add("--plan", required=True, metavar="FILE", help="write the plan to FILE, as JSON")
    add_flags(
        parser,
        plan_judgments,
        [*OPTIONS, "trec_eval_version"],
        difference={"type": float, "metavar": "X"},
    )
    add_output_file(parser)


def _plan(given: argparse.Namespace) -> int:
    check_distinct({"--plan": given.plan, "-o": given.output})
    plan = plan_judgments(
        given.runs,
        given.budget,
        judge=given.judge,
        trec_eval_version=given.trec_eval_version,
        **given_options(given, OPTIONS),
    )
    sheet = plan.sheet()
    rows = ["\t".join(sheet.names), *map("\t".join, sheet.rows())]
    output = given.output or "-"
    files.write_all(
        [
            (given.plan, compressed([plan._content()], given.plan)),
            (output, compressed([encoded("\n".join(rows) + "\n")], output)),
        ]
    )
    return 0


COMMAND = Command(
    "fastrank plan",
    _declare,
    _plan,
    usage=("--plan FILE RUN...",),
    epilog=EPILOG,
    outputs=("output", "plan"),
)
