"""The help of the commands, and that options may come in any order."""

from __future__ import annotations

import argparse
import contextlib
from itertools import chain
from random import Random

import pytest

from fastrank.cli.flags import GENERAL
from fastrank.cli.flags import GROUPS as TITLES
from fastrank.cli.main import COMMANDS, GROUPS, parser_of
from fastrank.cli.parser import EXAMPLES, Parser
from tests.helpers.commands import fastrank, printed, write

GATE = ["gate save", "gate check"]
OURS = [name for name in COMMANDS if name != "trec_eval"]
STEPS = [name for name in OURS if name not in ("gate", "qrels")]
STEPS += ["gate save", "gate check", "qrels merge", "qrels diff", "qrels holes"]


def help_of(command: str, monkeypatch: pytest.MonkeyPatch, columns: int = 80) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    return printed(f"help {command}")


@pytest.mark.parametrize("command", ["", *COMMANDS, *GATE])
@pytest.mark.parametrize("columns", [80, 200])
def test_help_fits_80_columns(command, columns, monkeypatch):
    lines = help_of(command, monkeypatch, columns).splitlines()

    assert len(lines) > 10
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.parametrize("command", ["", *OURS, *GATE])
def test_help_fits_narrow_terminals_except_for_what_cannot_be_split(command, monkeypatch):
    text = help_of(command, monkeypatch, 60)

    prose = [
        line
        for block in text.split("\n\n")
        if not block.startswith(EXAMPLES)
        for line in block.splitlines()
        if not line.lstrip().startswith("--") and not line.endswith(":")
    ]
    assert [line for line in prose if len(line) > 60] == []


def parser_of_step(line: str) -> Parser:
    """The parser of a command, or of its step."""
    name, *step = line.split()
    parser = parser_of(name)
    return parser.steps.choices[step[0]] if step else parser  # type: ignore[union-attr,index]


@pytest.mark.parametrize("command", STEPS)
def test_help_is_short_and_begins_with_the_usage_the_files_and_what_is_written(
    command, monkeypatch
):
    lines = help_of(command, monkeypatch).splitlines()
    parser = parser_of_step(command)

    assert len(lines) <= 95
    first = "\n".join(lines[:25])
    assert first.startswith(f"usage: fastrank {command} [options]")
    operands = [str(one.metavar) for one in parser.arguments if not one.option_strings]
    flags = {"-m", "-o", "--format"} & {*parser.flags()}
    shown = [f"  {name}" for name in operands]
    assert [text for text in [*shown, *flags] if text not in first] == []


@pytest.mark.parametrize("command", STEPS)
def test_every_option_is_in_a_group_in_one_order(command, monkeypatch):
    parser = parser_of_step(command)
    titles = [line[:-1] for line in help_of(command, monkeypatch).splitlines() if line[-1:] == ":"]

    shown = [title for title in titles if title in TITLES]
    assert shown == [title for title in TITLES if title in shown]
    general = {flag for one in parser.groups[GENERAL]._group_actions for flag in one.option_strings}
    assert general <= {"-h", "--help", "--threads", "--jobs"}
    listed = [one for group in parser.groups.values() for one in group._group_actions]
    assert [one for one in parser.arguments if one not in listed] == []


def test_the_commands_are_in_groups(monkeypatch):
    blocks = help_of("", monkeypatch).split("\n\n")

    groups = {block.partition(":")[0]: block.splitlines()[1:] for block in blocks}
    assert list(COMMANDS) == [
        line.split()[0] for title in GROUPS for line in groups[title] if line[2] != " "
    ]
    assert len(COMMANDS) == 22


@pytest.mark.parametrize("command", sorted({*OURS, *GATE} - {"gate"}))
def test_help_has_examples(command):
    assert f"examples:\n  fastrank {command}" in printed(f"{command} --help")


def test_narrow_help_has_the_words_of_wide_help(monkeypatch):
    wide, narrow = (help_of("gate check", monkeypatch, columns) for columns in (80, 60))

    assert wide.split() == narrow.split()
    # An item that is wrapped keeps its column.
    assert (
        "  drop          fail if a mean is worse by more than\n"
        "                --max-drop\n"
        "  non-inferior  fail unless the confidence bound of the\n"
        "                change excludes a drop of more than\n"
        "                --max-drop\n"
    ) in narrow


@pytest.mark.parametrize("line", ["help", "--help", "-h", "help help"])
def test_help_lists_the_commands(line):
    found = printed(line).split()

    assert [name for name in COMMANDS if name not in found] == []


def test_help_of_a_command_is_that_of_its_flag():
    assert printed("gate check --help") == printed("help gate check")


def test_the_version_names_the_engine_and_without_a_command_there_is_help():
    assert ", engine: " in printed("--version")
    found = fastrank("")
    assert (found.status, found.out) == (2, "")
    assert "trec_eval" in found.err


def test_what_follows_two_hyphens_is_no_flag():
    write({"qrels": "q 0 d 1\n", "--thread": "q Q0 d 1 1 t\n"})

    assert fastrank("check -- qrels --thread").status == 0


# Flags that exclude one of the others, or stand for a value of it.
NOT_WITH_OTHERS = {"--help", "--against", "--pairs", "--standings", "--largest", "-c"}


def with_value(flag: argparse.Action) -> list[str]:
    """A flag, and a value that it takes."""
    name, kind = flag.option_strings[-1], flag.type or str
    if flag.nargs == 0:
        return [name]
    if flag.choices:
        return [name, next(iter(flag.choices))]
    for text in ("3", "0.5", "map=1", "query=qid"):
        with contextlib.suppress(ValueError, argparse.ArgumentTypeError):
            kind(text)  # type: ignore[operator]
            return [name, *[text] * (flag.nargs or 1)]  # type: ignore[operator]
    raise AssertionError(f"no value for {name}")


@pytest.mark.parametrize("command", STEPS)
def test_options_may_come_in_any_order_before_and_after_the_files(command):
    name, *step = command.split()
    parser, own = parser_of(name), parser_of_step(command)
    files = [
        next(iter(action.choices)) if action.choices else f"{action.dest}{place}"
        for action in own.arguments
        if not action.option_strings
        for place in range(2 if action.nargs == "+" else 1)
    ]
    options = [
        with_value(action)
        for action in own.arguments
        if action.option_strings and action.option_strings[-1] not in NOT_WITH_OTHERS
    ]
    chance = Random(1)

    def parsed(before: list[list[str]], after: list[list[str]]) -> argparse.Namespace:
        found = parser.parse_args([*step, *chain(*before), *files, *chain(*after)])
        found.command = None
        return found

    expected = parsed(options, [])
    for _ in range(20):
        order = chance.sample(options, len(options))
        cut = chance.randint(0, len(order))
        assert parsed(order[:cut], order[cut:]) == expected
