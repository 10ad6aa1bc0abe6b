"""The intervals of one system's means, for `Scores.interval` and `fastrank eval --interval`."""

from __future__ import annotations

import math

from fastrank.analysis.comparing.alignment import align, systems_of
from fastrank.analysis.comparing.compare import compare_aligned
from fastrank.analysis.comparing.options import COMPARISON, METHODS, settings
from fastrank.common.arguments import check_choice
from fastrank.core.data.texts import decoded
from fastrank.core.measures.suggestions import evaluated_name
from fastrank.core.results.table import Estimate
from fastrank.core.scores.columns import columns_by_name, name_in
from fastrank.errors import GroupError, MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.analysis.comparing.options import Settings
    from fastrank.core.scores.scores import Scores


def interval_settings(method: str, **options: Any) -> Settings:
    """The settings of an interval, given or by default. Raises OptionError and TypeError."""
    check_choice("method", method, METHODS)
    defaults = {keyword.name: keyword.default for keyword in COMPARISON}
    return settings(defaults | options | {"interval": method})


def interval_of_mean(scores: Scores, measure: str | None, chosen: Settings) -> tuple[float, float]:
    """The interval of a comparison of this system alone, in a measure, by default the only one.

    Raises as `Scores.interval`.
    """
    columns = columns_by_name(scores)
    if measure is None:
        measure, *others = scores.names or list(columns)
        if others:
            raise MeasureError(
                "measure", f"found {len(others) + 1} measures; name one: {', '.join(scores.names)}"
            )
    name = measure if measure in columns else name_in(columns.values(), measure)
    if name is None:
        hint = evaluated_name(measure, [*columns])
        reason = f"{measure!r} was not evaluated; expected {', '.join(columns)}{hint}"
        raise MeasureError(measure, reason)
    systems, notes = systems_of([scores], {name})
    if notes:
        raise MeasureError(name, f"{name!r} is not a mean over queries, and has no interval")
    aligned = align([scores.name or "run"], systems, common=True, caller="interval")
    alone = compare_aligned(aligned, chosen)
    return alone.interval_of(*alone.measures, *alone.names)


def with_intervals(scores: Scores, chosen: Settings) -> Scores:
    """The Scores with Estimates instead of the means that have an interval."""

    def estimated(name: bytes, value: Any) -> Any:
        try:
            low, high = interval_of_mean(scores, decoded(name), chosen)
        except (GroupError, MeasureError):
            # No mean over queries, infinite, or text.
            return value
        return value if math.isnan(low) else Estimate(value, low, high)

    # Some measures have no summary.
    summaries = [
        [estimated(name, value) for name, value in zip(bound.names, summary, strict=False)]
        for bound, summary in zip(scores.bound, scores.summaries, strict=True)
    ]
    return scores.changed(summaries=summaries)
