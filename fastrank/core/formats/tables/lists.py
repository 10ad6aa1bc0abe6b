"""Tables whose rows have a list of documents: judgments of grade 1, or a ranking as given."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from fastrank.core.formats.tables.forms import is_list, is_missing
from fastrank.core.formats.tables.roles import ROLES, find_columns, names_of, normalized_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    from fastrank.core.formats.tables.roles import Name
    from fastrank.core.formats.tables.table import Table

# By the kind: the roles of the lists, of numbers beside them, and the names of lists of numbers.
LISTS = {
    "qrels": (("relevant", "doc"), "grade", ("grades", "labels", "relevances", "ratings")),
    "run": (("retrieved", "doc"), "score", ("scores", "similarities")),
}
# How Arrow and polars call the types of such columns.
LIST_TYPES = ("list", "large_list", "fixed_size_list", "array")
# How many cells show whether a column has lists.
SOME = 100


def lists_by_query(
    table: Table, kind: str, columns: Mapping[str, Name] | None
) -> dict[Any, Any] | None:
    """{query: [document, ...]}, or {query: {document: number}} if there are numbers.

    kind: qrels or run. None for a table without lists of documents. Elements may also be pairs of
    document and number, or objects with names for these. Raises InputError and FormatError, which
    name the row.
    """
    roles, number_role, plurals = LISTS[kind]
    lists = _index_of_lists(table, roles, columns) if table.may_have_lists else -1
    if lists < 0:
        return None
    chosen = {"query": columns["query"]} if columns and "query" in columns else None
    names = find_columns(table.names, {"query": "query_of_list"}, chosen, table.source)
    queries = table.values(table.names[names["query"]])
    numbers, is_grade = _numbers(table, number_role, plurals, columns)
    by_query: dict[Any, Any] = {}
    for row, (query, cell) in enumerate(
        zip(queries, table.values(table.names[lists]), strict=True)
    ):
        beside = None if numbers is None or is_missing(numbers[row]) else numbers[row]
        if not (is_missing(cell) or is_list(cell)):
            _refuse(table, row, lists, f"expected a list of documents, found {cell!r:.60}")
        if is_missing(query):
            _refuse(table, row, names["query"], "expected an id, found a missing value")
        docs = _documents(table, row, lists, [] if is_missing(cell) else list(cell), number_role)
        if docs and beside is not None and is_list(beside):
            if len(beside) != len(docs):
                reason = f"expected as many {number_role}s as documents"
                _refuse(table, row, lists, f"{reason}, found {len(beside)} and {len(docs)}")
            docs = list(zip((doc for doc, _ in docs), beside, strict=True))
        elif beside is not None and kind == "qrels" and is_grade:
            docs = [(doc, beside) for doc, _ in docs]
        _add(table, row, lists, by_query, query, docs, kind)
    return by_query


def _refuse(table: Table, row: int, index: int, reason: str) -> NoReturn:
    table.refuse(row, f"column {table.names[index]!r}: {reason}")


def _index_of_lists(table: Table, roles: Sequence[str], columns: Mapping[str, Name] | None) -> int:
    """The index of the column of lists of documents, or -1."""
    if columns and "doc" in columns:
        names = [columns["doc"]]
        candidates = [index for index, name in enumerate(table.names) if name in names]
    else:
        order = {name: rank for rank, name in enumerate(sum(map(names_of, roles), ()))}
        ranks = [order.get(normalized_name(name), -1) for name in table.names]
        candidates = sorted((i for i, rank in enumerate(ranks) if rank >= 0), key=ranks.__getitem__)
    return next((index for index in candidates if _has_lists(table, index)), -1)


def _has_lists(table: Table, index: int) -> bool:
    types = getattr(table.columns, "types", None)
    column: Any = None if types is not None else table.columns[index]
    kind = types[index] if types is not None else getattr(column, "dtype", None)
    kind = str(getattr(column, "type", "") if kind is None else kind)
    if kind not in ("", "object"):
        return kind.lower().startswith(LIST_TYPES)
    for cell in islice(iter(column), SOME):
        if is_list(cell):
            return True
        if not is_missing(cell):
            return False
    return False


def _numbers(
    table: Table, role: str, plurals: Sequence[str], columns: Mapping[str, Name] | None
) -> tuple[list[Any] | None, bool]:
    """The cells of the column of numbers, or of lists of them, if there is one.

    And whether a number of a row surely is one of each of its documents.
    """
    chosen = (columns or {}).get(role)
    sure = ROLES[role][0]
    for index, name in enumerate(table.names):
        usual = normalized_name(name)
        if name == chosen if chosen is not None else usual in (*plurals, *sure, "score"):
            cells: list[Any] = table.values(table.names[index])
            return cells, chosen is not None or usual in sure
    return None, False


def _documents(
    table: Table, row: int, index: int, elements: list[Any], role: str
) -> list[tuple[Any, Any]]:
    """Each document of a list, with its number, None if it has none."""
    docs = []
    for element in elements:
        if isinstance(element, Mapping):
            known = {normalized_name(name): value for name, value in element.items()}
            doc = next(
                (known[name] for name in (*names_of("doc"), "id", "_id") if name in known), None
            )
            if doc is None:
                found = ", ".join(map(str, element))
                _refuse(table, row, index, f"expected the id of a document, found {found:.60}")
            docs.append(
                (doc, next((known[name] for name in names_of(role) if name in known), None))
            )
        elif is_list(element) and len(element) == 2:
            docs.append((element[0], element[1]))
        else:
            docs.append((element, None))
    return docs


def _add(
    table: Table,
    row: int,
    index: int,
    by_query: dict[Any, Any],
    query: Any,
    docs: list[tuple[Any, Any]],
    kind: str,
) -> None:
    """Add the documents of a query; judgments of a query may be in several rows."""
    if query in by_query and kind == "run":
        _refuse(table, row, index, f"expected one list of query {query!r:.60}, found a second")
    numbered = [number is not None for _, number in docs]
    if not all(numbered) and any(numbered):
        doc = docs[numbered.index(False)][0]
        _refuse(table, row, index, f"document {doc!r:.60} has no number, unlike others")
    listed: list[Any] = [doc for doc, _ in docs]
    if not any(numbered):
        known = by_query.setdefault(query, [])
        if isinstance(known, list):
            known += listed
        else:
            known |= dict.fromkeys(listed, 1)
        return
    scored = dict(docs)
    if len(scored) < len(docs):
        doc = next(doc for place, doc in enumerate(listed) if doc in listed[:place])
        _refuse(table, row, index, f"document {doc!r:.60} is listed twice")
    known = by_query.setdefault(query, {})
    by_query[query] = (dict.fromkeys(known, 1) if isinstance(known, list) else known) | scored
