"""Small pictures as SVG: badges, and the interval of a rank."""

from __future__ import annotations

from fastrank.document.html import safe
from fastrank.document.text import display_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastrank.leaderboard.standings import Row

# Of a character of badges, in pixels, and beside the text.
WIDTH, ROOM = 6.5, 12
HEIGHT = 20
LONGEST = 60


def badge(label: str, value: str) -> str:
    """A badge with a label and a value, whose text has a contrast of at least 7 to 1."""
    texts = [own if len(own) <= LONGEST else f"{own[: LONGEST - 1]}…" for own in (label, value)]
    widths = [round(display_width(own) * WIDTH) + ROOM for own in texts]
    (left, right), total = widths, sum(widths)
    shown = [
        f'<text x="{x}" y="14" text-anchor="middle" textLength="{width - ROOM}">{safe(text)}</text>'
        for text, width, x in zip(texts, widths, (left / 2, left + right / 2), strict=True)
    ]
    title = f"{safe(label)}: {safe(value)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {HEIGHT}" width="{total}"'
        f' height="{HEIGHT}" role="img"'
        f' aria-label="{title}"><title>{title}</title>'
        f'<clipPath id="r"><rect width="{total}" height="{HEIGHT}" rx="3"/></clipPath>'
        f'<g clip-path="url(#r)"><rect width="{left}" height="{HEIGHT}" fill="#3c4248"/>'
        f'<rect x="{left}" width="{right}" height="{HEIGHT}" fill="#0b4f86"/></g>'
        f'<g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f"{''.join(shown)}</g></svg>\n"
    )


def rank_words(row: Row, count: int) -> str:
    """The rank of a system, with its interval: `2 of 20 (1 to 4)`."""
    interval = f" ({row.low} to {row.high})" if row.low is not None else ""
    return f"{row.rank} of {count}{interval}"


def rank_bar(row: Row, count: int) -> str:
    """The interval of a rank on a line from the first to the last; empty if it is not known."""
    if row.low is None or row.high is None:
        return ""
    low, high, rank = (100 * (own - 0.5) / count for own in (row.low, row.high, row.rank))
    end = 0.5 * 100 / count
    return (
        '<svg class="range" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="line" x="0" y="4.5" width="100" height="1"/>'
        f'<rect class="bar" x="{low - end:.2f}" y="2.5" width="{high - low + 2 * end:.2f}"'
        f' height="5"/><rect class="at" x="{rank - 1:.2f}" y="0.5" width="2" height="9"/></svg>'
    )


def group_marks(group: str, letters: Sequence[str]) -> str:
    """The letters of the groups that a system is in, each at its own place."""
    marks = (
        f'<span class="in">{own}</span>' if own in group else "<span></span>" for own in letters
    )
    return f'<span class="groups">{"".join(marks)}</span>'
