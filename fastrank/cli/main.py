"""The command `fastrank` and its subcommands."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.cli.command import Command
    from fastrank.cli.parser import Parser

# The commands and what each does, in groups.
GROUPS = {
    "evaluate": {
        "eval": "evaluate runs against the same judgments (qrels)",
        "trec_eval": "drop-in replacement: same arguments, same output",
        "spans": "evaluate chunks of texts: which chunking is best?",
    },
    "compare": {
        "compare": "compare runs: means, confidence intervals, significance",
        "agree": "compare the rankings of two runs, or of systems",
        "gate": "fail a build if a run is worse than a saved baseline",
    },
    "look and explain": {
        "explain": "explain the values of a query: what each document adds",
        "inspect": "write a page to look at the results of runs, query by query",
        "measures": "list the measures, or explain some with their options",
    },
    "files": {
        "check": "check judgments (qrels) and runs for errors and oddities",
        "convert": "convert judgments (qrels) and runs between formats",
        "fuse": "fuse the rankings of several runs into one run",
    },
    "other programs": {"conformance": "find the mistakes of a program that computes measures"},
    "vectors": {
        "search": "search embeddings and write a run",
        "eval-embeddings": "search embeddings and evaluate the results",
        "hard-negatives": "mine hard negatives from a run, for training",
        "compare-indexes": "compare approximate vector indexes with exact search",
    },
    "judgments": {
        "judges": "compare the judgments of people and models",
        "estimate": "estimate means from a few human judgments and a model's",
        "plan": "draw at random what people should judge next",
        "qrels": "merge and compare qrels, find what is unjudged",
    },
    "setup": {"completion": "print completions for a shell (bash, zsh, fish, tcsh)"},
}
COMMANDS = {name: does for group in GROUPS.values() for name, does in group.items()}

# Where some commands are; the others are COMMAND of the module with their name.
PLACES = {
    "estimate": "judges:ESTIMATE",
    "eval-embeddings": "search:EVAL_EMBEDDINGS",
    "explain": "explain:EXPLAIN",
    "inspect": "explain:INSPECT",
    "judges": "judges:JUDGES",
    "plan": "judges:PLAN",
    "qrels": "judges:QRELS",
    "search": "search:SEARCH_COMMAND",
}
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


# The exit status of a shell for what Ctrl-C ends.
INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status. Arguments as in `sys.argv[1:]`."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        return _run(words)
    except KeyboardInterrupt:
        # While a command is imported; when it runs, it handles this itself.
        return INTERRUPTED


def _run(words: list[str]) -> int:
    if words[:1] == ["help"]:
        words = [word for word in words[1:] if word != "help"] + ["--help"]
    if words[:1] == ["trec_eval"]:
        from fastrank.cli.trec_eval import main as trec_eval

        return trec_eval(words[1:])
    from fastrank.cli.version import overwritten

    if problem := overwritten():
        print(f"fastrank: {problem}", file=sys.stderr)
        return 1
    if words[:1] and words[0] in COMMANDS:
        asked = parser_of(words[0]).parse_args(words[1:])
        return int(asked.command(asked))
    if words[:1] and words[0][:1] not in ("", "-"):
        print(f"fastrank: {_unknown_command(words[0])}", file=sys.stderr)
        return 2
    parser = root_parser()
    options = parser.parse_args(words)
    if not options.version:
        parser.print_help(sys.stderr)
        return 2
    return _print_version()


def launch() -> int:
    """The command as it is installed, which starts `fastrank trec_eval` as fast as `trec_eval`."""
    if sys.argv[1:2] == ["trec_eval"]:
        _launch_fast(sys.argv[1:])
    return main()


def launch_trec_eval() -> None:
    """The command `trec_eval` where it is neither an executable nor a script of the shell."""
    _launch_fast(["trec_eval", *sys.argv[1:]])


def _launch_fast(words: list[str]) -> None:
    """Run a command without garbage collection and the shutdown of Python."""
    import gc
    import os

    gc.disable()
    os._exit(main(words))


def root_parser() -> Parser:
    """The parser of the command without a subcommand."""
    from fastrank.cli.parser import Parser

    width = max(map(len, COMMANDS))
    groups = [
        "\n".join([f"{title}:", *(f"  {name:{width}}  {does}" for name, does in commands.items())])
        for title, commands in GROUPS.items()
    ]
    parser = Parser(
        prog="fastrank",
        usage="fastrank COMMAND ...",
        description="\n\n".join(
            ["Fast, exact, trec_eval-compatible evaluation of rankings.", *groups]
        ),
        epilog="`fastrank help COMMAND` or `fastrank COMMAND --help` explains a command.",
    )
    parser.add("--version", "show the version and the engine, and exit")
    return parser


def parser_of(name: str) -> Parser:
    """The parser of a command other than trec_eval."""
    from fastrank.cli.command import sentence
    from fastrank.cli.parser import Parser

    command, summary = command_of(name), COMMANDS[name]
    parser = Parser(prog=command.name, description=sentence(summary))
    command.declare(parser)
    return parser


def command_of(name: str) -> Command:
    """A command other than trec_eval."""
    from importlib import import_module

    default = f"{name.replace('-', '_')}:COMMAND"
    module, _, variable = PLACES.get(name, default).partition(":")
    command: Command = getattr(import_module(f"fastrank.cli.{module}"), variable)
    return command


def _print_version() -> int:
    from fastrank.cli.output import guarded, write
    from fastrank.cli.version import version

    def command() -> int:
        write([version().encode() + b"\n"])
        return 0

    return guarded("fastrank", command)


def _unknown_command(word: str) -> str:
    """The message for an unknown command, with the one that may be meant."""
    from fastrank.common.dropped import instead
    from fastrank.common.messages import closest, did_you_mean

    if hint := instead("commands", word):
        return f"unknown command {word!r}{hint}"
    close = closest(word, [*COMMANDS, "help"], SYNONYMS)
    hint = did_you_mean(f"`fastrank {name}`" for name in close)
    return f"unknown command {word!r}{hint or '; expected ' + ', '.join(COMMANDS)}"
