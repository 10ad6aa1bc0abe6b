"""Explanations as HTML."""

from __future__ import annotations

from html import escape

from fastrank.explaining.text import blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.explaining.explanation import Explanation


def fragment(explained: Explanation) -> str:
    """A `div` with a heading and a table for each measure, and a list of notes."""
    made = [f'<div class="fastrank-explanation"><h3>query {_text(explained.query)}</h3>']
    notes: list[str] = []
    for level, text, table in blocks(explained):
        if level == 3:
            notes.append(f"<li>{_text(text)}</li>")
            continue
        if notes:
            made.append(f"<ul>{''.join(notes)}</ul>")
            notes = []
        if table is not None:
            made.append(table.to_html())
        else:
            made.append(f"<h4>{_text(text)}</h4>" if level == 1 else f"<p>{_text(text)}</p>")
    if notes:
        made.append(f"<ul>{''.join(notes)}</ul>")
    return "\n".join([*made, "</div>"])


def _text(text: str) -> str:
    """Escaped, without characters that cannot be shown."""
    shown = "".join(own if own.isprintable() else repr(own)[1:-1] for own in text)
    return escape(shown)
