"""Data sets from pairs of queries and relevant texts, as in training data."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fastrank.common.arguments import check_choice
from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.tables.forms import is_file, is_list, is_missing
from fastrank.core.formats.tables.reading import table_of
from fastrank.core.formats.tables.roles import check_roles, find_columns
from fastrank.core.formats.texts.text_files import answers_in
from fastrank.vectors.datasets.assembly import assemble, check_texts, text_of
from fastrank.vectors.datasets.huggingface import TextColumns, open_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from fastrank.core.formats.tables.table import Table
    from fastrank.vectors.datasets.dataset import Dataset

# The roles of the columns, by the words that `columns=` takes for them; text is of the corpus.
ROLES = {"query": "asked", "positive": "positive", "negative": "negative"}
# DPR's negatives that are not hard.
OTHER_NEGATIVES = "negative_ctxs"
# Values of `duplicates`: what becomes of equal texts.
DUPLICATES = ("merge", "keep")
# Rows of a Dataset to read at a time.
STEP = 1 << 14
_NUMBERED = re.compile(r"negative_\d+")


def from_pairs(
    given: Any,
    corpus: Any,
    columns: Mapping[str, str] | None,
    split: str | None,
    duplicates: str,
    name: str | None,
) -> Dataset:
    """See Dataset.from_pairs."""
    name = name or (name_of(given) if is_file(given) else "pairs")
    check_roles(columns, (*ROLES, "text"), name)
    check_choice("duplicates", duplicates, DUPLICATES)
    table = table_of(given, None, columns, split=split, quoted=False, ragged=True, source=name)
    query, positive, negatives = _columns(table, columns, name)
    asked, positives = list(table.values(query)), list(table.values(positive))
    others = {column: list(table.values(column)) for column in negatives}
    listed = list(table.values("answers")) if "answers" in table.names else [None] * table.size
    texts = _Texts(() if corpus is None else _corpus(corpus, columns or {}, split), duplicates)
    searched = len(texts.texts)
    queries: dict[Any, str] = {}
    judged: dict[str, dict[str, int]] = {}
    answers: dict[str, list[str]] = {}
    check_texts(name, [f"row {row}, {query}" for row in range(len(asked))], asked)
    for row, text in enumerate(asked):
        query_id = queries.setdefault(text if duplicates == "merge" else (text, row), str(row))
        answers.setdefault(query_id, answers_in({"answers": listed[row]}) or [])
        grades = judged.setdefault(query_id, {})
        for column, cells in others.items():
            for negative in _texts_in(cells[row], f"row {row}, {column}", name):
                grades.setdefault(texts.add(negative, new=corpus is None), 0)
        for relevant in _texts_in(positives[row], f"row {row}, {positive}", name):
            grades[texts.add(relevant, new=corpus is None)] = 1
    qrels = {
        query_id: {str(i): grade for text, grade in grades.items() for i in texts.numbers[text]}
        for query_id, grades in judged.items()
    }
    documents = texts.texts if corpus is None else texts.texts[:searched]
    ids = [str(number) for number in range(len(documents))]
    distinct = [key if duplicates == "merge" else key[0] for key in queries]
    has_answers = any(answers.values())
    return assemble(
        name,
        ids,
        documents,
        list(queries.values()),
        distinct,
        qrels,
        answers=answers if has_answers else None,
    )


class _Texts:
    """Texts in order, and the numbers of each; a text has several if duplicates are kept."""

    def __init__(self, texts: Iterable[str], duplicates: str) -> None:
        self.texts: list[str] = []
        self.numbers: dict[str, list[int]] = {}
        self._keep = duplicates == "keep"
        for text in texts:
            self.add(text, new=True)

    def add(self, text: str, *, new: bool) -> str:
        """Add a text; new: whether it is another document than an equal text, if these are kept."""
        numbers = self.numbers.setdefault(text, [])
        if not numbers or (new and self._keep):
            numbers.append(len(self.texts))
            self.texts.append(text)
        return text


def _columns(
    table: Table, columns: Mapping[str, str] | None, name: str
) -> tuple[str, str, list[str]]:
    """The columns of the query, of the positives and of the negatives."""
    needed = ("query", "positive")
    indexes = find_columns(table.names, ROLES, columns, name, ignored=("text",), needed=needed)
    query, positive = (table.names[indexes[role]] for role in needed)
    negatives = [table.names[indexes["negative"]]] if "negative" in indexes else []
    negatives += [
        column
        for column in table.names
        if column == OTHER_NEGATIVES or _NUMBERED.fullmatch(str(column))
    ]
    return query, positive, negatives


def _texts_in(cell: Any, label: str, name: str) -> list[str]:
    """The texts of a cell: a text, or a list of texts or of documents with a title."""
    if is_missing(cell):
        return []
    several = not isinstance(cell, (str, Mapping)) and hasattr(cell, "__iter__")
    texts = [text_of(text) for text in (cell if several else [cell])]
    check_texts(name, [label] * len(texts), texts)
    return texts


def _corpus(given: Any, columns: Mapping[str, str], split: str | None) -> Iterator[str]:
    """The texts of the corpus."""
    if hasattr(given, "with_format"):
        texts = TextColumns("corpus", open_table("corpus", given, split), columns)
        for first in range(0, len(texts), STEP):
            yield from texts[first : first + STEP]
        return
    if is_list(given) or len(getattr(given, "shape", ())) == 1:
        cells = given.tolist() if hasattr(given, "tolist") else list(given)
        if all(isinstance(cell, str) for cell in cells):
            yield from cells
            return
    table = table_of(given, None, columns, split=split, quoted=False, source="corpus")
    chosen = {"text": columns["text"]} if "text" in columns else None
    indexes = find_columns(table.names, ("text",), chosen, "corpus", needed=("text",))
    for row, cell in enumerate(table.values(table.names[indexes["text"]])):
        yield from _texts_in(cell, f"row {row}", "corpus")
