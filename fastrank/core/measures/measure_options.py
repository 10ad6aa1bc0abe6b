"""Measures with options: the possible values of the options, and their notation."""

from __future__ import annotations

import os

from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.common.c_numbers import finite
from fastrank.core.data.columns import Frozen
from fastrank.core.measures.bound import BoundMeasure
from fastrank.core.measures.trec import INFINITE, Measure
from fastrank.errors import MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Form = tuple[str, Any, dict[str, Any]]

LARGEST = 2**31 - 1


class Option(Frozen):
    """An option of a measure.

    kind: "rank" (a whole number of at least 1), "grade" (a number), "share" (a number from 0 to
        1), "number" (not negative), "positive" (a number above 0), "flag", "gains" (a gain for
        each grade), or "choice"; for user-defined measures also "real" (any number), "integer" or
        "text".
    default: the default value, None if there is none. needed: whether the option is required.
    choices: the values of a "choice"; kernels get the index.
    beside: the option and the value that it has to be combined with; None if there is none.
    """

    name: str
    kind: str
    help: str
    default: Any = None
    needed: bool = False
    choices: tuple[str, ...] = ()
    beside: tuple[str, object] | None = None

    def read(self, text: str) -> Any:
        """Parse a value. Raises ValueError, whose message says what was expected."""
        if self.kind in ("choice", "text"):
            word = text[1:-1] if len(text) > 1 and text[0] == text[-1] in "'\"" else text
            if self.kind == "choice" and word not in self.choices:
                raise ValueError(f"expected {' or '.join(map(repr, self.choices))}")
            return word
        if self.kind == "flag":
            if text not in ("True", "False"):
                raise ValueError("expected True or False")
            return text == "True"
        if self.kind == "gains":
            return _read_gains(text)
        if self.kind == "grade":
            grade = _read_grade(text)
            if grade is None:
                size = " that fits into 32 bits" if finite(text) is not None else ""
                raise ValueError(f"expected a number{size}")
            return grade
        number = finite(text)
        most = f" and at most {LARGEST}" if number is not None and number > LARGEST else ""
        value, is_whole = float("nan") if number is None else number, _is_integer(text)
        fits, expected = {
            "rank": (is_whole and 1 <= value <= LARGEST, f"a whole number of at least 1{most}"),
            "integer": (is_whole, "a whole number"),
            "real": (value == value, "a number"),
            "share": (0.0 <= value <= 1.0, "a number from 0 to 1"),
            "positive": (value > 0.0, "a number above 0"),
            "number": (value >= 0.0, "a number of at least 0"),
        }[self.kind]
        if not fits:
            raise ValueError(f"expected {expected}")
        return int(text) if self.kind in ("rank", "integer") else number

    def write(self, value: object) -> str:
        """Format a value so that `read` parses it."""
        if isinstance(value, float):
            return _write_number(value)
        if isinstance(value, tuple):
            return "{" + ",".join(f"{grade}:{_write_number(gain)}" for grade, gain in value) + "}"
        return repr(value)

    def number(self, value: Any) -> float:
        """A value as passed to kernels: the index of a choice, infinity for no cutoff."""
        if self.kind == "choice":
            return float(self.choices.index(value))
        return INFINITE if value is None else float(value)


class Family(Measure):
    """A measure with named options.

    The fields of Measure describe it with default options. In addition:
    options: by name. at: the option set by `measure@value`, "" if there is none.
    numbers: the options whose values are passed to the kernel.
    forms: (option, value, fields) for values that change some fields; the value `...`
        matches any given value.
    parts: whether the kernel writes a value, its numerator and its denominator.
    share: whether it is a share of the retrieved documents. Where a depth cuts rankings and
        unjudged documents leave them after that, a judged document that is not relevant lowers it
        wherever it stands.
    uncut: the measure of all retrieved documents, if this one requires a cutoff.
    aliases: other names. plain: the name in the notation `name` or `name_cutoff`. spellings: other
    names in papers and libraries, as returned by `spelling`.

    Additional values of `average`: "pooled" (numerators and denominators are summed over queries,
    as for average="micro"), "total" (a sum that is not an integer), "defined" (the mean over
    queries that have a value), "median" (over the same queries).
    """

    options: dict[str, Option]
    at: str = ""
    numbers: tuple[str, ...] = ()
    forms: tuple[Form, ...] = ()
    parts: bool = False
    share: bool = False
    uncut: str = ""
    aliases: tuple[str, ...] = ()
    plain: str = ""
    spellings: tuple[str, ...] = ()

    def resolved(self, chosen: dict[str, object]) -> Family:
        """The family as it is with these options."""
        fields = {name: getattr(self, name) for name in self.field_names}
        for option, value, others in self.forms:
            if (option in chosen) if value is ... else chosen.get(option) == value:
                fields |= others
        if "average" in self.options and self.value("average", chosen) == "micro":
            fields |= {"average": "pooled", "reaches_one": False}
        return type(self)(**fields)

    def value(self, name: str, chosen: dict[str, object]) -> Any:
        """The chosen value of an option, or its default."""
        return chosen.get(name, self.options[name].default)


