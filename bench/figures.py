"""How much there is to read, and how much a call does: lines, files, modules, and Python calls."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import fastrank
from bench.errors import NotFoundError

PACKAGE = Path(fastrank.__file__).parent
# What carries a run to its number; the modules at the top belong to it.
CORE = (
    "data",
    "evaluation",
    "formats",
    "judging",
    "kernels",
    "measures",
    "native",
    "scores",
)
# Calls until what is made once is made.
WARM = 100
COMMAND = ["-m", "map", "data/digits.qrels", "data/pixels.run"]
COUNT_MODULES = """
import sys
from fastrank.cli.trec_eval import main
main()
print(sum(name.split(".")[0] == "fastrank" for name in sys.modules), file=sys.stderr)
"""


def text() -> str:
    """A line for each figure. Raises NotFoundError outside of a checkout."""
    if not Path(COMMAND[-1]).exists():
        raise NotFoundError(f"no file {COMMAND[-1]}: run this in the root of the repository")
    files = sorted(PACKAGE.rglob("*.py"))
    core = [file for file in files if file.relative_to(PACKAGE).parts[0] in CORE]
    core += PACKAGE.glob("*.py")
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 2.0, "c": 0.5}}
    return "\n".join(
        [
            f"{_lines(core):>6,} lines in {len(core)} files of the core",
            f"{_lines(files):>6,} lines in {len(files)} files of fastrank",
            f"{_modules():>6} modules of fastrank imported by trec_eval -m map",
            f"{_calls(_evaluate_file):>6} Python calls for evaluate(file, file, 'map'), warm",
            f"{_calls(lambda: fastrank.evaluate(qrels, run, 'map')):>6} Python calls for"
            " evaluate(dict, dict, 'map'), warm",
        ]
    )


def _lines(files: list[Path]) -> int:
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def _modules() -> int:
    code = [sys.executable, "-c", COUNT_MODULES, *COMMAND]
    return int(subprocess.run(code, capture_output=True, text=True, check=True).stderr)


def _evaluate_file() -> Any:
    return fastrank.evaluate(*COMMAND[2:], "map")


def _calls(function: Callable[[], Any]) -> int:
    """Calls of our Python functions, when the function has been called often before."""
    for _ in range(WARM):
        function()
    count, own = 0, str(PACKAGE)

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_code.co_filename.startswith(own)

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count
