"""The interval of one system's mean, for `Scores.interval`."""

from __future__ import annotations

from fastrank.arguments import check_choice
from fastrank.comparing.alignment import align, systems_of
from fastrank.comparing.compare import compare_aligned
from fastrank.comparing.options import COMPARISON, INTERVALS, settings
from fastrank.errors import MeasureError
from fastrank.scores.columns import columns_by_name, name_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.scores.scores import Scores

METHODS = tuple(name for name in INTERVALS if name != "none")


def interval_of_mean(
    scores: Scores, measure: str, level: float, method: str, resamples: int | None, seed: int
) -> tuple[float, float]:
    """The interval that a comparison of this system alone has. Raises as `Scores.interval`."""
    check_choice("method", method, METHODS)
    columns = columns_by_name(scores)
    name = measure if measure in columns else name_in(columns.values(), measure)
    if name is None:
        raise MeasureError(measure, f"{measure!r} was not evaluated; expected {', '.join(columns)}")
    systems, notes = systems_of([scores], {name})
    if notes:
        raise MeasureError(name, f"{name!r} is no mean over queries, and has no interval")
    aligned = align(["run"], systems, common=True, caller="interval")
    given = {"interval": method, "level": level, "resamples": resamples, "seed": seed}
    chosen = settings({one.name: one.default for one in COMPARISON} | given)
    return compare_aligned(aligned, chosen).interval_of(name, "run")
