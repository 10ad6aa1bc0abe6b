"""The arguments that several commands take, and keyword options as flags."""

from __future__ import annotations

import argparse
import os

from fastrank.formats.line_files import read_exclusions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from fastrank.cli.parser import Parser
    from fastrank.keywords import Keyword

# The environment variables that set the defaults of options.
VARIABLES = {"trec_eval_version": "FASTRANK_TREC_EVAL_VERSION"}
# What counts queries without results as 0, on the command line.
ZERO = "--missing zero"


def add_files(parser: Parser, *, runs: bool = False) -> None:
    """Declare the qrels, and one run or several."""
    parser.add_argument("qrels", metavar="QRELS", help="qrels in any format; - is standard input")
    name, count = ("runs", "+") if runs else ("run", None)
    parser.add_argument(
        name, nargs=count, metavar="RUN", help="run in any format, may be compressed"
    )


def add_measures(parser: Parser, default: str, *, required: bool = False) -> None:
    """Declare `-m`."""
    parser.add_argument(
        "-m", "--measure", action="append", default=[], metavar="MEASURE", required=required,
        help="measure in any notation (map, P.5,10, nDCG@10) or set of measures (official,"
        f" all_trec); may be repeated{default and f' (default: {default})'}; `fastrank measures`"
        " lists them",
    )  # fmt: skip


def add_output(parser: Parser, formats: Iterable[str], default: str) -> None:
    """Declare `--format` and `-o`."""
    parser.add_argument(
        "--format", choices=tuple(formats),
        help=f"output format (default: by the name of the -o file, else {default})",
    )  # fmt: skip
    add_output_file(parser)


def add_output_file(parser: Parser) -> None:
    """Declare `-o`."""
    parser.add_argument(
        "-o", "--output", metavar="FILE",
        help="write to FILE (default: standard output), compressed if its name ends in .gz, .bz2,"
        " .xz or .zst; it is replaced only if everything succeeds",
    )  # fmt: skip


def add_flags(
    parser: Parser,
    keywords: Iterable[Keyword],
    *,
    defaults: Mapping[str, Any] | None = None,
    group: Any = None,
) -> None:
    """Declare a flag for each keyword.

    defaults: override the defaults of the keywords.
    """
    for keyword in keywords:
        default = (defaults or {}).get(keyword.name, keyword.default)
        flags = [f"-{keyword.letter}"] if keyword.letter else []
        dashes = "--" if len(keyword.name) > 1 else "-"
        flags.append(dashes + keyword.name.replace("_", "-"))
        options: dict[str, Any] = {"default": default, "help": keyword.help}
        if keyword.default is False:
            options["action"] = "store_true"
        elif keyword.parse is bool:
            options["action"] = argparse.BooleanOptionalAction
        else:
            least = keyword.least
            options |= {
                "choices": keyword.choices or None, "metavar": keyword.metavar,
                "type": (keyword.parse or str) if least is None else at_least(least),
            }  # fmt: skip
            shown = default
            if (variable := VARIABLES.get(keyword.name)) and keyword.name not in (defaults or {}):
                shown = f"${variable}, or {default}"
                options["default"] = os.environ.get(variable) or default
            if shown is not None:
                options["help"] += f" (default: {shown})"
        parser.add_argument(*flags, group=group, **options)


def given_options(given: argparse.Namespace, keywords: Iterable[Keyword]) -> dict[str, Any]:
    """The values of the flags by the names of the keywords.

    Raises ReadError and FormatError for the --exclude file.
    """
    options = {keyword.name: getattr(given, keyword.name) for keyword in keywords}
    if options.get("exclude"):
        options["exclude"] = read_exclusions(options["exclude"])
    return options


def at_least(least: int) -> type[int]:
    """The type of a flag that takes integers of at least `least`."""

    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"expected {least} or more, found {value}")
        return value

    # argparse names the function in its messages.
    number.__name__ = "number"
    return number  # type: ignore[return-value]
