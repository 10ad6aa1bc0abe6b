"""Generate the completions of the shells from the parsers of the commands, with shtab.

    pip install shtab && python docs/scripts/completions.py

writes the files in fastrank/cli/completions.
"""

from __future__ import annotations

import re
from pathlib import Path

import shtab

from fastrank.cli.completion import FOLDER, SHELLS
from fastrank.cli.help import GENERAL
from fastrank.cli.main import COMMANDS, command_of, root_parser
from fastrank.cli.parser import Parser
from fastrank.cli.trec_eval import LONG, RELEVANCE_FORMATS, RUN_FORMAT
from fastrank.measures.families import FAMILY_BY_NAME
from fastrank.measures.trec import BY_NAME, NICKNAMES

MEASURES = sorted({*BY_NAME, *NICKNAMES, *FAMILY_BY_NAME})
# Values that are not files, by their placeholders; all others in capitals may be.
FILES = ("FILE", "QRELS", "RUN", "IN", "OUT", "BASELINE", "TASK", "CSV", "STORE")


def fastrank() -> Parser:
    """The parser of fastrank, with those of its commands as subparsers."""
    root = root_parser()
    commands = root.steps
    commands._choices_actions.clear()
    commands.choices.clear()
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary)
        declare_trec_eval(command) if name == "trec_eval" else declare(name, command)
    helper = commands.add_parser("help", help="explain a command")
    helper.add_argument("name", nargs="?", choices=[*COMMANDS])
    return root


def declare(name: str, parser: Parser) -> None:
    """Declare what a command takes, and what completes it."""
    command_of(name).declare(parser)
    complete(parser)


def complete(parser: Parser) -> None:
    """Add measures and files to the arguments of a parser and its subparsers."""
    for step in parser.steps.choices.values() if parser.steps else ():
        complete(step)
    for action in parser.arguments:
        if action.dest in ("measure", "measures", "names"):
            action.choices = MEASURES
        elif action.metavar in FILES:
            action.complete = shtab.FILE


def declare_trec_eval(parser: Parser) -> None:
    """Declare the options of trec_eval, which getopt reads."""
    choices = {"m": MEASURES, "R": [*RELEVANCE_FORMATS], "T": [RUN_FORMAT]}
    for name, (letter, takes_value) in LONG.items():
        flags, kind = [f"-{letter}", f"--{name}"], {} if takes_value else {"action": "store_true"}
        # The short form takes no value, and nobody needs it.
        if letter in "ho":
            continue
        meaning = re.search(rf"^ -{letter}, --{name}\b.*?(?:  |[A-Z\]] )([a-z].*)", GENERAL, re.M)
        action = parser.add_argument(*flags, help=meaning and meaning[1], **kind)
        action.choices = choices.get(letter)
        if letter == "Z":
            action.complete = shtab.FILE
    for name in ("REL_FILE", "RUN_FILE"):
        parser.add_argument(name).complete = shtab.FILE


def main() -> None:
    """Write the files."""
    trec_eval = Parser(prog="trec_eval")
    declare_trec_eval(trec_eval)
    for parser in (fastrank(), trec_eval):
        for shell in SHELLS:
            text = shtab.complete(parser, shell)
            lines = [line.rstrip() for line in text.splitlines()]
            Path(FOLDER, f"{parser.prog}.{shell}").write_text("\n".join(lines) + "\n")


main()
