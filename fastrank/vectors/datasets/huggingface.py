"""Data sets from Hugging Face Datasets, recognized by their methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastrank.core.formats.inputs import choose_split, is_dict_of_splits
from fastrank.core.formats.qrels import Qrels
from fastrank.core.formats.tables.roles import QRELS_ROLES, check_roles, find_columns
from fastrank.core.formats.texts.text_files import joined
from fastrank.errors import InputError
from fastrank.vectors.datasets.assembly import assemble, check_texts, ids_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.vectors.datasets.dataset import Dataset


# Known names of columns of texts and ids, and the tables.
TEXT_ROLES = ("title", "text")
ROLES = ("id", *TEXT_ROLES)
TABLES = ("corpus", "queries", "qrels")


def from_huggingface(
    corpus: Any,
    queries: Any,
    qrels: Any,
    columns: Mapping[str, Mapping[str, str | None]] | None,
    split: str | None,
    ignore_identical_ids: bool,
    name: str,
) -> Dataset:
    """See Dataset.from_huggingface."""
    check_roles(columns, TABLES, name)
    names = columns or {}
    documents, asked = (
        _ids_and_texts(source, open_table(source, table, split), names.get(source) or {})
        for source, table in (("corpus", corpus), ("queries", queries))
    )
    judgments = qrels
    if hasattr(qrels, "column_names") or is_dict_of_splits(qrels):
        judgments = _qrels(open_table("qrels", qrels, split), names.get("qrels"))
    nouns = {"corpus": "documents", "queries": "queries"}
    numbered = [
        noun for side, noun in nouns.items() if (names.get(side) or {}).get("id", "") is None
    ]
    return assemble(
        name, *documents, *asked, judgments, numbered, ignore_identical_ids=ignore_identical_ids
    )


class TextColumns(Sequence[str]):
    """The texts of a table, read lazily.

    columns: the given names of columns by role, `title` and `text`.
    """

    def __init__(self, source: str, table: Any, columns: Mapping[str, Any]) -> None:
        self._source = source
        names = table.column_names
        chosen = {role: name for role, name in columns.items() if role in TEXT_ROLES}
        indexes = find_columns(names, TEXT_ROLES, chosen, source, needed=())
        if not indexes:
            # A title alone is a text, too.
            find_columns(names, ("text",), chosen, source, ignored=("title",), needed=("text",))
        title, text = (indexes.get(role) for role in TEXT_ROLES)
        self._columns = [names[index] for index in (title, text) if index is not None]
        self._has_title = title is not None and text is not None
        self._table = table.select_columns(self._columns)

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, rows: Any) -> Any:
        """The text of a row, or a list for a slice. Raises InputError for a missing text."""
        if not isinstance(rows, slice):
            row = range(len(self))[rows]
            return self[row : row + 1][0]
        cells = self._table[rows]
        first, *others = (list(cells[name]) for name in self._columns)
        labels = [f"row {row}" for row in range(*rows.indices(len(self)))]
        for column in (first, *others):
            check_texts(self._source, labels, ["" if text is None else text for text in column])
        if self._has_title:
            return [joined(title, text) for title, text in zip(first, others[0], strict=True)]
        return [text or "" for text in first]


def open_table(source: str, table: Any, split: str | None) -> Any:
    """The table, or the table of the split."""
    table = choose_split(source, table, split)
    if not hasattr(table, "column_names") or not hasattr(table, "__len__"):
        kind = type(table).__name__
        raise InputError(
            source, f"expected a Hugging Face Dataset with columns, not streamed, found {kind}"
        )
    # Plain Python objects, instead of arrays, tensors or the output of a user's function.
    return table.with_format(None)


def _ids_and_texts(
    source: str, table: Any, columns: Mapping[str, str | None]
) -> tuple[list[str], TextColumns]:
    check_roles(columns, ROLES, source)
    return _ids(source, table, columns), TextColumns(source, table, columns)


def _ids(source: str, table: Any, columns: Mapping[str, Any]) -> list[str]:
    chosen = {"id": columns["id"]} if "id" in columns else {}
    if chosen == {"id": None}:
        return [str(row) for row in range(len(table))]
    indexes = find_columns(table.column_names, ("id",), chosen, source, needed=("id",))
    return ids_of(source, _column(table, table.column_names[indexes["id"]]))


def _qrels(table: Any, columns: Mapping[str, Any] | None) -> Qrels:
    names = table.column_names
    positions = find_columns(names, QRELS_ROLES, columns, "qrels")
    return Qrels.from_arrays(*(_column(table, names[positions[role]]) for role in QRELS_ROLES[:3]))


def _column(table: Any, name: str) -> list[Any]:
    return list(table.select_columns([name])[:][name])
