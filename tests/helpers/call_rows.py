"""Tables of calls as text: `CALL -> VALUE`, or `CALL -> CLASS: a part of the message`.

    fuse([]) -> GroupError: runs: expected at least one run
    fuse({"a": RUN, "b": {}})
        -> GroupError: ^run 'b' has no queries$
    fuse([RUN, RUN]).tag -> "rrf"

An indented line goes on where the one before ended. "..." stands for any text of a message.
"""

from __future__ import annotations

import builtins
import math
import re
from typing import Any

import numpy as np
import pytest

import fastrank as fr


def _rows(table: str) -> list[str]:
    return re.sub(r"\n +", " ", table.strip("\n")).split("\n")


def _named(names: dict[str, Any]) -> dict[str, Any]:
    """What calls may use: these names, and those of fastrank."""
    known = {"approx": pytest.approx, "fr": fr, "math": math, "np": np}
    return known | {own: getattr(fr, own) for own in fr.__all__} | names


def failing(table: str) -> pytest.MarkDecorator:
    """Give a test each `call` and its `error`."""
    rows = _rows(table)
    return pytest.mark.parametrize(("call", "error"), [row.split(" -> ") for row in rows], ids=rows)


def giving(table: str) -> pytest.MarkDecorator:
    """Give a test each `call` and its `value`."""
    rows = _rows(table)
    return pytest.mark.parametrize(("call", "value"), [row.split(" -> ") for row in rows], ids=rows)


def check_error(call: str, error: str, names: dict[str, Any]) -> None:
    """The call raises an error of just this class, with this message.

    "^" is the start of the message, and "$" its end.
    """
    name, _, message = error.partition(":")
    kind = getattr(builtins, name, None) or getattr(fr.errors, name)
    pattern = ".*".join(map(re.escape, message.strip().split("...")))
    with pytest.raises(kind) as caught:
        eval(call, _named(names))
    assert type(caught.value) is kind
    assert re.search(pattern, f"^{caught.value}$", re.DOTALL)


def check_value(call: str, value: str, names: dict[str, Any]) -> None:
    """The call gives this value."""
    known = _named(names)
    assert eval(call, known) == eval(value, known)
