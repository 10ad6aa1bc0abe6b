"""Read files with one record a line: clusters of queries, exclusions."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.common.arguments import flag
from fastrank.common.keywords import Keyword
from fastrank.core.data.texts import decoded
from fastrank.core.formats.files.source import BYTE_ORDER_MARK, byte_lines, name_of
from fastrank.core.formats.tables.sniff import head_of
from fastrank.core.formats.tables.values import encoded_id
from fastrank.errors import FormatError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, NoReturn

    from fastrank.core.formats.files.source import Source, SourceFile

    Exclusions = dict[bytes, list[bytes]]


def lines_of(source: Source | SourceFile, name: str, encoding: str) -> Iterator[tuple[int, str]]:
    """The number, from 1, and text of each line of a file, compressed or not, without line ends.

    Raises ReadError, and FormatError for a line that is not in the encoding.
    """
    for number, line in enumerate(byte_lines(head_of(source)[0]), 1):
        try:
            text = line.decode(encoding)
        except UnicodeDecodeError as error:
            byte = f"the byte {line[error.start]:#04x} at column {error.start + 1}"
            reason = f"{byte} is not {encoding}; use encoding='latin-1' for older collections"
            raise FormatError(name, number, reason) from None
        if number == 1:
            text = text.removeprefix("\ufeff")
        yield number, text.removesuffix("\r")


def pairs_of(source: Source, fields: str) -> Iterator[tuple[int, bytes, bytes]]:
    """The number of each line, from 1, and its two fields, which white space separates.

    fields: their names, for errors. Empty lines are skipped. Raises ReadError and FormatError.
    """
    for number, line in enumerate(byte_lines(head_of(source)[0]), 1):
        texts = (line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line).split()
        if len(texts) == 2:
            yield number, texts[0], texts[1]
        elif texts:
            reason = f"expected 2 fields ({fields}), found {len(texts)}"
            raise FormatError(name_of(source), number, reason)


def read_clusters(source: Source) -> dict[str, str]:
    """{query: cluster} of a file with a query and its cluster per line.

    Raises ReadError, and FormatError also for a query in two clusters.
    """
    clusters: dict[str, str] = {}
    for number, query, cluster in pairs_of(source, "query cluster"):
        name, new = decoded(query), decoded(cluster)
        if clusters.setdefault(name, new) != new:
            reason = f"query {name!r} is already in cluster {clusters[name]!r}"
            raise FormatError(name_of(source), number, reason)
    return clusters


def as_exclusions(exclude: Mapping[Any, Iterable[Any]] | None) -> Exclusions:
    """The distinct documents of each query in a mapping, ids as bytes.

    Raises InputError for invalid ids, TypeError for other types.
    """
    if exclude is None:
        return {}
    if not hasattr(exclude, "items"):
        kind = type(exclude).__name__
        raise TypeError(f"exclude: expected a mapping from query to documents, found {kind}")
    exclusions: Exclusions = {}

    def fail(reason: str) -> NoReturn:
        raise InputError("exclude", f"query {query!r:.60}: {reason}")

    for query, docs in exclude.items():
        if isinstance(docs, (str, bytes)) or not hasattr(docs, "__iter__"):
            raise TypeError(
                f"exclude: query {query!r}: expected a list or set of documents, found {docs!r}"
            )
        excluded = exclusions.setdefault(encoded_id(query, fail), [])
        excluded += [encoded_id(doc, fail) for doc in docs]
    return {query: list(dict.fromkeys(docs)) for query, docs in exclusions.items()}


def read_exclusions(source: Source) -> Exclusions:
    """Read exclusions from a file with a query and a document per line.

    Raises ReadError and FormatError.
    """
    exclusions: Exclusions = {}
    for _, query, doc in pairs_of(source, "query doc"):
        exclusions.setdefault(query, []).append(doc)
    return {query: list(dict.fromkeys(docs)) for query, docs in exclusions.items()}


IGNORE_IDENTICAL_IDS = Keyword(
    "ignore_identical_ids",
    False,
    "exclude documents with the query's id, before ranking.",
    check=flag,
)
EXCLUDE = Keyword(
    "exclude",
    None,
    "documents to exclude, a mapping from query to documents.",
    check=lambda _, given: as_exclusions(given),
)
