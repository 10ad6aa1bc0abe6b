"""Plots of all systems: means, the values of all queries, and lines over cutoffs or recall."""

from __future__ import annotations

import re

import numpy as np

from fastrank.arguments import DEFAULT_VERSION
from fastrank.comparing.plots.frame import Frame, beside, query_axis
from fastrank.comparing.plots.style import INK, MANY_POINTS, MUTED, PAPER, styles_of
from fastrank.document.numbers import interval, number, signed
from fastrank.errors import MeasureError
from fastrank.measures.selection import Selection
from fastrank.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison
    from fastrank.comparing.plots.plot import View


# More bands than this hide each other.
WITH_BANDS = 6
# P_10, ndcg_cut_10, nDCG@10.
WITH_CUTOFF = re.compile(r"(.+)[_@](\d+)")
# What an error advises.
CUTOFFS = "1,5,10,20,100"
FAMILY = "iprec_at_recall"
GOLDEN = 0.6180339887498949


def draw_intervals(axes: Any, comparison: Comparison, view: View) -> Frame:
    """Draw means, or differences from a baseline, with their intervals."""
    measure, baseline = view.measure, view.b
    rows, styles = _rows(comparison, measure, baseline), styles_of(comparison)
    write = signed if baseline else number
    values = []
    for place, (name, mean, low, high, significant) in enumerate(rows):
        look = styles[name]
        if not np.isnan(low):
            axes.plot([low, high], [place, place], lw=1.6, **look)
        filled = look["color"] if significant else PAPER
        axes.plot([mean], [place], "o", color=look["color"], ms=5.5, mfc=filled)
        label = f"{write(mean)} {interval(low, high, write)}".rstrip()
        beside(axes, place, label)
        values.append(f"{visible(name)} {label}")
    names = [row[0] for row in rows]
    queries, title, note = comparison.analysis(measure).means.n.tolist(), "means", ""
    if baseline:
        axes.axvline(0.0, color=MUTED, lw=1)
        queries = [comparison.pair(measure, name, baseline).n for name in names]
        title = f"difference from {visible(baseline)}"
        note = f"Filled: significant ({comparison.description()})"
    if comparison.interval != "none":
        title += f" with {100 * comparison.level:g}% intervals"
    return Frame(
        f"{visible(measure)}: {title}",
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
    """Of each system, best first: its name, mean, interval, and whether its point is filled."""
    ranked = comparison.ranked(measure)
    if not baseline:
        mean = comparison.mean[measure]
        return [(n, mean[n], *comparison.interval_of(measure, n), True) for n in ranked]
    pairs = [comparison.pair(measure, name, baseline) for name in ranked if name != baseline]
    return [
        (p.a, p.difference, p.low, p.high, comparison.significant(measure, p.a, baseline))
        for p in pairs
    ]


def _values(comparison: Comparison, measure: str) -> dict[str, Any]:
    """The values of each system, best first, without those that are missing."""
    values = dict(zip(comparison.names, comparison.values(measure), strict=True))
    return {name: values[name][~np.isnan(values[name])] for name in comparison.ranked(measure)}


def draw_distribution(axes: Any, comparison: Comparison, view: View) -> Frame:
    """Draw boxes of the values of all queries."""
    measure = view.measure
    rows, styles = _values(comparison, measure), styles_of(comparison)
    many = sum(map(len, rows.values())) > MANY_POINTS
    parts = []
    for place, (name, row) in enumerate(rows.items()):
        look = styles[name]
        # Multiples of the golden ratio spread evenly, and are the same each time.
        spread = np.arange(len(row)) * GOLDEN % 1.0 - 0.5
        axes.plot(
            row,
            place + 0.62 * spread,
            "o",
            color=look["color"],
            ms=2 if many else 3.5,
            mew=0,
            alpha=0.15 if many else 0.5,
            rasterized=many,
            zorder=1,
        )
        axes.boxplot(
            [row],
            positions=[place],
            orientation="horizontal",
            widths=0.62,
            showfliers=False,
            manage_ticks=False,
            zorder=3,
            medianprops={"color": INK, "lw": 2},
            boxprops=look,
            whiskerprops=look,
            capprops={"color": look["color"]},
        )
        mean = comparison.mean[measure][name]
        axes.plot([mean], [place], "D", color=look["color"], mec=INK, mew=0.8, ms=5, zorder=4)
        low, median, high = (float(q) for q in np.quantile(row, (0.25, 0.5, 0.75)))
        parts.append(
            f"{visible(name)} mean {number(mean)}, median"
            f" {number(median)}, quartiles {number(low)} and {number(high)}"
        )
    return Frame(
        f"{visible(measure)}: distribution over the queries",
        [len(row) for row in rows.values()],
        ["Boxes: quartiles and median. Diamonds: means. Dots: queries"],
        ["; ".join(parts)],
        rows=list(rows),
        inches=(7.5, 1.3 + 0.4 * len(rows)),
    )


def _has_bands(comparison: Comparison) -> bool:
    """Whether the intervals of the means are drawn as bands."""
    return len(comparison) <= WITH_BANDS and comparison.interval != "none"


def _band_words(comparison: Comparison) -> str:
    """What the bands are, or why there are none."""
    intervals = f"{100 * comparison.level:g}% intervals of the means"
    if _has_bands(comparison):
        return f"Bands: {intervals}"
    if comparison.interval == "none":
        return ""
    return f"No bands of {intervals}: more than {WITH_BANDS} systems"


def draw_values(axes: Any, comparison: Comparison, view: View) -> Frame:
    """Draw the values of all queries as a falling line for each system."""
    measure = view.measure
    rows, styles = _values(comparison, measure), styles_of(comparison)
    parts, handles, bands = [], [], _has_bands(comparison)
    for name, row in rows.items():
        look, mean = styles[name], comparison.mean[measure][name]
        places = np.arange(len(row)) + 0.5
        handles += axes.plot(places, np.sort(row)[::-1], lw=1.5, label=name, **look)
        axes.axhline(mean, color=look["color"], lw=0.8)
        bounds = comparison.interval_of(measure, name)
        if bands and not np.isnan(bounds[0]):
            axes.axhspan(*bounds, color=look["color"], alpha=0.15, lw=0)
        parts.append(f"{visible(name)} mean {number(mean)} {interval(*bounds)}".rstrip())
    query_axis(axes, len(comparison.queries))
    alone, means = len(rows) == 1, "; ".join(parts)
    return Frame(
        f"{visible(measure)}: sorted values of the queries",
        [len(row) for row in rows.values()],
        [means if alone else "Horizontal lines: means", _band_words(comparison)],
        [] if alone else [means],
        x="query, sorted by value",
        y=visible(measure),
        handles=[] if alone else handles,
        grid="both",
    )


def _lines(
    axes: Any, comparison: Comparison, names: list[str], places: list[float], about: Frame
) -> Frame:
    """Draw the means of measures at these places, in the frame `about`."""
    ranked, styles = comparison.ranked(names[0]), styles_of(comparison)
    handles, parts = [], []
    for system in ranked:
        means = [comparison.mean[name][system] for name in names]
        look = styles[system]
        handles += axes.plot(places, means, marker="o", ms=3, lw=1.5, label=system, **look)
        if _has_bands(comparison):
            low, high = np.array([comparison.interval_of(name, system) for name in names]).T
            axes.fill_between(places, low, high, color=look["color"], alpha=0.13, lw=0)
        parts.append(f"{visible(system)} {', '.join(map(number, means))}")
    return about._replace(
        queries=[int(n) for name in names for n in comparison.analysis(name).means.n],
        lines=[_band_words(comparison)],
        values=[f"{about.x} = {', '.join(f'{own:g}' for own in places)}", "; ".join(parts)],
        handles=handles,
        grid="both",
    )


def draw_over_k(axes: Any, comparison: Comparison, view: View) -> Frame:
    """Draw the means of a measure over its cutoffs.

    Raises MeasureError unless there are two cutoffs of the measure.
    """
    family, cutoffs = _cutoffs(comparison, view.measure)
    names, places = list(cutoffs.values()), [float(k) for k in cutoffs]
    about = Frame(f"{visible(family)} over k", [], x="k", y=visible(family))
    frame = _lines(axes, comparison, names, places, about)
    if max(cutoffs) >= 20 * min(cutoffs):
        axes.set_xscale("log")
    axes.set_xticks(list(cutoffs), [str(k) for k in cutoffs])
    axes.set_xticks([], minor=True)
    return frame


def _cutoffs(comparison: Comparison, family: str) -> tuple[str, dict[int, str]]:
    """A family of measures, by default that with the most cutoffs, and {k: measure}."""
    found: dict[str, dict[int, str]] = {}
    for name in comparison.measures:
        if match := WITH_CUTOFF.fullmatch(name):
            found.setdefault(match[1], {})[int(match[2])] = name
    match = WITH_CUTOFF.fullmatch(family)
    family = match[1] if match else family
    if not family and found:
        family = max(found, key=lambda name: len(found[name]))
    cutoffs = dict(sorted(found.get(family, {}).items()))
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


def draw_precision_recall(axes: Any, comparison: Comparison, view: View) -> Frame:
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
