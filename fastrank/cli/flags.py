"""The arguments of commands that follow from functions, and those that several commands take.

An option is declared once, as a parameter of a public function: its signature has the type and the
default, and its docstring the help of the flag, in the first sentence on the parameter.
"""

from __future__ import annotations

import argparse
import inspect
import os
import re

from fastrank.analysis.comparing.options import COMPARISON
from fastrank.cli.command import flag_of
from fastrank.common.keywords import names_of
from fastrank.common.messages import closest, did_you_mean
from fastrank.core.formats.tables.roles import LISTED_ROLES, ROLES
from fastrank.core.formats.trec.line_files import read_exclusions
from fastrank.core.matching.keywords import EVALUATION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from fastrank.common.keywords import Keyword
    from fastrank.core.formats.tables.roles import Name

    Function = Callable[..., Any]

# The environment variables that set the defaults of options.
VARIABLES = {"trec_eval_version": "FASTRANK_TREC_EVAL_VERSION"}
# The groups of the arguments of a command, in the order of its help.
OPERANDS, INPUTS, OUTPUT = "operands", "what to evaluate", "output"
STATISTICS, SEARCH, METHOD, CONVENTIONS = "statistics", "search", "method", "conventions"
GENERAL = "general"
GROUPS = (OPERANDS, INPUTS, OUTPUT, STATISTICS, SEARCH, METHOD, CONVENTIONS, GENERAL)
# The groups of the options that these tables describe.
TABLES = {STATISTICS: COMPARISON, CONVENTIONS: EVALUATION}
GROUP_OF = {keyword.name: title for title, table in TABLES.items() for keyword in table}
# Wherever it is an option.
GROUP_OF["threads"] = GENERAL
# The flag that counts queries without results as 0.
ZERO = "--missing zero"
# The first line on one or several parameters in a docstring; more indented lines follow.
DESCRIBED = re.compile(r"((?:\w+, )*\w+): +(\S.*)")
WORD = re.compile(r"\w+_\w+")
RAISES = re.compile(r"raises (?:an error|\w+Error)")
SENTENCE = re.compile(r".*?(?=\. |\.?$)")
NUMBERS: dict[str, tuple[type, str]] = {"int": (int, "N"), "float": (float, "X")}


def columns_by_role(text: str) -> list[tuple[str, Name]]:
    """The roles and names in `query=search_term,doc=0,grade=`; a number is that of a column."""
    pairs: list[tuple[str, Name]] = []
    # A name may have commas.
    for pair in re.split(r",(?=\w+=)", text):
        role, equals, name = pair.partition("=")
        if not equals or role not in ROLES:
            expected = f"ROLE=NAME, with a role such as {', '.join(LISTED_ROLES)}"
            expected += did_you_mean(closest(role, ROLES)) * bool(equals)
            raise argparse.ArgumentTypeError(f"expected {expected}, found {pair!r}")
        if role in dict(pairs):
            raise argparse.ArgumentTypeError(f"expected one column for {role}, found {text!r}")
        pairs.append((role, int(name) if name.isdecimal() else name or None))
    return pairs


def _level(text: str) -> float:
    """A grade, an int if it is whole."""
    return float(text) if set(text) & set(".eE") else int(text)


