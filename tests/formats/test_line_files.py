"""Files of clusters."""

from __future__ import annotations

import io

import pytest

from fastrank.errors import FormatError
from fastrank.formats.line_files import read_clusters


def test_a_line_has_a_query_and_its_cluster() -> None:
    assert read_clusters(io.BytesIO(b"q1 a\n\nq2\tb\r\nq1 a\nq3 a")) == {
        "q1": "a", "q2": "b", "q3": "a",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b"q1 a\nq2\n", 2, "expected 2 fields (query cluster), found 1"),
        (b"q1,a\n", 1, "expected 2 fields (query cluster), found 1"),
        (b"q1 a b\n", 1, "expected 2 fields (query cluster), found 3"),
        (b"q1 a\nq2 a\nq1 b\n", 3, "query 'q1' is already in cluster 'a'"),
    ],
)
def test_errors_name_the_line(content: bytes, line: int, reason: str) -> None:
    with pytest.raises(FormatError) as raised:
        read_clusters(io.BytesIO(content))

    assert (raised.value.line, raised.value.reason) == (line, reason)
