"""What is not imported on the way to an answer."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fastrank.native import engine
from tests.helpers.paths import REPOSITORY


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
        capture_output=True, text=True, check=True, cwd=REPOSITORY,
    )  # fmt: skip

    assert found.stdout.splitlines()[-1] == "loaded:"
