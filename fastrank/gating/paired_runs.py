"""The comparison of a run with its baseline, on the same queries."""

from __future__ import annotations

import os

import numpy as np

from fastrank.comparing.alignment import Aligned
from fastrank.comparing.alignment import Measured as Values
from fastrank.comparing.compare import compare_aligned
from fastrank.comparing.options import COMPARISON, settings
from fastrank.errors import InputError
from fastrank.gating.checks import BASELINE, NOW
from fastrank.plurals import counted
from fastrank.scores.text import first_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.comparing.comparison import Comparison
    from fastrank.gating.baseline import Baseline
    from fastrank.gating.measuring import Measured


def compare_with(
    saved: Baseline, measured: Measured, name: str, *, test: str, alpha: float
) -> tuple[Comparison, list[str]]:
    """Compare on the queries of the baseline that are judged now; and notes on the others.

    name: of the file. Intervals have the level 1 - 2 * alpha, so that each bound is one-sided.
    Raises InputError if there is no such query, and where a measure has only one of two values.
    """
    current = measured.content
    if set(current.measures) != set(saved.measures):
        raise InputError(name, f"saved with other measures ({', '.join(saved.measures)})")
    queries = sorted(saved.per_query.keys() & measured.judged, key=os.fsencode)
    if not queries:
        raise InputError(name, "has no query that is judged now; save a new baseline")
    missing = set(current.run["missing"])
    lost = [own for own in queries if own in missing - set(saved.run["missing"])]
    if lost:
        _refuse_lower(measured, lost)
    aligned = Aligned([NOW, BASELINE], queries, {}, [])
    for own in saved.measures:
        now, before = current.measures.index(own), saved.measures.index(own)
        values = np.array(
            [
                [_value(current.per_query, query, now) for query in queries],
                [_value(saved.per_query, query, before) for query in queries],
            ]
        )
        _refuse_gaps(values, own, queries, name)
        aligned.measures[own] = Values(values, measured.better[own])
    chosen = {one.name: one.default for one in COMPARISON} | {
        "baseline": BASELINE, "test": test, "correction": "none", "alpha": alpha,
        "level": 1 - 2 * alpha,
    }  # fmt: skip
    made = compare_aligned(aligned, settings(chosen))
    return made, [*_queries(saved, current, queries, lost), *made.notes]


def _value(per_query: dict[str, list[float | None]], query: str, place: int) -> float:
    """A value, NaN for a missing one; 0 for a query without results, which evaluation skips."""
    values = per_query.get(query)
    if values is None:
        return 0.0
    value = values[place]
    return np.nan if value is None else value


def _refuse_lower(measured: Measured, lost: list[str]) -> None:
    lower = [own for own, better in measured.better.items() if better == "lower"]
    if lower:
        raise InputError(
            "the run", f"no results for {counted(len(lost), 'query', 'queries')} of the baseline"
            f" ({first_ids(lost)}), which cannot count as 0 in {', '.join(lower)}, where lower is"
            " better; add the results"
        )  # fmt: skip


def _refuse_gaps(values: np.ndarray, measure: str, queries: list[str], name: str) -> None:
    gaps = np.isnan(values)
    different = [queries[row] for row in np.flatnonzero(gaps[0] != gaps[1])]
    if different:
        raise InputError(
            name, f"{measure} cannot be compared: for"
            f" {counted(len(different), 'query', 'queries')} ({first_ids(different)}), only one of"
            " the baseline and the run has a value"
        )  # fmt: skip


def _queries(saved: Baseline, current: Baseline, queries: list[str], lost: list[str]) -> list[str]:
    """Notes on queries without results now, and on those that are not compared."""
    notes = []
    if lost:
        one = len(lost) == 1
        notes.append(
            f"{counted(len(lost), 'query', 'queries')} of the baseline {'has' if one else 'have'}"
            f" no results now and {'counts' if one else 'count'} as 0 ({first_ids(lost)})"
        )
    for only, where in (
        (saved.per_query.keys() - set(queries), "only in the baseline"),
        (current.per_query.keys() - set(queries), "not in the baseline"),
    ):
        if only:
            named = sorted(only, key=os.fsencode)
            notes.append(
                f"compared on {counted(len(queries), 'query', 'queries')}; {len(named)}"
                f" {'is' if len(named) == 1 else 'are'} {where} ({first_ids(named)})"
            )
    return notes


def gain_of(comparison: Comparison, measure: str) -> float:
    """How much better the mean is than in the baseline."""
    difference: float = comparison.pair(measure, NOW, BASELINE).difference
    return -difference if comparison.better(measure) == "lower" else difference
