"""The five chunkings of the example, and the page that shows them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.helpers.paths import REPOSITORY, SHARED

DATA = SHARED / "data/spans"


@pytest.mark.docs
@pytest.mark.skipif(not DATA.exists(), reason="needs ../shared")
def test_the_page_shows_what_the_example_prints() -> None:
    pytest.importorskip("sklearn")
    program = REPOSITORY / "docs/examples/chunkings.py"
    command = [sys.executable, "-W", "error", program, DATA / "questions.csv", DATA]

    found = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)

    assert (found.returncode, found.stderr) == (0, "")
    page = (REPOSITORY / "docs/spans.md").read_text("utf-8")
    assert f"questions_df.csv corpora\n{found.stdout}```" in page
