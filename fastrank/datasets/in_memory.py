"""Data sets from dicts and lists."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.datasets.assembly import assemble
from fastrank.errors import InputError
from fastrank.formats.values import first_repeat, texts_of_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, NoReturn

    from fastrank.datasets.dataset import Dataset


def from_texts(
    corpus: Any,
    queries: Any,
    qrels: Any,
    corpus_ids: Iterable[Any] | None,
    query_ids: Iterable[Any] | None,
    ignore_identical_ids: bool,
    name: str,
) -> Dataset:
    """See Dataset.from_texts."""
    documents = _ids_and_texts("corpus", corpus, corpus_ids)
    asked = _ids_and_texts("queries", queries, query_ids)
    return assemble(name, *documents, *asked, qrels, ignore_identical_ids=ignore_identical_ids)


def ids_of(name: str, given: Sequence[Any]) -> list[str]:
    """Ids of any type as distinct str. Raises InputError."""

    def fail(row: int, reason: str) -> NoReturn:
        raise InputError(name, f"id {row}: {reason}")

    ids = texts_of_list(given, fail).decoded()
    row = first_repeat(ids)
    if row >= 0:
        raise InputError(
            name, f"id {row}: duplicate {ids[row]!r:.60}, also at {ids.index(ids[row])}"
        )
    return ids


def joined(title: str | None, text: str | None) -> str:
    """The text to encode for a document with a title, as in BEIR, MTEB and others."""
    return f"{title or ''} {text or ''}".strip() if title else text or ""


def check_texts(name: str, ids: Sequence[str], texts: Sequence[Any]) -> None:
    """Raise InputError for the first text that is not a str."""
    if set(map(type, texts)) <= {str}:
        return
    for text_id, text in zip(ids, texts, strict=True):
        if not isinstance(text, str):
            found = f"{type(text).__name__}: {text!r:.60}"
            raise InputError(name, f"{text_id!r:.60}: expected a str, found {found}")


def _ids_and_texts(name: str, given: Any, ids: Iterable[Any] | None) -> tuple[list[str], list[str]]:
    if isinstance(given, (str, bytes)):
        raise InputError(name, "expected a dict or a list of texts, found a str")
    for argument in (given, ids):
        if isinstance(argument, (set, frozenset)):
            kind = type(argument).__name__
            raise InputError(name, f"expected a dict or a list, found {kind}, which has no order")
    if isinstance(given, Mapping):
        if ids is not None:
            raise InputError(name, "expected no ids for a dict, whose keys are the ids")
        found, texts = ids_of(name, list(given)), list(given.values())
    else:
        texts = list(given)
        found = ids_of(name, list(range(len(texts)) if ids is None else ids))
        if len(found) != len(texts):
            raise InputError(name, f"expected {len(texts)} ids, one per text, found {len(found)}")
    texts = [text_of(text) for text in texts]
    check_texts(name, found, texts)
    return found, texts


def text_of(given: Any) -> Any:
    """The text of {"title": ..., "text": ...}; anything else unchanged."""
    if isinstance(given, Mapping) and isinstance(given.get("text"), str):
        title = given.get("title")
        return joined(title if isinstance(title, str) else None, given["text"])
    return given
