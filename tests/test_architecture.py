"""Imports go one way: a module imports only from modules that stand before it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import fastrank
from fastrank.native import engine

PACKAGE = Path(fastrank.__file__).parent
# From left to right, as data flows; a room may import from those before it.
ROOMS = [
    "errors", "levels", "numbers", "compression", "pieces", "files", "columns", "scale", "native",
    "kernels", "grouping", "parts", "feeding", "packed", "options", "rankings", "trec",
    "convert", "exclusions", "filters", "nested", "judge", "annotated",
    "variants", "ties", "collect", "stream", "objects", "dict_ranks", "dicts", "participation",
    "measures", "families", "beyond", "binding", "own", "closest", "notation", "selection",
    "gains", "zscores", "coverage", "scores", "plan", "averages", "summaries", "scoring",
    "reading", "evaluation", "asked", "array_input", "array_qrels", "array_judge", "array_texts",
    "arrays", "labels", "tie_ranges", "report", "records", "frames", "layouts", "tables", "groups",
    "search", "embedding_judge", "embeddings", "approximation", "embedding_rows", "datasets",
    "encoders", "embedding_cache", "models", "mining", "likelihood", "candidates", "checking",
    "compat", "cli",
]  # fmt: skip
# What a noun can be turned into are methods of it, and each opens the room that does it.
DOORS = {
    "columns": {"convert"},
    "scores": {"report", "records", "frames", "tables", "groups"},
}
MODULES = sorted(set(PACKAGE.rglob("*.py")) - {PACKAGE / "__init__.py", PACKAGE / "__main__.py"})


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
    """No arrow to the right; of native, only what compiles the kernels imports them.

    Constructors are doors: `Qrels.from_dict` and its like, and `to_dict` back, stand where a reader
    looks for them, in columns, and each only calls the room that does it.
    """
    own = ROOMS.index(_room(path))
    to_the_right = {room for room in _imports(path) if ROOMS.index(room) > own}

    # The build and the JIT fallback import the kernels to compile them.
    if path.parent.name == "native" and path.stem in ("build", "jit", "entries"):
        to_the_right -= {"kernels"}
    assert to_the_right - DOORS.get(path.stem, set()) == set()


@pytest.mark.parametrize(
    "statement",
    [
        "import fastrank",
        "from fastrank.cli.trec_eval import main;"
        " main(['-q', '-m', 'all_trec', 'data/digits.qrels', 'data/pca.run'])",
    ],
)
@pytest.mark.skipif(not engine().startswith("library"), reason="the other engines need numba")
def test_no_heavy_library_is_loaded(statement: str) -> None:
    """Neither numpy nor numba nor anything as slow, on the way from arguments to output."""
    heavy = {"numpy", "numba", "llvmlite", "faiss", "argparse", "re", "typing", "dataclasses"}
    loaded = f"sorted({heavy!r} & set(sys.modules))"
    code = f"{statement}\nimport sys; print(' '.join(['loaded:', *{loaded}]))"

    # -S: what the environment's own site packages import at start is not ours.
    found = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True, text=True, check=True, cwd=PACKAGE.parent,
    )  # fmt: skip

    assert found.stdout.splitlines()[-1] == "loaded:"
