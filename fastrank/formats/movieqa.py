"""Questions with several choices, as MovieQA's qa.json has them."""

from __future__ import annotations

from fastrank.errors import InputError
from fastrank.formats.tables import RecordsTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.formats.tables import Table

COLUMNS = ("qid", "question", "answers", "correct_index")


def read_movieqa(table: Table) -> Table:
    """The choices of each question as candidates; that of `correct_index` has the label 1.

    Raises InputError for a question without choices or without the index of one of them.
    """
    from array import array

    columns = (table.values(table.names.index(column)) for column in COLUMNS)
    rows: list[tuple[Any, ...]] = []
    numbers = array("q")
    for number, (qid, question, answers, correct) in enumerate(zip(*columns, strict=True), 1):
        place = f"record {number}, question {qid!r:.60}"
        if not isinstance(answers, list) or not all(isinstance(own, str) for own in answers):
            raise InputError(
                table.source, f"{place}: expected a list of answers, found {answers!r:.60}"
            )
        if type(correct) is not int or not 0 <= correct < len(answers):
            expected = f"expected a correct_index from 0 to {len(answers) - 1}"
            raise InputError(table.source, f"{place}: {expected}, found {correct!r:.60}")
        for i, answer in enumerate(answers):
            rows.append((qid, question, f"{qid}-{i}", answer, int(i == correct)))
            numbers.append(number)
    names = ["question_id", "question", "candidate_id", "candidate", "label"]
    return RecordsTable(
        table.source, names, [list(own) for own in zip(*rows, strict=True)], numbers
    )
