"""DPR's results: a JSON list of questions with their retrieved passages."""

from __future__ import annotations

from fastrank.formats.tables import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RETRIEVED = "ctxs"
IDS = ("id", "question_id")
# The names of the number of a passage in a file, and of its column, by kind.
NUMBERS = {"qrels": ("has_answer", "relevance"), "run": ("score", "score")}


class RetrievedTable(Table):
    """A row per retrieved passage of each record {question, answers, ctxs: [{id, score, ...}]}.

    kind: qrels, whose grades are `has_answer`, or run. A query is named by its id, or by its
    number from 0.
    """

    def __init__(self, table: Table, kind: str) -> None:
        self._key, number = NUMBERS[kind]
        key = next((name for name in IDS if name in table.names), None)
        count = range(table.size)
        queries = list(count) if key is None else table.values(table.names.index(key))
        self._records, self.unit = table, table.unit
        self._places: list[int] = []
        self._columns: list[list[Any]] = [[], [], []]
        for row, found in enumerate(table.values(table.names.index(RETRIEVED))):
            if not isinstance(found, list):
                table.refuse(row, f"{RETRIEVED}: expected a list of passages, found {found!r:.60}")
            for place, passage in enumerate(found):
                self._add(row, place, queries[row], passage)
        super().__init__(table.source, ["query_id", "doc_id", number], len(self._places))

    def _add(self, row: int, place: int, query: Any, passage: Any) -> None:
        where = f"{RETRIEVED}[{place}]"
        for key in ("id", self._key):
            if not isinstance(passage, dict) or key not in passage:
                found = ", ".join(passage) if isinstance(passage, dict) else repr(passage)
                hint = "; fastrank.datasets.answer_qrels judges a run"
                hint = hint if key == "has_answer" else ""
                self._records.refuse(row, f"{where}: expected {key!r}, found {found:.60}{hint}")
        value = passage[self._key]
        if self._key == "has_answer" and not isinstance(value, bool):
            self._records.refuse(row, f"{where}: expected true or false, found {value!r:.60}")
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                self._records.refuse(row, f"{where}: expected a score, found {value!r:.60}")
        self._places.append(row)
        cells = (query, passage["id"], int(value) if isinstance(value, bool) else value)
        for column, cell in zip(self._columns, cells, strict=True):
            column.append(cell)

    def values(self, place: int) -> Any:
        """A column."""
        return self._columns[place]

    def refuse(self, row: int, reason: str) -> Any:
        """Raise the error about the record of a row."""
        return self._records.refuse(self._places[row], reason)
