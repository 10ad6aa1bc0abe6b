"""An extension of griffe: the docstrings' plain text as Markdown.

In the docstrings a line that begins with `name:` describes a parameter or field, and examples
stand as they are. Lists and fenced code come of them.
"""

from __future__ import annotations

import re
from importlib import import_module
from inspect import getdoc
from typing import Any

from griffe import Attribute, Docstring, Extension, Object

FIELD = re.compile(r"((?:\w+, )*\w+): +(?=\S)")
DIRECTIVE = re.compile(r" *# doctest:.*")


class DocstringsAsMarkdown(Extension):
    """Rewrites each docstring when its object has been read."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Called by griffe for every module, class, function and attribute."""
        if isinstance(obj, Attribute) and str(obj.value).startswith("namedtuple("):
            # Its docstring is assigned, and so cannot be read from the source.
            named = getattr(import_module(obj.module.path), obj.name)
            obj.docstring = Docstring(getdoc(named) or "", parent=obj)
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """A docstring with fields as a list and examples as code."""
    made: list[str] = []
    kind = "text"
    for line in text.splitlines():
        before, kind = kind, _kind(line, kind)
        if kind != before:
            made += {"example": ["```"], "text": []}.get(before, [])
            made += {"example": ["", "```pycon"], "field": [""]}.get(kind, [""])
        if kind == "example":
            made.append(DIRECTIVE.sub("", line))
        else:
            made.append(FIELD.sub(_item, line, count=1) if FIELD.match(line) else line)
    return "\n".join([*made, "```"] if kind == "example" else made)


def _kind(line: str, before: str) -> str:
    """What a line belongs to: an example, a field, or other text."""
    if line.startswith(">>>"):
        return "example"
    if before == "example":
        return "example" if line.strip() else "text"
    if FIELD.match(line):
        return "field"
    return "field" if before == "field" and (line[:1] == " " or not line.strip()) else "text"


def _item(found: re.Match[str]) -> str:
    names = ", ".join(f"`{name}`" for name in found[1].split(", "))
    return f"- {names}: "
