"""Small parts of an HTML page."""

from __future__ import annotations

from html import escape

from fastrank.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def text(content: str) -> str:
    """Text for elements and attributes."""
    return escape(visible(content))


def name(content: str) -> str:
    """A name or an id, in whatever script, without effect on the direction of its neighbours."""
    return f"<bdi>{text(content)}</bdi>"


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int = 0, caption: str = ""
) -> str:
    """A table of HTML cells; the first cell of a row is its name.

    numbers: how many columns at the end have numbers.
    """
    if numbers == len(header) - 1:
        # Saves a class in each cell of long tables.
        numbers, whole = 0, ' class="numbers"'
    else:
        whole = ""
    first = len(header) - numbers
    kinds = ["id" if i == 0 else "number" if i >= first else "" for i in range(len(header))]
    attributes = [f' class="{kind}"' if kind else "" for kind in kinds]
    head = "".join(
        f'<th scope="col"{own}>{cell}</th>' for own, cell in zip(attributes, header, strict=True)
    )
    body = "\n".join(
        f'<tr><th scope="row" class="id">{row[0]}</th>'
        + "".join(
            f"<td{own}>{cell}</td>" for own, cell in zip(attributes[1:], row[1:], strict=True)
        )
        + "</tr>"
        for row in rows
    )
    above = f"<caption>{caption}</caption>" if caption else ""
    return (
        f'<div class="wide"><table{whole}>{above}<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )
