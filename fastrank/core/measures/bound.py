"""A measure with its parameters, and how trec_eval writes these."""

from __future__ import annotations

import os

from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.common.c_numbers import DIGITS, atof, atol, finite, printed
from fastrank.core.data.columns import Frozen
from fastrank.core.measures.trec import BY_NAME, INFINITE, NICKNAMES, Measure
from fastrank.errors import MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


# A number with this many digits may not fit into 64 bits.
CUTOFF_DIGITS = 19
# The notation of parameters that are pairs.
PAIRS = {
    "gains": "grade=gain pairs such as 1=3",
    "persistence": "p=0.9 or grade=gain pairs such as 1=3",
}


class BoundMeasure(Frozen):
    """A measure with its parameters: what is computed, and under which printed names.

    names: one for each value, as bytes, spelled as requested. canonical: the same names in their
    canonical spelling. numbers: the kernel's parameters. pairs: (grade, gain). width: the number
    of values that the kernel writes per query. options: the given options of a measure that has
    any, None for trec_eval's measures. places: sort keys of the names, which order the columns of
    scores and tables; None keeps the order.
    """

    measure: Measure
    names: list[bytes]
    canonical: list[bytes]
    numbers: list[float]
    pairs: list[tuple[float, float]]
    width: int
    options: dict[str, Any] | None
    places: list[int] | None = None

    def reaches_one(self, index: int) -> bool:
        """Whether 1 is the best of the values under the name with this index."""
        reaches = self.measure.reaches_one
        return reaches if isinstance(reaches, bool) else reaches(self.numbers[index])

    def parameters(self, index: int) -> dict[str, float]:
        """The cutoff, the persistence or the options of the value with this index, by name."""
        if self.options is not None:
            family: Any = self.measure
            # The version of trec_eval is no option.
            numbers = self.numbers[1:] if family.versioned else self.numbers
            return dict(zip(family.numbers, numbers, strict=True))
        if self.measure.takes == "cutoffs":
            return {"cutoff": self.numbers[index]}
        return {"p": self.numbers[1]} if self.measure.takes == "persistence" else {}

    def cutoffs(self) -> list[tuple[str, int]]:
        """(printed name, cutoff) of each value that was requested with a cutoff."""
        names = map(os.fsdecode, self.names)
        if self.options is not None:
            return [(next(names), self.options["cutoff"])] if "cutoff" in self.options else []
        # The defaults of trec_eval's measures are not requests.
        if self.measure.takes != "cutoffs" or self.numbers == list(
            map(float, self.measure.default)
        ):
            return []
        return list(zip(names, map(int, self.numbers), strict=True))


def split_trec(text: str, *, strict: bool = True) -> tuple[str, str | None] | None:
    """Name and parameters of a measure or nickname in trec_eval's notation; None if it is neither.

    trec_eval reads `P.5x` as `P.5`, `set_F.x` as `set_F.0`, and `recip_rank.10` as `recip_rank`;
    `strict` rejects them. Raises MeasureError.
    """
    name, point, parameters = text.partition(".")
    if name not in BY_NAME and name not in NICKNAMES:
        return None
    if point and not parameters:
        raise MeasureError(name, f"improper measure in parameter '{name}': nothing after the point")
    if strict and point:
        parameters = "".join(parameters.split())
        _refuse_misread(name, parameters, text)
    return name, parameters if point else None


def _refuse_misread(name: str, parameters: str, text: str) -> None:
    """Raise MeasureError for parameters that trec_eval misreads or ignores."""
    takes = BY_NAME[name].takes if name in BY_NAME else ""
    if not takes:
        hint = _cutoff_hint(name, parameters)
        raise MeasureError(name, f"'{text}': {name} takes no parameters{hint}")
    for item in parameters.split(","):
        if takes == "cutoffs":
            whole = item.isascii() and item.isdigit() and len(item) < CUTOFF_DIGITS
            if not whole or not int(item):
                raise MeasureError(
                    name, f"'{text}': expected a whole number of at least 1, found '{item}'"
                )
            continue
        left, equals, right = item.partition("=")
        if takes in ("gains", "persistence"):
            if not equals or "=" in right:
                # bind_trec rejects it with a hint.
                continue
            if not _is_integer(os.fsencode(left)) and (takes, left) != ("persistence", "p"):
                raise MeasureError(name, f"'{text}': expected {PAIRS[takes]}, found '{item}'")
            item = right
        if finite(item) is None and item.lower().lstrip("+-") not in ("nan", "inf"):
            raise MeasureError(name, f"'{text}': expected a number, found '{item}'")


