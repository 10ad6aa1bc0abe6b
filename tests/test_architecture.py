"""Imports go one way: a module imports only from modules that stand before it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import fastrank

PACKAGE = Path(fastrank.__file__).parent
# From left to right, as data flows; a room may import from those before it.
ROOMS = [
    "errors", "numbers", "files", "columns", "native", "kernels", "trec", "judge", "measures",
    "selection", "zscores", "scores", "plan", "evaluation", "report", "cli",
]  # fmt: skip
MODULES = sorted(
    path for path in PACKAGE.rglob("*.py") if path.name not in ("__init__.py", "__main__.py")
)


def _runs_for_types_only(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _imports(path: Path) -> set[str]:
    """The rooms that a module imports from when it runs."""
    tree = ast.parse(path.read_text())
    tree.body = [node for node in tree.body if not _runs_for_types_only(node)]
    names = [
        node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and not node.level
    ]
    found = {name.split(".")[1] for name in names if name.startswith("fastrank.")}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "fastrank":
            found |= {alias.name for alias in node.names}
    return found & set(ROOMS)


def _room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_only_from_rooms_before_it(path: Path) -> None:
    """No arrow to the right; kernels declare themselves to native, native reads only places."""
    own = ROOMS.index(_room(path))
    to_the_right = {room for room in _imports(path) if ROOMS.index(room) > own}

    # The build and the JIT fallback import the kernels to compile them.
    if path.parent.name == "native" and path.stem in ("build", "jit", "entries"):
        to_the_right -= {"kernels"}
    assert to_the_right == set()


@pytest.mark.parametrize("statement", ["import fastrank", "import fastrank.cli.trec_eval"])
def test_importing_loads_no_heavy_library(statement: str) -> None:
    """Neither numpy nor numba nor anything as slow, with the compiled library."""
    heavy = {"numpy", "numba", "llvmlite", "faiss", "argparse", "re", "typing", "dataclasses"}
    code = f"{statement}\nimport sys; print(*sorted({heavy!r} & set(sys.modules)))"

    # -S: what the environment's own site packages import at start is not ours.
    found = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert found.stdout.strip() == ""
