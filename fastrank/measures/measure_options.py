"""Measures with options: what may be given for them, and how that is spelled."""

from __future__ import annotations

from fastrank.c_numbers import finite
from fastrank.data.columns import Frozen
from fastrank.errors import MeasureError
from fastrank.measures.trec import Measure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Form = tuple[str, Any, str, str]

INFINITE = float("inf")
LARGEST = 2**31 - 1
# The kernels that write a value's numerator and denominator after it.
POOLED = ("hit_share", "judged_share", "percentile_rank", "unjudged_share")


class Option(Frozen):
    """An option of a measure.

    kind: "rank" (a whole number of at least 1), "grade" (a number), "share" (a number from 0 to
        1), "number" (not negative), "flag", "gains" (a gain for each grade), or "choice"; of a
        user's measure also "real" (any number), "integer" or "text".
    default: None for nothing; a `needed` option has no default.
    choices: the words of a "choice"; kernels get the place of one.
    """

    __slots__ = ("choices", "default", "help", "kind", "name", "needed")

    name: str
    kind: str
    default: Any
    needed: bool
    choices: tuple[str, ...]
    help: str

    def read(self, text: str) -> Any:
        """The value that a text stands for. Raises ValueError with what was expected."""
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
        if self.kind == "rank":
            if not _is_integer(text) or not 1 <= int(text) <= LARGEST:
                raise ValueError("expected a whole number of at least 1")
            return int(text)
        if self.kind == "grade":
            grade = _read_grade(text)
            if grade is None:
                raise ValueError("expected a number of 32 bits")
            return grade
        number = finite(text)
        if self.kind in ("real", "integer"):
            if number is None or (self.kind == "integer" and not _is_integer(text)):
                raise ValueError(
                    "expected a whole number" if self.kind == "integer" else "expected a number"
                )
            return int(text) if self.kind == "integer" else number
        most = 1.0 if self.kind == "share" else INFINITE
        if number is None or not 0.0 <= number <= most:
            limits = "from 0 to 1" if self.kind == "share" else "of at least 0"
            raise ValueError(f"expected a number {limits}")
        return number

    def write(self, value: Any) -> str:
        """The text that `read` turns into a value."""
        if isinstance(value, float):
            return _write_number(value)
        if isinstance(value, tuple):
            return "{" + ",".join(f"{grade}:{_write_number(gain)}" for grade, gain in value) + "}"
        return repr(value)

    def number(self, value: Any) -> float:
        """A value as kernels take it: a choice by its place, infinity for no cutoff."""
        if self.kind == "choice":
            return float(self.choices.index(value))
        return INFINITE if value is None else float(value)


class Family(Measure):
    """A measure with named options: every choice of them is a measure of its own.

    It is a Measure (see there) as computed by default, and has further:
    options: by name. at: the one that `measure@value` gives, "" if there is none.
    numbers: the options whose values the kernel gets.
    forms: where a choice asks for another kernel: option, value (`...` is any that is given),
        kernel, and what it sees.
    aliases: other names for it. plain: its name in the spelling `name` or `name_cutoff`.

    Averages beside those of a Measure: "pooled" (numerators and denominators are added up over
    queries; so it is for any with average="micro"), "defined"
    (the mean over queries that have a value), "median" (over these).
    """

    __slots__ = ("aliases", "at", "forms", "numbers", "options", "plain")

    options: dict[str, Option]
    at: str
    numbers: tuple[str, ...]
    forms: tuple[Form, ...]
    aliases: tuple[str, ...]
    plain: str

    def resolved(self, chosen: dict[str, Any]) -> Family:
        """The same with the kernel and the average that these options ask for."""
        fields = {name: getattr(self, name) for name in self.field_names()}
        for option, value, kernel, needs in self.forms:
            if (option in chosen) if value is ... else chosen.get(option) == value:
                fields |= {"kernel": kernel, "needs": needs}
        if "average" in self.options and self.value("average", chosen) == "micro":
            fields["average"] = "pooled"
        return type(self)(**fields)

    @property
    def width(self) -> int:
        """How many values the kernel writes: with numerator and denominator, or only the value."""
        return 3 if self.kernel in POOLED else 1

    def value(self, name: str, chosen: dict[str, Any]) -> Any:
        """The value of an option, which may be its default."""
        return chosen.get(name, self.options[name].default)


def parse_options(
    options: dict[str, Option], given: list[tuple[str, str]], measure: str, text: str
) -> tuple[tuple[str, Any], ...]:
    """The options given as texts, those with their default value left out, in the table's order."""
    values: dict[str, Any] = {}
    for name, word in given:
        if name not in options:
            accepted = ", ".join(options) if options else "no options"
            raise MeasureError(measure, f"'{text}': {measure} has {accepted}, not '{name}'")
        if name in values:
            raise MeasureError(measure, f"'{text}': {name} is given twice")
        try:
            values[name] = options[name].read(word)
        except ValueError as error:
            raise MeasureError(measure, f"'{text}': {name}={word}: {error}") from None
    for option in options.values():
        if option.needed and option.name not in values:
            example = f"; for example {measure}@10" if option.name == "cutoff" else ""
            raise MeasureError(
                measure, f"'{text}': {measure} needs {option.name}, {option.help}{example}"
            )
    return tuple(
        (name, values[name])
        for name, option in options.items()
        if name in values and values[name] != option.default
    )


def _read_grade(text: str) -> float | None:
    """A grade, an int if it is whole; None for what is none."""
    grade = finite(text)
    if grade is None or abs(grade) > LARGEST:
        return None
    return int(grade) if grade.is_integer() else grade


def _read_gains(text: str) -> tuple[tuple[float, float], ...] | None:
    """Pairs of grade and gain, ascending; a grade is its own gain anyway."""
    if text[:1] != "{" or text[-1:] != "}":
        raise ValueError("expected {grade:gain, ...}")
    gains: dict[float, float] = {}
    for item in text[1:-1].split(",") if text[1:-1].strip() else ():
        before, colon, after = (part.strip() for part in item.partition(":"))
        grade, gain = _read_grade(before), finite(after)
        if not colon or grade is None or gain is None:
            raise ValueError("expected {grade:gain, ...}")
        if grade in gains:
            raise ValueError(f"grade {grade} stands twice")
        gains[grade] = gain
    return tuple(sorted((g, gain) for g, gain in gains.items() if g != gain)) or None


def _is_integer(text: str) -> bool:
    digits = text[1:] if text[:1] in ("+", "-") else text
    return len(digits) <= 19 and digits.isascii() and digits.isdigit()


def _write_number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
