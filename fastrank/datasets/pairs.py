"""Data sets from pairs of queries and relevant texts, as in training data."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fastrank.datasets.assembly import assemble
from fastrank.datasets.huggingface import TextColumns, open_table
from fastrank.datasets.in_memory import check_texts, text_of
from fastrank.datasets.rows import is_missing, rows_of
from fastrank.datasets.text_files import TEXTS, find_name
from fastrank.errors import InputError
from fastrank.formats.column_names import check_roles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from fastrank.datasets.dataset import Dataset

# The names of sentence-transformers, FlagEmbedding and Tevatron.
NAMES = {
    "query": ("query", "anchor", "question"),
    "positive": ("positive", "pos", "positives", "positive_passages"),
    "negative": ("negative", "neg", "negatives", "negative_passages"),
}
ROLES = (*NAMES, "text")
# Rows of a Dataset to read at a time.
STEP = 1 << 14
_NUMBERED = re.compile(r"negative_\d+")


def from_pairs(
    given: Any, corpus: Any, columns: Mapping[str, str] | None, split: str | None, name: str
) -> Dataset:
    """See Dataset.from_pairs."""
    check_roles(columns, ROLES, name)
    rows = rows_of(given, split, name)
    if not rows:
        raise InputError(name, "expected rows with a query and a positive, found none")
    query, positive, negatives = _columns(rows[0], columns or {}, name)
    texts = _Texts() if corpus is None else _Texts(_corpus(corpus, columns or {}, split))
    searched = len(texts.numbers)
    queries: dict[str, str] = {}
    qrels: dict[str, dict[str, int]] = {}
    for place, row in enumerate(rows):
        check_texts(name, [f"row {place}, {query}"], [row.get(query)])
        judged = qrels.setdefault(queries.setdefault(row[query], str(place)), {})
        for column in negatives:
            for text in _texts_in(row, column, place, name):
                judged.setdefault(texts.id_of(text), 0)
        for text in _texts_in(row, positive, place, name):
            judged[texts.id_of(text)] = 1
    documents = list(texts.numbers)
    if corpus is not None:
        del documents[searched:]
    ids = [str(number) for number in range(len(documents))]
    return assemble(name, ids, documents, list(queries.values()), list(queries), qrels)


class _Texts:
    """Distinct texts, numbered in order."""

    def __init__(self, texts: Any = ()) -> None:
        self.numbers: dict[str, int] = {}
        for text in texts:
            self.numbers.setdefault(text, len(self.numbers))

    def id_of(self, text: str) -> str:
        return str(self.numbers.setdefault(text, len(self.numbers)))


def _columns(
    row: Mapping[str, Any], given: Mapping[str, str], name: str
) -> tuple[str, str, list[str]]:
    """The columns of the query, of the positives and of the negatives."""
    found = {}
    for role, names in NAMES.items():
        wanted = given.get(role)
        column = find_name(row, names) if wanted is None else find_name(row, [wanted])
        if column is not None:
            found[role] = column
        elif role != "negative" or wanted is not None:
            expected = ", ".join(names) if wanted is None else repr(wanted)
            present = ", ".join(map(str, row)) or "nothing"
            reason = f"expected a column with the {role} ({expected}), found {present}"
            raise InputError(name, f"{reason}; set columns={{'{role}': NAME}}")
    negatives = [found["negative"]] if "negative" in found else []
    negatives += [column for column in row if _NUMBERED.fullmatch(str(column))]
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
