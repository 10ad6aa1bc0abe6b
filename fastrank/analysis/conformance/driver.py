"""A program that answers the cases with a Python function, which may crash, hang or print."""

from __future__ import annotations

import json
import os
import sys
from functools import reduce
from importlib import import_module
from typing import Any


def main(name: str) -> None:
    """Call `module:function` with each case on standard input, and print the answers."""
    answers = os.fdopen(os.dup(1), "w")
    # Output of the function is no answer.
    os.dup2(2, 1)
    # Modules of the working folder are found, and none beside this one.
    folder = os.path.dirname(__file__)
    sys.path[:] = [os.getcwd(), *(path for path in sys.path if path != folder)]
    module, _, path = name.partition(":")
    function: Any = reduce(getattr, path.split("."), import_module(module))
    for line in sys.stdin:
        question = json.loads(line)
        answer = {"case": question["case"]}
        try:
            answer["value"] = _plain(function(question))
        except (Exception, SystemExit) as error:
            answer["error"] = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), file=answers, flush=True)


def _plain(value: Any) -> float | str | None:
    """A value as JSON can tell it: numbers, also those of numpy and such, as floats."""
    if value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return repr(value)


if __name__ == "__main__":
    main(sys.argv[1])
