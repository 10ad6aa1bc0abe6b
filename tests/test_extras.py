"""Libraries that need not be installed: whoever lacks one is told which extra has it."""

from __future__ import annotations

import io
import re
import runpy
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.cli.completion import completions
from fastrank.core.results.images import check_format
from fastrank.datasets import has_answer
from fastrank.searching import build_index, search
from tests.helpers.paths import PACKAGE, REPOSITORY

SCORES = fr.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "map")
RUN = fr.Run.from_dict({"q": {"d": 1.0}})


def _classify() -> None:
    labels = np.arange(1000) % 2
    fr.tasks.evaluate_classification(labels[:, None] * 1.0, labels)


def _run_ir_measures() -> None:
    runpy.run_path(str(PACKAGE / "compat/ir_measures.py"))


USES: list[tuple[str, str, str, Callable[[], Any]]] = [
    ("pandas", "to_pandas", "pandas", SCORES.to_pandas),
    ("pandas", "to_pandas", "pandas", fr.table(SCORES).to_pandas),
    ("pandas", "to_pandas", "pandas", RUN.to_pandas),
    ("polars", "to_polars", "polars", SCORES.to_polars),
    ("polars", "to_polars", "polars", fr.table(SCORES).to_polars),
    ("polars", "to_polars", "polars", RUN.to_polars),
    ("pyarrow", "to_arrow", "pyarrow", RUN.to_arrow),
    ("threadpoolctl", "evaluate_classification", "tasks", _classify),
    ("sklearn.model_selection", "evaluate_classification", "tasks", _classify),
    ("ir_measures", "fastrank.compat.ir_measures", "ir_measures", _run_ir_measures),
    ("fsspec", "s3://b/x.run", "remote", lambda: fr.read_run("s3://key:secret@b/x.run")),
    ("matplotlib.figure", "a plot", "plot", lambda: check_format(io.BytesIO(), "png")),
    ("faiss", "search", "embeddings", lambda: search([[1.0]], [[1.0]], 1)),
    ("faiss", "search", "embeddings", lambda: build_index([[1.0]])),
    ("shtab", "fastrank completion", "completion", lambda: completions("bash", "trec_eval")),
    ("regex", "match='regex'", "regex", lambda: has_answer([], "", match="regex")),
]


@pytest.mark.parametrize(("module", "user", "extra", "use"), USES)
def test_a_missing_library_is_named_with_its_extra(module, user, extra, use, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(ImportError) as caught:
        use()

    library = module.partition(".")[0]
    assert str(caught.value) == f"{user} needs {library}: pip install 'fastrank-eval[{extra}]'"


def test_extras_that_are_named_exist():
    """In errors, help and documentation."""
    tomllib = pytest.importorskip("tomllib", reason="from Python 3.11 on")
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    paths = [REPOSITORY / "README.md", *REPOSITORY.glob("docs/**/*.md")]
    paths += [*PACKAGE.glob("**/*.py"), *REPOSITORY.glob("docs/examples/*.py")]

    named = {
        extra
        for path in paths
        for extra in re.findall(r"fastrank-eval\[(\w+)\]|extra `(\w+)`", path.read_text("utf-8"))
    }

    extras = {one or other for one, other in named}
    assert {"plot", "pyarrow", "zstd", "examples"} <= extras
    extras |= {extra for _, _, extra, _ in USES}
    assert extras <= set(project["optional-dependencies"])
