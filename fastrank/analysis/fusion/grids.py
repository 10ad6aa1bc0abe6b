"""The values of options that tuning tries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise, product
from math import comb

from fastrank.analysis.fusion.methods import METHODS
from fastrank.common.arguments import at_least
from fastrank.common.messages import counted
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Point = dict[str, Any]

# Weights are multiples of 1 / STEPS.
STEPS = 10
MOST_POINTS = 100_000
RANGES: dict[str, list[float]] = {
    "rrf_k": [*range(10, 101, 10)],
    "p": [i / 100 for i in range(50, 100)],
    "gamma": [i / 10 for i in range(21)],
    "sigma": [i / 100 for i in range(1, 101)],
}


def grid_points(method: str, grid: object, runs: int) -> list[Point]:
    """The points of a grid: {option: value}.

    grid: {option: values}, of which all combinations are tried, where an integer for weights means
    all multiples of 1 / integer that add up to 1; a list of points; or None for the default of the
    method. Raises OptionError and TypeError.
    """
    if grid is None:
        grid = _default(method)
    if isinstance(grid, Mapping):
        values = [_values(name, choices, runs) for name, choices in grid.items()]
        points = [dict(zip(grid, point, strict=True)) for point in product(*values)]
    elif isinstance(grid, Iterable) and not isinstance(grid, (str, bytes)):
        points = [_point(point) for point in grid]
    else:
        raise TypeError(f"grid: expected {{option: values}}, found {type(grid).__name__}")
    if not points or not all(points):
        raise OptionError("grid", "expected at least one value of an option, found none")
    if len(points) > MOST_POINTS:
        raise OptionError("grid", f"expected at most {MOST_POINTS:,} points, found {len(points):,}")
    return points


def _point(point: object) -> Point:
    if not isinstance(point, Mapping):
        kind = type(point).__name__
        raise TypeError(f"grid: expected a list of {{option: value}}, found {kind}")
    return dict(point)


def _default(method: str) -> dict[str, object]:
    definition = METHODS[method]
    if definition.parameter:
        return {definition.parameter: RANGES[definition.parameter]}
    if "weights" in definition.options:
        return {"weights": STEPS}
    raise OptionError(
        "grid", f"{method} has no parameter; try other options with grid={{option: values}}"
    )


def _values(name: str, values: Any, runs: int) -> Sequence[object]:
    if name == "weights" and hasattr(values, "__index__"):
        steps = at_least("grid of weights", values, 1)
        count = comb(steps + runs - 1, runs - 1)
        if count > MOST_POINTS:
            raise OptionError(
                "grid",
                f"{counted(count, 'combination')} of weights for {counted(runs, 'run')}:"
                f" expected at most {MOST_POINTS:,}; try fewer steps with grid={{'weights': 4}}",
            )
        return [[part / steps for part in parts] for parts in compositions(steps, runs)]
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"grid: expected a list of values of {name}, found {type(values).__name__}")
    return list(values)


def compositions(total: int, parts: int) -> Iterator[list[int]]:
    """All lists of `parts` integers of at least 0 with this sum, the smallest first ones first.

    >>> from fastrank.analysis.fusion.grids import compositions
    >>> list(compositions(2, 2))
    [[0, 2], [1, 1], [2, 0]]
    """
    # Bars between stars.
    for bars in combinations(range(total + parts - 1), parts - 1):
        edges = [-1, *bars, total + parts - 1]
        yield [stop - start - 1 for start, stop in pairwise(edges)]
