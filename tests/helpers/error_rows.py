"""Tables of calls that fail, as text: `CALL -> CLASS: a part of the message`.

    fuse([]) -> GroupError: runs: expected at least one run
    fuse({"a": RUN, "b": {}})
        -> GroupError: ^run 'b' has no queries$

An indented line goes on where the one before ended. "..." stands for any text.
"""

from __future__ import annotations

import builtins
import math
import re
from typing import Any

import numpy as np
import pytest

import fastrank as fr


def failing(table: str) -> pytest.MarkDecorator:
    """Give a test each `call` and its `error`."""
    rows = re.sub(r"\n +", " ", table.strip("\n")).split("\n")
    return pytest.mark.parametrize(("call", "error"), [row.split(" -> ") for row in rows], ids=rows)


def check_error(call: str, error: str, names: dict[str, Any]) -> None:
    """The call, with these names and fastrank's, raises just this class, with this message.

    "^" is the start of the message, and "$" its end.
    """
    known = {own: getattr(fr, own) for own in fr.__all__} | {"math": math, "np": np} | names
    name, _, message = error.partition(":")
    kind = getattr(builtins, name, None) or getattr(fr, name)
    pattern = ".*".join(map(re.escape, message.strip().split("...")))
    with pytest.raises(kind) as caught:
        eval(call, known)
    assert type(caught.value) is kind
    assert re.search(pattern, f"^{caught.value}$", re.DOTALL)
