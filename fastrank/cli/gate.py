"""The command `fastrank gate`: save a baseline, and check a run against it."""

from __future__ import annotations

import argparse
import os
from functools import partial

from fastrank.analysis.gating.checks import MAX_DROP
from fastrank.analysis.gating.gate import gate, new_baseline, save_baseline
from fastrank.analysis.gating.shown import to_github
from fastrank.cli.command import Command
from fastrank.cli.flags import CONVENTIONS, INPUTS, OUTPUT, STATISTICS, VARIABLES, given_options
from fastrank.cli.output import command_line
from fastrank.cli.parser import REPEATED
from fastrank.core.data.texts import encoded
from fastrank.core.formats.files import files
from fastrank.core.formats.tables.roles import asked_columns
from fastrank.core.matching.keywords import EvaluationOptions
from fastrank.core.measures.selection import DEFAULT_MEASURES
from fastrank.core.results.result import FORMS
from fastrank.core.scores.text import missing_note
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastrank.analysis.gating.verdict import Verdict
    from fastrank.cli.parser import Parser

# The way to write XML.
JUNIT = "write JUnit XML with `pytest --junitxml FILE` and fastrank.testing.assert_not_worse"
EPILOG = """\
`fastrank gate save --help` and `fastrank gate check --help` explain the two
steps.
"""
SAVE_EPILOG = """\
examples:
  fastrank gate save -m nDCG@10 -m R@100 -o baseline.json qrels.txt run.txt
  SOURCE_DATE_EPOCH=0 fastrank gate save -m map -o baseline.json.gz qrels.txt \\
      run.txt

Commit the file. It has the value of every query, the options, a digest of the
judgments, and the commit if this is a git repository.

Exit status: 0 for success, 2 for wrong inputs or options.
"""
CHECK_EPILOG = """\
examples:
  fastrank gate check baseline.json qrels.txt run.txt
  fastrank gate check --max-drop 0.02 --max-drop nDCG@10=0.01 baseline.json \\
      qrels.txt run.txt

policies:
  significant   fail if a mean is worse by more than --max-drop and the drop is
                significant; if so few queries differ that no drop could be
                significant, the verdict is `undecided`
  drop          fail if a mean is worse by more than --max-drop
  non-inferior  fail unless the confidence bound of the change excludes a drop
                of more than --max-drop

formats:
  table         a table, the reasons and notes
  markdown      the same, with the ten most regressed queries
  github        annotations; also appends the markdown to $GITHUB_STEP_SUMMARY,
                and verdict=pass, fail or undecided to $GITHUB_OUTPUT
  json          the checks in full precision

A run that lacks queries of the baseline fails, unless it was saved
with --missing zero, which counts them as 0.

Exit status: 0 if the run passes; 1 if it fails or the verdict is undecided; 2
if it cannot be judged, for example because the judgments are not those of the
baseline.
"""


def _declare_save(parser: Parser) -> None:
    parser.add_files()
    parser.add_measures(DEFAULT_MEASURES)
    parser.add_output()
    parser.add("--ir-metadata", "copy the ir_metadata header of the run", group=OUTPUT)
    parser.add_flags(save_baseline, EvaluationOptions)


def _declare_check(parser: Parser) -> None:
    shown, statistic = partial(parser.add, group=OUTPUT), partial(parser.add, group=STATISTICS)
    parser.add("BASELINE", "file of `fastrank gate save`")
    parser.add_files()
    parser.add(
        "-m, --measure MEASURE ...",
        "fail unless the baseline has exactly these measures",
        dest="measures",
        group=INPUTS,
    )
    parser.add_output()
    shown("--update", "replace BASELINE if a mean is better, none worse")
    statistic(
        "--max-drop [MEASURE=]NUMBER ...",
        f"how much a mean may be worse{REPEATED} (default: {MAX_DROP})",
        type=_limit,
    )
    statistic("--min MEASURE=NUMBER ...", f"fail if a mean is below NUMBER{REPEATED}", type=_floor)
    options = ["policy", "test", "alpha", "on_few", "max_unjudged", "allow_other_qrels"]
    parser.add_flags(gate, options, group=STATISTICS)
    version = os.environ.get(VARIABLES["trec_eval_version"]) or None
    parser.add_flags(gate, EvaluationOptions, defaults={"trec_eval_version": version})
    conventions = parser.groups[CONVENTIONS]
    conventions.description = "by default as in the baseline; others are an error"


