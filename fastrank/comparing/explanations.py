"""Notes on what a comparison shows, measure by measure."""

from __future__ import annotations

import numpy as np

from fastrank.plurals import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fastrank.comparing.analysis import Analysis
    from fastrank.comparing.options import Settings
    from fastrank.comparing.paired import Integers


def all_exact(analyses: Mapping[str, Analysis]) -> bool:
    """Whether no p-value is simulated or approximated."""
    return all(bool(own.tested.exact.all()) for own in analyses.values())


def general_notes(analyses: Mapping[str, Analysis]) -> list[str]:
    """The notes on all pairs of each measure; those on some of several measures name them."""
    noted: dict[str, list[str]] = {}
    for measure, own in analyses.items():
        for note in own.general:
            noted.setdefault(note, []).append(measure)
    return [
        note if len(measures) == len(analyses) else f"{', '.join(measures)}: {note}"
        for note, measures in noted.items()
    ]


def contradictions(
    measure: str, names: Sequence[str], analysis: Analysis, settings: Settings
) -> list[str]:
    """Notes on significant pairs of which a test, or the means in a table, favor the other system.

    Tests of medians and means may favor different systems. With values missing, so may the means
    over the queries with values of both, and over those with values of all.
    """
    sign = {"higher": 1.0, "lower": -1.0, "": 0.0}[analysis.better]
    paired, mean = analysis.paired, analysis.means.mean
    significant = analysis.p_adjusted <= settings.alpha
    found = sign * paired.difference
    notes = []
    if settings.of_medians:
        favored = sign * analysis.tested.statistic
        opposite = np.flatnonzero(significant & (favored * found < 0))
        if len(opposite):
            better, worse, more = _first(names, analysis, opposite, favored)
            notes.append(
                f"{measure}: the test favors {better}, but the mean favors {worse}{more}; neither"
                " counts as significantly better"
            )
        significant &= favored * found > 0
    if paired.has_gaps and paired.ordered:
        shown = sign * (mean[paired.firsts] - mean[paired.seconds])
        opposite = np.flatnonzero(significant & (shown * found < 0))
        if len(opposite):
            better, worse, more = _first(names, analysis, opposite, found)
            notes.append(
                f"{measure}: {better} is significantly better than {worse} on the queries with"
                " values of both, but its mean over those with values of all systems is worse"
                f"{more}"
            )
    return notes


def _first(
    names: Sequence[str], analysis: Analysis, pairs: Integers, favored: np.ndarray
) -> tuple[str, str, str]:
    """The favored and the other system of the first pair, and how many more pairs there are."""
    pair = pairs[0]
    better, worse = analysis.paired.firsts[pair], analysis.paired.seconds[pair]
    if favored[pair] < 0:
        better, worse = worse, better
    more = f" (also in {counted(len(pairs) - 1, 'more pair')})" if len(pairs) > 1 else ""
    return names[better], names[worse], more
