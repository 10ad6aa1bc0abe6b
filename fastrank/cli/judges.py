"""The commands for judgments: `fastrank judges`, `estimate`, `plan` and `qrels`."""

from __future__ import annotations

from functools import partial

from fastrank.analysis.judges.agreement import judge_agreement
from fastrank.analysis.judges.estimate import ADDITIVE, estimate
from fastrank.analysis.judges.merging import diff_qrels, merge_qrels, merged, unjudged
from fastrank.analysis.judges.plans import plan_judgments, read_plan
from fastrank.cli.command import Command
from fastrank.cli.flags import INPUTS, METHOD, OUTPUT, STATISTICS, at_least, given_options
from fastrank.cli.parser import REPEATED
from fastrank.common.messages import counted
from fastrank.core.formats import formats
from fastrank.core.formats.files import files
from fastrank.core.formats.load import write_qrels
from fastrank.core.formats.tables.roles import asked_columns
from fastrank.core.formats.tables.table_files import delimited_lines
from fastrank.core.measures.selection import DEFAULT_MEASURES
from fastrank.core.results.result import FORMS
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from fastrank.analysis.judges.agreement import JudgeAgreement
    from fastrank.analysis.judges.estimate import JudgeEstimate
    from fastrank.cli.parser import Parser

JUDGES_EPILOG = """\
examples:
  fastrank judges people.qrels model.qrels
  fastrank judges people.qrels gpt.qrels llama.qrels --format csv

The first qrels are taken as the truth where one must be. Of two judges all
coefficients are printed, of several those of each pair and Krippendorff's
alpha over all.

formats:
  table, markdown, latex, html
            everything
  csv       the coefficients with their intervals, or the pairs of judges, in
            full precision
  json      an object with everything

Exit status: 0 for success, 1 for wrong inputs, 2 for invalid options.
"""
ESTIMATE_EPILOG = """\
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
PLAN_EPILOG = """\
examples:
  fastrank plan -n 200 --judge model.qrels --plan plan.json -o judge.tsv *.run
  fastrank estimate --plan plan.json --human judged.tsv --judge model.qrels \\
      -m P@10 *.run
  fastrank plan --by queries --difference 0.05 --judge model.qrels \\
      --plan plan.json -o judge.tsv *.run

The output is for assessors: query, document and an empty grade, separated by
tabs, or by commas in a .csv file, in random order, without ranks and the
judge's grades. The plan keeps the strata and probabilities.

Exit status: 0 for success, 1 for wrong inputs, 2 for invalid options.
"""
QRELS_EPILOG = """\
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


def _declare_judges(parser: Parser) -> None:
    add = parser.add
    add("QRELS", "judgments in any format; - is standard input", dest="first")
    add("QRELS ...", "judgments of the other judges", dest="others")
    add(
        "--name NAME ...",
        "name of a judge, once for each judge, in order",
        dest="names",
        group=OUTPUT,
    )
    add("--scale GRADE=GRADE,...", "map the grades of all judges but the first", group=INPUTS)
    parser.add_output()
    parser.add_plot()
    options = ["relevance_level", "interval", "level", "resamples", "seed"]
    parser.add_flags(judge_agreement, options)


def _judges(arguments: argparse.Namespace) -> JudgeAgreement:
    options = given_options(arguments, judge_agreement) | {"scale": _scale(arguments.scale)}
    return judge_agreement(arguments.first, *options.pop("others"), **options)


def _scale(text: str | None) -> dict[float, float] | None:
    """{grade: grade}. Raises OptionError."""
    if text is None:
        return None
    try:
        pairs = [part.split("=") for part in text.split(",")]
        return {float(grade): float(mapped) for grade, mapped in pairs}
    except ValueError:
        raise OptionError("--scale", f"expected GRADE=GRADE,..., found {text!r}") from None


def _declare_estimate(parser: Parser) -> None:
    add = partial(parser.add, group=INPUTS)
    parser.add_runs()
    parser.add_measures(f"{DEFAULT_MEASURES}; of a plan of pairs, {ADDITIVE}")
    add("--human QRELS", "judgments of people for a random sample", required=True)
    add("--judge QRELS ...", f"judgments of a model for all queries{REPEATED}", required=True)
    add("--plan FILE", "plan of `fastrank plan` that drew the pairs of --human")
    parser.add_output()
    parser.add_plot()
    statistics = ["interval", "level", "correction", "resamples", "seed"]
    parser.add_flags(estimate, ["population", "judges", *statistics, "partial"], group=STATISTICS)


