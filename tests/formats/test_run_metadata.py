"""The ir_metadata header of run files."""

from __future__ import annotations

import gzip
import io

import pytest

import fastrank as fr

LINE = "q Q0 d 1 1 t\n"


def _found(text: str) -> str | None:
    return fr.run_metadata(io.BytesIO(text.encode()))


def test_the_lines_between_the_markers_lose_their_number_signs() -> None:
    header = "# a comment\n# ir_metadata.start\n# a:\n#   b: 1\n#\n#c: 2\n# ir_metadata.end\n"

    assert _found(header + LINE) == "a:\n  b: 1\n\nc: 2\n"


@pytest.mark.parametrize(
    "text",
    [
        LINE,
        "# another comment\n" + LINE,
        "# ir_metadata.start\n# never: ended\n" + LINE,
        LINE + "# ir_metadata.start\n# too: late\n# ir_metadata.end\n",
        "# ir_metadata.start\n" + LINE + "# ir_metadata.end\n",
    ],
)
def test_a_file_that_does_not_begin_with_a_whole_header_has_none(text: str) -> None:
    assert _found(text) is None


def test_a_header_may_be_longer_than_what_is_read_at_once() -> None:
    lines = "".join(f"# key{place}: value\n" for place in range(20_000))

    found = _found(f"# ir_metadata.start\n{lines}# ir_metadata.end\n{LINE}")
    assert found == lines.replace("# ", "")


def test_compressed_files_and_line_ends_of_windows_are_read() -> None:
    text = "# ir_metadata.start\r\n# a: 1\r\n# ir_metadata.end\r\n" + LINE

    assert fr.run_metadata(io.BytesIO(gzip.compress(text.encode()))) == "a: 1\n"
