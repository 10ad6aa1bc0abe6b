"""The command `fastrank completion`: the completions of a shell for fastrank and trec_eval."""

from __future__ import annotations

import os

from fastrank.cli.command import Command
from fastrank.cli.output import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from fastrank.cli.parser import Parser

# docs/scripts/completions.py generates the files.
FOLDER = os.path.join(os.path.dirname(__file__), "completions")
SHELLS = ("bash", "zsh", "fish")
EPILOG = """\
Add the line for your shell to its start-up file:
  ~/.bashrc                   eval "$(fastrank completion bash)"
  ~/.zshrc, after compinit    eval "$(fastrank completion zsh)"
  ~/.config/fish/config.fish  fastrank completion fish | source
"""


def _declare(parser: Parser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell: bash, zsh or fish")


def _run(given: argparse.Namespace) -> int:
    for command in ("fastrank", "trec_eval"):
        with open(os.path.join(FOLDER, f"{command}.{given.shell}"), "rb") as file:
            write(file)
    return 0


COMMAND = Command("fastrank completion", _declare, _run, epilog=EPILOG)
