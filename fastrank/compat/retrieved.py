"""Runs from the results of retrieval frameworks: LlamaIndex, Haystack, LangChain, MLflow, ...

Their objects are recognized by their attributes; none of the packages needs to be installed.

>>> from fastrank.compat.retrieved import results_to_run
>>> found = [{"id": "c7", "score": 0.9, "metadata": {}}, {"id": "c2", "score": 0.4}]
>>> results_to_run({"q1": found}).to_dict()
{'q1': {'c7': 0.9, 'c2': 0.4}}
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate

from fastrank.common.arguments import check_choice
from fastrank.core.formats.run import Run
from fastrank.core.formats.tables.values import scores_of, tag_of, texts_of_list
from fastrank.core.native.buffers import filled
from fastrank.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

__all__ = ["results_to_run"]

SOURCE = "results"
# The names of attributes and keys; those with a dot are OpenInference's, in Phoenix.
IDS = ("node_id", "id", "document.id")
SCORES = ("score", "document.score")
METADATA = ("metadata", "meta", "document.metadata")


def results_to_run(
    results: Mapping[Any, object],
    *,
    id: str | Callable[[Any], object] | None = None,
    rank_by: str = "score",
    higher_is_better: bool = True,
    tag: str | None = None,
) -> Run:
    """Convert the results of a retriever to a run.

    results: {query: what was retrieved}: a list of LlamaIndex's NodeWithScore, of Haystack's,
        LangChain's or MLflow's Documents, of LangChain's pairs (Document, score), of documents in
        spans of Phoenix, of dicts with an id and a score, or of ids.
    id: where the id is if it is not the document's own: a key of its metadata, or a function of the
        document (in LlamaIndex of the node), such as `lambda node: node.ref_doc_id`.
    rank_by: "score"; "given" for the order of the list, if there are no scores.
    higher_is_better: False for distances, which some stores of LangChain return. tag: the run's
        name.

    A query with an empty list is kept as one without results. A document that was retrieved twice
    is kept twice, and an error in `evaluate`, unless `duplicates="first"`. Raises InputError, which
    names the query and the result, for a document without an id or a score, and for other objects.

    >>> from types import SimpleNamespace as Document
    >>> texts = [Document(id=None, metadata={"key": "b"}), Document(id=None, metadata={"key": "a"})]
    >>> results_to_run({"q1": texts, "q2": []}, id="key", rank_by="given").to_dict()
    {'q1': {'b': -1.0, 'a': -2.0}, 'q2': {}}
    """
    check_choice("rank_by", rank_by, ("score", "given"))
    if not hasattr(results, "items"):
        kind = type(results).__name__
        raise TypeError(f"results: expected {{query: documents}}, found {kind}")
    queries, lists = list(results), list(map(_listed, results.values(), results))
    ends = list(accumulate(map(len, lists), initial=0))

    def fail(row: int, reason: str) -> NoReturn:
        query = bisect_right(ends, row) - 1
        fail_query(query, f"result {row - ends[query] + 1}: {reason}")

    def fail_query(row: int, reason: str) -> NoReturn:
        raise InputError(SOURCE, f"query {queries[row]!r:.60}, {reason}")

    ids: list[object] = []
    scores: list[object] = []
    for documents in lists:
        for rank, result in enumerate(documents, 1):
            document, score = _parts(result)
            ids.append(_id_of(document, id, len(ids), fail))
            if rank_by == "given":
                score = -rank if higher_is_better else rank
            elif score is None:
                fail(len(scores), "expected a score, found none; rank_by='given' ranks as listed")
            scores.append(score)
    return Run(
        queries=texts_of_list(queries, fail_query),
        docs=texts_of_list(ids, fail).placed(None, "item"),
        offset_column=filled("q", ends),
        score_column=scores_of(scores, fail, higher_is_better=higher_is_better),
        tag_bytes=tag_of(tag, SOURCE),
        source=f"<{SOURCE}>",
    )


def _listed(documents: object, query: object) -> list[object]:
    """The documents or ids of a query, also in what a retriever of Haystack returns."""
    if isinstance(documents, Mapping):
        documents = documents.get("documents", documents)
    if isinstance(documents, (str, bytes, Mapping)) or not hasattr(documents, "__iter__"):
        reason = f"query {query!r:.60}, expected a list of documents, found {documents!r:.60}"
        raise InputError(SOURCE, reason)
    return list(documents)


def _parts(result: object) -> tuple[object, object]:
    """The document of a result, and its score or None."""
    if isinstance(result, (tuple, list)) and len(result) == 2:
        return result[0], result[1]
    return getattr(result, "node", result), _first(result, SCORES)


def _id_of(document: object, id: object, row: int, fail: Callable[[int, str], NoReturn]) -> object:
    if callable(id):
        return id(document)
    # Integers of numpy, too.
    if isinstance(document, str) or hasattr(document, "__index__"):
        return document
    metadata = _first(document, METADATA)
    metadata = metadata if isinstance(metadata, Mapping) else {}
    document_id = _first(document, IDS) if id is None else metadata.get(id)
    if document_id is None:
        kind = f"{type(document).__name__} without"
        if metadata:
            kind = f"{type(document).__name__} with the metadata {', '.join(map(str, metadata))}"
            kind += "; id='NAME' takes it from the metadata" if id is None else ""
        fail(row, f"expected {'an id' if id is None else repr(id)}, found {kind}")
    return document_id


def _first(document: object, names: tuple[str, ...]) -> object:
    """The first value of these attributes or keys that is not None."""
    fields = document if isinstance(document, Mapping) else None
    for name in names:
        value = getattr(document, name, None) if fields is None else fields.get(name)
        if value is not None:
            return value
    return None
