"""Data sets from pairs of queries and relevant texts, as in training data."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fastrank.common.arguments import check_choice
from fastrank.core.formats.files.source import name_of
from fastrank.core.formats.inputs import is_file
from fastrank.core.formats.tables.roles import check_roles
from fastrank.core.formats.texts.text_files import TEXTS, answers_in, find_name
from fastrank.errors import InputError
from fastrank.vectors.datasets.assembly import assemble, check_texts, text_of
from fastrank.vectors.datasets.huggingface import TextColumns, open_table
from fastrank.vectors.datasets.text_tables import is_missing, rows_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from fastrank.vectors.datasets.dataset import Dataset

# The names of sentence-transformers, FlagEmbedding, Tevatron and DPR.
NAMES = {
    "query": ("query", "anchor", "question"),
    "positive": ("positive", "pos", "positives", "positive_passages", "positive_ctxs"),
    "negative": ("negative", "neg", "negatives", "negative_passages", "hard_negative_ctxs"),
}
# DPR's negatives that are not hard.
OTHER_NEGATIVES = "negative_ctxs"
# What becomes of equal texts.
DUPLICATES = ("merge", "keep")
ROLES = (*NAMES, "text")
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
    check_roles(columns, ROLES, name)
    check_choice("duplicates", duplicates, DUPLICATES)
    rows = rows_of(given, split, name)
    if not rows:
        raise InputError(name, "expected rows with a query and a positive, found none")
    # A row need not have all columns.
    present = dict.fromkeys(column for row in rows for column in row)
    query, positive, negatives = _columns(present, columns or {}, name)
    texts = _Texts(() if corpus is None else _corpus(corpus, columns or {}, split), duplicates)
    searched = len(texts.texts)
    queries: dict[Any, str] = {}
    judged: dict[str, dict[str, int]] = {}
    answers: dict[str, list[str]] = {}
    for place, row in enumerate(rows):
        check_texts(name, [f"row {place}, {query}"], [row.get(query)])
        key = row[query] if duplicates == "merge" else (row[query], place)
        query_id = queries.setdefault(key, str(place))
        answers.setdefault(query_id, answers_in(row) or [])
        grades = judged.setdefault(query_id, {})
        for column in negatives:
            for text in _texts_in(row, column, place, name):
                grades.setdefault(texts.add(text, new=corpus is None), 0)
        for text in _texts_in(row, positive, place, name):
            grades[texts.add(text, new=corpus is None)] = 1
    qrels = {
        query_id: {str(i): grade for text, grade in grades.items() for i in texts.numbers[text]}
        for query_id, grades in judged.items()
    }
    documents = texts.texts if corpus is None else texts.texts[:searched]
    ids = [str(number) for number in range(len(documents))]
    asked = [key if duplicates == "merge" else key[0] for key in queries]
    has_answers = any(answers.values())
    return assemble(
        name,
        ids,
        documents,
        list(queries.values()),
        asked,
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
    present: Iterable[str], given: Mapping[str, str], name: str
) -> tuple[str, str, list[str]]:
    """The columns of the query, of the positives and of the negatives."""
    found = {}
    for role, names in NAMES.items():
        wanted = given.get(role)
        column = find_name(present, names if wanted is None else [wanted])
        if column is not None:
            found[role] = column
        elif role != "negative" or wanted is not None:
            expected = ", ".join(names) if wanted is None else repr(wanted)
            others = ", ".join(map(str, present)) or "nothing"
            reason = f"expected a column with the {role} ({expected}), found {others}"
            raise InputError(name, f"{reason}; set columns={{'{role}': NAME}}")
    negatives = [found["negative"]] if "negative" in found else []
    negatives += [
        column
        for column in present
        if column == OTHER_NEGATIVES or _NUMBERED.fullmatch(str(column))
    ]
    return found["query"], found["positive"], negatives


def _texts_in(row: Mapping[str, Any], column: str, place: int, name: str) -> list[str]:
    """The texts of a cell: a text, or a list of texts or of documents with a title."""
    value: Any = row.get(column)
    if is_missing(value):
        return []
    several = not isinstance(value, (str, Mapping)) and hasattr(value, "__iter__")
    texts = [text_of(text) for text in value] if several else [text_of(value)]
    check_texts(name, [f"row {place}, {column}"] * len(texts), texts)
    return texts


def _corpus(given: Any, columns: Mapping[str, str], split: str | None) -> Iterator[str]:
    """The texts of the corpus."""
    if hasattr(given, "with_format"):
        texts = TextColumns("corpus", open_table("corpus", given, split), columns)
        for first in range(0, len(texts), STEP):
            yield from texts[first : first + STEP]
        return
    if isinstance(given, (list, tuple)) and all(isinstance(text, str) for text in given):
        yield from given
        return
    for place, row in enumerate(rows_of(given, split, "corpus")):
        column = columns.get("text") or find_name(row, TEXTS) or ""
        if column not in row:
            found = ", ".join(map(str, row))
            expected = repr(column) if column else ", ".join(TEXTS)
            raise InputError("corpus", f"row {place}: expected a text ({expected}), found {found}")
        yield from _texts_in(row, column, place, "corpus")
