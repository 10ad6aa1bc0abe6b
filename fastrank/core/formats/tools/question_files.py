"""Records of questions with lists of documents: DPR's results, KILT, HotpotQA, BRIGHT."""

from __future__ import annotations

from fastrank.common.c_numbers import finite
from fastrank.core.formats.tables.roles import check_mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from fastrank.core.formats.tables.table import Table

    Rows = Iterator[tuple[Any, Any]]

IDS = ("id", "_id", "question_id")
HINT = "; fastrank.datasets.answer_qrels judges a run"


def as_rows(table: Table, kind: str, columns: Mapping[str, Any] | None = None) -> Table:
    """The table with a row per document if it has records of questions, else the table itself.

    kind: qrels or run. columns: as in `read_qrels`; its document may be gold_ids_long, and remains
    the name of the column. A query is named by its id, or by its number from 0. Raises InputError
    and FormatError.
    """
    check_mapping(columns, table.source)
    wanted = [columns.get("doc")] if columns else FORMS
    column = next((name for name in wanted if name in FORMS and name in table.names), "")
    if kind not in FORMS.get(column, {}):
        return table
    lists = table.values(column)
    if not isinstance(next(iter(lists), None), (list, dict)):
        return table
    number, rows_of = FORMS[column][kind]
    own_id = next((name for name in IDS if name in table.names), None)
    queries = range(len(lists)) if own_id is None else table.values(own_id)

    def items() -> Iterator[tuple[int, tuple[Any, ...]]]:
        for row, (query, found) in enumerate(zip(queries, lists, strict=True)):
            try:
                rows = list(rows_of(found))
            except ValueError as error:
                table.refuse(row, f"{column}{error}")
            if kind == "qrels" and not rows:
                # Without a judgment, the question would silently be missing from all means.
                hint = HINT if column == "ctxs" else ""
                table.refuse(row, f"{column}: expected passages to judge, found none{hint}")
            for values in rows:
                yield row, (query, *values)

    return table.exploded(["query_id", column if columns else "doc_id", number], items())


def kinds_of_record(record: Mapping[str, Any]) -> set[str]:
    """What the lists of a record of a question can be: qrels, a run, or both."""
    columns = [own for own in FORMS if isinstance(record.get(own), (list, dict))]
    return {kind for column in columns for kind in FORMS[column]}


def _flagged(found: Any) -> Rows:
    for place, doc, value in _passages(found, "has_answer", HINT):
        if not isinstance(value, bool):
            raise ValueError(f"[{place}]: expected true or false, found {value!r:.60}")
        yield doc, int(value)


def _scored(found: Any) -> Rows:
    for place, doc, value in _passages(found, "score"):
        score = finite(value) if isinstance(value, str) else value
        if score is None and isinstance(value, str):
            raise ValueError(f"[{place}]: expected a score, found {value!r:.60}")
        yield doc, score


def _passages(found: Any, key: str, hint: str = "") -> Iterator[tuple[int, Any, Any]]:
    """The place, the id and the number, by that key, of each passage of DPR."""
    for place, passage in enumerate(_listed(found)):
        _need(passage, "id", f"[{place}]")
        _need(passage, key, f"[{place}]", hint)
        yield place, passage["id"], passage[key]


def _relevant(docs: Iterable[Any]) -> Rows:
    """Each distinct document, with grade 1."""
    known = set()
    for place, doc in enumerate(docs):
        if not isinstance(doc, (str, int)):
            raise ValueError(f"[{place}]: expected the id of a document, found {doc!r:.60}")
        if doc not in known:
            known.add(doc)
            yield doc, 1


def _facts(found: Any) -> Rows:
    return _relevant(title for title, _ in pairs_of(found, "title", "sent_id"))


def pairs_of(found: Any, first: str, second: str) -> Rows:
    """The pairs of HotpotQA: [[title, number], ...], or as columns {title: [...], number: [...]}.

    Raises ValueError.
    """
    if isinstance(found, dict):
        columns = []
        for key in (first, second):
            _need(found, key, "")
            columns.append(_listed(found[key], f".{key}"))
        if len(columns[0]) != len(columns[1]):
            reason = f": expected as many values of {first} as of {second}"
            raise ValueError(f"{reason}, found {len(columns[0])} and {len(columns[1])}")
        found = list(zip(*columns, strict=True))
    for place, pair in enumerate(_listed(found)):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or type(pair[0]) is not str:
            raise ValueError(f"[{place}]: expected {first} and {second}, found {pair!r:.60}")
        yield pair[0], pair[1]


def _provenance(found: Any) -> Rows:
    return _relevant(_pages(found))


def _ranked(found: Any) -> Rows:
    if len(_listed(found)) != 1:
        raise ValueError(f": expected one output with the pages of a run, found {len(found)}")
    return ((page, rank) for rank, page in enumerate(_pages(found), 1))


def _pages(outputs: Any) -> Iterator[Any]:
    """The pages of the outputs of KILT, which may also have only an answer."""
    for own, output in enumerate(_listed(outputs)):
        pages = output.get("provenance") if isinstance(output, dict) else output
        for place, page in enumerate(_listed(pages or [], f"[{own}].provenance")):
            _need(page, "wikipedia_id", f"[{own}].provenance[{place}]")
            own_id = page["wikipedia_id"]
            yield own_id.strip() if isinstance(own_id, str) else own_id


def _listed(found: Any, place: str = "") -> list[Any]:
    if not isinstance(found, list):
        raise ValueError(f"{place}: expected a list, found {found!r:.60}")
    return found


def _need(given: Any, key: str, place: str, hint: str = "") -> None:
    if not isinstance(given, dict) or key not in given:
        found = ", ".join(given) if isinstance(given, dict) else repr(given)
        raise ValueError(f"{place}: expected {key!r}, found {found:.60}{hint}")


# The name of the column of numbers, by the column of the lists and the kind, and what yields the
# document and the number in each row. The text of their ValueErrors follows the column's name.
FORMS: dict[str, dict[str, tuple[str, Callable[[Any], Rows]]]] = {
    "ctxs": {"qrels": ("relevance", _flagged), "run": ("score", _scored)},
    "gold_ids": {"qrels": ("relevance", lambda ids: _relevant(_listed(ids)))},
    "gold_ids_long": {"qrels": ("relevance", lambda ids: _relevant(_listed(ids)))},
    "supporting_facts": {"qrels": ("relevance", _facts)},
    "output": {"qrels": ("relevance", _provenance), "run": ("rank", _ranked)},
}
