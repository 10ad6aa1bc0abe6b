"""What the tables of a comparison show, independent of their format."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from fastrank.arguments import at_least, flag
from fastrank.comparing.letters import letters, letters_of
from fastrank.comparing.tested import gains
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fastrank.comparing.comparison import Comparison, Pair

# Decimals of values, and of percentages.
DIGITS, PERCENT_DIGITS = 4, 2


class Layout(NamedTuple):
    """How to show a comparison.

    names: the systems in the order of the rows. letters: the letter of each system, none with
    baselines and for a single system. compact: whether superscripts are the compact letter display.
    """

    names: list[str]
    letters: dict[str, str]
    digits: int
    percent: bool
    compact: bool

    def number(self, value: float) -> str:
        """A value, rounded."""
        return f"{self._scaled(value):.{self.digits}f}"

    def difference(self, value: float) -> str:
        """A value with its sign, rounded."""
        return f"{self._scaled(value):+.{self.digits}f}"

    def _scaled(self, value: float) -> float:
        return 100 * value if self.percent else value


class Mean(NamedTuple):
    """The mean of a system in one measure.

    text: rounded. place: 1 for the best, 2 for the second, else 0; equal texts have the same place.
    marks: the letters of its superscript.
    """

    text: str
    place: int
    marks: list[str]


class Difference(NamedTuple):
    """A pair as text. sign: 1 if a is significantly better than b, -1 if worse, else 0."""

    pair: Pair
    difference: str
    interval: str
    p: str
    counts: str
    sign: int


def layout_of(
    comparison: Comparison,
    *,
    digits: int | None = None,
    percent: bool = False,
    letters: bool = False,
    sort: str | None = None,
) -> Layout:
    """The layout for the options of the methods of `Comparison`.

    Raises OptionError for invalid options, and MeasureError for a measure that is not compared.
    """
    percent, compact = flag("percent", percent), flag("letters", letters)
    if compact and comparison.baseline:
        raise OptionError("letters", "needs all pairs; compare without a baseline")
    if digits is None:
        digits = PERCENT_DIGITS if percent else DIGITS
    names = comparison.names if sort is None else comparison.ranked(sort)
    own = {} if comparison.baseline or compact or len(names) == 1 else _lettered(names)
    return Layout(names, own, at_least("digits", digits, 0), percent, compact)


def _lettered(names: list[str]) -> dict[str, str]:
    return dict(zip(names, islice(letters(), len(names)), strict=True))


def means_of(comparison: Comparison, measure: str, layout: Layout) -> dict[str, Mean]:
    """The mean of each system in a measure, with its place and the letters of its superscript."""
    mean = comparison.mean[measure]
    texts = {name: layout.number(mean[name]) for name in layout.names}
    compact = letters_of(comparison._alike(measure)) if layout.compact else {}
    places = _places(comparison, measure, texts)
    return {
        name: Mean(
            text,
            places.get(text, 0),
            compact[name]
            if compact
            else [own for other, own in layout.letters.items() if other in beaten]
            if layout.letters and (beaten := set(comparison.beaten(measure, name)))
            else [],
        )
        for name, text in texts.items()
    }


def _places(comparison: Comparison, measure: str, texts: dict[str, str]) -> dict[str, int]:
    """{text: place} of the two best values as they are shown; the second only of three or more."""
    if not comparison._has_best(measure):
        return {}
    ranked = list(dict.fromkeys(texts[name] for name in comparison.ranked(measure)))
    count = 2 if len(texts) > 2 else 1
    return {text: place for place, text in enumerate(ranked[:count], 1)}


def differences_of(
    comparison: Comparison, measure: str, layout: Layout
) -> dict[str, list[Difference]]:
    """The differences of each system from the baselines, in a measure."""
    found: dict[str, list[Difference]] = {name: [] for name in layout.names}
    for pair in comparison._pairs_of(measure):
        found[pair.a].append(difference_of(comparison, pair, layout))
    return found


def difference_of(comparison: Comparison, pair: Pair, layout: Layout) -> Difference:
    """The difference of a pair as text."""
    better = comparison.better(pair.measure)
    gain = float(gains(better, pair.difference, pair.statistic, comparison._settings))
    significant = pair.p_adjusted <= comparison.alpha
    return Difference(
        pair,
        layout.difference(pair.difference),
        interval_text(pair.low, pair.high, layout.difference),
        p_text(pair.p_adjusted),
        "" if pair.wins is None else f"{pair.wins}/{pair.ties}/{pair.losses}",
        significant * ((gain > 0) - (gain < 0)),
    )


def interval_text(low: float, high: float, shown: Callable[[float], str]) -> str:
    """An interval in brackets; empty if there is none."""
    return "" if low != low else f"[{shown(low)}, {shown(high)}]"


def p_text(p: float) -> str:
    """A p-value for people, never 0."""
    if p == 0.0:
        return "<1e-300"
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"


def joined(marks: list[str]) -> str:
    """The letters of a superscript; those of several characters are separated by commas."""
    return ("," if any(len(mark) > 1 for mark in marks) else "").join(marks)


def interval_name(comparison: Comparison) -> str:
    """The name of the intervals, such as "95% interval"; empty without intervals."""
    return "" if comparison.interval == "none" else f"{100 * comparison.level:g}% interval"


def legend(comparison: Comparison, layout: Layout, symbols: Sequence[str]) -> str:
    """What the letters, symbols and columns mean.

    symbols: those for significantly better, significantly worse, and at most.
    """
    count = len(comparison.queries)
    parts = [f"{count:,} {'queries' if count != 1 else 'query'}."]
    if layout.percent:
        parts.append("Values in percent.")
    tested = comparison.description().replace("<=", symbols[2])
    if comparison.baseline:
        better, worse, _ = symbols
        which = "the baseline" if len(comparison.baseline) > 1 else comparison.baseline[0]
        name = interval_name(comparison)
        parts += [
            f"diff: difference from {which}{f', with its {name}' if name else ''}.",
            f"{better} {worse}: significantly better, worse ({tested}).",
            "+/=/-: queries on which it is better, equal, worse.",
        ]
    elif layout.compact:
        parts.append(f"Systems that share a letter do not differ significantly ({tested}).")
    elif layout.letters:
        parts.append(f"Letters: significantly better than that system ({tested}).")
    return " ".join(parts)


def notes_of(comparison: Comparison) -> list[str]:
    """The notes as sentences."""
    return [f"Note: {note}." for note in comparison.notes]
