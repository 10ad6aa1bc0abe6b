"""The parser of a command: its help fits the terminal, and errors about flags name the closest."""

from __future__ import annotations

import argparse
import re
import shutil
import textwrap

from fastrank.cli.output import guarded, write
from fastrank.keywords import SYNONYMS
from fastrank.messages import closest, did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Help is never wider, whatever the terminal is.
WIDTH = 80
# The first line of an item: its indent, then perhaps a name and two blanks before the text.
ITEM = re.compile(r" *(?:\S.*?\S  +)?(?=\S)")
EXAMPLES = "examples:"
LETTER_OR_WORD = re.compile(r"-[A-Za-z]|--.")


class HelpFormatter(argparse.HelpFormatter):
    """Keeps the lines of a text as they are, and wraps those that are too long for the terminal."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        options["width"] = min(shutil.get_terminal_size().columns, WIDTH)
        super().__init__(*arguments, **options)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = text.splitlines()
        if max(map(len, lines), default=0) > width:
            lines = [line for block in text.split("\n\n") for line in [*_wrapped(block, width), ""]]
        return "\n".join(indent + line for line in lines) + "\n"

    def _format_usage(self, usage: str | None, *others: Any) -> str:
        if usage is not None:
            first, other = " " * len("usage: "), " " * 11
            lines = [
                textwrap.fill(
                    line.strip(), self._width, initial_indent=first, subsequent_indent=other
                )
                for line in usage.splitlines()
            ]
            usage = "\n".join(lines).lstrip()
        return super()._format_usage(usage, *others)


def _wrapped(block: str, width: int) -> list[str]:
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


class Parser(argparse.ArgumentParser):
    """An ArgumentParser without abbreviations, whose error about a flag names the closest one."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        defaults: Any = {"formatter_class": HelpFormatter, "allow_abbrev": False}
        super().__init__(*arguments, **defaults | options)

    def _meant(self, flag: str) -> list[str]:
        """The flag that is probably meant: the same letter with one dash, or the closest word."""
        if flag[1:] in self._option_string_actions:
            return [flag[1:]]
        words = [own[2:] for own in self._option_string_actions if own.startswith("--")]
        return [f"--{word}" for word in closest(flag.lstrip("-"), words, SYNONYMS)]

    def print_help(self, file: Any = None) -> None:
        """Print the help; exits with status 1 if standard output cannot be written."""
        if file is not None:
            super().print_help(file)
            return

        def command() -> int:
            write([self.format_help().encode()])
            return 0

        if status := guarded(self.prog, command):
            self.exit(status)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; exits with status 2 for unknown flags, before anything that they may cause."""
        for word in args or ():
            # What follows `--` is not a flag, and the flags after a subcommand are its own.
            if word == "--" or (self._subparsers and not word.startswith("-")):
                break
            flag = word.partition("=")[0] if word.startswith("--") else word[:2]
            if LETTER_OR_WORD.match(flag) and flag not in self._option_string_actions:
                self.error(f"unknown option {flag}{did_you_mean(self._meant(flag))}")
        return super().parse_known_args(args, namespace)
