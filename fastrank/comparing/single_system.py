"""The intervals of one system's means, for `Scores.interval` and `fastrank eval --interval`."""

from __future__ import annotations

import math

from fastrank.arguments import check_choice
from fastrank.comparing.alignment import align, systems_of
from fastrank.comparing.compare import compare_aligned
from fastrank.comparing.options import COMPARISON, METHODS, settings
from fastrank.data.texts import decoded
from fastrank.errors import GroupError, MeasureError
from fastrank.scores.columns import columns_by_name, name_in
from fastrank.scores.tables import Estimate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.options import Settings
    from fastrank.scores.scores import Scores


def interval_settings(method: str, **given: Any) -> Settings:
    """The settings of an interval, given or by default. Raises OptionError and TypeError."""
    check_choice("method", method, METHODS)
    defaults = {one.name: one.default for one in COMPARISON}
    return settings(defaults | given | {"interval": method})


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
        raise MeasureError(measure, f"{measure!r} was not evaluated; expected {', '.join(columns)}")
    systems, notes = systems_of([scores], {name})
    if notes:
        raise MeasureError(name, f"{name!r} is not a mean over queries, and has no interval")
    aligned = align([scores.name or "run"], systems, common=True, caller="interval")
    alone = compare_aligned(aligned, chosen)
    return alone.interval_of(*alone.measures, *alone.names)


def with_intervals(scores: Scores, chosen: Settings) -> Scores:
    """The Scores whose means are Estimates, as far as they have an interval."""

    def estimated(name: bytes, value: Any) -> Any:
        try:
            low, high = interval_of_mean(scores, decoded(name), chosen)
        except (GroupError, MeasureError):
            # No mean over queries, infinite, or text.
            return value
        return value if math.isnan(low) else Estimate(value, low, high)

    # Some measures have no summary.
    summaries = [
        [estimated(name, value) for name, value in zip(bound.names, own, strict=False)]
        for bound, own in zip(scores.bound, scores.summaries, strict=True)
    ]
    changed: Scores = scores.changed(summaries=summaries)
    return changed