def _limit(text: str) -> tuple[str | None, float]:
    """MEASURE=NUMBER, or NUMBER for all other measures; names may contain `=`."""
    name, equals, number = text.rpartition("=")
    try:
        return (name if equals else None), float(number)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected NUMBER or MEASURE=NUMBER, found {text!r}"
        ) from None


def _floor(text: str) -> tuple[str, float]:
    try:
        name, number = _limit(text)
    except argparse.ArgumentTypeError:
        name, number = None, 0.0
    if name is None:
        raise argparse.ArgumentTypeError(f"expected MEASURE=NUMBER, found {text!r}")
    return name, number


def _save(arguments: argparse.Namespace) -> None:
    baseline = new_baseline(
        arguments.qrels,
        arguments.run,
        arguments.measures or DEFAULT_MEASURES,
        command_line(),
        ir_metadata=arguments.ir_metadata,
        **given_options(arguments, EvaluationOptions),
    )
    asked_columns().check()
    for note in [*missing_note(baseline.scores), *baseline.notes, *baseline.ties]:
        arguments.command.warn(f"{files.name_of(arguments.run)}: {note}")
    baseline.content.write(arguments.output or "-")


def _check(arguments: argparse.Namespace) -> int:
    if arguments.update and arguments.baseline == "-":
        raise OptionError("--update", "standard input cannot be replaced; name a file")
    if arguments.update and arguments.allow_other_qrels:
        raise OptionError(
            "--update",
            "a baseline is not replaced by values on other judgments;"
            " leave out --allow-other-qrels",
        )
    limits = {"max_drop": dict(arguments.max_drop or ()), "min": dict(arguments.min or ())}
    verdict = gate(**given_options(arguments, gate) | limits)
    asked_columns().check()
    outputs: list[tuple[str, Iterable[bytes]]] = []
    if arguments.update:
        if verdict.is_improvement:
            source = verdict.current.source | {"command": command_line()}
            lines = verdict.current._replace(source=source).lines()
            outputs.append((arguments.baseline, lines))
        done = (
            "replaced by this run"
            if verdict.is_improvement
            else "not replaced, because the gate did not pass, no mean is better, or one is worse"
        )
        note = f"{files.name_of(arguments.baseline)}: {done}"
        verdict = verdict.changed(notes=[*verdict.notes, note])
    text = arguments.command.rendered(verdict, arguments)
    outputs.append((arguments.output or "-", [encoded(text)]))
    files.write_all(outputs)
    if arguments.format == "github":
        _report_to_github(verdict)
    return int(not verdict.passed)


def _report_to_github(verdict: Verdict) -> None:
    """Append to the files that GitHub Actions offers to a step."""
    for variable, text in (
        ("GITHUB_STEP_SUMMARY", verdict.to_markdown()),
        ("GITHUB_OUTPUT", f"verdict={verdict.status}\n"),
    ):
        if path := os.environ.get(variable):
            with open(path, "ab") as file:
                file.write(encoded(text))


SAVE = Command(
    "fastrank gate save",
    _declare_save,
    _save,
    usage=("QRELS RUN",),
    epilog=SAVE_EPILOG,
    failure=2,
    kinds={"output": "baseline"},
)
CHECK = Command(
    "fastrank gate check",
    _declare_check,
    _check,
    usage=("BASELINE QRELS RUN",),
    epilog=CHECK_EPILOG,
    formats=(*FORMS, "github"),
    writers={"github": to_github},
    xml=JUNIT,
    failure=2,
)
COMMAND = Command(
    "fastrank gate",
    epilog=EPILOG,
    steps={
        "evaluate a run and save its values as a baseline": SAVE,
        "check that a run is not worse than a baseline": CHECK,
    },
)
