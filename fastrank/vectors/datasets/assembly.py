"""Assemble data sets, with checks that judgments fit."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.core.data.texts import decoded, encoded
from fastrank.core.evaluation.unshared_ids import both_sides, not_in_corpus
from fastrank.core.formats.inputs import as_qrels
from fastrank.core.formats.qrels import Qrels
from fastrank.core.formats.tables.values import first_repeat, texts_of_list
from fastrank.core.formats.texts.text_files import joined
from fastrank.errors import InputError
from fastrank.vectors.datasets.dataset import Dataset
from fastrank.vectors.searching.row_ids import RowIds, check_numbering

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, NoReturn


def assemble(
    name: str,
    corpus_ids: list[str],
    corpus: Sequence[str],
    query_ids: list[str],
    queries: Sequence[str],
    qrels: Any,
    numbered: Iterable[str] = (),
    **fields: Any,
) -> Dataset:
    """Make a data set from distinct ids, and check its judgments against them.

    qrels: None if the queries have answers, by which results are judged after the search. numbered:
    which of "documents" and "queries" have row numbers as ids, which judgments made elsewhere may
    count from 1.

    Raises InputError if judgments and data have no ids in common, which would give 0 for every
    measure, or if judgments count rows from 1.
    """
    for side, ids in (("corpus", corpus_ids), ("queries", query_ids)):
        if not ids:
            raise InputError(name, f"the {side} {'are' if side == 'queries' else 'is'} empty")
    if qrels is None:
        if not fields.get("answers"):
            raise InputError(name, "expected qrels, which only queries with answers can do without")
        return Dataset(
            name=name,
            corpus_ids=corpus_ids,
            corpus=corpus,
            query_ids=query_ids,
            queries=queries,
            qrels=Qrels.from_dict({}),
            outside=[],
            unjudged=[],
            **fields,
        )
    judgments = as_qrels(qrels)
    if not isinstance(judgments, Qrels):
        raise TypeError(f"qrels: expected Qrels, found {type(judgments).__name__}")
    judged = set(map(decoded, judgments.queries))
    judged_rows = [row for row, query in enumerate(query_ids) if query in judged]
    if not judged_rows:
        sides = both_sides(judgments.queries, "queries", _encoded(query_ids))
        raise InputError(name, f"no query has judgments ({sides})")
    corpus_docs, judged_docs = set(corpus_ids), [*map(decoded, judgments.docs)]
    grades = judgments.grades
    # A negative grade is that of a document nobody judged.
    graded_docs = zip(judged_docs, grades.tolist(), strict=True)
    graded = [doc for doc, grade in graded_docs if grade >= 0]
    outside = {doc: None for doc in graded if doc not in corpus_docs}
    if corpus_docs.isdisjoint(graded or judged_docs):
        raise InputError(name, not_in_corpus(judgments.docs, _encoded(corpus_ids)))
    counts = {"documents": len(corpus_ids), "queries": len(query_ids)}
    row_numbers = {noun: counts[noun] for noun in numbered}
    for noun, count in row_numbers.items():
        is_corpus = noun == "documents"
        judged_ids = judgments.docs if is_corpus else judgments.queries
        remedy = f"give the {noun} the ids that the judgments have"
        of_ids = grades if is_corpus else None
        check_numbering(name, judged_ids, RowIds(None, count), noun, remedy, of_ids)
    if len(judged_rows) < len(query_ids):
        queries = [queries[row] for row in judged_rows]
    return Dataset(
        name=name,
        corpus_ids=corpus_ids,
        corpus=corpus,
        query_ids=[query_ids[row] for row in judged_rows],
        queries=queries,
        qrels=judgments,
        outside=list(outside),
        unjudged=[query for query in query_ids if query not in judged],
        row_numbers=row_numbers,
        **fields,
    )


def _encoded(ids: Sequence[str]) -> list[bytes]:
    return list(map(encoded, ids))


def ids_of(name: str, values: Sequence[Any]) -> list[str]:
    """Ids of any type as distinct str. Raises InputError."""

    def fail(row: int, reason: str) -> NoReturn:
        raise InputError(name, f"id {row}: {reason}")

    ids = texts_of_list(values, fail).decoded()
    row = first_repeat(ids)
    if row >= 0:
        raise InputError(
            name, f"id {row}: duplicate {ids[row]!r:.60}, also at {ids.index(ids[row])}"
        )
    return ids


def check_texts(name: str, ids: Sequence[str], texts: Sequence[Any]) -> None:
    """Raise InputError for the first text that is not a str."""
    if set(map(type, texts)) <= {str}:
        return
    for text_id, text in zip(ids, texts, strict=True):
        if not isinstance(text, str):
            description = f"{type(text).__name__}: {text!r:.60}"
            raise InputError(name, f"{text_id!r:.60}: expected a str, found {description}")


def ids_and_texts(name: str, source: Any, ids: Iterable[Any] | None) -> tuple[list[str], list[str]]:
    """The ids and texts of a dict, or of a list with its ids. Raises InputError."""
    if isinstance(source, (str, bytes)):
        raise InputError(name, "expected a dict or a list of texts, found a str")
    for argument in (source, ids):
        if isinstance(argument, (set, frozenset)):
            kind = type(argument).__name__
            raise InputError(name, f"expected a dict or a list, found {kind}, which has no order")
    if isinstance(source, Mapping):
        if ids is not None:
            raise InputError(name, "expected no ids for a dict, whose keys are the ids")
        text_ids, texts = ids_of(name, list(source)), list(source.values())
    else:
        texts = list(source)
        text_ids = ids_of(name, list(range(len(texts)) if ids is None else ids))
        if len(text_ids) != len(texts):
            raise InputError(
                name, f"expected {len(texts)} ids, one per text, found {len(text_ids)}"
            )
    texts = [text_of(text) for text in texts]
    check_texts(name, text_ids, texts)
    return text_ids, texts


def text_of(document: Any) -> Any:
    """The text of {"title": ..., "text": ...}; anything else unchanged."""
    if isinstance(document, Mapping) and isinstance(document.get("text"), str):
        title = document.get("title")
        return joined(title if isinstance(title, str) else None, document["text"])
    return document
