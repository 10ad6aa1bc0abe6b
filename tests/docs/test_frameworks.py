"""Metrics inside retrieval frameworks: the page's programs, where these large libraries are not."""

import re

from tests.helpers.code_blocks import REPOSITORY, blocks_of


def test_each_program_has_the_function_that_the_session_calls_with_plain_lists():
    blocks = blocks_of(REPOSITORY / "docs" / "frameworks.md")
    (session,) = (block.text for block in blocks if ">>> def value(" in block.text)
    lines = re.findall(r"^(?:>>>|\.\.\.) (def value.*|    .*)$", session, re.MULTILINE)
    programs = {block.text for block in blocks if block.kind == "python"}

    assert {program.split()[1].split(".")[0] for program in programs} == {
        "llama_index",
        "ragas",
        "mlflow",
    }
    assert len(lines) == 4
    assert all("\n".join(lines) in program for program in programs)
