"""Notes on what a comparison shows, measure by measure."""

from __future__ import annotations

import numpy as np

from fastrank.comparing.tested import SIGNS, gains
from fastrank.messages import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fastrank.comparing.analysis import Analysis
    from fastrank.comparing.options import Settings
    from fastrank.comparing.paired import Floats

OF_MEDIANS = (
    "the test favors {better}, but the mean favors {worse}{more}; neither counts as significantly"
    " better"
)
OF_GAPS = (
    "{better} is significantly better than {worse} on the queries with values of both, but its mean"
    " over those with values of all systems is worse{more}"
)


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
    paired, mean = analysis.paired, analysis.means.mean
    difference, statistic = paired.difference, analysis.tested.statistic
    significant = analysis.p_adjusted <= settings.alpha

    def noted(favored: Floats, other: Floats, words: str) -> list[str]:
        """The note on the significant pairs of which the two favor different systems, if any."""
        pairs = np.flatnonzero(significant & (favored * other < 0))
        if not len(pairs):
            return []
        better, worse = paired.firsts[pairs[0]], paired.seconds[pairs[0]]
        if favored[pairs[0]] < 0:
            better, worse = worse, better
        more = f" (also in {counted(len(pairs) - 1, 'more pair')})" if len(pairs) > 1 else ""
        text = words.format(better=names[better], worse=names[worse], more=more)
        return [f"{measure}: {text}"]

    notes = []
    sign = SIGNS[analysis.better]
    if settings.of_medians:
        notes += noted(sign * statistic, sign * difference, OF_MEDIANS)
    if paired.has_gaps and paired.ordered:
        shown = sign * (mean[paired.firsts] - mean[paired.seconds])
        notes += noted(gains(analysis.better, difference, statistic, settings), shown, OF_GAPS)
    return notes
