"""A comparison as plain text."""

from __future__ import annotations

from itertools import islice
from textwrap import fill

from fastrank.comparing.letters import letters
from fastrank.scores.table_formats import Number, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.comparing.comparison import Comparison, Pair

WIDTH = 90


def readable(comparison: Comparison) -> str:
    """The means with letters or, with baselines, the differences from them; a legend, and notes."""
    body = _with_baselines(comparison) if comparison.baseline else _with_letters(comparison)
    count = len(comparison.queries)
    legend = f"{count} {'queries' if count != 1 else 'query'}."
    if len(comparison.names) > 1:
        what = "+ and -" if comparison.baseline else "Letters"
        than = "better and worse than the baseline" if comparison.baseline else (
            "better than that system"
        )  # fmt: skip
        legend += f" {what}: significantly {than} ({comparison.description()})."
    notes = [fill(f"Note: {note}.", WIDTH) for note in comparison.notes]
    return "\n".join([body, "", fill(legend, WIDTH), *notes])


def _with_letters(comparison: Comparison) -> str:
    own = dict(zip(comparison.names, islice(letters(), len(comparison.names)), strict=True))
    rows = []
    for name in comparison.names:
        row: list[Any] = [own[name], name]
        for measure in comparison.measures:
            row.append(Number(f"{comparison.mean[measure][name]:.4f}"))
            row.append(" ".join(own[beaten] for beaten in comparison.beaten(measure, name)))
        rows.append(row)
    header = [cell for measure in comparison.measures for cell in (measure, "")]
    return plain(["", "system", *header], rows)


def _with_baselines(comparison: Comparison) -> str:
    rows = [
        _pair_row(comparison, pair) for measure in comparison.measures
        for pair in comparison._pairs_of(measure)
    ]  # fmt: skip
    interval = f"{100 * comparison.level:g}%"
    header = ["measure", "system", "baseline", "mean", "difference", f"{interval} interval", "p"]
    return plain([*header, ""], rows)


def _pair_row(comparison: Comparison, pair: Pair) -> list[Any]:
    mark = ""
    if comparison.significant(pair.measure, pair.a, pair.b):
        better = comparison.better(pair.measure)
        mark = "" if not better else "+" if (pair.difference > 0) == (better == "higher") else "-"
    return [
        pair.measure, pair.a, pair.b, Number(f"{pair.mean_a:.4f}"),
        Number(f"{pair.difference:+.4f}"), f"[{pair.low:+.4f}, {pair.high:+.4f}]",
        Number(p_text(pair.p_adjusted)), mark,
    ]  # fmt: skip


def p_text(p: float) -> str:
    """A p-value for people, never 0."""
    if p == 0.0:
        return "<1e-300"
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.1e}"
