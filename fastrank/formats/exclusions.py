"""Documents to exclude from rankings, per query: from a mapping or a file."""

from __future__ import annotations

from fastrank.arguments import flag
from fastrank.errors import InputError
from fastrank.formats.ids import encoded_id
from fastrank.formats.pairs import pairs_of
from fastrank.keywords import Keyword

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, NoReturn

    from fastrank.formats.files import Source

    Exclusions = dict[bytes, list[bytes]]


def as_exclusions(exclude: Mapping[Any, Iterable[Any]] | None) -> Exclusions:
    """The distinct documents of each query in a mapping, ids as bytes.

    Raises InputError for invalid ids, TypeError for other types.
    """
    if exclude is None:
        return {}
    if not hasattr(exclude, "items"):
        found = type(exclude).__name__
        raise TypeError(f"exclude: expected a mapping from query to documents, found {found}")
    found_ids: Exclusions = {}

    def fail(reason: str) -> NoReturn:
        raise InputError("exclude", f"query {query!r:.60}: {reason}")

    for query, docs in exclude.items():
        if isinstance(docs, (str, bytes)) or not hasattr(docs, "__iter__"):
            raise TypeError(
                f"exclude: query {query!r}: expected a list or set of documents, found {docs!r}"
            )
        excluded = found_ids.setdefault(encoded_id(query, fail), [])
        excluded += [encoded_id(doc, fail) for doc in docs]
    return {query: list(dict.fromkeys(docs)) for query, docs in found_ids.items()}


def read_exclusions(source: Source) -> Exclusions:
    """Read exclusions from a file with a query and a document per line.

    Raises ReadError and FormatError.
    """
    found: Exclusions = {}
    for _, query, doc in pairs_of(source, "query doc"):
        found.setdefault(query, []).append(doc)
    return {query: list(dict.fromkeys(docs)) for query, docs in found.items()}


IGNORE_IDENTICAL_IDS = Keyword(
    "ignore_identical_ids", False, "exclude documents whose id equals the query id",
    "exclude documents whose id equals the query id, before ranking.", check=flag,
)  # fmt: skip
EXCLUDE = Keyword(
    "exclude", None, "exclude the documents in FILE, with a query and a document per line",
    "documents to exclude, a mapping from query to documents.",
    check=lambda _, given: as_exclusions(given), metavar="FILE",
)  # fmt: skip
