"""A comparison as LaTeX."""

from __future__ import annotations

from fastrank.arguments import check_choice
from fastrank.comparing.display import (
    differences_of,
    interval_name,
    interval_text,
    layout_of,
    legend,
    means_of,
    notes_of,
)
from fastrank.comparing.text import ASCII_SYMBOLS
from fastrank.errors import OptionError
from fastrank.messages import visible
from fastrank.scores.table_formats import Markup, latex, latex_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from fastrank.comparing.comparison import Comparison
    from fastrank.comparing.display import Layout

# The first marks significantly better than the first baseline, and so on.
BASELINE_MARKS = ("\\dagger", "\\ddagger", "\\S", "\\P")
STYLES = {"bold": "\\textbf{%s}", "underline": "\\underline{%s}", "none": "%s"}
SHOWN = ("mean", "interval", "p")


def latex_of(
    comparison: Comparison,
    *,
    best: str = "bold",
    second: str = "underline",
    show: str | Sequence[str] = "mean",
    baseline_marks: Sequence[str] = BASELINE_MARKS,
    **options: Any,
) -> str:
    """Comment lines, then a tabular with booktabs rules. options: of `layout_of`."""
    layout = layout_of(comparison, **options)
    for name, style in (("best", best), ("second", second)):
        check_choice(name, style, tuple(STYLES))
    shown = _checked_show(comparison, show)
    marks = _marks_of_baselines(comparison, baseline_marks)
    columns: list[list[Any]] = [list(layout.letters.values())] if layout.letters else []
    header = ["", "system"] if layout.letters else ["system"]
    columns.append(layout.names)
    for measure in comparison.measures:
        for name, cells in _columns(comparison, measure, layout, marks, best, second, shown):
            header.append(name)
            columns.append(cells)
    table = latex(header, list(zip(*columns, strict=True)))
    return "\n".join([*_comments(comparison, layout, marks), table])


def _checked_show(comparison: Comparison, show: str | Sequence[str]) -> tuple[str, ...]:
    shown = (show,) if isinstance(show, str) else tuple(show)
    for one in shown:
        check_choice("show", one, SHOWN)
    if "p" in shown and len(comparison.baseline) != 1:
        raise OptionError("show", "'p' needs one baseline")
    if "interval" in shown and not interval_name(comparison):
        raise OptionError("show", "'interval' needs intervals; compare with interval='t'")
    if "interval" in shown and len(comparison.baseline) > 1:
        raise OptionError("show", "'interval' needs one baseline, or all pairs")
    return shown


def _marks_of_baselines(comparison: Comparison, marks: Sequence[str]) -> dict[str, str]:
    """{baseline: mark}."""
    if isinstance(marks, str) or not all(isinstance(mark, str) for mark in marks):
        raise OptionError("baseline_marks", f"expected a list of marks, found {marks!r}")
    if len(marks) < len(comparison.baseline):
        raise OptionError(
            "baseline_marks", f"expected {len(comparison.baseline)}, one per baseline, found"
            f" {len(marks)}"
        )  # fmt: skip
    return dict(zip(comparison.baseline, marks, strict=False))


def _columns(
    comparison: Comparison,
    measure: str,
    layout: Layout,
    marks: dict[str, str],
    best: str,
    second: str,
    shown: tuple[str, ...],
) -> list[tuple[str, list[Any]]]:
    """The header and the cells of each column of a measure."""
    means = means_of(comparison, measure, layout)
    differences = differences_of(comparison, measure, layout)
    superscripts = {name: mean.marks for name, mean in means.items()}
    if comparison.baseline:
        superscripts = {
            name: [marks[one.pair.b] for one in found if one.sign > 0]
            for name, found in differences.items()
        }
    used = {mark for own in superscripts.values() for mark in own}
    order = [mark for mark in (marks or layout.letters).values() if mark in used]
    longest = max(superscripts.values(), key=len)
    styles = {1: STYLES[best], 2: STYLES[second], 0: STYLES["none"]}
    columns: list[tuple[str, list[Any]]] = []
    for kind in shown:
        if kind == "mean":
            cells = [
                styles[mean.place] % latex_number(mean.text)
                + (
                    _letters(superscripts[name], longest)
                    if layout.compact
                    else _superscript(superscripts[name], order)
                )
                for name, mean in means.items()
            ]
            columns.append((measure, list(map(Markup, cells))))
        elif comparison.baseline:
            first = [found[0] if found else None for found in differences.values()]
            name = f"diff [{interval_name(comparison)}]" if kind == "interval" else "p"
            cells = [
                "" if one is None
                else f"${one.difference}$ {_math(one.interval)}" if kind == "interval"
                else _p(one.p)
                for one in first
            ]  # fmt: skip
            columns.append((name, list(map(Markup, cells))))
        else:
            bounds = (comparison.interval_of(measure, name) for name in means)
            cells = [_math(interval_text(low, high, layout.number)) for low, high in bounds]
            columns.append((interval_name(comparison), list(map(Markup, cells))))
    return columns


def _math(interval: str) -> str:
    """An interval in math mode, so that a minus sign is not a hyphen."""
    return f"${interval}$" if interval else ""


def _p(text: str) -> str:
    """A p-value in math mode, without the exponent of a computer."""
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return f"${mantissa}$"
    factor = "<" if mantissa == "<1" else f"{mantissa}\\cdot "
    return f"${factor}10^{{{int(exponent)}}}$"


def _letters(marks: list[str], longest: list[str]) -> str:
    """The letters, in the width of the longest superscript, so that numbers align."""
    return f"\\rlap{{{_superscript(marks, marks)}}}\\hphantom{{{_superscript(longest, longest)}}}"


def _superscript(marks: list[str], order: list[str]) -> str:
    """The marks, and invisible ones in place of those that are missing, so that numbers align."""
    if not order:
        return ""
    missing = [mark for mark in order if mark not in marks]
    long = any(len(mark) > 1 for mark in order)
    space = "\\," if long and not any(mark.startswith("\\") for mark in order) else ""

    def written(some: list[str]) -> str:
        return (" " if long else "").join(mark + space for mark in some)

    phantom = f"\\hphantom{{{written(missing)}}}" if missing else ""
    return f"$^{{{written(marks)}{phantom}}}$"


def _comments(comparison: Comparison, layout: Layout, marks: dict[str, str]) -> list[str]:
    """Comment lines: queries, test and correction, and notes."""
    if marks:
        plain = layout._replace(letters={})
        text = legend(comparison, plain, ASCII_SYMBOLS)
        count = text.partition(" diff:")[0]
        meanings = ", ".join(f"{mark} than {name}" for name, mark in marks.items())
        text = f"{count} Significantly better: {meanings} ({comparison.description()})."
    else:
        text = legend(comparison, layout, ASCII_SYMBOLS)
    if comparison.resamples:
        text += f" {comparison.resamples:,} resamples, seed {comparison.seed}."
    return [f"% {visible(line)}" for line in (text, *notes_of(comparison))]
