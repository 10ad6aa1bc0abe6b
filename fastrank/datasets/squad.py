"""Data sets from SQuAD's files: questions, the paragraphs that they were asked about, answers."""

from __future__ import annotations

from fastrank.datasets.assembly import assemble
from fastrank.datasets.rows import json_of
from fastrank.errors import InputError
from fastrank.formats.source import open_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.datasets.dataset import Dataset

KINDS: dict[Any, str] = {str: "text", list: "list", dict: "object"}


def from_squad(source: Any, name: str | None) -> Dataset:
    """See Dataset.from_squad."""
    with open_source(source) as file:
        name = name or file.name
        found = json_of(file.read(), file.name)
    documents: dict[str, str] = {}
    queries: dict[str, str] = {}
    qrels: dict[str, dict[str, int]] = {}
    answers: dict[str, list[str]] = {}
    if not isinstance(found, dict):
        raise InputError(name, f"expected an object with 'data', found {type(found).__name__}")
    for a, article in enumerate(_of(found, "data", list, name, "")):
        place = f"data[{a}]"
        title = _of(article, "title", str, name, place)
        for p, paragraph in enumerate(_of(article, "paragraphs", list, name, place)):
            where = f"{place}.paragraphs[{p}]"
            doc_id = f"{title}-{p}" if f"{title}-{p}" not in documents else f"{title}-{a}-{p}"
            documents[doc_id] = _of(paragraph, "context", str, name, where)
            for q, asked in enumerate(_of(paragraph, "qas", list, name, where)):
                here = f"{where}.qas[{q}]"
                query = _of(asked, "id", str, name, here)
                if query in queries:
                    raise InputError(name, f"{here}: duplicate id {query!r:.60}")
                queries[query] = _of(asked, "question", str, name, here).strip()
                texts = [
                    _of(one, "text", str, name, f"{here}.answers")
                    for one in _of(asked, "answers", list, name, here)
                ]
                # SQuAD 2.0 has questions that the paragraph does not answer.
                if texts:
                    answers[query] = list(dict.fromkeys(texts))
                    qrels[query] = {doc_id: 1}
    return assemble(
        name, list(documents), list(documents.values()), list(queries), list(queries.values()),
        qrels, answers=answers or None,
    )  # fmt: skip


def _of(given: Any, key: str, kind: type, name: str, place: str) -> Any:
    """A field of an object. Raises InputError."""
    value = given.get(key) if isinstance(given, dict) else None
    if not isinstance(value, kind):
        found = ", ".join(given) if isinstance(given, dict) else repr(given)
        found = type(value).__name__ if isinstance(given, dict) and key in given else found
        at = f"{place}: " if place else ""
        raise InputError(name, f"{at}expected {key!r}, a {KINDS[kind]}, found {found:.60}")
    return value