def _estimate(arguments: argparse.Namespace) -> JudgeEstimate:
    plan = None if arguments.plan is None else read_plan(arguments.plan)
    return estimate(**given_options(arguments, estimate) | {"plan": plan})


def _declare_plan(parser: Parser) -> None:
    add = partial(parser.add, group=INPUTS)
    parser.add_runs()
    add("--judge QRELS", "judgments of a model, by which the pool is stratified")
    parser.add_output()
    add("--plan FILE", "write the plan to FILE, as JSON", required=True, group=OUTPUT)
    add("-n, --budget N", "pairs or queries to judge", type=at_least(1), group=METHOD)
    options = ["depth", "by", "allocation", "difference", "measure", "correlation", "seed"]
    parser.add_flags(
        plan_judgments,
        [*options, "trec_eval_version"],
        group=METHOD,
        seed={"group": METHOD},
        depth={"group": METHOD},
        measure={"group": INPUTS},
        difference={"type": float, "metavar": "X"},
    )


def _plan(arguments: argparse.Namespace) -> None:
    plan = plan_judgments(**given_options(arguments, plan_judgments))
    asked_columns().check()
    sheet = plan.sheet()
    sheet_file = (
        arguments.output or "-",
        delimited_lines(arguments.format, sheet.names, sheet.rows()),
    )
    files.write_all([(arguments.plan, [plan._content()]), sheet_file])


def _declare_merge(parser: Parser) -> None:
    parser.add("QRELS ...", "judgments in any format, the first judge's first")
    parser.add_output()
    parser.add_flags(merge_qrels, ["prefer", "conflicts"], group=METHOD)


def _merge(arguments: argparse.Namespace) -> None:
    qrels, conflicts = merged(arguments.qrels, arguments.prefer, arguments.conflicts)
    write_qrels(qrels, arguments.output or "-", arguments.format)
    if conflicts:
        count = counted(conflicts, "pair")
        arguments.command.warn(f"{count} with different grades; chosen: {arguments.prefer}")


def _declare_diff(parser: Parser) -> None:
    parser.add("OLD", "judgments in any format; - is standard input", dest="a")
    parser.add("NEW", "the later judgments", dest="b")
    parser.add_output()


def _declare_holes(parser: Parser) -> None:
    parser.add_files(runs=True)
    parser.add_output()
    parser.add_flags(unjudged, ["k", "by"], group=METHOD)
    parser.add_flags(unjudged, ["trec_eval_version"])


# The formats of sheets for assessors.
SHEETS = {".tsv": "tsv", ".csv": "csv"}
STEPS = {
    "merge the judgments of several judges": Command(
        "fastrank qrels merge",
        _declare_merge,
        _merge,
        usage=("QRELS...",),
        epilog=MERGE_EPILOG,
        formats=formats.written_formats("qrels"),
        suffixes=formats.SUFFIXES,
        in_place=True,
    ),
    "show what changed between two versions of judgments": Command(
        "fastrank qrels diff",
        _declare_diff,
        lambda arguments: diff_qrels(arguments.a, arguments.b),
        usage=("OLD NEW",),
        epilog=DIFF_EPILOG,
        formats=FORMS,
    ),
    "find the unjudged documents in the top ranks of runs": Command(
        "fastrank qrels holes",
        _declare_holes,
        lambda arguments: unjudged(**given_options(arguments, unjudged)),
        usage=("QRELS RUN...",),
        epilog=HOLES_EPILOG,
        formats=FORMS,
    ),
}
JUDGES = Command(
    "fastrank judges",
    _declare_judges,
    _judges,
    usage=("QRELS QRELS...",),
    epilog=JUDGES_EPILOG,
    formats=FORMS,
    plot=True,
)
ESTIMATE = Command(
    "fastrank estimate",
    _declare_estimate,
    _estimate,
    usage=("--human QRELS --judge QRELS RUN...",),
    epilog=ESTIMATE_EPILOG,
    formats=FORMS,
    plot=True,
)
PLAN = Command(
    "fastrank plan",
    _declare_plan,
    _plan,
    usage=("--plan FILE RUN...",),
    epilog=PLAN_EPILOG,
    formats=tuple(SHEETS.values()),
    suffixes=SHEETS,
    outputs=("output", "plan"),
    kinds={"plan": "object"},
)
QRELS = Command("fastrank qrels", epilog=QRELS_EPILOG, steps=STEPS)
