"""What packages offer, and what is not imported on the way to an answer."""

import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules

import pytest

import fastrank
from fastrank.core.native import engine
from tests.helpers.paths import DATA, PACKAGE


@pytest.mark.parametrize(
    "statement",
    [
        "import fastrank",
        "from fastrank.cli.trec_eval import main;"
        f" main(['-q', '-m', 'all_trec', *{[str(DATA / 'digits.qrels'), str(DATA / 'pca.run')]}])",
    ],
)
@pytest.mark.skipif(not engine().startswith("precompiled"), reason="the other engines need more")
def test_no_heavy_library_is_loaded(statement):
    """Neither numpy nor numba nor anything as slow, on the way from arguments to output."""
    heavy = {"numpy", "numba", "llvmlite", "faiss", "argparse", "re", "typing", "dataclasses"}
    heavy |= {"collections", "contextlib", "functools"}
    loaded = f"sorted({heavy!r} & set(sys.modules))"
    code = f"{statement}\nimport sys; print(' '.join(['loaded:', *{loaded}]))"

    # -S: what the environment's own site packages import at start is not ours.
    found = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=PACKAGE.parent,
    )

    assert found.stdout.splitlines()[-1] == "loaded:"


PACKAGES = [f"fastrank.{module.name}" for module in iter_modules(fastrank.__path__) if module.ispkg]


@pytest.mark.parametrize("package", ["fastrank", *PACKAGES])
def test_every_public_name_exists(package):
    module = import_module(package)
    for name in getattr(module, "__all__", ()):
        getattr(module, name)
