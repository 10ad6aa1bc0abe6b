"""The command `fastrank gate`: save a baseline, and check a run against it."""

from __future__ import annotations

import argparse
import os
from functools import partial

from fastrank.cli.evaluation_flags import ZERO, check_version
from fastrank.cli.flags import add_flags, given_options
from fastrank.cli.output import (
    add_output_flag,
    can_be_written,
    check_distinct,
    command_line,
    complain,
    guarded,
    report_unwritable,
)
from fastrank.cli.output_formats import format_of_output
from fastrank.errors import FastrankError, OptionError
from fastrank.formats import files
from fastrank.formats.compression import compressed
from fastrank.gating.ci_formats import to_json, to_junit, to_openmetrics
from fastrank.gating.gate import ON_FEW, POLICIES, TESTS, gate
from fastrank.gating.github import to_github
from fastrank.gating.limits import MAX_DROP
from fastrank.gating.saving import new_baseline
from fastrank.gating.settings import AS_SAVED
from fastrank.gating.shown import to_markdown
from fastrank.judging.keywords import EVALUATION
from fastrank.scores.text import missing_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fastrank.gating.verdict import Verdict

NAME = "fastrank gate"
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
  fastrank gate check --policy non-inferior --format junit -o gate.xml \\
      baseline.json qrels.txt run.txt

policies:
  significant   fail if a mean is worse by more than --max-drop and the drop is
                significant; if so few queries differ that no drop could be
                significant, the verdict is `undecided`
  drop          fail if a mean is worse by more than --max-drop
  non-inferior  fail unless the confidence bound of the change excludes a drop
                of more than --max-drop

formats:
  text          a table, the reasons and notes
  markdown      the same, with the ten most regressed queries
  github        annotations; also appends the markdown to $GITHUB_STEP_SUMMARY,
                and verdict=pass, fail or undecided to $GITHUB_OUTPUT
  json          the checks in full precision
  junit         a test case for each check, as GitLab and Jenkins read them
  openmetrics   the means, as GitLab's metrics reports read them

The measures and options are those of the baseline; if others are given, that is
an error. A run that lacks queries of the baseline fails, unless it was saved
with --missing zero, which counts them as 0.