def bind_trec(
    measure: Measure, text: str | None, trec_eval_version: str, *, asked: str = ""
) -> BoundMeasure:
    """Bind one of trec_eval's measures to its parameters, given as a string. Raises MeasureError.

    asked: the name as the user wrote it, if that differs from trec_eval's spelling.
    """
    name = os.fsencode(measure.name)
    numbers: list[float] = list(measure.default)
    pairs: list[tuple[float, float]] = []
    items = [] if text is None else [os.fsencode(item) for item in text.split(",")]
    names = [name]
    if measure.takes == "cutoffs":
        cutoffs = sorted(map(atol, items)) if items else [int(c) for c in measure.default]
        if cutoffs[0] <= 0:
            raise MeasureError(
                measure.name,
                f"Negative cutoff detected in '{measure.name}.{text}': every cutoff"
                " must be a whole number of at least 1",
            )
        _refuse_duplicates(measure, text, cutoffs)
        names = [b"%b_%d" % (name, cutoff) for cutoff in cutoffs]
        numbers = list(map(float, cutoffs))
    elif measure.takes == "recalls":
        numbers = sorted(map(atof, items)) if items else numbers
        _refuse_duplicates(measure, text, numbers)
        # trec_eval truncates these to 8 characters, so names can coincide.
        names = [name + b"_" + printed("%3.2f", level)[:8].encode() for level in numbers]
    elif measure.takes and items:
        names = [name + b"_" + os.fsencode(text or "")]
    if measure.takes in ("numbers", "weights") and items:
        numbers = list(map(atof, items))
    if measure.takes in ("gains", "persistence"):
        # There is no cutoff.
        numbers = [INFINITE, 0.9] if measure.takes == "persistence" else [INFINITE]
        for item in items:
            left, equals, right = item.partition(b"=")
            if not equals or b"=" in right:
                raise MeasureError(
                    measure.name,
                    f"'{measure.name}.{text}': expected {PAIRS[measure.takes]}, found"
                    f" '{item.decode('utf-8', 'replace')}'"
                    + _cutoff_hint(measure.name, text or ""),
                )
            if left == b"p" and measure.takes == "persistence":
                numbers[1] = atof(right)
            strict = trec_eval_version != DEFAULT_VERSION or measure.since != DEFAULT_VERSION
            if not strict or _is_integer(left):
                pairs.append((atol(left), atof(right)))
    width = len(names)
    if measure.versioned:
        width = len(numbers)
        numbers.insert(0, float(trec_eval_version != DEFAULT_VERSION))
    canonical = names
    if asked:
        names = [os.fsencode(asked) + name[len(measure.name) :] for name in names]
    return BoundMeasure(
        measure=measure,
        names=names,
        canonical=canonical,
        numbers=numbers,
        pairs=pairs,
        width=width,
        options=None,
    )


def _cutoff_hint(name: str, parameters: str) -> str:
    """A hint at the measure with cutoffs, or at that of ranx, if the parameters look like these."""
    if name == "rbp":
        return ranx_rbp_hint(parameters)
    cutoffs = parameters.split(",")
    with_cutoff = BY_NAME[name].with_cutoff if name in BY_NAME else ""
    if not with_cutoff or not all(cutoff.isascii() and cutoff.isdigit() for cutoff in cutoffs):
        return ""
    if with_cutoff.endswith("@"):
        measures = " ".join(f"{with_cutoff}{cutoff}" for cutoff in cutoffs)
    else:
        measures = with_cutoff + parameters
    return f"; for {'a cutoff' if len(cutoffs) == 1 else 'cutoffs'} use {measures}"


def ranx_rbp_hint(item: str) -> str:
    """A hint at the measure that ranx writes `rbp.95`, given what is after the point."""
    # Imported late: the trec_eval command does without the module.
    import re

    match = re.fullmatch(r"(\d+)(?:-l(\d+))?", item)
    if not match:
        return ""
    share, level = f"p=0.{match[1]}", match[2]
    measures = f"RBP(rel={level},{share})" if level else f"RBP({share})"
    graded = "" if level else f", or for graded judgments RBP({share},gain='raw')"
    return f"; for the persistence of ranx use {measures}{graded}"


def _is_integer(text: bytes) -> bool:
    digits = text[1:] if text[:1] in (b"+", b"-") else text
    return bool(digits) and all(byte in DIGITS for byte in digits)


def _refuse_duplicates(measure: Measure, text: str | None, ascending: Sequence[float]) -> None:
    for i in range(1, len(ascending)):
        if ascending[i] == ascending[i - 1]:
            raise MeasureError(
                measure.name,
                f"duplicate cutoffs detected in '{measure.name}.{text}':"
                f" {ascending[i]:g} appears twice",
            )
