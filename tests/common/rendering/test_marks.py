"""What a stream and a syntax make of marks and paragraphs."""

from __future__ import annotations

import io

import pytest

from fastrank.common.rendering.document import Document, Paragraph
from fastrank.common.rendering.latex import latex
from fastrank.common.rendering.text import encodes_marks


@pytest.mark.parametrize(
    ("encoding", "encodes"), [("utf-8", True), ("ascii", False), ("latin-1", False)]
)
def test_superscripts_are_written_where_the_encoding_has_them(encoding: str, encodes: bool) -> None:
    assert encodes_marks(io.TextIOWrapper(io.BytesIO(), encoding=encoding)) is encodes


def test_a_stream_without_encoding_has_all_marks() -> None:
    assert encodes_marks(io.StringIO())


def test_legends_are_smaller_than_paragraphs_in_latex() -> None:
    small, usual = latex(Document([Paragraph("a", "legend"), Paragraph("b")])).split("\n\n")

    assert r"\footnotesize" in small
    assert r"\footnotesize" not in usual