Exit status: 0 if the run passes; 1 if it fails or the verdict is undecided; 2
if it cannot be judged, for example because the judgments are not those of the
baseline.
"""
FORMATS: dict[str, Callable[[Verdict], str]] = {
    "text": lambda verdict: f"{verdict}\n",
    "markdown": to_markdown,
    "github": to_github,
    "json": to_json,
    "junit": to_junit,
    "openmetrics": to_openmetrics,
}
SUFFIXES = {".json": "json", ".md": "markdown", ".xml": "junit"}
VERSION = "FASTRANK_TREC_EVAL_VERSION"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = EPILOG
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    _add_save(
        steps.add_parser(
            "save", help="evaluate a run and save its values as a baseline",
            description="Evaluate a run, and save its values as a baseline.", epilog=SAVE_EPILOG,
            usage=f"{NAME} save [options] QRELS RUN",
        )
    )  # fmt: skip
    _add_check(
        steps.add_parser(
            "check", help="check a run against a baseline",
            description="Check that a run is not worse than a baseline.", epilog=CHECK_EPILOG,
            usage=f"{NAME} check [options] BASELINE QRELS RUN",
        )
    )  # fmt: skip


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", metavar="QRELS", help="qrels in any format")
    parser.add_argument("run", metavar="RUN", help="run in any format, may be compressed")


def _add_save(parser: argparse.ArgumentParser) -> None:
    _add_inputs(parser)
    add = parser.add_argument
    add(
        "-m", "--measure", action="append", default=[], metavar="MEASURE", required=True,
        help="measure in any notation (map, P.5,10, nDCG@10) or set of measures (official); may be"
        " repeated",
    )  # fmt: skip
    add(
        "-o", "--output", metavar="FILE",
        help="write to FILE (default: standard output), compressed if it ends in .gz; replaced only"
        " if everything succeeds",
    )  # fmt: skip
    add(
        "--ir-metadata", action="store_true",
        help="copy the ir_metadata header of the run file into the baseline",
    )  # fmt: skip
    add_flags(parser, EVALUATION, variables={"trec_eval_version": VERSION})


def _add_check(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("baseline", metavar="BASELINE", help="file of `fastrank gate save`")
    _add_inputs(parser)
    add(
        "--max-drop", action="append", default=[], type=_limit, metavar="[MEASURE=]NUMBER",
        help="how much a mean may be worse; may be repeated, a number alone is for all other"
        f" measures (default: {MAX_DROP})",
    )  # fmt: skip
    add(
        "--policy", choices=POLICIES, default=POLICIES[0],
        help=f"when the gate fails, see below (default: {POLICIES[0]})",
    )  # fmt: skip
    add(
        "--test", choices=TESTS, default=TESTS[0],
        help="one-sided test of the policy significant: paired t-test or randomization test"
        f" (default: {TESTS[0]})",
    )  # fmt: skip
    add(
        "--alpha", type=float, default=0.05, metavar="A",
        help="significance level of each measure, without a correction for several (default: 0.05)",
    )  # fmt: skip
    add(
        "--on-few", choices=ON_FEW, default=ON_FEW[0],
        help=f"whether an undecided verdict fails or only warns (default: {ON_FEW[0]})",
    )  # fmt: skip
    add(
        "--min", action="append", default=[], type=_floor, metavar="MEASURE=NUMBER",
        help="fail if a mean is below NUMBER; may be repeated",
    )  # fmt: skip
    add(
        "--max-unjudged", type=float, metavar="SHARE",
        help="fail if a larger share of the retrieved documents has no judgment (0 to 1)",
    )  # fmt: skip
    add(
        "--allow-other-qrels", action="store_true",
        help="accept judgments other than those of the baseline, and compare the common queries",
    )  # fmt: skip
    add(
        "--update", action="store_true",
        help="replace BASELINE if the gate passes, a mean is better, and none is worse",
    )  # fmt: skip
    add(
        "--format", choices=FORMATS,
        help="output format (default: by the name of the -o file, such as .md; else text)",
    )  # fmt: skip
    add_output_flag(parser)
    add(
        "-m", "--measure", action="append", metavar="MEASURE",
        help="to make sure that the baseline has these measures and no others; may be repeated",
    )  # fmt: skip
    group = parser.add_argument_group(
        "options of the evaluation, by default as in the baseline; others are an error"
    )
    add_flags(group, EVALUATION, defaults=dict.fromkeys(one.name for one in EVALUATION))
    given = os.environ.get(VERSION) or None
    parser.set_defaults(**{one.name: None for one in AS_SAVED} | {"trec_eval_version": given})


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


def run(given: argparse.Namespace) -> int:
    """Save or check; returns the exit status."""
    judged: list[int] = []
    name = f"{NAME} {given.step}"

    def command() -> int:
        judged.append({"save": _save, "check": _check}[given.step](given, name))
        return judged[0]

    status = guarded(name, command)
    # What stops the command is not a verdict.
    return 2 if status == 1 and judged != [1] else status


def _save(given: argparse.Namespace, name: str) -> int:
    if not check_version(given, name) or not can_be_written(name, given.output):
        return 2
    try:
        found = new_baseline(
            given.qrels, given.run, given.measure, given_options(given, EVALUATION), command_line(),
            ir_metadata=given.ir_metadata,
        )  # fmt: skip
    except FastrankError as error:
        complain(f"{name}: {error}")
        return 2
    for note in [*missing_note(found.scores, option=ZERO), *found.notes, *found.ties]:
        complain(f"{name}: {files.name_of(given.run)}: {note}")
    return _written(name, partial(found.content.write, given.output or "-"))


def _check(given: argparse.Namespace, name: str) -> int:
    if not can_be_written(name, given.output):
        return 2
    try:
        form = given.format or format_of_output(given.output, FORMATS, "text", SUFFIXES)
        check_distinct({"BASELINE": given.baseline, "-o": given.output})
        if given.update and given.baseline == "-":
            raise OptionError("--update", "standard input cannot be replaced; name a file")
        if given.update and given.allow_other_qrels:
            raise OptionError(
                "--update", "a baseline is not replaced by values on other judgments;"
                " leave out --allow-other-qrels"
            )  # fmt: skip
        verdict = gate(
            given.baseline, given.qrels, given.run, given.measure,
            max_drop=dict(given.max_drop), policy=given.policy, test=given.test,
            alpha=given.alpha, on_few=given.on_few, min=dict(given.min),
            max_unjudged=given.max_unjudged, allow_other_qrels=given.allow_other_qrels,
            **given_options(given, AS_SAVED),
        )  # fmt: skip
    except FastrankError as error:
        complain(f"{name}: {error}")
        return 2
    outputs: list[tuple[str, Iterable[bytes]]] = []
    if given.update:
        if verdict.is_improvement:
            source = verdict.current.source | {"command": command_line()}
            lines = verdict.current._replace(source=source).lines()
            outputs.append((given.baseline, compressed(lines, given.baseline)))
        done = "replaced by this run" if verdict.is_improvement else (
            "not replaced, because the gate did not pass, no mean is better, or one is worse"
        )  # fmt: skip
        note = f"{files.name_of(given.baseline)}: {done}"
        verdict = verdict.changed(notes=[*verdict.notes, note])
    printed = _encoded(FORMATS[form](verdict))
    path = given.output or "-"
    outputs.append((path, compressed([printed], path)))
    status = _written(name, lambda: files.write_all(outputs))
    if form == "github" and not status:
        status = _report_to_github(name, verdict)
    return status or int(not verdict.passed)


def _report_to_github(name: str, verdict: Verdict) -> int:
    """Append to the files that GitHub Actions offers to a step."""
    for variable, text in (
        ("GITHUB_STEP_SUMMARY", to_markdown(verdict)),
        ("GITHUB_OUTPUT", f"verdict={verdict.status}\n"),
    ):
        path = os.environ.get(variable)
        if path and (status := _written(name, partial(_append, text, path))):
            return status
    return 0


def _append(text: str, path: str) -> None:
    with open(path, "ab") as file:
        file.write(_encoded(text))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _written(name: str, write: Callable[[], None]) -> int:
    """Write; returns 2 if that is impossible."""
    try:
        write()
        return 0
    except OSError as error:
        report_unwritable(name, error.filename, error)
        return 2
