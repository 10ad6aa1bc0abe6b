"""Write TREC formats."""

from __future__ import annotations

from fastrank.c_numbers import printed
from fastrank.data.qrels import Preferences, Qrels
from fastrank.data.run import Run
from fastrank.data.texts import Texts, decoded
from fastrank.errors import InputError
from fastrank.formats import files
from fastrank.native import kernels
from fastrank.native.buffers import filled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from fastrank.formats.files import Source


# The tag of a run without a name.
NO_TAG = b"-"


def write_trec_run(run: Run, target: Source) -> None:
    """Write a run in TREC format, with documents in their order and ranks from 1.

    Scores are written exactly, as the shortest text that restores the double.

    >>> import io
    >>> file = io.BytesIO()
    >>> fr.write_trec_run(fr.Run.from_dict({"q1": {"d1": 0.75, "d2": 0.5}}, tag="bm25"), file)
    >>> print(file.getvalue().decode(), end="")
    q1 Q0 d1 1 0.75 bm25
    q1 Q0 d2 2 0.5 bm25
    """
    _expect(Run, run)
    files.write(target, lines_of(run))


def write_trec_qrels(qrels: Qrels, target: Source) -> None:
    """Write judgments in TREC format, including the second field.

    Raises InputError for grades with fractions and for ids with blanks.

    >>> import io
    >>> file = io.BytesIO()
    >>> fr.write_trec_qrels(fr.Qrels.from_dict({"q1": {"d1": 1, "d2": 0}}), file)
    >>> print(file.getvalue().decode(), end="")
    q1 0 d1 1
    q1 0 d2 0
    """
    _expect(Qrels, qrels)
    files.write(target, lines_of(qrels))


def write_prefs(preferences: Preferences, target: Source) -> None:
    """Write preferences in the format prefs, or qrels_prefs if they have no subgroups.

    >>> import io
    >>> lines, file = b"q1 ann 0 d1 2.5\\nq1 ann 0 d2 1.0\\n", io.BytesIO()
    >>> fr.write_prefs(fr.read_prefs(io.BytesIO(lines)), file)
    >>> file.getvalue() == lines
    True
    """
    _expect(Preferences, preferences)
    columns = zip(
        preferences.groups,
        preferences.subgroups,
        preferences.docs,
        map(shortest, preferences.level_column),
        strict=True,
    )
    files.write(
        target,
        (
            b" ".join(filter(None, (query, *row))) + b"\n"
            for query, row in by_query(preferences, columns)
        ),
    )


def _expect(noun: type, found: object) -> None:
    if not isinstance(found, noun):
        raise TypeError(f"expected {noun.__name__}, found {type(found).__name__}")


def shortest(value: float) -> bytes:
    """The shortest text that reads back as the same double."""
    return (repr(value) if value == value else printed("%3.2f", value).strip()).encode()


def lines_of(noun: Qrels | Run) -> Iterable[bytes]:
    """The lines of a run or of judgments. Raises InputError for an id that cannot be a field."""
    if isinstance(noun, Qrels):
        if noun.strata is not None:
            raise InputError(
                noun.source, "TREC's qrels have no column for strata; use the format sample"
            )
        columns = zip(*qrels_columns(noun), strict=True)
        return (b"%b %b %b %d\n" % (query, *row) for query, row in by_query(noun, columns))
    _check_ids(noun)
    if noun.tag:
        check_fields(
            Texts(noun.tag_bytes, filled("q", [0]), filled("q", [len(noun.tag_bytes)])),
            "tag",
            noun.source,
        )
    # A run without queries is written as a blank line, because trec_eval rejects empty files.
    return _run_lines(noun) if len(noun.docs) else [b"\n"]


def qrels_columns(qrels: Qrels) -> tuple[Texts, Texts, Any]:
    """Iterations, documents and integer grades. Raises InputError for what cannot be a field."""
    _check_ids(qrels)
    check_fields(qrels.groups, "iteration", qrels.source)
    _refuse_fractions(qrels)
    return qrels.groups, qrels.docs, qrels.grade_column


def _check_ids(noun: Qrels | Run) -> None:
    for role, texts in (("query", noun.queries), ("document", noun.docs)):
        check_fields(texts, role, noun.source)


def _refuse_fractions(qrels: Qrels) -> None:
    """Raise InputError for a grade with a fraction, which trec_eval would truncate."""
    if qrels.scale is None:
        return
    from fastrank.data.qrels import query_and_document

    row, grade = qrels.scale.first_fraction(qrels.grade_column)
    query, document = query_and_document(qrels, row)
    where = f"query {decoded(query)!r}, document {document!r}"
    reason = f"expected an integer grade for TREC format, found {grade!r}"
    raise InputError(qrels.source, f"{where}: {reason}; use another format")


def check_fields(texts: Texts, role: str, source: str) -> None:
    """Raise InputError for a text that cannot be a field of a line."""
    wrong = kernels.find_no_field(texts.columns)
    if wrong >= 0:
        found = texts[wrong].decode("utf-8", "replace")
        reason = f"{role} {found!r}: expected text without blanks and NUL for TREC format"
        raise InputError(source, reason)


def _run_lines(run: Run) -> Iterator[bytes]:
    rank = 0
    previous = None
    tag = run.tag_bytes or NO_TAG
    columns = zip(run.docs, run.score_column, strict=True)
    for query, (doc, score) in by_query(run, columns):
        rank = rank + 1 if query is previous else 1
        previous = query
        yield b"%b Q0 %b %d %b %b\n" % (query, doc, rank, shortest(score), tag)


def by_query(noun: Any, rows: Any) -> Iterator[tuple[bytes, Any]]:
    """Each row with its query."""
    for i, query in enumerate(noun.queries):
        for _ in range(noun.offset_column[i], noun.offset_column[i + 1]):
            yield query, next(rows)


def sample_lines(qrels: Qrels) -> Iterator[bytes]:
    """The lines of judgments. Raises InputError for those without strata, or that do not fit."""
    if qrels.strata is None:
        reason = "the format sample needs the stratum of each document; use another format"
        raise InputError(qrels.source, reason)
    check_fields(qrels.strata, "stratum", qrels.source)
    groups, docs, grades = qrels_columns(qrels)
    columns = zip(groups, docs, qrels.strata, grades, strict=True)
    return (b"%b %b %b %b %d\n" % (query, *row) for query, row in by_query(qrels, columns))
