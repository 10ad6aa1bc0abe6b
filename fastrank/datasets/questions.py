"""DPR's questions: lines of a question, a tab, and a list of answers as Python writes it."""

from __future__ import annotations

import ast
import csv

from fastrank.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

EXPECTED = "expected a question, a tab and a list of answers, such as ['Paris', 'Paris, France']"


def is_question(line: str) -> bool:
    """Whether a line has a question and a list of answers."""
    if not line.rstrip(' "').endswith("]"):
        return False
    try:
        return _answers(next(csv.reader([line], delimiter="\t"), [])) is not None
    except csv.Error:
        return False


def should_be_question(line: str) -> bool:
    """Whether a first line is a question with an invalid list of answers, not an id and a text."""
    question, tab, answers = line.partition("\t")
    answers = answers.lstrip(' "')
    # No id has a blank, and hardly a text begins like a list of str.
    return bool(tab) and answers.startswith("[" if " " in question.strip() else ("['", '["'))


def questions_of(
    lines: Iterable[tuple[int, str]], name: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line, question and answers of each record. Raises FormatError."""
    last = 0

    def texts() -> Iterator[str]:
        nonlocal last
        for last, line in lines:  # noqa: B007
            yield line

    # Not strict about quotes, as DPR reads the file.
    for cells in csv.reader(texts(), delimiter="\t"):
        answers = _answers(cells)
        if answers is not None:
            yield last, {"question": cells[0], "answers": answers}
        elif cells:
            raise FormatError(name, last, f"{EXPECTED}, found {cells[-1]!r:.60}")


def numbered(records: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Records with an id: the number, from 0, of a question with answers but no id."""
    for place, (line, record) in enumerate(records):
        if record.keys() <= {"question", "answers"} and len(record) == 2:
            record = {"id": str(place), **record}
        yield line, record


def answers_in(record: Mapping[str, Any]) -> list[str] | None:
    """The answers of a query, or None if it has no list of them."""
    found = record.get("answers")
    if isinstance(found, list) and all(isinstance(answer, str) for answer in found):
        return found
    return None


def _answers(cells: list[str]) -> list[str] | None:
    """The answers in the second of two cells, or None if these are not a question and answers."""
    if len(cells) != 2 or cells[1].strip()[:1] != "[":
        return None
    try:
        return answers_in({"answers": ast.literal_eval(cells[1].strip())})
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
