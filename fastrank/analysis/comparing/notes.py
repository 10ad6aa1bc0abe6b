"""Notes on what a comparison shows, and on pairs that the order of tied documents decides."""

from __future__ import annotations

import numpy as np

from fastrank.analysis.comparing.alignment import Measured
from fastrank.analysis.comparing.analysis import analyze, corrected_together
from fastrank.analysis.comparing.pair_tests import SIGNS, gains, is_binary
from fastrank.common.faces import by_face
from fastrank.common.messages import counted
from fastrank.common.rendering.numbers import p_text, signed
from fastrank.core.scores.columns import columns_by_name
from fastrank.core.scores.text import without_ties

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from fastrank.analysis.comparing.analysis import Analysis
    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.analysis.comparing.options import Settings
    from fastrank.common.arrays import Floats
    from fastrank.core.evaluation.ties import Ties

OF_MEDIANS = (
    "the test favors {better}, but the mean favors {worse}{more}; neither counts as significantly"
    " better"
)
OF_GAPS = (
    "{better} is significantly better than {worse} on the {unit} with values of both, but its mean"
    " over those with values of all systems is worse{more}"
)


def all_exact(analyses: Mapping[str, Analysis]) -> bool:
    """Whether no p-value is simulated or approximated."""
    return all(bool(analysis.tested.exact.all()) for analysis in analyses.values())


def contradictions(
    measure: str, names: Sequence[str], analysis: Analysis, settings: Settings
) -> list[str]:
    """Notes on significant pairs where the test, or the means in a table, favor the other system.

    Tests of medians and means may favor different systems. With values missing, so may the means
    over the queries with values of both, and over those with values of all.
    """
    paired, mean = analysis.paired, analysis.means.mean
    difference, statistic = paired.difference, analysis.tested.statistic
    significant = analysis.p_adjusted <= settings.alpha

    def noted(first: Floats, second: Floats, words: str) -> list[str]:
        """The note on the significant pairs where the two favor different systems, if any."""
        pairs = np.flatnonzero(significant & (first * second < 0))
        if not len(pairs):
            return []
        better, worse = paired.firsts[pairs[0]], paired.seconds[pairs[0]]
        if first[pairs[0]] < 0:
            better, worse = worse, better
        more = also_in(len(pairs) - 1)
        text = words.format(
            better=names[better], worse=names[worse], more=more, unit=settings.unit.many
        )
        return [f"{measure}: {text}"]

    notes = []
    sign = SIGNS[analysis.better]
    if settings.of_medians:
        notes += noted(sign * statistic, sign * difference, OF_MEDIANS)
    if paired.has_gaps and paired.ordered:
        shown = sign * (mean[paired.firsts] - mean[paired.seconds])
        notes += noted(gains(analysis.better, difference, statistic, settings), shown, OF_GAPS)
    return notes


def binary_notes(comparison: Comparison) -> list[str]:
    """A note on values that are all 0 or 1, for which there is a test of its own."""
    settings = comparison.settings
    binary = [
        name for name in comparison.measures if is_binary(comparison.analysis(name).paired.values)
    ]
    if len(comparison) == 1 or not binary or settings.of_signs or settings.clusters is not None:
        return []
    measures = "" if len(binary) == len(comparison.measures) else f"{', '.join(binary)}: "
    test = by_face("test='sign'", "--test sign")
    return [f"{measures}values are 0 and 1: {test} is McNemar's exact test"]


def also_in(pairs: int) -> str:
    """How many more pairs a note is about."""
    return f" (also in {counted(pairs, 'more pair')})" if pairs else ""


def verdict_notes(
    comparison: Comparison, ties: Sequence[Ties | None], noted: Sequence[bool]
) -> list[str]:
    """A note if the sign or the significance of a pair depends on the order of tied documents.

    All pairs are compared twice more: with the ties of the first systems in the worst order and
    those of the second ones in the best, and the reverse. Tests of all systems together, which see
    more than pairs, have no such extremes. ties: the `Scores.ties` of each system. noted: whether
    they have a note; without any, nothing is computed.
    """
    settings = comparison.settings
    if settings.of_all_systems or len(ties) == 1 or not any(noted):
        return []
    values, analyses = _values_of_orders(comparison, ties), comparison.analyses
    compared = [analyses, *_compared_otherwise(comparison, values)]
    tied = np.array(noted)
    by_p, by_sign = [], []
    for name in values:
        paired = analyses[name].paired
        p = np.stack([by_measure[name].p_adjusted for by_measure in compared])
        differences = np.stack([by_measure[name].paired.difference for by_measure in compared])
        signs = np.sign(paired.rounded(differences))
        significant = (p <= settings.alpha) & (signs != 0.0)
        for pair in np.flatnonzero(tied[paired.firsts] | tied[paired.seconds]):
            a, b = (comparison.names[side[pair]] for side in (paired.firsts, paired.seconds))
            others = np.flatnonzero(significant[:, pair] != significant[0, pair])
            if len(others):
                worse, better = (a, b) if others[0] == 1 else (b, a)
                text = (
                    f"whether {a} and {b} differ in {name} depends on tied scores: p is"
                    f" {p_text(p[0, pair])}, but {p_text(p[others[0], pair])} with tied"
                    f" documents in the worst order for {worse} and the best for {better}"
                )
                by_p.append(text)
            elif analyses[name].better and len(set(signs[:, pair])) > 1:
                low, high = differences[:, pair].min(), differences[:, pair].max()
                text = (
                    f"which of {a} and {b} is better in {name} depends on tied scores: the"
                    f" difference is {signed(low)} to {signed(high)}"
                )
                by_sign.append(text)
    texts = [*by_p, *by_sign]
    if not texts:
        return []
    remedy = without_ties(next(filter(None, ties)))
    return [f"{texts[0]}{also_in(len(texts) - 1)}; {remedy}"]


def _values_of_orders(comparison: Comparison, ties: Sequence[Any]) -> dict[str, Floats]:
    """The values of the measures that ties can move, float64[2 * systems, queries].

    The first half has the ties of the systems in the worst order, the other in the best.
    """
    movable = next(filter(None, ties)).ranges()
    values = {
        name: np.concatenate([analysis.values] * 2)
        for name, analysis in comparison.analyses.items()
        if name in movable
    }
    for i, system_ties in enumerate(ties):
        for half, order in enumerate(("worst", "best") if system_ties is not None else ()):
            scores = system_ties.scores(order)
            row_of = {query: row for row, query in enumerate(scores.queries)}
            rows = [row_of[query] for query in comparison.queries]
            for name, column in columns_by_name(scores).items():
                if name in values:
                    values[name][half * len(ties) + i] = column.to_array()[rows]
    return values


def _compared_otherwise(
    comparison: Comparison, values: dict[str, Floats]
) -> list[dict[str, Analysis]]:
    """The analyses with worst first and best second systems, and with best first and worst second
    ones.
    """
    settings, results = comparison.settings.changed(interval="none"), []
    for of_first, of_second in ((0, len(comparison)), (len(comparison), 0)):
        analyses = dict(comparison.analyses)
        for name, rows in values.items():
            analysis = analyses[name]
            pairs = analysis.paired.firsts + of_first, analysis.paired.seconds + of_second
            measured = Measured(rows, analysis.better)
            analyses[name] = analyze(measured, *pairs, analysis.paired.clusters, settings)
        if settings.family == "all":
            analyses = corrected_together(analyses, settings.correction)
        results.append(analyses)
    return results
