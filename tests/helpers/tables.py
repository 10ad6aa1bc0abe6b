"""Tables of calls and what comes of them, as text that reads like a session of Python.

A row is `expression => what it gives`; indented lines continue it. A line `# text` above rows says
what they show, and is the id of their tests.
"""

from __future__ import annotations

from typing import Any

import pytest


def rows(table: str) -> list[Any]:
    """The rows of a table, to be parametrized: (expression, what it gives)."""
    found: list[tuple[str, list[str]]] = []
    says = ""
    for line in filter(None, map(str.rstrip, table.splitlines())):
        if line.startswith("# "):
            says = line[2:]
        elif line.startswith(" "):
            found[-1][1].append(line.strip())
        else:
            found.append((says or line.partition(" => ")[0], [line]))
    pairs = [(says, " ".join(lines).partition(" => ")) for says, lines in found]
    return [pytest.param(left, right, id=says) for says, (left, _, right) in pairs]


def holding(table: str) -> pytest.MarkDecorator:
    """Give a test each `call` and what is `expected`."""
    return pytest.mark.parametrize(("call", "expected"), rows(table))


def refusing(table: str) -> pytest.MarkDecorator:
    """Give a test each `call` and its `error`."""
    return pytest.mark.parametrize(("call", "error"), rows(table))


def named(table: str) -> list[tuple[str, str]]:
    """(name, what it means) of each name in lines such as "P@5: precision@5 p5"."""
    lines = [line.rpartition(": ") for line in table.strip().splitlines()]
    return [(name, meant) for meant, _, names in lines for name in names.split()]


def holds(expression: str, expected: str, names: dict[str, Any]) -> bool:
    """Whether two expressions have equal values; names are those of the test's module."""
    found, wanted = (eval(text, names) for text in (expression, expected))
    assert found == wanted
    return True


def refusal(expression: str, names: dict[str, Any], usual: str = "") -> str:
    """The error that an expression raises, as Python prints it, on one line.

    The name of its type is left out if it is the usual one.
    """
    with pytest.raises(Exception) as caught:  # noqa: PT011
        eval(expression, names)
    kind = type(caught.value).__name__
    text = str(caught.value) if kind == usual else f"{kind}: {caught.value}"
    return " ".join(text.split())


def refused(expression: str, error: str, names: dict[str, Any], usual: str = "") -> bool:
    """Whether an expression raises this error; `[...]` at its end stands for any more words."""
    found = refusal(expression, names, usual)
    start, more, _ = error.partition(" [...]")
    assert (found[: len(start)] if more else found) == start
    return True


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
