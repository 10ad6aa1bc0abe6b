"""The command `fastrank judges`: how far the judgments of people and models agree."""

from __future__ import annotations

from fastrank.cli.command import Command
from fastrank.cli.flags import add_flags, add_output, add_plot, given_options
from fastrank.cli.output_formats import WITH_HTML, of_results
from fastrank.errors import OptionError
from fastrank.judges.agreement import judge_agreement

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from fastrank.cli.parser import Parser
    from fastrank.judges.agreement import JudgeAgreement

EPILOG = """\
examples:
  fastrank judges people.qrels model.qrels
  fastrank judges people.qrels gpt.qrels llama.qrels --format csv
  fastrank judges people.qrels model.qrels --run a.run --run b.run -m nDCG@10
  fastrank judges people.qrels gpt.qrels --run a.run --run b.run \\
      --own-family a.run

The first qrels are taken as the truth where one must be. Of two judges all
coefficients are printed, of several those of each pair and Krippendorff's
alpha over all. With runs, also what the judges do to the order of the systems.

formats:
  table, markdown, latex, html
            everything
  csv       the coefficients with their intervals, or the pairs of judges, in
            full precision
  json      an object with everything

Exit status: 0 for success, 1 for wrong inputs, 2 for invalid options.
"""
FORMATS = of_results("Agreement of judges")
OPTIONS = ("relevance_level", "interval", "level", "resamples", "seed")


def _declare(parser: Parser) -> None:
    add = parser.add_argument
    add("first", metavar="QRELS", help="judgments in any format; - is standard input")
    add("others", nargs="+", metavar="QRELS", help="judgments of the other judges")
    add(
        "--name",
        action="append",
        metavar="NAME",
        dest="names",
        help="name of a judge; repeat for each, in order (default: the name of the file)",
    )
    add(
        "--scale",
        metavar="GRADE=GRADE,...",
        help="map the grades of all judges but the first, such as 1=0,2=1,3=2,0=0",
    )
    add_flags(parser, judge_agreement, OPTIONS)
    add(
        "--run",
        action="append",
        metavar="RUN",
        dest="runs",
        help="run of a system; may be repeated",
    )
    add(
        "-m",
        "--measure",
        action="append",
        default=[],
        metavar="MEASURE",
        help="measure of the systems; may be repeated (default: map and nDCG@10)",
    )
    add(
        "--own-family",
        action="append",
        metavar="NAME",
        default=[],
        help="name of a run that used the judge's model; may be repeated",
    )
    add_output(parser, FORMATS, "table")
    add_plot(parser)


def _agreement(given: argparse.Namespace) -> JudgeAgreement:
    for flag, value in (("--measure", given.measure), ("--own-family", given.own_family)):
        if value and not given.runs:
            raise OptionError(flag, "no effect without --run")
    families = {"judge": "judge", "runs": dict.fromkeys(given.own_family, "judge")}
    found = judge_agreement(
        given.first,
        *given.others,
        names=given.names,
        scale=_scale(given.scale),
        runs=given.runs,
        measures=given.measure or "map nDCG@10",
        families=families if given.own_family else None,
        **given_options(given, OPTIONS),
    )
    if given.plot is not None:
        found.plot(path=given.plot)
    return found


def _scale(text: str | None) -> dict[float, float] | None:
    """{grade: grade}. Raises OptionError."""
    if text is None:
        return None
    try:
        pairs = [part.split("=") for part in text.split(",")]
        return {float(grade): float(mapped) for grade, mapped in pairs}
    except ValueError:
        raise OptionError("--scale", f"expected GRADE=GRADE,..., found {text!r}") from None


COMMAND = Command(
    "fastrank judges",
    _declare,
    _agreement,
    usage=("QRELS QRELS...",),
    epilog=EPILOG,
    writers=FORMATS,
    suffixes=WITH_HTML,
    outputs=("output", "plot"),
)
