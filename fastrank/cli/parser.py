"""The parser of a command: its help is in groups and fits the terminal, and errors about flags name
the closest."""

from __future__ import annotations

import argparse
import re
import shutil
import textwrap
from functools import partial

from fastrank.cli.flags import (
    COLUMNS,
    GENERAL,
    GROUPS,
    INPUTS,
    OPERANDS,
    OUTPUT,
    at_least,
    columns_by_role,
    declarations,
)
from fastrank.cli.output import guarded, without_controls, write
from fastrank.common.dropped import instead
from fastrank.common.keywords import SYNONYMS
from fastrank.common.messages import closest, did_you_mean, meant_choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Any, NoReturn

    from _typeshed import SupportsWrite

RUN = "run in any format, may be compressed"
# The column of the texts.
COLUMN = 27
# Help is never wider, whatever the terminal is.
WIDTH = 80
# The first line of an item: its indent, then perhaps a name and two blanks before the text.
ITEM = re.compile(r" *(?:\S.*?\S  +)?(?=\S)")
EXAMPLES = "examples:"
REPEATED = "; may be repeated"
LETTER_OR_WORD = re.compile(r"-[A-Za-z]|--.")
USAGE = "usage: "

# Help lists choices of fewer letters than this.
MOST_CHOICES = 60
# Other names of formats.
ALIASES = {"text": "table", "md": "markdown", "tex": "latex"}