def _weights(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


# argparse shows the names of functions in its messages.
_level.__name__, _weights.__name__ = "number", "weights"
COLUMNS = (
    "columns by role: query=need, or without a header query=0 (the first);"
    f" {', '.join(LISTED_ROLES)}"
)
LETTERS = {
    "relevance_level": "l",
    "depth": "M",
    "judged_only": "J",
    "collection_size": "N",
    "measure": "m",
}
IDS = "{} ids, .npy or lines (default: row numbers)"
# Declarations of flags that differ from the parameters in Python.
OTHERWISE: dict[str, dict[str, object]] = {
    "corpus_ids": {"metavar": "FILE", "help": IDS.format("document")},
    "exclude": {"metavar": "FILE", "help": "exclude what FILE has: a query and a document a line"},
    "index_factory": {"metavar": "STRING"},
    "parameters": {"metavar": "NAME=VALUE,..."},
    "query_ids": {"metavar": "FILE", "help": IDS.format("query")},
    "relevance_level": {"metavar": "N", "type": _level},
    "run": {"metavar": "FILE"},
    "weights": {"metavar": "W,W,...", "type": _weights},
}


def declarations(
    function: Function,
    names: Iterable[str] | type,
    defaults: Mapping[str, Any],
    changed: Mapping[str, dict[str, object]],
) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Declarations of `Parser.add_flags`: the names of each flag, and arguments for argparse."""
    parameters, sentences = inspect.signature(function).parameters, described(function)
    selection = names_of(names) if isinstance(names, type) else set(names)
    for name, parameter in parameters.items():
        if name not in selection:
            continue
        shown = default = defaults.get(name, parameter.default)
        if (variable := VARIABLES.get(name)) and name not in defaults:
            shown = f"${variable}, or {default}"
            default = os.environ.get(variable) or default
        options = {"default": default, "help": sentences.get(name), **_values(function, parameter)}
        if name in GROUP_OF:
            options["group"] = GROUP_OF[name]
        options |= OTHERWISE.get(name, {}) | changed.get(name, {})
        options["help"] = options["help"].replace(f"`{name}`", options.get("metavar") or name)
        if shown is not None and shown is not False:
            options["help"] += f" (default: {shown})"
        yield [*([f"-{LETTERS[name]}"] if name in LETTERS else []), flag_of(name)], options


def _values(function: Function, parameter: inspect.Parameter) -> dict[str, object]:
    """The type, choices or action of a flag."""
    name, _, rest = parameter.annotation.partition(" | ")
    if name == "bool":
        return {"action": argparse.BooleanOptionalAction if rest else "store_true"}
    keywords: dict[str, Keyword] = getattr(function, "__options__", {})
    keyword = keywords.get(parameter.name)
    if keyword is not None and keyword.least is not None:
        return {"type": at_least(keyword.least), "metavar": "N"}
    if name in NUMBERS:
        kind, metavar = NUMBERS[name]
        return {"type": kind, "metavar": metavar}
    if keyword is not None and keyword.choices:
        return {"choices": keyword.choices}
    if name == "str" or parameter.name in OTHERWISE:
        return {"metavar": "NAME"}
    from fastrank.common import choices

    return {"choices": getattr(choices, name).__args__}


def described(function: Function) -> dict[str, str]:
    """The first sentence on each parameter in a docstring, with other parameters as flags."""
    texts: dict[str, str] = {}
    names: list[str] = []
    for line in (inspect.getdoc(function) or "").splitlines():
        if match := DESCRIBED.fullmatch(line):
            names = match[1].split(", ")
            texts |= dict.fromkeys(names, match[2])
        elif names and line.startswith(" "):
            texts |= {name: f"{texts[name]} {line.strip()}" for name in names}
        else:
            names = []
    parameters = inspect.signature(function).parameters

    def as_flag(word: re.Match[str]) -> str:
        return flag_of(word[0]) if word[0] in parameters else word[0]

    return {
        name: RAISES.sub("is an error", WORD.sub(as_flag, SENTENCE.findall(text)[0])).replace(
            "%", "%%"
        )
        for name, text in texts.items()
    }


def given_options(
    arguments: argparse.Namespace, names: Iterable[str] | type | Function
) -> dict[str, Any]:
    """The values of the flags by the names of the parameters; names as in `Parser.add_flags`.

    For a function: all that it takes, without those that are not given and have another default.
    Raises ReadError and FormatError for the --exclude file.
    """
    listed: Any = names_of(names) if isinstance(names, type) else names
    if inspect.isfunction(listed):
        listed = [
            name
            for name, parameter in inspect.signature(listed).parameters.items()
            if getattr(arguments, name, None) is not None
            or parameter.default in (None, parameter.empty)
        ]
    options = {name: getattr(arguments, name) for name in listed if hasattr(arguments, name)}
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
