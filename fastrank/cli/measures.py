"""The command `fastrank measures`: list the measures, their definitions, options and sources."""

from __future__ import annotations

from fastrank.cli.command import Command
from fastrank.core.measures.families import FAMILY_BY_SPELLING, MEASURES
from fastrank.core.measures.measure_options import Family, Option
from fastrank.core.measures.notation import parse_measure
from fastrank.core.measures.selection import split_texts
from fastrank.core.measures.trec import BY_NAME, NICKNAMES, Measure, spelling

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from fastrank.cli.parser import Parser

EPILOG = """\
examples:
  fastrank measures
  fastrank measures nDCG P_10 all_prefs
"""
# How the parameters of trec_eval's measures are shown.
PARAMETERS = {
    "": "",
    "cutoffs": ".RANKS",
    "recalls": ".NUMBERS",
    "numbers": ".NUMBERS",
    "gains": ".GRADE=GAIN,...",
    "persistence": ".p=P,GRADE=GAIN,...",
    "weights": ".A,B,C,D",
}


def _declare(parser: Parser) -> None:
    parser.add(
        "[NAME ...]",
        "measure in any notation, or set of measures (default: list all, one per line)",
        dest="names",
    )


def _listed(arguments: argparse.Namespace) -> str:
    chosen = [
        measure
        for text in arguments.names
        for name in split_texts(text) or [text]
        for measure in _measures(name)
    ]
    if chosen:
        return "\n".join(map(_explained, dict.fromkeys(chosen)))
    lines = [(usage_of(measure, brief=True), _first_words(measure)) for measure in MEASURES]
    width = max(len(usage) for usage, _ in lines)
    return "".join(f"{usage:{width}} {words}\n" for usage, words in lines)


def _measures(name: str) -> list[Measure]:
    """The measures that a name refers to."""
    family = FAMILY_BY_SPELLING.get(spelling(name))
    if family is not None and name not in BY_NAME:
        return [family]
    spec = parse_measure(name)
    if spec.name in NICKNAMES:
        return [measure for measure in MEASURES if spec.name in measure.sets]
    return [spec.family or BY_NAME[spec.name]]


def usage_of(measure: Measure, *, brief: bool = False) -> str:
    """How a measure is written; brief: without the names of its options."""
    if not isinstance(measure, Family):
        return measure.name + PARAMETERS[measure.takes]
    names = ",".join(name for name in measure.options if name != measure.at)
    suffix = f"@{'k' if measure.at == 'cutoff' else measure.at}" if measure.at else ""
    if suffix and not measure.options[measure.at].needed:
        suffix = f"[{suffix}]"
    options = f"({'...' if brief else names})" if names else ""
    return measure.name + options + suffix


def other_names(measure: Family) -> list[str]:
    """The names of a measure besides its own."""
    names = list(measure.aliases)
    if measure.plain:
        names.append(measure.plain + ("_k" if measure.at else ""))
    return names


def _first_words(measure: Measure) -> str:
    text = " ".join(measure.help.split())
    depth = 0
    for end, mark in enumerate(text):
        depth += (mark == "(") - (mark == ")")
        if depth == 0 and text[end : end + 2] in (": ", "; ", ". ", ", "):
            return text[:end]
    return text.removesuffix(".")


def _explained(measure: Measure) -> str:
    """The definition, other names, parameters, options, sets and source of a measure."""
    import textwrap

    definition, _, source = " ".join(measure.help.split()).partition(" Source: ")
    lines = [usage_of(measure), *textwrap.wrap(definition, 90)]
    if isinstance(measure, Family) and (names := other_names(measure)):
        lines.append(f"Also called {', '.join(names)}.")
    if measure.takes and measure.default:
        values = ", ".join(f"{value:g}" for value in measure.default)
        lines.append(f"Default parameters: {values}")
    if isinstance(measure, Family):
        lines += [
            f"  {option.name:12} {_values(option)}: {option.help}"
            for option in measure.options.values()
        ]
    if measure.sets:
        lines.append(f"In the sets {', '.join(measure.sets)}.")
    if source:
        lines += textwrap.wrap(f"Source: {source}", 90)
    return "\n    ".join(lines) + "\n"


def _values(option: Option) -> str:
    shown = " | ".join(map(repr, option.choices)) or option.kind
    default = "required" if option.needed else option.default
    return shown if default is None else f"{shown} ({default})"


COMMAND = Command(
    "fastrank measures", _declare, _listed, usage=("[NAME ...]",), epilog=EPILOG, reads=False
)