def parse_options(
    family: Family, pairs: list[tuple[str, str]], text: str
) -> tuple[tuple[str, Any], ...]:
    """Parse options given as strings; those with default values are dropped, the rest ordered."""
    options, measure = family.options, family.name
    values: dict[str, object] = {}
    for name, word in pairs:
        if name not in options:
            accepted = ", ".join(options) if options else "no options"
            raise MeasureError(
                measure, f"'{text}': unknown option '{name}'; {measure} accepts {accepted}"
            )
        if name in values:
            raise MeasureError(measure, f"'{text}': {name} is given twice")
        try:
            values[name] = options[name].read(word)
        except ValueError as error:
            raise MeasureError(measure, f"'{text}': {name}={word}: {error}") from None
    for option in options.values():
        if option.needed and option.name not in values:
            example = f"; for example {measure}@10" if option.name == "cutoff" else ""
            if example and family.uncut:
                example += f", or {family.uncut} for all retrieved documents"
            raise MeasureError(
                measure, f"'{text}': {measure} requires {option.name} ({option.help}){example}"
            )
    return tuple(
        (name, values[name])
        for name, option in options.items()
        if name in values and values[name] != option.default
    )


def bind_family(
    family: Family, options: dict[str, Any], name: str, asked: str, trec_eval_version: str
) -> BoundMeasure:
    """Bind a measure with options, whose canonical name is `name`. Raises MeasureError.

    asked: the name as the user wrote it, which is the name of its values.
    """
    measure = family.resolved(options)
    numbers = [
        family.options[option].number(family.value(option, options)) for option in measure.numbers
    ]
    if measure.versioned:
        numbers.insert(0, float(trec_eval_version != DEFAULT_VERSION))
    if options.get("denominator") == "k" and "cutoff" not in options:
        raise MeasureError(
            family.name, f"'{name}': denominator='k' needs a cutoff, as in {name}@10"
        )
    if measure.needs == "best gains" and "cutoff" not in options:
        raise MeasureError(family.name, f"'{name}': ideal='max' needs a cutoff, as in {name}@10")
    for key, value in options.items():
        option = family.options[key]
        if option.beside is not None and options.get(option.beside[0]) != option.beside[1]:
            needed, expected = option.beside
            raise MeasureError(
                family.name, f"'{name}': {key}={option.write(value)} needs {needed}={expected!r}"
            )
    if "gain" in options and "rel" in options:
        raise MeasureError(
            family.name, f"'{name}': rel and gain cannot be combined; graded gains ignore rel"
        )
    if "gain" in options and "residual" in options:
        raise MeasureError(
            family.name, f"'{name}': gain and residual cannot be combined; a rank has one weight"
        )
    if "dcg" in options and "gains" in options:
        raise MeasureError(
            family.name, f"'{name}': dcg and gains both set the gain of a grade; give only one"
        )
    return BoundMeasure(
        measure=measure,
        names=[os.fsencode(asked)],
        canonical=[os.fsencode(name)],
        numbers=numbers,
        pairs=list(options.get("gains", ())),
        width=3 if measure.parts else 1,
        options=options,
    )


def _read_grade(text: str) -> float | None:
    """A grade, an int if it is whole; None if the string is not a grade."""
    grade = finite(text)
    if grade is None or abs(grade) > LARGEST:
        return None
    return int(grade) if grade.is_integer() else grade


def _read_gains(text: str) -> tuple[tuple[float, float], ...] | None:
    """Pairs of grade and gain, ascending, without grades that are their own gain (the default)."""
    if text[:1] != "{" or text[-1:] != "}":
        raise ValueError("expected {grade:gain, ...}")
    gains: dict[float, float] = {}
    for item in text[1:-1].split(",") if text[1:-1].strip() else ():
        before, colon, after = (part.strip() for part in item.partition(":"))
        grade, gain = _read_grade(before), finite(after)
        if not colon or grade is None or gain is None:
            raise ValueError("expected {grade:gain, ...}")
        if grade in gains:
            raise ValueError(f"grade {grade} appears twice")
        gains[grade] = gain
    return tuple(sorted((g, gain) for g, gain in gains.items() if g != gain)) or None


def _is_integer(text: str) -> bool:
    digits = text[1:] if text[:1] in ("+", "-") else text
    return len(digits) <= 19 and digits.isascii() and digits.isdigit()


def _write_number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
