"""Lists of documents, in rows or by query: judgments of grade 1, or a ranking as given.

Elements may also be pairs of a document and its number, or objects with names for these.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import islice, repeat

from fastrank.core.formats.tables.forms import is_list, is_missing
from fastrank.core.formats.tables.roles import (
    ROLES,
    asked_columns,
    find_columns,
    names_beside_lists,
    names_of,
    normalized_name,
)
from fastrank.core.formats.tables.values import NO_ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, NoReturn

    from fastrank.core.formats.tables.roles import Name
    from fastrank.core.formats.tables.table import Table
    from fastrank.core.formats.tables.values import Fail

# The roles of lists by kind, and of the numbers in or beside them, of which the first counts.
LISTS = {
    "qrels": (("relevant", "doc"), ("grade",)),
    "run": (("retrieved", "doc"), ("score", "rank")),
}
# How Arrow and polars call the types of such columns, and of columns of texts.
LIST_TYPES = ("list", "large_list", "fixed_size_list", "array", "map")
TEXT_TYPES = ("", "object", "str", "string", "large_string")
# How many cells show whether a column has lists.
SOME = 100
# How a list begins that pandas has written as text.
WRITTEN = ("['", '["', "{'", '{"')
# Keys of the object that is the document in an object with its number.
INNER = ("node", "document")
# The number of a document that has none; that of one whose grade is missing is None.
ABSENT: Any = object()


def lists_by_query(
    table: Table, kind: str, columns: Mapping[str, Name] | None, rank_by: str = "score"
) -> dict[Any, Any] | None:
    """{query: [document, ...]}, or {query: {document: number}} if there are numbers.

    kind: qrels or run. None for a table without lists of documents. Raises InputError and
    FormatError, which name the row.
    """
    roles = LISTS[kind][0]
    if not table.may_have_lists:
        return None
    named = dict(asked_columns().of(roles[:1], table.names) or columns or {})
    chosen = named.get(roles[0], named.get("doc", ABSENT))
    candidates = _columns(table, sum(map(names_of, roles), ()), chosen)
    lists = next((index for index in candidates if _has_lists(table, index)), -1)
    if lists < 0:
        return None
    asked_columns().use_lists(table.source, table.names[lists], kind)
    queries = {"query": columns["query"]} if columns and "query" in columns else None
    names = find_columns(table.names, {"query": "query_of_list"}, queries, table.source)

    def fail(row: int, reason: str, index: int = lists) -> NoReturn:
        table.refuse(row, f"column {table.names[index]!r}: {reason}")

    ids = table.values(table.names[names["query"]])
    cells: list[Any] = table.values(table.names[lists])
    for row, (query, cell) in enumerate(zip(ids, cells, strict=True)):
        if not (is_missing(cell) or is_list(cell) or isinstance(cell, Mapping)):
            fail(row, f"expected a list of documents, found {cell!r:.60}")
        if is_missing(query):
            fail(row, NO_ID, names["query"])
    beside = {
        role: numbers
        for role in LISTS[kind][1]
        if (numbers := _numbers(table, role, kind, (columns or {}).get(role, ABSENT), lists))
    }
    if columns and "rank" in columns and "score" not in columns:
        rank_by = "rank"
    cells = list(map(_elements, cells))
    return numbered_lists(zip(ids, cells, strict=True), kind, rank_by, fail, beside)


def _elements(cell: Any) -> list[Any]:
    """The documents in a cell; those of {document: number} without a number are in other rows.

    Columns of structs have all documents of all rows.
    """
    if isinstance(cell, Mapping):
        return [(doc, number) for doc, number in cell.items() if number is not None]
    return [] if is_missing(cell) else list(cell)


def numbered_lists(
    lists: Iterable[tuple[Any, list[Any]]],
    kind: str,
    rank_by: str,
    fail: Fail,
    beside: Mapping[str, Sequence[Any]] | None = None,
) -> dict[Any, Any]:
    """The lists of documents of queries as `lists_by_query` returns them; ranks order a list.

    beside: by role, the numbers of each list: a list, too, or the grade of all.
    """
    by_query: dict[Any, Any] = {}
    lists, beside = list(lists), beside or {}
    roles: Sequence[str] = LISTS[kind][1]
    if kind == "run" and rank_by != "score":
        roles = ("rank", "score") if rank_by == "rank" else ("score",)
    are_ids = [{*map(type, elements)} <= {str, int} for _, elements in lists]
    if all(are_ids):
        roles = [role for role in roles if role in beside] or roles[:1]
    for role in roles:
        by_query.clear()
        rows = zip(lists, are_ids, beside.get(role) or repeat(ABSENT), strict=False)
        for row, ((query, elements), is_plain, numbers) in enumerate(rows):
            refuse = partial(fail, row)
            if is_plain:
                docs = list(zip(elements, repeat(ABSENT), strict=False))
            else:
                docs = [_document(element, role, refuse) for element in elements]
            if docs and is_list(numbers):
                if len(numbers) != len(docs):
                    reason = f"expected as many {role}s as documents"
                    refuse(f"{reason}, found {len(numbers)} and {len(docs)}")
                docs = [(doc, _number(n, role)) for (doc, _), n in zip(docs, numbers, strict=True)]
            elif numbers is not ABSENT and kind == "qrels":
                docs = [(doc, _number(numbers, role)) for doc, _ in docs]
            _add(by_query, query, docs, role, refuse)
        if any(isinstance(docs, dict) for docs in by_query.values()):
            queries = [query for query, _ in lists]
            return _in_order(by_query, queries, fail) if role == "rank" else by_query
    return by_query


def _columns(table: Table, known: Sequence[str], chosen: Name) -> list[int]:
    """The columns that are called so, the first choice first, or the chosen one."""
    names = list(map(normalized_name, table.names)) if chosen is ABSENT else table.names
    order = {name: place for place, name in enumerate(known if chosen is ABSENT else [chosen])}
    places = [index for index, name in enumerate(names) if name in order]
    return sorted(places, key=lambda index: order[names[index]])


def _has_lists(table: Table, index: int) -> bool:
    types = getattr(table.columns, "types", None)
    column: Any = None if types is not None else table.columns[index]
    kind = types[index] if types is not None else getattr(column, "dtype", None)
    kind = str(getattr(column, "type", "") if kind is None else kind).lower()
    is_struct = kind.startswith("struct")
    if not is_struct and (kind.startswith(LIST_TYPES) or column is None or kind not in TEXT_TYPES):
        return kind.startswith(LIST_TYPES)
    for row, cell in enumerate(islice(iter(table.columns[index]), SOME)):
        cell = cell.as_py() if hasattr(cell, "as_py") else cell
        if isinstance(cell, str) and cell.startswith(WRITTEN):
            kind = "an object" if cell[0] == "{" else "a list"
            reason = f"expected an id or a list, found {kind} that is written as text: {cell!r:.60}"
            table.refuse(row, f"column {table.names[index]!r}: {reason}; use JSON or parquet")
        if is_list(cell) or _is_numbered(cell):
            return True
        if not is_missing(cell) and cell != {}:
            return False
    return False


def _is_numbered(cell: Any) -> bool:
    """Whether a cell is {document: number}, not a document with its fields."""
    numbers = [n for n in cell.values() if n is not None] if isinstance(cell, Mapping) else []
    return bool(numbers) and all(hasattr(n, "__float__") for n in numbers)


def _numbers(table: Table, role: str, kind: str, chosen: Name, lists: int) -> list[Any] | None:
    """The cells of the column of lists of numbers, or in judgments of grades of all documents.

    A column of grades has a name that means nothing else. Beside a ranking, names of scores mean
    the scores of its documents.
    """
    known = () if chosen is None else names_beside_lists(role)
    if role == "grade" and _columns(table, names_of("retrieved"), ABSENT):
        scores = names_beside_lists("score")
        known = tuple(name for name in known if name not in scores)
    indexes = [index for index in _columns(table, known, chosen) if index != lists]
    for index in indexes:
        if _has_lists(table, index):
            cells = table.values(table.names[index])
            missing = None if role == "grade" else ABSENT
            return [missing if is_missing(cell) else cell for cell in cells]
    sure = ROLES[role][0] if chosen is ABSENT else [normalized_name(chosen)]
    for index in indexes if kind == "qrels" else ():
        if normalized_name(table.names[index]) in sure:
            return list(table.values(table.names[index]))
    return None


def _number(number: Any, role: str) -> Any:
    """A number that may be missing: ABSENT, or None for a grade, which was not judged."""
    if not is_missing(number):
        return number
    return None if role == "grade" else ABSENT


def _document(element: Any, role: str, refuse: Callable[[str], NoReturn]) -> tuple[Any, Any]:
    """A document of a list, and its number, ABSENT if it has none."""
    if isinstance(element, Mapping):
        known = _by_name(element)
        inner = next((known[key] for key in INNER if isinstance(known.get(key), Mapping)), None)
        fields = known if inner is None else _by_name(inner)
        names = (*names_of("doc"), "id", "_id", "id_")
        doc = next((fields[name] for name in names if fields.get(name) is not None), None)
        if doc is None:
            found = ", ".join(map(str, element if inner is None else inner))
            refuse(f"expected the id of a document, found {found:.60}; call it 'id'")
        fields |= known
        number = next((fields[name] for name in names_of(role) if name in fields), ABSENT)
        return doc, number if number is ABSENT else _number(number, role)
    if is_list(element) and len(element) == 2:
        doc, number = element
        doc = _document(doc, role, refuse)[0] if isinstance(doc, Mapping) else doc
        return doc, ABSENT if role == "rank" else _number(number, role)
    if is_missing(element):
        refuse(f"expected a document, found {element!r}")
    return element, ABSENT


def _by_name(element: Mapping[Any, Any]) -> dict[str, Any]:
    return {normalized_name(name): value for name, value in element.items()}


def _add(
    by_query: dict[Any, Any],
    query: Any,
    docs: list[tuple[Any, Any]],
    role: str,
    refuse: Callable[[str], NoReturn],
) -> None:
    """Add the documents of a query; judgments of a query may be in several rows."""
    if query in by_query and role != "grade":
        advice = "if they are of several systems, select the rows of one"
        refuse(f"expected one list of query {query!r:.60}, found a second; {advice}")
    numbered = [number is not ABSENT for _, number in docs]
    if not all(numbered) and any(numbered):
        doc = docs[numbered.index(False)][0]
        refuse(f"document {doc!r:.60} has no {role}, unlike others")
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
        refuse(f"document {doc!r:.60} is listed twice")
    known = by_query.setdefault(query, {})
    by_query[query] = (dict.fromkeys(known, 1) if isinstance(known, list) else known) | scored


def _in_order(ranks: Mapping[Any, Any], queries: Sequence[Any], fail: Fail) -> dict[Any, Any]:
    """The documents of each query in the order of their ranks."""
    for row, query in enumerate(queries):
        ranked: dict[Any, Any] = {}
        for doc, rank in ranks[query].items() if isinstance(ranks[query], dict) else ():
            if not (hasattr(rank, "__index__") or (isinstance(rank, float) and rank.is_integer())):
                fail(row, f"document {doc!r:.60}: expected a rank, found {rank!r:.60}")
            first = ranked.setdefault(rank, doc)
            if first is not doc:
                fail(row, f"documents {first!r:.60} and {doc!r:.60} both have rank {rank}")
    return {
        query: sorted(docs, key=docs.__getitem__) if isinstance(docs, dict) else docs
        for query, docs in ranks.items()
    }
