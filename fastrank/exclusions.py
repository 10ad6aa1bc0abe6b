"""Documents to leave out of rankings, per query: from a mapping, or from a file."""

from __future__ import annotations

from fastrank import files
from fastrank.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fastrank.files import Source

    Id = str | bytes | int
    Exclusions = dict[bytes, list[bytes]]


def as_exclusions(exclude: Mapping[Id, Iterable[Id]] | None) -> Exclusions:
    """The documents of a mapping from query to documents, each one once, ids as bytes.

    Raises TypeError for anything else.
    """
    if exclude is None:
        return {}
    if not hasattr(exclude, "items"):
        found = type(exclude).__name__
        raise TypeError(f"exclude: expected a mapping from query to documents, found {found}")
    found_ids: Exclusions = {}
    for query, docs in exclude.items():
        if isinstance(docs, (str, bytes)) or not hasattr(docs, "__iter__"):
            raise TypeError(
                f"exclude: query {query!r}: expected a list or set of documents, found {docs!r}"
            )
        own = found_ids.setdefault(_id(query), [])
        own += [_id(doc) for doc in docs]
    return {query: list(dict.fromkeys(docs)) for query, docs in found_ids.items()}


def read_exclusions(source: Source) -> Exclusions:
    """The same from a file with a query and a document on every line.

    Raises ReadError and FormatError.
    """
    name = files.name_of(source)
    found: Exclusions = {}
    for number, line in enumerate(files.read(source).split(b"\n"), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 2:
            raise FormatError(name, number, f"expected 2 fields (query doc), found {len(fields)}")
        found.setdefault(fields[0], []).append(fields[1])
    return {query: list(dict.fromkeys(docs)) for query, docs in found.items()}


def _id(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    if hasattr(value, "__index__") and not isinstance(value, bool):
        return b"%d" % value.__index__()
    raise TypeError(
        f"exclude: expected ids of type str, bytes or int, found {value!r} ({type(value).__name__})"
    )
