"""Plots of all systems: means, mean ranks, and lines over cutoffs or recall."""

from __future__ import annotations

import re

import numpy as np

from fastrank.analysis.comparing.groups import mean_ranks
from fastrank.analysis.comparing.pairs import need_all_pairs, need_two_systems
from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.common.plots.frame import Frame, beside
from fastrank.common.plots.style import INK, MUTED, PAPER, short_names, styles_of
from fastrank.common.rendering.numbers import interval, number, p_words, signed
from fastrank.core.measures.selection import Selection
from fastrank.errors import MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.analysis.comparing.plots.plot import View


# More bands than this hide each other.
WITH_BANDS = 6
# P_10, ndcg_cut_10, nDCG@10.
WITH_CUTOFF = re.compile(r"(.+)[_@](\d+)")
# The cutoffs that an error suggests.
CUTOFFS = "1,5,10,20,100"
FAMILY = "iprec_at_recall"
# The heights of a row of names and of a bar, in inches.
ROW, BAR = 0.24, 0.1


def draw_intervals(axes: Axes, comparison: Comparison, view: View) -> Frame:
    """Draw means, or differences from a baseline, with their intervals."""
    measure, baseline = view.measure, view.b
    rows, styles = _rows(comparison, measure, baseline), styles_of(comparison.names)
    write = signed if baseline else number
    values = []
    for y, (name, mean, low, high, significant) in enumerate(rows):
        look = styles[name]
        if not np.isnan(low):
            axes.plot([low, high], [y, y], lw=1.6, **look)
        filled = look["color"] if significant else PAPER
        axes.plot([mean], [y], "o", color=look["color"], ms=5.5, mfc=filled)
        label = f"{write(mean)} {interval(low, high, write)}".rstrip()
        beside(axes, y, label)
        values.append(f"{name} {label}")
    names = [row[0] for row in rows]
    queries, title, note = comparison.analysis(measure).means.n.tolist(), "means", ""
    if baseline:
        axes.axvline(0.0, color=MUTED, lw=1)
        queries = [comparison.pair(measure, name, baseline).n for name in names]
        title = f"difference from {baseline}"
        note = f"Filled: significant ({comparison.description()})"
    if comparison.interval != "none":
        title += f" with {100 * comparison.level:g}% intervals"
    return Frame(
        f"{measure}: {title}",
        queries,
        [note],
        ["; ".join(values)],
        rows=names,
        grid="x",
        inches=(7.5, 1.3 + 0.25 * len(rows)),
    )


def _rows(
    comparison: Comparison, measure: str, baseline: str
) -> list[tuple[str, float, float, float, bool]]:
    """For each system, best first: its name, mean, interval, and whether its point is filled."""
    ranked = comparison.ranked(measure)
    if not baseline:
        mean = comparison.mean[measure]
        return [(n, mean[n], *comparison.interval_of(measure, n), True) for n in ranked]
    pairs = [comparison.pair(measure, name, baseline) for name in ranked if name != baseline]
    return [
        (p.a, p.difference, p.low, p.high, comparison.significant(measure, p.a, baseline))
        for p in pairs
    ]


