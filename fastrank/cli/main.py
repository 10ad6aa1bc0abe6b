"""The command `fastrank`: evaluation (`eval`, and `trec_eval`, the drop-in), `convert` between
formats, `measures` explains measures, `--version` says which engine runs."""

from __future__ import annotations

import sys

from fastrank import __version__
from fastrank.native import EngineError, engine


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
    commands.add_parser(
        "eval", help="evaluate runs; reads the judgments once and prints a block per run",
        add_help=False,
    )  # fmt: skip
    commands.add_parser(
        "convert", help="convert judgments and runs from one format to another", add_help=False
    )
    commands.add_parser(
        "trec_eval",
        help="evaluate a run as the trec_eval program does; same arguments, same output",
        add_help=False,
    )
    commands.add_parser(
        "measures", help="list the measures: definitions, options, sources", add_help=False
    )
    commands.add_parser(
        "check", help="read judgments and runs strictly and tell what is wrong with them",
        add_help=False,
    )  # fmt: skip
    commands.add_parser(
        "ann", help="compare approximate indexes: recall, change of measures, speed, memory",
        add_help=False,
    )  # fmt: skip
    if words[:1] == ["ann"]:
        from fastrank.cli import ann

        own = argparse.ArgumentParser(
            prog=ann.NAME, description="Compare approximate indexes of vectors with exact search."
        )
        ann.add_arguments(own)
        return ann.run(own.parse_args(words[1:]))
    if words[:1] == ["check"]:
        from fastrank.cli import check

        own = argparse.ArgumentParser(
            prog=check.NAME,
            description="Read judgments and runs strictly: tell all that is wrong or odd.",
        )
        check.add_arguments(own)
        return check.run(own.parse_args(words[1:]))
    if words[:1] == ["measures"]:
        from fastrank.cli import measures

        own = argparse.ArgumentParser(prog=measures.NAME, description="List or explain measures.")
        measures.add_arguments(own)
        return measures.run(own.parse_args(words[1:]))
    if words[:1] == ["eval"]:
        from fastrank.cli import evaluate

        own = argparse.ArgumentParser(
            prog=evaluate.NAME, description="Evaluate runs by judgments, which are read once."
        )
        evaluate.add_arguments(own)
        return evaluate.run(own.parse_args(words[1:]))
    if words[:1] == ["convert"]:
        from fastrank.cli import convert

        own = argparse.ArgumentParser(
            prog=convert.NAME, description="Convert judgments and runs from one format to another."
        )
        convert.add_arguments(own)
        return convert.run(own.parse_args(words[1:]))
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
