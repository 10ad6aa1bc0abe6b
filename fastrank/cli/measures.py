"""The command `fastrank measures`: list the measures, their definitions, options and sources."""

from __future__ import annotations

from fastrank.cli.command import Command
from fastrank.measures.families import FAMILY_BY_SPELLING, MEASURES
from fastrank.measures.measure_options import Family
from fastrank.measures.notation import parse_measure
from fastrank.measures.selection import split_texts
from fastrank.measures.trec import BY_NAME, NICKNAMES, Measure, spelling

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from fastrank.cli.parser import Parser

EPILOG = """\
examples:
  fastrank measures
  fastrank measures nDCG P_10 all_prefs
  fastrank measures --format json PercentileRank
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
    add = parser.add
    add(
        "[NAME ...]",
        "measure in any notation, or set of measures (default: list all)",
        dest="names",
    )
    add(
        "--format",
        "output format (default: text); text without NAME prints one line per measure",
        choices=("text", "json", "markdown"),
        default="text",
    )


def _listed(given: argparse.Namespace) -> str:
    chosen = [
        measure
        for text in given.names
        for name in split_texts(text) or [text]
        for measure in _measures(name)
    ]
    found = [_described(measure) for measure in dict.fromkeys(chosen)]
    if given.format == "text" and not found:
        lines = [(_usage(measure, brief=True), _first_words(measure)) for measure in MEASURES]
        width = max(len(usage) for usage, _ in lines)
        return "".join(f"{usage:{width}} {words}\n" for usage, words in lines)
    found = found or [_described(measure) for measure in MEASURES]
    return {"text": _as_text, "json": _as_json, "markdown": _as_markdown}[given.format](found)


def _measures(name: str) -> list[Measure]:
    """The measures that a name refers to."""
    family = FAMILY_BY_SPELLING.get(spelling(name))
    if family is not None and name not in BY_NAME:
        return [family]
    spec = parse_measure(name)
    if spec.name in NICKNAMES:
        return [measure for measure in MEASURES if spec.name in measure.sets]
    return [spec.family or BY_NAME[spec.name]]


def _described(measure: Measure) -> dict[str, Any]:
    definition, _, source = " ".join(measure.help.split()).partition(" Source: ")
    options = measure.options.values() if isinstance(measure, Family) else ()
    return {
        "name": measure.name,
        "usage": _usage(measure),
        "aliases": _other_names(measure) if isinstance(measure, Family) else [],
        "definition": definition,
        "parameters": [f"{value:g}" for value in measure.default] if measure.takes else [],
        "options": [
            {
                "name": option.name,
                "values": list(option.choices) or option.kind,
                "default": "required" if option.needed else option.default,
                "meaning": option.help,
            }
            for option in options
        ],
        "average": measure.average,
        "sets": list(measure.sets),
        "source": source,
    }


def _usage(measure: Measure, *, brief: bool = False) -> str:
    if not isinstance(measure, Family):
        return measure.name + PARAMETERS[measure.takes]
    named = ",".join(name for name in measure.options if name != measure.at)
    at = f"@{'k' if measure.at == 'cutoff' else measure.at}" if measure.at else ""
    if at and not measure.options[measure.at].needed:
        at = f"[{at}]"
    options = f"({'...' if brief else named})" if named else ""
    return measure.name + options + at


def _other_names(measure: Family) -> list[str]:
    names = list(measure.aliases)
    if measure.plain:
        names.append(measure.plain + ("_k" if measure.at else ""))
    return names


def _first_words(measure: Measure) -> str:
    text = " ".join(measure.help.split())
    depth = 0
    for place, mark in enumerate(text):
        depth += (mark == "(") - (mark == ")")
        if depth == 0 and text[place : place + 2] in (": ", "; ", ". ", ", "):
            return text[:place]
    return text.removesuffix(".")


def _as_text(found: list[dict[str, Any]]) -> str:
    import textwrap

    parts = []
    for measure in found:
        lines = [measure["usage"], *textwrap.wrap(measure["definition"], 90)]
        if measure["aliases"]:
            lines.append(f"Also called {', '.join(measure['aliases'])}.")
        if measure["parameters"]:
            lines.append(f"Default parameters: {', '.join(measure['parameters'])}")
        lines += [
            f"  {option['name']:12} {_values(option)}: {option['meaning']}"
            for option in measure["options"]
        ]
        if measure["sets"]:
            lines.append(f"In the sets {', '.join(measure['sets'])}.")
        if measure["source"]:
            lines += textwrap.wrap(f"Source: {measure['source']}", 90)
        parts.append("\n    ".join(lines) + "\n")
    return "\n".join(parts)


def _values(option: dict[str, Any]) -> str:
    kind = option["values"]
    shown = kind if isinstance(kind, str) else " | ".join(map(repr, kind))
    default = option["default"]
    return shown if default is None else f"{shown} ({default})"


def _as_json(found: list[dict[str, Any]]) -> str:
    import json

    return json.dumps(found, indent=2) + "\n"


def _as_markdown(found: list[dict[str, Any]]) -> str:
    lines = ["| measure | definition | options | source |", "|---|---|---|---|"]
    for measure in found:
        options = "; ".join(
            f"`{option['name']}`: {_values(option)}" for option in measure["options"]
        )
        cells = (f"`{measure['usage']}`", measure["definition"], options, measure["source"])
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


COMMAND = Command("fastrank measures", _declare, _listed, epilog=EPILOG)
