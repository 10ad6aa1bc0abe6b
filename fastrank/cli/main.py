"""The command `fastrank` and its subcommands: evaluation (`eval` and the drop-in `trec_eval`),
comparison (`compare`, `gate`, `agree`, `explain`), fusion (`fuse`), embeddings (`search`,
`eval-embeddings`, `hard-negatives`, `compare-indexes`, `probe`), files (`convert`, `check`), the
list of measures (`measures`) and the completions of shells (`completion`)."""

from __future__ import annotations

import sys

from fastrank import __version__
from fastrank.native import engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.cli.command import Command
    from fastrank.cli.parser import Parser

# For each command: its module, its line in `fastrank --help`, and the first line of its help.
COMMANDS = {
    "eval": (
        "evaluate", "evaluate runs",
        "Evaluate one or more runs against the same judgments (qrels).",
    ),
    "compare": (
        "compare", "compare runs: significance tests and confidence intervals",
        "Compare runs: means, confidence intervals, and which ones differ significantly.",
    ),
    "search": (
        "search", "search embeddings and write a run",
        "Search document embeddings for the nearest neighbors of query embeddings, and\n"
        "write a run.",
    ),
    "eval-embeddings": (
        "eval_embeddings", "search embeddings and evaluate the results",
        "Search document embeddings for the nearest neighbors of query embeddings, and\n"
        "evaluate the results.",
    ),
    "hard-negatives": (
        "hard_negatives", "mine hard negatives from a run, for training",
        "Mine hard negatives from a run, as training data for retrieval models.",
    ),
    "compare-indexes": (
        "compare_indexes", "compare approximate vector indexes with exact search",
        "Compare approximate vector indexes with exact search: recall, measures, speed\n"
        "and size.",
    ),
    "probe": (
        "probe", "train classifiers on embeddings and test them",
        "Train classifiers on embeddings and test them, as published protocols do.",
    ),
    "gate": (
        "gate", "fail a build if a run is worse than a saved baseline",
        "Save the values of a run as a baseline, and check later runs against it.",
    ),
    "agree": (
        "agree", "compare the rankings of two runs, or two rankings of systems",
        "Compare the rankings of two runs query by query, or two rankings of systems:\n"
        "overlap, rank-biased overlap, and rank correlation.",
    ),
    "explain": (
        "explain", "explain the values of a query: what each document adds",
        "Explain the values of a query: which documents add how much to each measure, and\n"
        "what else matters for them.",
    ),
    "fuse": (
        "fuse", "fuse several runs into one",
        "Fuse the rankings of several runs into one run: reciprocal rank fusion, CombSUM,\n"
        "Borda count, and others.",
    ),
    "convert": (
        "convert", "convert qrels and runs between formats",
        "Convert judgments (qrels) and runs between formats.",
    ),
    "trec_eval": (
        "trec_eval", "drop-in replacement for trec_eval: same arguments, same output",
        "",
    ),
    "measures": (
        "measures", "list and explain the measures",
        "List the measures, or explain some: definitions, options and sources.",
    ),
    "check": (
        "check", "check qrels and runs for errors",
        "Check judgments (qrels) and runs for errors and oddities.",
    ),
    "completion": (
        "completion", "print the completions of a shell",
        "Print the completions of commands, options and measures for a shell.",
    ),
}  # fmt: skip

# Commands by other names.
SYNONYMS = {
    "ann": "compare-indexes",
    "benchmark": "compare-indexes",
    "combine": "fuse",
    "mine": "hard-negatives",
    "merge": "fuse",
    "metrics": "measures",
    "rrf": "fuse",
    "retrieve": "search",
    "score": "eval",
    "validate": "check",
}


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status. Arguments as in `sys.argv[1:]`."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["help"]:
        words = [word for word in words[1:] if word != "help"] + ["--help"]
    if words[:1] == ["trec_eval"]:
        from fastrank.cli.trec_eval import main as trec_eval

        return trec_eval(words[1:])
    if words[:1] and words[0] in COMMANDS:
        arguments = parser_of(words[0]).parse_args(words[1:])
        return int(arguments.command(arguments))
    if words[:1] and words[0][:1] not in ("", "-"):
        print(f"fastrank: {_unknown_command(words[0])}", file=sys.stderr)
        return 2
    parser = root_parser()
    given = parser.parse_args(words)
    if not given.version:
        parser.print_help(sys.stderr)
        return 2
    return _print_version()


def launch() -> int:
    """The command as it is installed, which starts `fastrank trec_eval` as fast as `trec_eval`."""
    if sys.argv[1:2] == ["trec_eval"]:
        import gc
        import os

        gc.disable()
        os._exit(main())
    return main()


def root_parser() -> Parser:
    """The parser of the command without a subcommand."""
    from fastrank.cli.parser import Parser

    parser = Parser(
        prog="fastrank",
        description="Fast, exact, trec_eval-compatible evaluation of rankings.",
        epilog="`fastrank help COMMAND` or `fastrank COMMAND --help` explains a command.",
    )
    parser.add_argument(
        "--version", action="store_true", help="show the version and the engine, and exit"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, (_, summary, _) in COMMANDS.items():
        commands.add_parser(name, help=summary, add_help=False)
    return parser


def parser_of(name: str) -> Parser:
    """The parser of a command other than trec_eval."""
    from fastrank.cli.parser import Parser

    command = command_of(name)
    parser = Parser(prog=command.name, description=COMMANDS[name][2])
    command.declare(parser)
    return parser


def command_of(name: str) -> Command:
    """A command other than trec_eval."""
    from importlib import import_module

    found: Command = import_module(f"fastrank.cli.{COMMANDS[name][0]}").COMMAND
    return found


def _print_version() -> int:
    from fastrank.cli.output import guarded, write

    def command() -> int:
        write([version().encode() + b"\n"])
        return 0

    return guarded(f"fastrank {__version__}", command)


def _unknown_command(word: str) -> str:
    """The message for an unknown command, with the one that may be meant."""
    from fastrank.messages import closest, did_you_mean

    close = closest(word, [*COMMANDS, "help"], SYNONYMS)
    hint = did_you_mean(f"`fastrank {name}`" for name in close)
    return f"unknown command {word!r}{hint or '; expected ' + ', '.join(COMMANDS)}"


def version() -> str:
    """The version of fastrank and the engine that runs its kernels. Raises EngineError."""
    return f"fastrank {__version__}, engine: {engine()}"
