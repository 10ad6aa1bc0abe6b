"""The command `fastrank conformance`: which mistakes a program makes that computes measures."""

from __future__ import annotations

import argparse
import json
from threading import TIMEOUT_MAX

from fastrank.analysis.conformance.asking import ask
from fastrank.analysis.conformance.cases import all_cases, mistakes
from fastrank.analysis.conformance.report import diagnosed
from fastrank.cli.command import Command, UsageError, write_lines
from fastrank.cli.flags import INPUTS, OUTPUT
from fastrank.cli.parser import REPEATED
from fastrank.common.messages import closest, did_you_mean
from fastrank.core.data.texts import encoded
from fastrank.core.results.result import FORMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.cli.parser import Parser

MEASURES = tuple(dict.fromkeys(case.measure for case in all_cases()))
DEFAULT_TIMEOUT = 30.0
EPILOG = """\
examples:
  fastrank conformance -- node recall.mjs
  fastrank conformance -m recall -m mean_recall mypackage.metrics:check
  fastrank conformance --lines -- java -cp build Measures
  fastrank conformance -- ./tool --at {k} {qrels} {run} {measure}
  fastrank conformance > cases.jsonl

COMMAND is started for each case. It reads a JSON object from standard input,
and the last word that it prints is the value, or `null` if it does not have
the measure:
  {"case": "recall-only-grade-one", "measure": "recall", "k": 3,
  "judgments": {"a": 2, "b": 1}, "ranking": [["b", 3.0], ["x", 2.0]]}
For map, mrr, mean_recall and mean_ndcg, judgments and ranking are by query.

A Python function, `module:function`, is called with the object as a dict, and
returns a number or None. With {qrels} and {run} in its arguments, COMMAND reads
files in TREC format. Without COMMAND, the cases are printed as lines of JSON,
with the right values.

Exit status: 0 if all values are right; 1 if not, or if there is no value; 2 if
COMMAND cannot be started, or for invalid options.
"""


def _declare(parser: Parser) -> None:
    add = parser.add
    add("[COMMAND ...]", "the program under test and its arguments", dest="words")
    add(
        "-m, --measure MEASURE ...",
        f"measure to ask for{REPEATED}: {', '.join(MEASURES)} (default: all)",
        dest="measures",
        choices=MEASURES,
        group=INPUTS,
    )
    add(
        "--lines",
        'start COMMAND once, with a case per line; it prints lines {"case": "NAME", "value": 0.5}'
        " in any order",
        group=INPUTS,
    )
    add(
        "--timeout SECONDS",
        f"how long COMMAND may take each time it is started (default: {DEFAULT_TIMEOUT:g})",
        type=_seconds,
        default=DEFAULT_TIMEOUT,
        group=INPUTS,
    )
    parser.add_output()
    add(
        "--ignore NAME,... ...",
        f"mistakes, by the names in brackets, that are none for you{REPEATED}",
        group=OUTPUT,
    )


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= TIMEOUT_MAX:
        raise argparse.ArgumentTypeError(
            f"expected a number in (0, {TIMEOUT_MAX:.0f}], found {text}"
        )
    return seconds


_seconds.__name__ = "number"


def _run(arguments: argparse.Namespace) -> int:
    ignored = [name for names in arguments.ignore or () for name in names.split(",") if name]
    for name in ignored:
        if name not in mistakes():
            raise UsageError(
                f"--ignore: no mistake is called {name!r}{did_you_mean(closest(name, mistakes()))}"
            )
    measures = arguments.measures or MEASURES
    cases = [case for case in all_cases() if case.measure in measures]
    if not arguments.words:
        lines = (encoded(f"{json.dumps(case._asdict())}\n") for case in cases)
        write_lines(arguments.output, lines)
        return 0
    answers = ask(arguments.words, cases, arguments.timeout, lines=arguments.lines)
    report = diagnosed(cases, answers, ignored)
    write_lines(arguments.output, [encoded(arguments.command.rendered(report, arguments))])
    return int(bool(report.mistakes))


COMMAND = Command(
    "fastrank conformance",
    _declare,
    _run,
    usage=("-- COMMAND ...", "module:function", ""),
    epilog=EPILOG,
    formats=FORMS,
    reads=False,
)
