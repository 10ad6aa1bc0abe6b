"""The command `fastrank completion`: the completions of a shell for fastrank or trec_eval."""

from __future__ import annotations

import re

from fastrank.cli.command import FILES, Command
from fastrank.common.lazy import optional
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from fastrank.cli.parser import Parser

SHELLS = ("bash", "zsh", "fish", "tcsh")
COMPLETED = ("fastrank", "fastrank-eval", "trec_eval")
EPILOG = """\
examples:
  fastrank completion bash > ~/.local/share/bash-completion/completions/fastrank
  fastrank completion zsh > ~/.zfunc/_fastrank
  fastrank completion fish > ~/.config/fish/completions/fastrank.fish
  fastrank completion tcsh > ~/.fastrank.tcsh

Write it once, and again after an update: bash and fish read these folders by
themselves; zsh reads those of $fpath (`fpath+=~/.zfunc` before `compinit` in
~/.zshrc); for tcsh, `source` the file in ~/.tcshrc. For trec_eval and
fastrank-eval do the same with `fastrank completion SHELL COMMAND`, into a file
with its name. Needs the extra `completion`.
"""


def _declare(parser: Parser) -> None:
    parser.add("SHELL", f"the shell: {', '.join(SHELLS)}", choices=SHELLS)
    parser.add(
        "[COMMAND]",
        f"the command to complete: {', '.join(COMPLETED)} (default: {COMPLETED[0]})",
        dest="completed",
        choices=COMPLETED,
        nargs="?",
        default=COMPLETED[0],
    )


def completions(shell: str, command: str) -> str:
    """The completions of a command for a shell. Raises ImportError and OptionError."""
    shtab = optional("shtab", "fastrank completion", "completion")
    if shell not in shtab.SUPPORTED_SHELLS:
        raise OptionError("SHELL", f"shtab {shtab.__version__} has no {shell}; update it")
    parser = _trec_eval() if command == "trec_eval" else _fastrank(command)
    text: str = shtab.complete(parser, shell)
    return text


def _fastrank(name: str) -> Parser:
    """The parser of fastrank by one of its names, with those of its commands as subparsers."""
    from fastrank.cli.main import COMMANDS, command_of
    from fastrank.cli.parser import Parser

    root = Parser(prog=name)
    root.add("--version", "show the version and the engine, and exit")
    commands = root.add_subparsers()
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary)
        if name == "trec_eval":
            _declare_trec_eval(command)
        else:
            command_of(name).declare(command)
            _complete_values(command)
    explained = commands.add_parser("help", help="explain a command")
    explained.add("[COMMAND]", "the command to explain", nargs="?", choices=[*COMMANDS])
    return root


def _trec_eval() -> Parser:
    from fastrank.cli.parser import Parser

    parser = Parser(prog="trec_eval")
    _declare_trec_eval(parser)
    return parser


def _complete_values(parser: Parser) -> None:
    """Let the shell complete measures and files, in the subparsers, too."""
    for step in parser.steps.choices.values() if parser.steps else ():  # type: ignore[union-attr]
        _complete_values(step)
    measures = _measures()
    for action in parser.arguments:
        if action.metavar in ("MEASURE", "NAME") and action.dest in ("measure", "measures"):
            action.choices = measures
        elif action.metavar in FILES:
            _complete_files(action)


def _complete_files(action: argparse.Action) -> None:
    import shtab

    action.complete = shtab.FILE  # type: ignore[attr-defined]


def _measures() -> list[str]:
    from fastrank.core.measures.families import FAMILY_BY_NAME
    from fastrank.core.measures.trec import BY_NAME, NICKNAMES

    return sorted({*BY_NAME, *NICKNAMES, *FAMILY_BY_NAME})


def _declare_trec_eval(parser: Parser) -> None:
    """Declare what getopt reads for trec_eval, with the words of its help."""
    from fastrank.cli.help import GENERAL
    from fastrank.cli.trec_eval import LONG, RELEVANCE_FORMATS, RUN_FORMAT

    choices = {"m": _measures(), "R": RELEVANCE_FORMATS, "T": [RUN_FORMAT]}
    for name, (letter, takes_value) in LONG.items():
        # The parser has -h; the short form of -o takes no value, and nobody needs it.
        if letter in "ho":
            continue
        meaning = re.search(rf"^ -{letter}, --{name}\b.*?(?:  |[A-Z\]] )([a-z].*)", GENERAL, re.M)
        kind = "store" if takes_value else "store_true"
        flags = f"-{letter}", f"--{name}"
        action = parser.add_argument(*flags, help=meaning and meaning[1], action=kind)
        action.choices = choices.get(letter)
        if letter == "Z":
            _complete_files(action)
    for name in ("REL_FILE", "RUN_FILE"):
        _complete_files(parser.add_argument(name))


COMMAND = Command(
    "fastrank completion",
    _declare,
    lambda arguments: completions(arguments.shell, arguments.completed),
    usage=("SHELL [COMMAND]",),
    epilog=EPILOG,
    reads=False,
)
