"""The plot of a comparison: recall against queries per second."""

from __future__ import annotations

import os

from fastrank.comparing.plots.image import check_format, our_style, rendered
from fastrank.comparing.plots.style import INK, MUTED, heading, line
from fastrank.formats import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

    from fastrank.embeddings.index_comparison import IndexComparison

INCHES = (7.5, 5.0)


def write_plot(
    compared: IndexComparison, target: str | os.PathLike[str] | BinaryIO, format: str | None
) -> None:
    """Draw and write the plot. Raises OptionError, ImportError."""
    format = check_format(target, format)
    with our_style():
        figure = _drawn(compared)
    title = f"Recall@{compared.k} and queries per second of {len(compared.points)} searches"
    files.write(target, [rendered(figure, format, title, str(compared))])


def _drawn(compared: IndexComparison) -> Any:
    # Avoids pyplot, which has global state and a backend.
    from matplotlib.figure import Figure

    figure = Figure(figsize=INCHES)
    axes = figure.add_subplot()
    exact, *others = compared.points
    axes.axhline(exact.queries_per_second, color=MUTED, lw=1, ls="--", zorder=0)
    axes.plot([exact.recall], [exact.queries_per_second], "*", color=INK, ms=12, label="exact")
    factories = dict.fromkeys(point.index_factory for point in others)
    for place, index_factory in enumerate(factories):
        points = sorted(
            (p for p in others if p.index_factory == index_factory), key=lambda p: p.recall
        )
        speeds = [point.queries_per_second for point in points]
        recall = [point.recall for point in points]
        axes.plot(recall, speeds, marker="o", ms=4, label=index_factory, **line(place))
        for point in points:
            axes.annotate(
                point.parameters.replace(",", "\n"), (point.recall, point.queries_per_second),
                fontsize="x-small", xytext=(-6, -2), textcoords="offset points", ha="right",
            )  # fmt: skip
    # Settings are left of their points; keep the leftmost inside the axes.
    widest = max(len(line) for point in others for line in point.parameters.split(","))
    axes.margins(x=0.05 + 0.0125 * widest)
    left = axes.get_xlim()[0]
    axes.set_xlim(left, 1 + 0.05 * (1 - left))
    axes.set_yscale("log")
    axes.set_xlabel(f"recall@{compared.k}")
    axes.set_ylabel("queries per second")
    heading(
        axes,
        f"{compared.queries:,} queries, {compared.documents:,} vectors of dimension"
        f" {compared.dimension}, {compared.metric}",
    )
    axes.grid(color=MUTED, alpha=0.25, lw=0.6, which="both")
    axes.legend()
    return figure
