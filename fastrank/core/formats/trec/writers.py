"""Write TREC formats."""

from __future__ import annotations

from itertools import chain, pairwise, repeat

from fastrank.common.c_numbers import printed
from fastrank.common.faces import by_face
from fastrank.core.data.texts import Texts, as_texts, decoded
from fastrank.core.formats.qrels import Preferences, Qrels, query_and_document
from fastrank.core.formats.run import Run
from fastrank.core.native import kernels
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fastrank.core.native.record import Int64Array


# The tag of a run without a name.
NO_TAG = b"-"


def check_kind(noun: object, kind: type) -> None:
    """Raise TypeError for an object of another class."""
    if not isinstance(noun, kind):
        raise TypeError(f"expected {kind.__name__}, found {type(noun).__name__}")


def shortest(value: float) -> bytes:
    """The shortest text that reads back as the same double."""
    return (repr(value) if value == value else printed("%3.2f", value).strip()).encode()


def lines_of(noun: Qrels | Run | Preferences) -> Iterable[bytes]:
    """The lines of a noun. Raises InputError for what cannot be a field."""
    if isinstance(noun, Preferences):
        subgroups = [noun.subgroups] if any(noun.subgroups) else []
        levels = map(shortest, noun.level_column)
        form = b"%b %b %b %b %b\n" if subgroups else b"%b %b %b %b\n"
        return _lines(noun, form, noun.groups, *subgroups, noun.docs, levels)
    if isinstance(noun, Qrels):
        if noun.strata is not None:
            reason = "TREC's qrels have no column for strata; use the format sample"
            raise InputError(noun.source, reason)
        return _lines(noun, b"%b %b %b %d\n", noun.groups, noun.docs, _grades(noun))
    _check_ids(noun)
    tag = noun.tag_bytes or NO_TAG
    check_fields(as_texts([tag]), "tag", noun.source)
    if not len(noun.docs):
        # Because trec_eval rejects empty files.
        return [b"\n"]
    ranks = chain.from_iterable(range(1, size + 1) for size in _sizes(noun))
    form = b"%b Q0 %b %d %b " + tag.replace(b"%", b"%%") + b"\n"
    return _lines(noun, form, noun.docs, ranks, map(shortest, noun.score_column))


def sample_lines(qrels: Qrels) -> Iterable[bytes]:
    """The lines of judgments. Raises InputError for those without strata, or that do not fit."""
    if qrels.strata is None:
        reason = "the format sample needs the stratum of each document; use another format"
        raise InputError(qrels.source, reason)
    check_fields(qrels.strata, "stratum", qrels.source)
    columns = qrels.groups, qrels.docs, qrels.strata, _grades(qrels)
    return _lines(qrels, b"%b %b %b %b %d\n", *columns)


def _lines(
    noun: Qrels | Run | Preferences, form: bytes, *columns: Iterable[object]
) -> Iterator[bytes]:
    return map(form.__mod__, zip(by_query(noun), *columns, strict=True))


def by_query(noun: Qrels | Run | Preferences) -> Iterator[bytes]:
    """The query of each row."""
    return chain.from_iterable(map(repeat, noun.queries, _sizes(noun)))


def _sizes(noun: Qrels | Run | Preferences) -> Iterator[int]:
    """The number of rows of each query."""
    return (stop - first for first, stop in pairwise(noun.offset_column))


def _grades(qrels: Qrels) -> Int64Array:
    """The grades. Raises InputError for invalid ids, and for a fraction."""
    _check_ids(qrels)
    check_fields(qrels.groups, "iteration", qrels.source)
    if qrels.scale is not None:
        # trec_eval would truncate it.
        row, grade = qrels.scale.first_fraction(qrels.grade_column)
        query, document = query_and_document(qrels, row)
        where = f"query {decoded(query)!r}, document {document!r}"
        reason = f"expected an integer grade for TREC format, found {grade!r}"
        raise InputError(qrels.source, f"{where}: {reason}; use another format")
    return qrels.grade_column


def _check_ids(noun: Qrels | Run) -> None:
    for role, texts in (("query", noun.queries), ("document", noun.docs)):
        check_fields(texts, role, noun.source)


def check_fields(texts: Texts, role: str, source: str) -> None:
    """Raise InputError for a text that cannot be a field of a line."""
    wrong = kernels.find_no_field(texts.columns)
    if wrong >= 0:
        text = texts[wrong].decode("utf-8", "replace")
        reason = f"{role} {text!r}: expected text without blanks and NUL for TREC format"
        other = "write another format, such as FILE.csv"
        numbered = "; `fastrank convert --number-queries` names queries by numbers"
        advice = by_face("use another format", other + numbered * (role == "query"))
        raise InputError(source, f"{reason}; {advice}")