def draw_critical_difference(axes: Axes, comparison: Comparison, view: View) -> Frame:
    """Draw Demsar's diagram.

    Raises OptionError for a comparison with a baseline, and for a single system.
    """
    from matplotlib.ticker import MaxNLocator

    need_two_systems(comparison)
    measure, alpha = view.measure, comparison.alpha
    need_all_pairs(comparison, "critical-difference")
    means = mean_ranks(comparison.analysis(measure).paired, comparison.better(measure), alpha)
    order = sorted(range(len(comparison)), key=lambda system: float(means.ranks[system]))
    groups, bar = means.groups(), BAR / ROW
    # Rows below the axis: the bars, then names from the outside to the inside on both sides.
    top, half = 0.6 + bar * len(groups), -(-len(order) // 2)
    labels = short_names([comparison.names[system] for system in order])
    ends = ((-0.02, "right"), (1.02, "left"))
    styles, by_side = styles_of(comparison.names), axes.get_yaxis_transform()
    for row, (system, label) in enumerate(zip(order, labels, strict=True)):
        side, rank = int(row >= half), float(means.ranks[system])
        y = top + (len(order) - 1 - row if side else row)
        look, (x, align) = styles[comparison.names[system]], ends[side]
        axes.plot([rank, rank, len(order) if side else 1], [0, y, y], lw=1, **look)
        axes.text(
            x,
            y,
            f"{rank:.2f}  {label}" if side else f"{label}  {rank:.2f}",
            ha=align,
            va="center",
            color=look["color"],
            fontsize=8.5,
            transform=by_side,
        )
    for i, group in enumerate(groups):
        ranks = [float(means.ranks[system]) for system in group]
        axes.plot([min(ranks), max(ranks)], [0.4 + bar * i] * 2, color=INK, lw=3)
    if means.critical == means.critical:
        axes.plot([1, 1 + means.critical], [-1.5, -1.5], "|-", color=MUTED, lw=1, clip_on=False)
        axes.text(1, -1.7, f"critical difference {means.critical:.3g}", fontsize=8, va="bottom")
    axes.plot([1, len(order)], [0, 0], color=INK, lw=1)
    for tick in MaxNLocator(9, integer=True).tick_values(1, len(order)):
        if 1 <= tick <= len(order):
            axes.plot([tick, tick], [-0.2, 0], color=INK, lw=1)
            axes.text(tick, -0.3, f"{tick:g}", fontsize=8.5, ha="center", va="bottom")
    axes.set_xlim(1, len(order))
    axes.set_ylim(top + half - 0.5, -2.4)
    axes.set_axis_off()
    ranked = (f"{comparison.names[system]} {means.ranks[system]:.2f}" for system in order)
    joined = "; ".join(", ".join(comparison.names[system] for system in group) for group in groups)
    test = f"Nemenyi, alpha {alpha:g}"
    return Frame(
        f"{measure}: mean ranks",
        [means.n],
        [
            f"Friedman's test of all systems: {p_words(means.p)}",
            f"Bars join systems that cannot be told apart ({test})"
            if groups
            else f"All pairs can be told apart ({test})",
        ],
        [
            ", ".join(ranked),
            f"Critical difference {means.critical:.3g}",
            f"Groups that cannot be told apart: {joined or 'none'}",
        ],
        inches=(7.5, 1.3 + ROW * (top + half + 2)),
    )


def _has_bands(comparison: Comparison) -> bool:
    """Whether the intervals of the means are drawn as bands."""
    return len(comparison) <= WITH_BANDS and comparison.interval != "none"


def _band_words(comparison: Comparison) -> str:
    """The words on bands, or why there are none."""
    intervals = f"{100 * comparison.level:g}% intervals of the means"
    if _has_bands(comparison):
        return f"Bands: {intervals}"
    if comparison.interval == "none":
        return ""
    return f"No bands of {intervals}: more than {WITH_BANDS} systems"


def _lines(
    axes: Axes, comparison: Comparison, names: list[str], positions: list[float], about: Frame
) -> Frame:
    """Draw the means of measures at these positions, in the frame `about`."""
    ranked, styles = comparison.ranked(names[0]), styles_of(comparison.names)
    handles, parts = [], []
    for system in ranked:
        means = [comparison.mean[name][system] for name in names]
        look = styles[system]
        handles += axes.plot(positions, means, marker="o", ms=3, lw=1.5, label=system, **look)
        if _has_bands(comparison):
            low, high = np.array([comparison.interval_of(name, system) for name in names]).T
            axes.fill_between(positions, low, high, color=look["color"], alpha=0.13, lw=0)
        parts.append(f"{system} {', '.join(map(number, means))}")
    return about._replace(
        queries=[int(n) for name in names for n in comparison.analysis(name).means.n],
        lines=[_band_words(comparison)],
        values=[
            f"{about.x} = {', '.join(f'{position:g}' for position in positions)}",
            "; ".join(parts),
        ],
        handles=handles,
        grid="both",
    )


def draw_over_k(axes: Axes, comparison: Comparison, view: View) -> Frame:
    """Draw the means of a measure over its cutoffs.

    Raises MeasureError unless there are two cutoffs of the measure.
    """
    family, cutoffs = _cutoffs(comparison, view.measure)
    names, positions = list(cutoffs.values()), [float(k) for k in cutoffs]
    about = Frame(f"{family} over k", [], x="k", y=family)
    frame = _lines(axes, comparison, names, positions, about)
    if max(cutoffs) >= 20 * min(cutoffs):
        axes.set_xscale("log")
    axes.set_xticks(list(cutoffs), [str(k) for k in cutoffs])
    axes.set_xticks([], minor=True)
    return frame


def _cutoffs(comparison: Comparison, family: str) -> tuple[str, dict[int, str]]:
    """A family of measures, by default that with the most cutoffs, and {k: measure}."""
    families: dict[str, dict[int, str]] = {}
    for name in comparison.measures:
        if match := WITH_CUTOFF.fullmatch(name):
            families.setdefault(match[1], {})[int(match[2])] = name
    match = WITH_CUTOFF.fullmatch(family)
    family = match[1] if match else family
    if not family and families:
        family = max(families, key=lambda name: len(families[name]))
    cutoffs = dict(sorted(families.get(family, {}).items()))
    if len(cutoffs) < 2:
        raise MeasureError(
            family,
            f"over k needs several cutoffs of {family or 'a measure'}; compare with"
            f" {_with_cutoffs(family, *cutoffs.values())}",
        )
    return family, cutoffs


def _with_cutoffs(family: str, compared: str = "") -> str:
    """The measures to compare, in the notation of one that was; those of P if there are none."""
    for separator in "@." if "@" in compared else ".@":
        try:
            Selection(measure := f"{family}{separator}{CUTOFFS}").bind(DEFAULT_VERSION)
        except MeasureError:
            continue
        return measure
    return f"P.{CUTOFFS}"


def draw_precision_recall(axes: Axes, comparison: Comparison, view: View) -> Frame:
    """Draw interpolated precision over levels of recall.

    Raises MeasureError unless iprec_at_recall was compared.
    """
    if view.measure and not view.measure.startswith(FAMILY):
        raise MeasureError(view.measure, f"precision-recall shows {FAMILY}, not {view.measure!r}")
    names = [name for name in comparison.measures if name.startswith(f"{FAMILY}_")]
    if len(names) < 2:
        raise MeasureError(FAMILY, f"precision-recall needs the measure {FAMILY}; compare with it")
    levels = [float(name.rpartition("_")[2]) for name in names]
    about = Frame("Precision over recall", [], x="recall", y="interpolated precision")
    frame = _lines(axes, comparison, names, levels, about)
    axes.set_ylim(bottom=0)
    return frame
