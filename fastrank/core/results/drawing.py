"""Drawings of results."""

from __future__ import annotations

import math

from fastrank.common.messages import counted
from fastrank.common.plots.frame import Frame
from fastrank.common.plots.style import INK
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeGuard

    from matplotlib.axes import Axes

# The rows of a table that are drawn, and the height of each in inches.
ROWS, HEIGHT = 60, 0.25


def drawing_of(
    drawings: Mapping[str, Callable[[Axes], Frame]], kind: str | None
) -> Callable[[Axes], Frame]:
    """The drawing of a kind, by default the first. Raises OptionError."""
    if kind is None:
        return next(iter(drawings.values()))
    if kind not in drawings:
        expected = f"expected {' or '.join(map(repr, drawings))}, found {kind!r}"
        hint = "; to write a file, set path" if "." in str(kind) else ""
        raise OptionError("kind", expected + hint)
    return drawings[kind]


def draw_values(axes: Axes, title: str, columns: Mapping[str, list[object]]) -> Frame:
    """The first column of numbers as dots, with a row for each row of the columns, up to `ROWS`.

    Raises OptionError for a table without numbers.
    """
    label, *names = columns
    name = next((name for name in names if any(map(_is_number, columns[name]))), None)
    if name is None:
        raise OptionError("kind", f"{title}: there are no numbers to draw")
    values = [float(value) if _is_number(value) else math.nan for value in columns[name][:ROWS]]
    labels = [str(cell) for cell in columns[label][:ROWS]]
    axes.plot(values, range(len(values)), "o", color=INK)
    rows = counted(len(columns[label]), "row")
    return Frame(
        title,
        [len(values)],
        [f"The first {len(values)} of {rows}"] if len(columns[label]) > len(values) else (),
        ["; ".join(f"{row}: {value:.4f}" for row, value in zip(labels, values, strict=True))],
        x=name,
        rows=labels,
        grid="x",
        inches=(7.5, 1.5 + HEIGHT * len(values)),
    )


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value
