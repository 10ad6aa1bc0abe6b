"""Assemble data sets, with checks that judgments fit."""

from __future__ import annotations

from fastrank.data.qrels import Qrels
from fastrank.data.texts import decoded
from fastrank.datasets.dataset import Dataset
from fastrank.errors import InputError
from fastrank.evaluation.evaluator import both_sides, not_in_corpus
from fastrank.formats.inputs import as_qrels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def assemble(
    name: str,
    corpus_ids: list[str],
    corpus: Sequence[str],
    query_ids: list[str],
    queries: Sequence[str],
    qrels: Any,
    **fields: Any,
) -> Dataset:
    """Make a data set from distinct ids, and check its judgments against them.

    qrels: None if the queries have answers, by which results are judged after the search.

    Raises InputError if judgments and data have no ids in common, which would give 0 for every
    measure.
    """
    for what, ids in (("corpus", corpus_ids), ("queries", query_ids)):
        if not ids:
            raise InputError(name, f"the {what} {'are' if what == 'queries' else 'is'} empty")
    if qrels is None:
        if not fields.get("answers"):
            raise InputError(name, "expected qrels, which only queries with answers can do without")
        return Dataset(
            name=name, corpus_ids=corpus_ids, corpus=corpus, query_ids=query_ids, queries=queries,
            qrels=Qrels.from_dict({}), outside=[], unjudged=[], **fields,
        )  # fmt: skip
    judgments = as_qrels(qrels)
    if not isinstance(judgments, Qrels):
        raise TypeError(f"qrels: expected Qrels, found {type(judgments).__name__}")
    judged = set(map(decoded, judgments.queries))
    rows = [row for row, query in enumerate(query_ids) if query in judged]
    if not rows:
        sides = both_sides(judgments.queries, "queries", _encoded(query_ids))
        raise InputError(name, f"no query has judgments ({sides})")
    known = set(corpus_ids)
    outside = {doc: None for doc in map(decoded, judgments.docs) if doc not in known}
    if len(outside) == len(set(judgments.docs)):
        raise InputError(name, not_in_corpus(judgments.docs, _encoded(corpus_ids)))
    if len(rows) < len(query_ids):
        queries = [queries[row] for row in rows]
    return Dataset(
        name=name,
        corpus_ids=corpus_ids,
        corpus=corpus,
        query_ids=[query_ids[row] for row in rows],
        queries=queries,
        qrels=judgments,
        outside=list(outside),
        unjudged=[query for query in query_ids if query not in judged],
        **fields,
    )


def _encoded(ids: Sequence[str]) -> list[bytes]:
    return [text_id.encode("utf-8", "surrogateescape") for text_id in ids]
