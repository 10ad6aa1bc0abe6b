"""Dicts of dicts, as in pytrec_eval, as rows of judgments and runs, and back."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate, chain

from fastrank.core.data.texts import decoded, interning
from fastrank.core.formats.tables.lists import numbered_lists
from fastrank.core.formats.tables.roles import is_header
from fastrank.core.formats.tables.values import first_repeat, texts_of_list
from fastrank.core.native import kernels
from fastrank.core.native.buffers import filled
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, NoReturn

    from fastrank.core.formats.tables.values import Fail

SOURCE = "<dict>"
# The sources of what is no file.
IN_MEMORY = (SOURCE, "qrels", "run")
# The grade of documents listed without a grade.
LISTED_GRADE = 1
# Keys of judgments and of a run in an object with more: LlamaIndex's data sets of questions, with
# their texts and those of the documents, and the results of FlagEmbedding.
INNER = {"qrels": "relevant_docs", "run": "search_results"}


def part_of(given: Mapping[Any, Any], kind: str, source: str) -> Mapping[Any, Any]:
    """The judgments or the run (`kind`) in an object with more, else the object itself.

    Raises InputError if it has only the other ones.
    """
    for noun in sorted(INNER, key=kind.__ne__):
        part = given.get(INNER[noun])
        if isinstance(part, Mapping) and all(hasattr(own, "__len__") for own in part.values()):
            if noun == kind:
                return part
            reason = f"expected {kind}, found {noun} in {INNER[noun]!r}: are they swapped?"
            raise InputError(source, reason)
    return given


def plain_lists(given: Any, kind: str, rank_by: str, source: str) -> Any:
    """The dict with lists of objects and of pairs read, as in a column of lists."""
    if not isinstance(given, Mapping):
        return given
    lists = [
        (query, list(docs))
        for query, docs in given.items()
        if isinstance(docs, (list, tuple)) and docs and isinstance(docs[0], (list, tuple, Mapping))
    ]
    if not lists:
        return given

    def fail(row: int, reason: str) -> NoReturn:
        advice = _advice(given) if source in IN_MEMORY else ""
        raise InputError(source, f"query {lists[row][0]!r:.60}: {reason}{advice}")

    return {**given, **numbered_lists(lists, kind, rank_by, fail)}


def _advice(given: Any) -> str:
    """The remedy for a dict that is the content of a JSON file of another tool."""
    if not isinstance(given, Mapping):
        return ""
    from fastrank.core.formats.tools.search_engines import kinds_of

    if is_header(given, (("doc",),)):
        return "; if these are columns, one has to be called query_id"
    return "; pass the JSON file itself, which is read" * bool(kinds_of(given, SOURCE))


def rows_of_dict(
    given: Any,
    number: str,
    source: str,
    *,
    keep_empty: bool,
    listed: Callable[[int], Iterable[int]],
) -> tuple[dict[str, Any], list[Any], Fail]:
    """A dict as rows: fields of the noun, its numbers, and what raises the error about one.

    Queries without documents are dropped unless `keep_empty`. listed: the numbers of that many
    documents in a list.
    """

    def refuse(reason: str) -> NoReturn:
        raise InputError(source, reason + (_advice(given) if source in IN_MEMORY else ""))

    if not isinstance(given, Mapping):
        refuse(f"expected {{query: {{document: {number}}}}}, found {type(given).__name__}")
    unusual = [q for q, documents in given.items() if not isinstance(documents, Mapping)]
    # A set has no order, which does not matter for judgments.
    kinds = (list, tuple) if keep_empty else (list, tuple, set, frozenset)
    if unusual:
        given = {q: list(docs) if is_listing(docs, kinds) else docs for q, docs in given.items()}
        unusual = [query for query in unusual if type(given[query]) is not list]
    if unusual:
        documents = given[unusual[0]]
        expected = f"expected a dict of documents and {number}s, or a list"
        refuse(f"query {unusual[0]!r:.60}: {expected}, found {type(documents).__name__}")
    by_query = {query: documents for query, documents in given.items() if documents or keep_empty}
    query_ids, doc_ids = list(by_query), list(chain.from_iterable(by_query.values()))
    ends = list(accumulate(map(len, by_query.values()), initial=0))

    def query_of(row: int) -> Any:
        return query_ids[bisect_right(ends, row) - 1]

    def fail(row: int, reason: str) -> NoReturn:
        refuse(f"query {query_of(row)!r:.60}, document {doc_ids[row]!r:.60}: {reason}")

    queries = texts_of_list(query_ids, lambda _, reason: refuse(f"a query: {reason}"))
    if kernels.intern_texts(queries.columns, interning(len(queries))) < len(queries):
        row = first_repeat(queries)
        same, query = query_ids[list(queries).index(queries[row])], query_ids[row]
        refuse(f"queries {same!r:.60} and {query!r:.60} have the same id as text")
    docs = texts_of_list(
        doc_ids, lambda row, reason: refuse(f"query {query_of(row)!r:.60}, a document: {reason}")
    )
    numbers = (
        documents.values() if isinstance(documents, Mapping) else listed(len(documents))
        for documents in by_query.values()
    )
    fields = {
        "queries": queries,
        "docs": docs.placed(None, "item"),
        "source": source,
        "offset_column": filled("q", ends),
    }
    return fields, list(chain.from_iterable(numbers)), fail


def is_listing(documents: Any, kinds: tuple[type, ...] = (list, tuple, set, frozenset)) -> bool:
    """Whether these are documents without grades: of these kinds, or a one-dimensional array."""
    return isinstance(documents, kinds) or (
        getattr(documents, "ndim", 0) == 1 and hasattr(documents, "tolist")
    )


def to_dict(noun: Any) -> dict[str, dict[str, Any]]:
    """{query: {document: grade or score}}. Raises InputError for duplicate documents."""
    docs, numbers, offsets = noun.doc_ids, _numbers(noun).tolist(), noun.offsets.tolist()
    return {
        query: _documents(noun, query, docs[first:stop], numbers[first:stop], first)
        for query, first, stop in zip(noun.query_ids, offsets[:-1], offsets[1:], strict=True)
    }


def query_to_dict(noun: Any, i: int) -> dict[str, Any]:
    """{document: grade or score} of one query. Raises InputError for duplicate documents."""
    first, stop = noun.offset_column[i], noun.offset_column[i + 1]
    docs = [decoded(doc) for doc in noun.docs.take(range(first, stop))]
    numbers = _numbers(noun)[first:stop].tolist()
    return _documents(noun, decoded(noun.queries[i]), docs, numbers, first)


def _numbers(noun: Any) -> Any:
    return noun.grades if hasattr(noun, "grades") else noun.scores


def _documents(
    noun: Any, query: str, docs: list[str], numbers: list[Any], first: int
) -> dict[str, Any]:
    documents = dict(zip(docs, numbers, strict=True))
    if len(documents) < len(docs):
        row = first_repeat(docs)
        where = f"{noun.docs.unit} {noun.docs.line(first + row)}"
        reason = f"query {query!r}: duplicate document {docs[row]!r} in {where}"
        raise InputError(noun.source, f"{reason}, which a dict cannot represent")
    return documents


def documents_of(name: str, query: Any, documents: Any) -> dict[Any, Any]:
    """The documents of a query as a dict. Raises InputError if they are not a mapping."""
    if isinstance(documents, dict):
        return documents
    if isinstance(documents, Mapping):
        return dict(documents)
    found = type(documents).__name__
    raise InputError(f"{name}, query {query!r}", f"expected a dict of documents, found {found}")
