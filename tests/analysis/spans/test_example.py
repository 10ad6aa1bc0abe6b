"""The five chunkings of the example, and the page that shows them."""

import runpy
import sys

import pytest

from tests.helpers.paths import REPOSITORY, SHARED

DATA = SHARED / "data/spans"


@pytest.mark.docs
@pytest.mark.skipif(not DATA.exists(), reason="needs ../shared")
def test_the_page_shows_what_the_example_prints(monkeypatch, capsys):
    pytest.importorskip("sklearn")
    program = str(REPOSITORY / "docs/examples/chunkings.py")
    monkeypatch.setattr(sys, "argv", [program, str(DATA / "questions.csv"), str(DATA)])

    runpy.run_path(program, run_name="__main__")

    printed = capsys.readouterr()
    assert printed.err == ""
    page = (REPOSITORY / "docs/spans.md").read_text("utf-8")
    assert f"questions_df.csv corpora\n{printed.out}```" in page
