"""From what a user asks for to measures with parameters: names, nicknames, parameter lists."""

from __future__ import annotations

import os

from fastrank.columns import Frozen
from fastrank.errors import MeasureError
from fastrank.levels import DEFAULT_COMPAT
from fastrank.measures import BY_NAME, MEASURES, NICKNAMES, Measure
from fastrank.numbers import DIGITS, atof, atol, printed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class BoundMeasure(Frozen):
    """A measure with its parameters: what is computed, and under which printed names.

    names: one for each value, as bytes. numbers: what the kernel gets. pairs: (grade, gain).
    width: how many values the kernel writes for a query.
    """

    __slots__ = ("measure", "names", "numbers", "pairs", "width")

    measure: Measure
    names: list[bytes]
    numbers: list[float]
    pairs: list[tuple[int, float]]
    width: int


class Selection:
    """The measures asked for, and the parameters given for them.

    Asking twice computes once; of several parameter lists for a name the first counts, even when
    the measure itself came in through a nickname. All as trec_eval does.
    """

    def __init__(self, specifications: Iterable[str] = ()) -> None:
        if not hasattr(specifications, "__iter__"):
            found = type(specifications).__name__
            raise TypeError(f"measures: expected names, found {found}")
        self._names: set[str] = set()
        self._parameters: dict[str, str] = {}
        self._nicknames: set[str] = set()
        for specification in specifications:
            self.add(specification)

    def __bool__(self) -> bool:
        return bool(self._names or self._nicknames)

    def add(self, specification: str) -> None:
        """Ask for `name`, `name.parameters` or a nickname. Raises MeasureError."""
        if not isinstance(specification, str):
            raise TypeError(f"measures: expected str, found {type(specification).__name__}")
        name, point, parameters = specification.partition(".")
        if point and not parameters:
            raise MeasureError(
                name, f"improper measure in parameter '{name}': nothing after the point"
            )
        if name in NICKNAMES:
            self._nicknames.add(name)
        elif name in BY_NAME:
            self._names.add(name)
        else:
            raise MeasureError(name, f"illegal measure '{name}'{_closest(name)}")
        if point:
            self._parameters.setdefault(name, parameters)

    def measures(self, compat: str) -> list[Measure]:
        """The measures asked for, in the order of the table."""
        return [
            measure
            for measure in MEASURES
            if measure.name in self._names
            or (
                not self._nicknames.isdisjoint(measure.sets)
                and (measure.since == DEFAULT_COMPAT or compat != DEFAULT_COMPAT)
            )
        ]

    def bind(self, compat: str) -> list[BoundMeasure]:
        """The measures asked for, with parameters. Raises MeasureError for impossible ones."""
        return [
            _bind(measure, self._parameters.get(measure.name), compat)
            for measure in self.measures(compat)
        ]


def _closest(name: str) -> str:
    """A hint at the names a user may have meant."""
    import difflib

    known = [*BY_NAME, *NICKNAMES]
    close = difflib.get_close_matches(name, known, cutoff=0.6)
    stem, _, parameters = name.rpartition("_")
    if stem in BY_NAME and BY_NAME[stem].takes:
        close.insert(0, f"{stem}.{parameters}")
    close += [other for other in known if other.lower() == name.lower() and other not in close]
    return f"; the closest are {', '.join(close)}" if close else "; see -h -m all_trec for all"


def _bind(measure: Measure, text: str | None, compat: str) -> BoundMeasure:
    name = os.fsencode(measure.name)
    numbers: list[float] = list(measure.default)
    pairs: list[tuple[int, float]] = []
    items = [] if text is None else [os.fsencode(item) for item in text.split(",")]
    names = [name]
    if measure.takes == "cutoffs":
        cutoffs = sorted(map(atol, items)) if items else [int(c) for c in measure.default]
        if cutoffs[0] <= 0:
            raise MeasureError(
                measure.name, f"Negative cutoff detected in '{measure.name}.{text}': every cutoff"
                " must be a whole number of at least 1"
            )  # fmt: skip
        _refuse_duplicates(measure, text, cutoffs)
        names = [b"%b_%d" % (name, cutoff) for cutoff in cutoffs]
        numbers = list(map(float, cutoffs))
    elif measure.takes == "recalls":
        numbers = sorted(map(atof, items)) if items else numbers
        _refuse_duplicates(measure, text, numbers)
        # trec_eval cuts these to 8 characters, so names can coincide.
        names = [name + b"_" + printed("%3.2f", level)[:8].encode() for level in numbers]
    elif measure.takes and items:
        names = [name + b"_" + os.fsencode(text or "")]
    if measure.takes in ("numbers", "weights") and items:
        numbers = list(map(atof, items))
    if measure.takes in ("gains", "persistence"):
        numbers = [0.9]
        for item in items:
            left, equals, right = item.partition(b"=")
            if not equals or b"=" in right:
                raise MeasureError(
                    measure.name, f"malformed pair parameters in '{text}': expected"
                    f" grade=gain, found '{item.decode('utf-8', 'replace')}'"
                )  # fmt: skip
            if left == b"p":
                numbers = [atof(right)]
            strict = compat != DEFAULT_COMPAT or measure.since != DEFAULT_COMPAT
            if not strict or _is_integer(left):
                pairs.append((atol(left), atof(right)))
    width = len(names)
    if measure.kernel in ("interpolated_precision", "average_interpolated_precision"):
        width = len(numbers)
        numbers.insert(0, float(compat != DEFAULT_COMPAT))
    return BoundMeasure(measure=measure, names=names, numbers=numbers, pairs=pairs, width=width)


def _is_integer(text: bytes) -> bool:
    digits = text[1:] if text[:1] in (b"+", b"-") else text
    return bool(digits) and all(byte in DIGITS for byte in digits)


def _refuse_duplicates(measure: Measure, text: str | None, ascending: Sequence[float]) -> None:
    for i in range(1, len(ascending)):
        if ascending[i] == ascending[i - 1]:
            raise MeasureError(
                measure.name,
                f"duplicate cutoffs detected in '{measure.name}.{text}':"
                f" {ascending[i]:g} stands twice",
            )
