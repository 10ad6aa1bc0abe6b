"""The command `fastrank completion`: the completions of a shell for fastrank and trec_eval."""

from __future__ import annotations

import os

from fastrank.cli.output import guarded, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

NAME = "fastrank completion"
# docs/scripts/completions.py generates the files.
FOLDER = os.path.join(os.path.dirname(__file__), "completions")
SHELLS = ("bash", "zsh", "fish")
EPILOG = """\
Add the line for your shell to its start-up file:
  ~/.bashrc                   eval "$(fastrank completion bash)"
  ~/.zshrc, after compinit    eval "$(fastrank completion zsh)"
  ~/.config/fish/config.fish  fastrank completion fish | source
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = EPILOG
    parser.add_argument("shell", choices=SHELLS, help="the shell: bash, zsh or fish")


def run(given: argparse.Namespace) -> int:
    """Print the completions; returns the exit status."""
    return guarded(NAME, lambda: _run(given.shell))


def _run(shell: str) -> int:
    for command in ("fastrank", "trec_eval"):
        with open(os.path.join(FOLDER, f"{command}.{shell}"), "rb") as file:
            write(file)
    return 0
