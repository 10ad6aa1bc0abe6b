"""The command `fastrank`: evaluation (`eval`, and `trec_eval`, the drop-in), embeddings (`search`,
`eval-embeddings`, `hard-negatives`, `compare-indexes`), `convert` between formats, `measures`
explains measures, `check` reads files strictly, `--version` says which engine runs."""

from __future__ import annotations

import sys

from fastrank import __version__
from fastrank.native import EngineError, engine

# Of each command the module, what it does in a line, and in its own help.
COMMANDS = {
    "eval": (
        "evaluate", "evaluate runs; reads the judgments once and prints a block per run",
        "Evaluate runs by judgments, which are read once.",
    ),
    "search": (
        "search", "search embeddings with faiss and write a run",
        "Search a corpus of vectors for the nearest of each query, and write the run.",
    ),
    "eval-embeddings": (
        "eval_embeddings", "search embeddings with faiss and evaluate what is found",
        "Evaluate embeddings: search for each query, and judge what is found as it comes.",
    ),
    "hard-negatives": (
        "hard_negatives", "mine hard negatives from a run: training data for retrieval models",
        "Mine hard negatives from a run, as training data.",
    ),
    "compare-indexes": (
        "compare_indexes", "compare approximate indexes: recall, change of measures, speed, memory",
        "Compare approximate indexes of vectors with exact search.",
    ),
    "convert": (
        "convert", "convert judgments and runs from one format to another",
        "Convert judgments and runs from one format to another.",
    ),
    "trec_eval": (
        "trec_eval", "evaluate a run as the trec_eval program does; same arguments, same output",
        "",
    ),
    "measures": (
        "measures", "list the measures: definitions, options, sources",
        "List or explain measures.",
    ),
    "check": (
        "check", "read judgments and runs strictly and tell what is wrong with them",
        "Read judgments and runs strictly: tell all that is wrong or odd.",
    ),
}  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status. Arguments as in `sys.argv[1:]`."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["trec_eval"]:
        from fastrank.cli.trec_eval import main as trec_eval

        return trec_eval(words[1:])
    return _main(words)


def _main(words: list[str]) -> int:
    import argparse

    parser = argparse.ArgumentParser(
        prog="fastrank", description="Fast, exact, trec_eval-compatible evaluation of rankings."
    )
    parser.add_argument(
        "--version", action="store_true", help="print the version and the engine, and exit"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, (_, summary, _) in COMMANDS.items():
        commands.add_parser(name, help=summary, add_help=False)
    if words[:1] and words[0] in COMMANDS:
        from importlib import import_module

        module, _, description = COMMANDS[words[0]]
        command = import_module(f"fastrank.cli.{module}")
        command_parser = argparse.ArgumentParser(prog=command.NAME, description=description)
        command.add_arguments(command_parser)
        return int(command.run(command_parser.parse_args(words[1:])))
    given = parser.parse_args(words)
    if given.version:
        try:
            print(version(), flush=True)
        except EngineError as error:
            print(f"fastrank {__version__}: {error}", file=sys.stderr)
            return 1
        except OSError as error:
            from fastrank.cli.output import discard

            print(f"fastrank: cannot write: {error.strerror}", file=sys.stderr)
            discard(sys.stdout)
            return 1
        return 0
    parser.print_help(sys.stderr)
    return 2


def version() -> str:
    """The version of fastrank, and the engine that runs its kernels. Raises EngineError."""
    return f"fastrank {__version__}, engine: {engine()}"
