"""Data sets from objects of Hugging Face's `datasets`, known by what they can do."""

from __future__ import annotations

from collections.abc import Sequence

from fastrank.data.qrels import Qrels
from fastrank.datasets.assembly import assemble
from fastrank.datasets.in_memory import check_texts, ids_of, joined
from fastrank.datasets.text_files import IDS, QUERIES, TEXTS, TITLES, find_name
from fastrank.errors import InputError
from fastrank.formats.column_names import QRELS_ROLES, find_columns
from fastrank.formats.splits import choose_split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.datasets.dataset import Dataset


def from_huggingface(
    corpus: Any, queries: Any, qrels: Any, split: str | None, exclude_self: bool, name: str
) -> Dataset:
    """See Dataset.from_huggingface."""
    documents, asked = (
        _table(source, given, split) for source, given in (("corpus", corpus), ("queries", queries))
    )
    judgments = qrels
    if hasattr(qrels, "column_names"):
        judgments = _qrels(_table("qrels", qrels, split))
    return assemble(
        name,
        _ids("corpus", documents),
        TextColumns("corpus", documents),
        _ids("queries", asked),
        TextColumns("queries", asked),
        judgments,
        exclude_self=exclude_self,
    )


class TextColumns(Sequence[str]):
    """The texts of a table, which are read when they are asked for."""

    def __init__(self, source: str, table: Any) -> None:
        names = table.column_names
        self._source = source
        title, text = find_name(names, TITLES), find_name(names, (*TEXTS, *QUERIES))
        self._columns = [column for column in (title, text) if column is not None]
        if not self._columns:
            known = ", ".join((*TEXTS, *QUERIES, *TITLES))
            raise InputError(source, f"expected a column of texts ({known}), {_found(names)}")
        self._has_title = title is not None and text is not None
        self._table = table.select_columns(self._columns)

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, rows: Any) -> Any:
        """The text of a row, or a list of those of a slice. Raises InputError for no text."""
        if not isinstance(rows, slice):
            row = range(len(self))[rows]
            return self[row : row + 1][0]
        found = self._table[rows]
        first, *others = (list(found[name]) for name in self._columns)
        places = [f"row {row}" for row in range(*rows.indices(len(self)))]
        for column in (first, *others):
            check_texts(self._source, places, ["" if text is None else text for text in column])
        if self._has_title:
            return [joined(title, text) for title, text in zip(first, others[0], strict=True)]
        return [text or "" for text in first]


def _table(source: str, given: Any, split: str | None) -> Any:
    """The table itself, or that of the split."""
    given = choose_split(source, given, split)
    if not hasattr(given, "column_names") or not hasattr(given, "__len__"):
        found = type(given).__name__
        raise InputError(
            source,
            f"expected a Dataset of `datasets`, not streamed and with columns, found {found}",
        )
    # Arrays and tensors, or what a user's function makes of rows, are not asked for.
    return given.with_format(None)


def _ids(source: str, table: Any) -> list[str]:
    name = find_name(table.column_names, IDS)
    if name is None:
        names = table.column_names
        raise InputError(source, f"expected a column of ids ({', '.join(IDS)}), {_found(names)}")
    return ids_of(source, _column(table, name))


def _qrels(table: Any) -> Qrels:
    names = table.column_names
    found = find_columns(names, QRELS_ROLES, None, "qrels")
    return Qrels.from_arrays(*(_column(table, names[found[role]]) for role in QRELS_ROLES[:3]))


def _column(table: Any, name: str) -> list[Any]:
    return list(table.select_columns([name])[:][name])


def _found(names: list[str]) -> str:
    return f"found {', '.join(names)}"
