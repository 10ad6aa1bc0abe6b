"""Comparisons in which nothing can be significant, whatever the values are."""

from __future__ import annotations

import math

import numpy as np

from fastrank.analysis.comparing.analysis import BY_SIGNS
from fastrank.analysis.comparing.pair_tests import adjust
from fastrank.analysis.comparing.power import least, p_of_t
from fastrank.analysis.comparing.randomization import unequal_units
from fastrank.common.messages import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fastrank.analysis.comparing.analysis import Analysis
    from fastrank.analysis.comparing.options import Settings

# The beginning of the notes that are shown first.
IMPOSSIBLE = "nothing can be significant"


def limits(analyses: Mapping[str, Analysis], names: Sequence[str]) -> list[str]:
    """For each measure in which no pair can be significant a note that says why.

    It also says how many queries would do, if as many of them differ.
    """
    notes = {measure: _limit(analysis, names) for measure, analysis in analyses.items()}
    return by_note({measure: [note] if note else [] for measure, note in notes.items()})


def by_note(notes: Mapping[str, Sequence[str]]) -> list[str]:
    """The notes on measures; each of those that are on some of several names them."""
    noted: dict[str, list[str]] = {}
    for measure, of_measure in notes.items():
        for note in of_measure:
            noted.setdefault(note, []).append(measure)
    return [
        note if len(measures) == len(notes) else f"{', '.join(measures)}: {note}"
        for note, measures in noted.items()
    ]


def _limit(analysis: Analysis, names: Sequence[str]) -> str:
    """Why nothing can be significant in a measure; empty if something can."""
    paired, settings = analysis.paired, analysis.settings
    units, n = unequal_units(paired), paired.n
    unit = settings.unit[:2]
    if paired.clusters is not None:
        n, unit = np.full(len(paired), int(paired.clusters.max()) + 1), ("cluster", "clusters")
    correction = "none" if settings.correction == "max-t" else settings.correction
    most = int(units.argmax())
    # No correction multiplies a p by more, and few comparisons are smaller.
    if len(paired) ** 2 * _smallest_p(int(units[most]), int(n[most]), settings) <= settings.alpha:
        return ""
    sizes = zip(units.tolist(), n.tolist(), strict=True)
    smallest = np.array([_smallest_p(k, size, settings) for k, size in sizes])
    if (adjust(smallest, correction) <= settings.alpha).any():
        return ""
    pair = int(np.argmin(np.where(n > 0, smallest, np.inf)))
    k, m = int(units[pair]), int(n[pair])
    pairs, alpha = len(paired), settings.alpha
    share = k / m if m > 1 and k else 1.0

    def enough(count: int) -> bool:
        p = np.full(pairs, _smallest_p(share * count, count, settings))
        return bool(adjust(p, correction)[0] <= alpha)

    needed = least(enough)
    if needed is None:
        return ""
    few = f"a p of {alpha:g} for {counted(pairs, 'pair')} needs at least {needed:,} {unit[1]}"
    if not m:
        why = f"no {unit[0]} has values of both systems of a pair"
    elif not k:
        why = "all systems have equal values"
        few += " that differ"
    elif m == 1:
        why = f"there is one {unit[0]}"
    else:
        first, second = names[paired.firsts[pair]], names[paired.seconds[pair]]
        differ = "differs" if k == 1 else "differ"
        why = f"at most {k} of {counted(m, *unit)} {differ} ({first} and {second})"
        few += f", if {100 * share:.0f}% of them differ" if share < 1 else ""
    return f"{IMPOSSIBLE}: {why}; {few}"


def _smallest_p(k: float, n: int, settings: Settings) -> float:
    """The least p-value of a test of n queries of which k differ, whatever their differences are.

    By signs, 2**(1 - k). Student's t is at most sqrt(k (n - 1) / (n - k)), since the square of the
    sum of k differences is at most k times the sum of their squares. 0 where no bound is known.
    """
    if not k or n < 2:
        return 1.0
    if settings.function is not None:
        return 0.0
    if settings.test in BY_SIGNS:
        return 2.0 ** (1 - math.floor(k + 1e-9))
    if settings.test != "t" or k >= n:
        return 0.0
    return float(p_of_t(math.sqrt(k * (n - 1) / (n - k)), n - 1))
