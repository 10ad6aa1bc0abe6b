"""The writers by the names of their formats."""

from __future__ import annotations

from fastrank.common.rendering.html import html
from fastrank.common.rendering.latex import latex
from fastrank.common.rendering.markdown import markdown
from fastrank.common.rendering.text import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.common.rendering.document import Document


def written(document: Document, form: str, *, ascii: bool = False, page: str | None = None) -> str:
    """A document as "table", "markdown", "latex" or "html".

    ascii: whether a table has marks in ASCII. page: the title of a whole page, for HTML.
    """
    if form == "table":
        return text(document, ascii=ascii)
    if form == "html":
        return html(document, page=page)
    return latex(document) if form == "latex" else markdown(document)