class Parser(argparse.ArgumentParser):
    """An ArgumentParser without abbreviations, whose error about a flag names the closest one.

    arguments: all that were declared. steps: the subcommands, if there are any. formats: of the
    output of the command. groups: those of argparse, by their titles, in the order of the help.
    """

    def __init__(self, *arguments: Any, **options: object) -> None:
        self.arguments: list[argparse.Action] = []
        self.steps: argparse.Action | None = None
        self.formats: Collection[str] = ()
        self.default_format = ""
        has_help = options.pop("add_help", True)
        fixed: Any = {"formatter_class": _formatter, "allow_abbrev": False, "add_help": False}
        super().__init__(*arguments, **fixed | options)
        self.groups = {title: self.add_argument_group(title) for title in GROUPS}
        # Where argparse puts the steps, and what names no group.
        self._positionals, self._optionals = self.groups[OPERANDS], self.groups[GENERAL]
        if has_help:
            self.add("-h, --help", "show this help and exit", action="help")

    def add_argument(self, *names: Any, group: Any = None, **options: Any) -> argparse.Action:
        """Declare an operand or a flag.

        group: the title of one of `groups`, by default OPERANDS or GENERAL; or what excludes other
            arguments in one of these.
        """
        owner = self if group is None else self.groups.get(group, group)
        add = super().add_argument if owner is self else owner.add_argument
        action: argparse.Action = add(*names, **options)
        self.arguments.append(action)
        return action

    def add(self, form: str, help: str, **options: Any) -> None:
        """Declare an operand (`RUN`) or a flag (`-o, --output FILE`) by its form in the help.

        A flag without a value is true where it is given. With ` ...` after the value, a flag may
        be repeated, and there may be several operands: the value is a list. `[RUN ...]` may be
        none. options: as of `add_argument`.
        """
        words = form.strip("[]").split()
        names = [word.rstrip(",") for word in words if word.startswith("-")]
        value, repeated = words[len(names) :], words[-1] == "..."
        if value:
            options["metavar"] = value[0]
        if not names:
            names = [options.pop("dest", value[0].lower())]
            if repeated:
                options["nargs"] = "*" if form.startswith("[") else "+"
        elif repeated:
            options["action"] = "append"
        elif not value and "choices" not in options:
            options.setdefault("action", "store_true")
        self.add_argument(*names, help=help, **options)

    def add_flags(
        self,
        function: Callable[..., object],
        names: Iterable[str] | type,
        *,
        defaults: Mapping[str, object] | None = None,
        group: object = None,
        **changed: dict[str, Any],
    ) -> None:
        """Declare a flag for some parameters of a function, in its order.

        names: of the parameters, or a TypedDict that lists them. defaults: override those of the
        signature. group: of those that have none of their own. changed: arguments of
        `add_argument`, by parameter, that replace what follows from the function.
        """
        for flags, options in declarations(function, names, defaults or {}, changed):
            self.add_argument(*flags, **{"group": group, **options})

    def add_files(self, *, runs: bool = False) -> None:
        """Declare the qrels, and one run or several."""
        self.add("QRELS", "qrels in any format; - is standard input")
        self.add_runs() if runs else self.add("RUN", RUN)

    def add_runs(self, help: str = RUN) -> None:
        """Declare one run or several."""
        self.add("RUN ...", help, dest="runs")

    def add_measures(self, default: str) -> None:
        """Declare `-m`."""
        self.add(
            "-m, --measure MEASURE ...",
            f"measure or set of `fastrank measures`{REPEATED} (default: {default})",
            dest="measures",
            group=INPUTS,
        )

    def add_texts(self, group: str = INPUTS) -> None:
        """Declare `--texts`, the texts of documents."""
        self.add(
            "--texts FILE ...",
            "texts of documents: JSON lines, TSV, TREC SGML or parquet, or a folder of these or"
            f" with a file for each document{REPEATED}",
            group=group,
        )

    def add_names(self) -> None:
        """Declare `--name`."""
        self.add(
            "--name NAME ...",
            "name of a run, once for each run, in order",
            dest="names",
            group=OUTPUT,
        )

    def add_output(self) -> None:
        """Declare `-o`, and `--format` if there are several formats, by default the command's."""
        self.add(
            "-o, --output FILE",
            "write to FILE, compressed if it ends in .gz, .bz2, .xz or .zst; all or nothing",
            group=OUTPUT,
        )
        if choices := tuple(self.formats):
            default = f"by the name of the -o file, else {self.default_format or choices[0]}"
            self.add(
                "--format",
                f"(default: {default})",
                choices=choices,
                metavar=None if len(",".join(choices)) < MOST_CHOICES else "FORMAT",
                type=lambda name: ALIASES.get(name, name) if name not in choices else name,
                group=OUTPUT,
            )

    def add_decimals(self) -> None:
        """Declare `--digits` and `--percent`."""
        self.add(
            "--digits N",
            "decimals of tables (default: 4, or 2 in percent)",
            type=at_least(0),
            group=OUTPUT,
        )
        self.add("--percent", "multiply values by 100", group=OUTPUT)

    def add_sort(self) -> None:
        """Declare `--sort`, of commands with a table of runs."""
        self.add("--sort MEASURE", "sort runs by a measure, best first", group=OUTPUT)

    def add_columns(self) -> None:
        """Declare `--columns`."""
        self.add(
            "--columns ROLE=NAME,...",
            COLUMNS,
            type=columns_by_role,
            action="extend",
            group=INPUTS,
        )

    def add_plot(self) -> None:
        """Declare `--plot`, of commands with one plot."""
        self.add("--plot FILE", "also draw a plot, a .png, .svg or .pdf file", group=OUTPUT)

    def add_subparsers(self, **options: Any) -> Any:
        """Declare that there are subcommands."""
        steps = super().add_subparsers(**options)
        self.steps = steps
        return steps

    def flags(self) -> list[str]:
        """All flags, with their hyphens."""
        return [flag for action in self.arguments for flag in action.option_strings]

    def _meant(self, flag: str) -> list[str]:
        """The flag that is probably meant: the same letter with one dash, or the closest word."""
        flags = self.flags()
        if flag[1:] in flags:
            return [flag[1:]]
        words = [name[2:] for name in flags if name.startswith("--")]
        return [f"--{word}" for word in closest(flag.lstrip("-"), words, SYNONYMS)]

    def _check_value(self, action: argparse.Action, value: object) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            flag = f"{self.prog} {(*action.option_strings, '')[0]}"
            is_test = "tukey" in (action.choices or ())
            gone = instead(flag, value) or (instead("test", value) if is_test else "")
            error.message += gone or meant_choice(value, action.choices or ())
            raise

    def error(self, message: str) -> NoReturn:
        """Print the usage and a message, on one line whatever it quotes; the exit status is 2."""
        super().error(without_controls(message, allowed=""))

    def format_usage(self) -> str:
        """The usage, wrapped."""
        return self._wrapped(super().format_usage)

    def format_help(self) -> str:
        """The help, in which lines stay as they are, except those too long for the terminal."""
        return self._wrapped(super().format_help)

    def _wrapped(self, show: Callable[[], str]) -> str:
        """The output of a method while the texts are wrapped."""
        texts = self.usage, self.description, self.epilog
        width = _width()
        try:
            if self.usage is not None:
                self.usage = _wrapped_usage(self.usage, width)
            self.description, self.epilog = (
                text and _filled(text, width) for text in (self.description, self.epilog)
            )
            return show()
        finally:
            self.usage, self.description, self.epilog = texts

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Print the help; exits with status 1 if standard output cannot be written."""
        if file is not None:
            super().print_help(file)
            return

        def command() -> int:
            write([self.format_help().encode()])
            return 0

        if status := guarded(self.prog, command):
            self.exit(status)

    def parse_known_args(self, args: Any = None, namespace: object = None) -> Any:
        """Parse; exits with status 2 for unknown flags, before anything that they may cause."""
        flags = self.flags()
        args = self._with_defaults(list(args or ()))
        for word in args:
            # Words after `--` are not flags, and the flags after a subcommand are its own.
            if word == "--" or (self.steps and not word.startswith("-")):
                break
            flag = word.partition("=")[0] if word.startswith("--") else word[:2]
            if LETTER_OR_WORD.match(flag) and flag not in flags:
                hint = instead(self.prog, flag) or did_you_mean(self._meant(flag))
                self.error(f"unknown option {flag}{hint}")
        return super().parse_known_args(args, namespace)

    def _with_defaults(self, words: list[str]) -> list[str]:
        """The words, in which a flag whose value may be missing takes no operand as its value."""
        defaults = {
            flag: action
            for action in self.arguments
            for flag in action.option_strings
            if action.nargs == "?" and action.choices
        }
        end = words.index("--") if "--" in words else len(words)
        for i, (word, value) in enumerate(zip(words[:end], [*words[1:], ""], strict=False)):
            if word in defaults and value not in (defaults[word].choices or ()):
                words[i] = f"{word}={defaults[word].const}"
        return words


def _width() -> int:
    return min(shutil.get_terminal_size().columns, WIDTH)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Shows the value of a flag once, as argparse does from Python 3.13 on: `-o, --output FILE`."""

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"


def _formatter(prog: str) -> argparse.HelpFormatter:
    return _Formatter(prog, width=_width(), max_help_position=COLUMN)


def _filled(text: str, width: int) -> str:
    """A text, wrapped if one of its lines is too long."""
    if max(map(len, text.splitlines()), default=0) <= width:
        return text
    return "\n\n".join("\n".join(_lines(block, width)) for block in text.split("\n\n"))


def _wrapped_usage(usage: str, width: int) -> str:
    wrap = partial(
        textwrap.fill, width=width, initial_indent=" " * len(USAGE), subsequent_indent=" " * 11
    )
    return "\n".join(wrap(line.strip()) for line in usage.splitlines()).lstrip()


def _lines(block: str, width: int) -> list[str]:
    """The lines of a block without empty lines, in which a deeper indent continues an item."""
    lines = block.splitlines()
    if lines[:1] == [EXAMPLES]:
        # A command that is split is another command.
        return lines
    items: list[tuple[int, str]] = []
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if items and indent == items[-1][0] and not re.search(r"\S  +\S", line):
            items[-1] = indent, f"{items[-1][1]} {line.strip()}"
        else:
            start = ITEM.match(line)
            items.append((start.end() if start else 0, line))
    return [
        wrapped
        for indent, item in items
        for wrapped in textwrap.wrap(
            item, width, subsequent_indent=" " * indent, break_on_hyphens=False
        )
    ]
