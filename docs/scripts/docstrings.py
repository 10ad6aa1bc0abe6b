"""A griffe extension that converts plain-text docstrings to Markdown.

Lines that begin with `name:` describe a parameter or field and become list items, and examples
become fenced code. A function with `**options` gets the signature and docstring that it has at run
time.
"""

from __future__ import annotations

import re
from functools import reduce
from importlib import import_module
from inspect import Parameter as RealParameter
from inspect import getdoc, signature
from pathlib import Path
from typing import Any

from griffe import (
    Attribute,
    Docstring,
    Extension,
    Function,
    Object,
    Parameter,
    ParameterKind,
    Parameters,
)

import fastrank

FIELD = re.compile(r"((?:\w+, )*\w+): +(?=\S)")
# A public name in backticks that is not an ordinary word, which could be a parameter.
NAME = re.compile(r"`(?=\w*[A-Z_])(\w+)`")
# A page, which is named by its path where nothing can be a link.
PAGE = re.compile(r"\bdocs/([\w-]+\.md)\b")
DOCS = Path(__file__).parents[1]
# The public names, each with the module that has it.
PUBLIC = {name: module.__name__ for module in (fastrank.types, fastrank) for name in module.__all__}
del PUBLIC["MEASURES"]
CONSTANT = re.compile("[A-Z_]{2,}")
DIRECTIVE = re.compile(r" *# doctest:.*")


class DocstringsAsMarkdown(Extension):
    """Converts each docstring after its object is loaded."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Called by griffe for every module, class, function and attribute."""
        if isinstance(obj, Attribute) and str(obj.value).startswith("namedtuple("):
            # Its docstring is assigned at run time, so it cannot be read from the source.
            obj.docstring = Docstring(getdoc(_real(obj)) or "", parent=obj)
        if isinstance(obj, Function):
            _show_constants(obj)
        if isinstance(obj, Function) and _takes_options(obj):
            obj.parameters = _with_options(obj)
        if obj.docstring and "**options:" in obj.docstring.value:
            obj.docstring = Docstring(getdoc(_real(obj)) or "", parent=obj)
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)


def _real(obj: Object) -> Any:
    """The Python object that a griffe object describes."""
    names = obj.path.removeprefix(f"{obj.module.path}.").split(".")
    return reduce(getattr, names, import_module(obj.module.path))


def _show_constants(function: Function) -> None:
    """Defaults that are constants of a module are shown by their values."""
    for parameter in function.parameters:
        if CONSTANT.fullmatch(str(parameter.default)):
            value = signature(_real(function)).parameters[parameter.name].default
            if isinstance(value, (str, int, float)):
                parameter.default = repr(value)


def _takes_options(function: Function) -> bool:
    return any(map(_lists_options, function.parameters))


def _lists_options(parameter: Parameter) -> bool:
    return str(parameter.annotation).startswith("Unpack[")


def _with_options(function: Function) -> Parameters:
    """The parameters of a function, with one parameter per option instead of `**options`."""
    (listed,) = (each.annotation for each in function.parameters if _lists_options(each))
    options = function.modules_collection[listed.slice.canonical_path].all_members
    read = [each for each in function.parameters if each.kind is not ParameterKind.var_keyword]
    known = {each.name for each in read}
    shared = [
        Parameter(
            name,
            kind=ParameterKind.keyword_only,
            # An expression, whose names become links; at run time, it is a string.
            annotation=options[name].annotation,
            default=None if each.default is RealParameter.empty else repr(each.default),
        )
        for name, each in signature(_real(function)).parameters.items()
        if name not in known and each.kind is not RealParameter.VAR_KEYWORD
    ]
    return Parameters(*read, *shared)


def as_markdown(text: str) -> str:
    """A docstring with fields as a list and examples as code."""
    made: list[str] = []
    kind, previous = "text", ""
    for line in text.splitlines():
        before, kind = kind, _kind(line, kind, previous)
        previous = line
        if kind != before:
            made += {"example": ["```"], "text": []}.get(before, [])
            made += {"example": ["", "```pycon"], "field": [""]}.get(kind, [""])
        if kind == "example":
            made.append(DIRECTIVE.sub("", line))
        else:
            line = PAGE.sub(_page, NAME.sub(_linked, line))
            made.append(FIELD.sub(_item, line, count=1) if FIELD.match(line) else line)
    return "\n".join([*made, "```"] if kind == "example" else made)


def _kind(line: str, before: str, previous: str) -> str:
    """What a line belongs to: an example, a field, or other text.

    A field goes on below: in indented lines, and where the previous line ends within a sentence.
    """
    if line.startswith(">>>"):
        return "example"
    if before == "example":
        return "example" if line.strip() else "text"
    if FIELD.match(line):
        return "field"
    goes_on = line[:1] in (" ", "") or previous.strip()[-1:] not in ("", ".", ":", "?")
    return "field" if before == "field" and goes_on else "text"


def _linked(found: re.Match[str]) -> str:
    return f"[{found[0]}][{PUBLIC[found[1]]}.{found[1]}]" if found[1] in PUBLIC else found[0]


def _page(found: re.Match[str]) -> str:
    """A link to a page by its title, from a page in docs/api."""
    (title,) = re.findall("^# (.*)$", (DOCS / found[1]).read_text("utf-8"), re.M)[:1]
    return f"[{title}](../{found[1]})"


def _item(found: re.Match[str]) -> str:
    names = ", ".join(f"`{name}`" for name in found[1].split(", "))
    return f"- {names}: "
