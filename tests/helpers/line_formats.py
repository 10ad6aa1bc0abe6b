"""The formats of lines: how each is read and written, what its lines mean, and random rows."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import strategies as st

from fastrank.core.formats.trec.reader import parse
from fastrank.core.scores.differences import read_zscores, write_zscores
from tests.helpers import strategies as make
from tests.helpers.parsing import (
    read_prefs,
    read_qrels_jg,
    read_qrels_prefs,
    read_trec_qrels,
    read_trec_run,
    write_prefs,
    write_trec_qrels,
    write_trec_run,
)
from tests.helpers.strategies import Layout


class Form(NamedTuple):
    """A format of lines.

    line: one of query q1. row: what it means. text: lines that are read. lines: what is written of
    these. layout: how a twin reads them.
    """

    read: Callable[..., Any]
    parse: Callable[..., Any]
    write: Callable[..., None]
    fields: str
    line: bytes
    row: tuple[Any, ...]
    text: bytes
    lines: bytes
    rows: st.SearchStrategy[Any]
    layout: Layout

    def expected(self) -> str:
        """How the reader describes the format."""
        count = len(self.fields.split())
        return f"{'at least ' if self is RUN else ''}{count} fields ({self.fields})"

    def of(self, query: bytes) -> bytes:
        """The line, for another query."""
        return self.line.replace(b"q1", query)

    def filled(self, text: bytes) -> bytes:
        """A text with lines: LINE for query q1, OTHER for q2 and HASH for #."""
        for word, query in ((b"LINE", b"q1"), (b"OTHER", b"q2"), (b"HASH", b"#")):
            text = text.replace(word, self.of(query))
        return text


def _parse(form: str) -> Callable[..., Any]:
    return lambda text, **options: parse(text, "<bytes>", form, **options)


RUN = Form(
    read_trec_run,
    _parse("trec_results"),
    write_trec_run,
    "query Q0 doc rank score tag",
    b"q1 Q0 d1 1 2.5 tag",
    (b"d1", 2.5),
    b"b x d1 9 2.50 old\na x d1 9 1e3 old\nb x d2 9 0x2 old\nb x d3 9 .0 new\n",
    b"b Q0 d1 1 2.5 new\nb Q0 d2 2 2.0 new\nb Q0 d3 3 0.0 new\na Q0 d1 1 1000.0 new\n",
    make.RUN_ROWS,
    make.RUN,
)
QRELS = Form(
    read_trec_qrels,
    _parse("qrels"),
    write_trec_qrels,
    "query iter doc grade",
    b"q1 0 d1 2",
    (b"0", b"d1", 2),
    b"b g1 d1 +2\na\t0\td1\t-1\r\nb g2 d1 9223372036854775807\n",
    b"b g1 d1 2\nb g2 d1 9223372036854775807\na 0 d1 -1\n",
    make.QRELS_ROWS,
    make.QRELS,
)
QRELS_JG = Form(
    read_qrels_jg,
    _parse("qrels_jg"),
    write_trec_qrels,
    "query group doc grade",
    b"q1 g d1 2",
    (b"g", b"d1", 2),
    b"q b d1 1\nq a d1 2\nr a d 1\nq b d2 -3\n",
    b"q b d1 1\nq a d1 2\nq b d2 -3\nr a d 1\n",
    make.QRELS_JG_ROWS.map(lambda rows: [*{row[:3]: row for row in rows}.values()]),
    make.QRELS,
)
PREFS = Form(
    read_prefs,
    _parse("prefs"),
    write_prefs,
    "query group subgroup doc level",
    b"q1 g s d1 2.5",
    (b"g", b"s", b"d1", 2.5),
    b"b g s d1 2\na g s d1 .5\nb h t d2 -1\n",
    b"b g s d1 2.0\nb h t d2 -1.0\na g s d1 0.5\n",
    make.PREFS_ROWS,
    make.PREFS,
)
QRELS_PREFS = Form(
    read_qrels_prefs,
    _parse("qrels_prefs"),
    write_prefs,
    "query group doc level",
    b"q1 g d1 2.5",
    (b"g", b"", b"d1", 2.5),
    b"b g d1 2\na g d1 .5\n",
    b"b g d1 2.0\na g d1 0.5\n",
    make.QRELS_PREFS_ROWS,
    make.QRELS_PREFS,
)
ZSCORES = Form(
    read_zscores,
    lambda text, **_: read_zscores(io.BytesIO(text)),
    write_zscores,
    "query measure mean stddev",
    b"q1 map 0.5 0.25",
    (b"map", 0.5, 0.25),
    b"q map 1e-9 inf\nq P_5 .5 0\n",
    b"q P_5 0.5 0.0\nq map 1e-09 inf\n",
    make.ZSCORES_ROWS,
    make.ZSCORES,
)
JUDGMENTS = (QRELS, QRELS_JG, PREFS, QRELS_PREFS)
OF_TREC = (RUN, *JUDGMENTS)
ALL = (*OF_TREC, ZSCORES)


def of_formats(*forms: Form) -> pytest.MarkDecorator:
    """Give a test each `form`."""
    return pytest.mark.parametrize("form", forms, ids=lambda form: form.fields)


in_every_format = of_formats(*ALL)
