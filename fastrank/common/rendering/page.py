"""Whole pages: one style sheet, one script, nothing from outside."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from fastrank.common.rendering.html import attribute, html, safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fastrank.common.rendering.document import Document

# `style` attributes are needed by plots; they can neither run nor load anything.
POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; style-src-attr"
    " 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)
ID = re.compile(r"[a-z][a-z0-9-]*")


def whole_page(
    title: str,
    parts: Iterable[Document | str],
    *,
    data: Mapping[str, object] | None = None,
    kind: str = "",
) -> str:
    """A page that works on its own, on light and dark screens, on phones and on paper.

    title: of the window and of the page. parts: documents, and elements that `html`
    made, with everything escaped. data: what the script reads, {id of the element: value that JSON
    can have, or text that is JSON already}. kind: the class of the body.

    A content security policy allows the style sheet and the script of this package, and no request.
    Bytes that are not UTF-8 in data stay what Python represents them by, a lone surrogate, escaped.
    """
    style, script = _resource("page.css"), _resource("page.js")
    policy = POLICY.format(script=_hash(script), style=_hash(style))
    body = [f"<h1>{safe(title)}</h1>"]
    body += [part if isinstance(part, str) else html(part) for part in parts]
    body += [embedded(name, value) for name, value in (data or {}).items()]
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{safe(title)}</title>\n<style>{style}</style></head>",
            f"<body{attribute('class', kind)}><main>",
            *body,
            f"</main>\n<script>{script}</script>\n</body></html>\n",
        ]
    )


def embedded(name: str, value: object) -> str:
    """An element with data for the script; text is taken as JSON already."""
    if not ID.fullmatch(name):
        raise ValueError(f"expected an id of letters, digits and hyphens, found {name!r}")
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # In a script element, only a less-than sign could end it; JSON has these only in strings.
    shown = value.replace("<", "\\u003c").replace("&", "\\u0026")
    shown = shown.encode("utf-8", "backslashreplace").decode()
    return f'<script type="application/json" id="{name}">{shown}</script>'


@cache
def _resource(name: str) -> str:
    return files("fastrank.common.rendering").joinpath(name).read_text("utf-8")


def _hash(content: str) -> str:
    """The source expression of a policy that allows an element with this content."""
    return f"sha256-{b64encode(sha256(content.encode()).digest()).decode()}"
