"""Tables of calls and what comes of them, as text that reads like a session of Python.

A row is `call => what it gives`, or `call => Error: its message`, in which ... is any text.
Indented lines continue it. A line `# text` says what the rows below it show, and is their id.
"""

from __future__ import annotations

import builtins
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fastrank as fr

Test = Callable[..., None]


def rows(table: str) -> list[Any]:
    """The rows of a table, to be parametrized: (call, what it gives)."""
    found: list[tuple[str, list[str]]] = []
    says = ""
    for line in filter(None, map(str.rstrip, table.splitlines())):
        if line.startswith("# "):
            says = line[2:]
        elif line.startswith(" "):
            found[-1][1].append(line.strip())
        else:
            found.append((says or line.partition(" =>")[0], [line]))
    pairs = [(says, " ".join(lines).partition(" => ")) for says, lines in found]
    return [pytest.param(left, right, id=says) for says, (left, _, right) in pairs]


def calls(table: str) -> pytest.MarkDecorator:
    """Give a test each `call` and what is `expected`."""
    return pytest.mark.parametrize(("call", "expected"), rows(table))


def giving(table: str) -> Test:
    """A test of the values of calls, which may use the names of its module."""

    @calls(table)
    def test(call: str, expected: str, request: pytest.FixtureRequest) -> None:
        check_value(call, expected, vars(request.module))

    return test


def refusing(table: str) -> Test:
    """A test of the errors of calls. What stands before the rows is the class of most of them."""
    usual, _, rest = table.partition("\n")

    @calls(rest)
    def test(call: str, expected: str, request: pytest.FixtureRequest) -> None:
        check_error(call, expected, vars(request.module), usual)

    return test


def _known(names: dict[str, Any]) -> dict[str, Any]:
    """What calls may use: these names, and those of fastrank."""
    known = {"approx": pytest.approx, "fr": fr, "math": math, "np": np}
    return known | {name: getattr(fr, name) for name in fr.__all__} | names


def check_value(call: str, expected: str, names: dict[str, Any]) -> None:
    """A call gives this value."""
    known = _known(names)
    assert eval(call, known) == eval(expected, known)


def check_error(call: str, expected: str, names: dict[str, Any], usual: str = "") -> None:
    """A call raises just this class of error, or the usual one, with this message."""
    with pytest.raises(Exception) as caught:  # noqa: PT011
        eval(call, _known(names))
    kind = expected.partition(":")[0]
    named = kind[:1].isupper() and any(hasattr(module, kind) for module in (builtins, fr.errors))
    found = f"{type(caught.value).__name__}: {caught.value}"
    assert matches(found, expected if named else f"{usual}: {expected}"), found


def matches(text: str, pattern: str) -> bool:
    """Whether a text is a pattern, in which ... is any text and a blank any white space."""
    expected = re.escape(" ".join(pattern.split())).replace(re.escape("..."), ".*")
    return re.fullmatch(expected, " ".join(text.split()), re.DOTALL) is not None


def named(table: str) -> list[tuple[str, str]]:
    """(name, what it means) of each name in lines such as "P@5: precision@5 p5"."""
    lines = [line.rpartition(": ") for line in table.strip().splitlines()]
    return [(name, meant) for meant, _, names in lines for name in names.split()]


def cases(table: str) -> list[tuple[str, ...]]:
    """The cases of a table: a line that is not indented begins one.

    Its fields are separated by ` => `, or begin in lines that are indented by two blanks. Lines
    indented by more go on with the field before. Lines that begin with # are comments.
    """
    found: list[list[str]] = []
    for line in table.splitlines():
        fields = line.strip().split(" => ")
        if fields == [""] or line.startswith("#"):
            continue
        if line.startswith("   "):
            found[-1][-1] += f" {fields.pop(0)}"
            found[-1] += fields
        elif line.startswith("  "):
            found[-1] += fields
        else:
            found.append(fields)
    return [tuple(case) for case in found]
