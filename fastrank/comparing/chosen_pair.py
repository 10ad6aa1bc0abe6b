"""The two systems of a comparison that a plot or a table shows."""

from __future__ import annotations

from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrank.comparing.comparison import Comparison


def default_pair(
    comparison: Comparison, measure: str, a: str | None = None, b: str | None = None
) -> tuple[str, str]:
    """Two systems to show: those given, else the best of the others, and the baseline.

    Without a baseline, the best two. Raises OptionError if there are no two systems.
    """
    need_two_systems(comparison)
    ranked = comparison.ranked(measure)
    if b is None:
        others = [name for name in comparison.baseline or ranked if name != a]
        best = ranked[0] if a is None and not comparison.baseline else a
        b = next((name for name in others if name != best), ranked[0])
    if a is None:
        a = next(name for name in ranked if name != b)
    comparison.pair(measure, a, b)
    return a, b


def why_chosen(comparison: Comparison) -> str:
    """What the systems of `default_pair` are, if there are others."""
    if len(comparison) == 2:
        return ""
    return "the best and the baseline" if comparison.baseline else "the two best"


def chosen_pair(
    comparison: Comparison, measure: str, pair: Sequence[str] | None
) -> tuple[str, str]:
    """The two systems with these names, by default those of `default_pair`. Raises OptionError."""
    if pair is None:
        return default_pair(comparison, measure)
    if isinstance(pair, str) or len(pair) != 2:
        raise OptionError("pair", f"expected the names of two systems, found {pair!r}")
    a, b = (comparison.names[comparison._place(name)] for name in pair)
    return a, b


def need_two_systems(comparison: Comparison) -> None:
    """Raise OptionError for a single system, which has no pairs to show."""
    if len(comparison) < 2:
        raise OptionError("pair", "needs two systems, found 1")
