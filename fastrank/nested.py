"""Judgments and runs from dicts of dicts: query -> document -> grade or score."""

from __future__ import annotations

from fastrank.columns import Qrels, Run, Texts
from fastrank.errors import InputError
from fastrank.native.buffers import zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def as_qrels(nested: Mapping[Any, Mapping[Any, Any]]) -> Qrels:
    """Judgments from {query: {document: grade}}; queries without judgments are left out."""
    columns = _columns("qrels", nested, "q", _grade, keep_empty=False)
    rows = len(columns["values"])
    groups = Texts(b"", zeros("q", rows), zeros("q", rows))
    return Qrels(source="qrels", groups=groups, grade_column=columns.pop("values"), **columns)


def as_run(nested: Mapping[Any, Mapping[Any, Any]]) -> Run:
    """A run from {query: {document: score}}."""
    columns = _columns("run", nested, "d", _score, keep_empty=True)
    return Run(source="run", tag=b"", score_column=columns.pop("values"), **columns)


def inner(name: str, query: Any, documents: Any) -> dict[Any, Any]:
    """The documents of a query as a dict. Raises InputError if they are no mapping."""
    from collections.abc import Mapping

    if isinstance(documents, dict):
        return documents
    if isinstance(documents, Mapping):
        return dict(documents)
    found = type(documents).__name__
    raise InputError(f"{name}, query {query!r}", f"expected a dict of documents, found {found}")


def where(name: str, query: Any, doc: Any) -> str:
    """The place of a value, for messages."""
    return f"{name}, query {query!r}, document {doc!r}"


def encoded(identifier: Any, place: str) -> bytes:
    """An id as bytes: text as UTF-8, integers in decimal. Raises InputError."""
    if isinstance(identifier, bytes):
        return identifier
    if not isinstance(identifier, str):
        if not hasattr(identifier, "__index__"):
            raise InputError(place, f"expected an id, found {type(identifier).__name__}")
        identifier = str(identifier.__index__())
    text: str = identifier
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InputError(place, "the id cannot be written as UTF-8") from error


def _columns(
    name: str,
    nested: Mapping[Any, Any],
    code: str,
    number: Callable[[Any, str], Any],
    *,
    keep_empty: bool,
) -> dict[str, Any]:
    queries, docs, values, offsets = [], [], [], [0]
    for query, documents in nested.items():
        rows = inner(name, query, documents)
        if not rows and not keep_empty:
            continue
        queries.append(encoded(query, f"{name}, query {query!r}"))
        for doc, value in rows.items():
            place = where(name, query, doc)
            docs.append(encoded(doc, place))
            values.append(number(value, place))
        offsets.append(len(docs))
    return {
        "queries": _texts(queries),
        "docs": _texts(docs),
        "offset_column": _numbers("q", offsets),
        "values": _numbers(code, values),
    }


def _texts(items: list[bytes]) -> Texts:
    from itertools import accumulate

    lengths = list(map(len, items))
    starts = list(accumulate(lengths, initial=0))[:-1]
    return Texts(b"".join(items), _numbers("q", starts), _numbers("q", lengths))


def _numbers(code: str, items: list[Any]) -> Any:
    from struct import pack_into

    column = zeros(code, len(items))
    pack_into(f"{len(items)}{code}", column, 0, *items)
    return column


def _grade(value: Any, place: str) -> int:
    if not hasattr(value, "__index__"):
        raise InputError(place, f"expected an integer as its grade, found {value!r}")
    grade = int(value.__index__())
    if not -(2**63) <= grade < 2**63:
        raise InputError(place, f"expected a 64-bit integer as its grade, found {grade}")
    return grade


def _score(value: Any, place: str) -> float:
    score = float("nan")
    if not isinstance(value, (str, bytes)) and hasattr(value, "__float__"):
        try:
            score = float(value)
        except OverflowError as error:
            raise InputError(place, f"its score {value!r} is too large") from error
    elif hasattr(value, "__index__"):
        score = float(value.__index__())
    if score != score:
        raise InputError(place, f"expected a number as its score, found {value!r}")
    return score
