"""The judgments of NIST's sample_eval: a stratified sample of a pool.

Lines are `query iter doc stratum grade`. A document with a negative grade is in the pool, but was
not sampled. Blank lines are ignored.
"""

from __future__ import annotations

from array import array

from fastrank.data.texts import decoded
from fastrank.errors import FormatError, InputError
from fastrank.formats.source import BYTE_ORDER_MARK
from fastrank.formats.tables import CellsTable
from fastrank.formats.trec import malformed
from fastrank.formats.trec_writers import by_query, check_fields, qrels_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastrank.data.qrels import Qrels

FIELDS = ("query", "iteration", "doc", "stratum", "grade")
LINE = "5 fields (query iter doc stratum grade)"


def read_sample(content: bytes, name: str, kind: str) -> CellsTable:
    """The table of a file; kind: qrels or run. Raises FormatError, and InputError for a run."""
    if kind != "qrels":
        raise InputError(name, "the format sample has judgments, expected a run")
    rows: list[list[str]] = []
    lines = array("q")
    for number, line in enumerate(content.removeprefix(BYTE_ORDER_MARK).split(b"\n"), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != len(FIELDS):
            raise FormatError(name, number, malformed(LINE, len(fields), line))
        rows.append([decoded(field) for field in fields])
        lines.append(number)
    if not rows:
        raise FormatError(name, 1, f"expected lines of {LINE}, found an empty file")
    cells = list(zip(*rows, strict=True))
    return CellsTable(name, FIELDS, cells, memoryview(lines))


def lines_of(qrels: Qrels) -> Iterator[bytes]:
    """The lines of judgments. Raises InputError for those without strata, or that do not fit."""
    if qrels.strata is None:
        reason = "the format sample needs the stratum of each document; use another format"
        raise InputError(qrels.source, reason)
    check_fields(qrels.strata, "stratum", qrels.source)
    groups, docs, grades = qrels_columns(qrels)
    columns = zip(groups, docs, qrels.strata, grades, strict=True)
    return (b"%b %b %b %b %d\n" % (query, *row) for query, row in by_query(qrels, columns))
