"""Keyword options as flags of the command line."""

from __future__ import annotations

import argparse
import os

from fastrank.formats.line_files import read_exclusions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from fastrank.keywords import Keyword


def add_flags(
    parser: argparse._ActionsContainer,
    keywords: Iterable[Keyword],
    *,
    defaults: Mapping[str, Any] | None = None,
    variables: Mapping[str, str] | None = None,
) -> None:
    """Declare a flag for each keyword.

    defaults: override the defaults of the keywords. variables: environment variables that override
    the defaults, by keyword.
    """
    for keyword in keywords:
        default = (defaults or {}).get(keyword.name, keyword.default)
        flags = [f"-{keyword.letter}"] if keyword.letter else []
        dashes = "--" if len(keyword.name) > 1 else "-"
        flags.append(dashes + keyword.name.replace("_", "-"))
        if keyword.default is False:
            parser.add_argument(*flags, action="store_true", help=keyword.help)
            continue
        if keyword.parse is bool:
            parser.add_argument(
                *flags, action=argparse.BooleanOptionalAction, default=default, help=keyword.help
            )
            continue
        shown = default
        if variable := (variables or {}).get(keyword.name):
            shown = f"${variable}, or {default}"
            default = os.environ.get(variable) or default
        parser.add_argument(
            *flags,
            default=default,
            choices=keyword.choices or None,
            type=at_least(keyword.least) if keyword.least is not None else keyword.parse or str,
            metavar=keyword.metavar,
            help=keyword.help if shown is None else f"{keyword.help} (default: {shown})",
        )


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
