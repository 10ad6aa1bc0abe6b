"""In-batch negatives: the passages of the other questions in a training batch."""

from __future__ import annotations

from fastrank.arguments import at_least
from fastrank.data.qrels import Qrels
from fastrank.datasets.lookup import joined, lookup
from fastrank.formats.candidates import Candidates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.mining.instances import HardNegatives


def in_batch(mined: HardNegatives, batch_size: int, corpus: Any, queries: Any) -> Candidates:
    """See `HardNegatives.in_batch`."""
    size = at_least("batch_size", batch_size, 1)
    asked: list[str] = []
    docs: list[str] = []
    judged: dict[str, dict[str, int]] = {}
    for start in range(0, len(mined), size):
        batch = mined[start : start + size]
        together = dict.fromkeys(
            doc
            for own in batch
            for doc in (own.positives[0], *own.negatives, *own.random_negatives)
        )
        for own in batch:
            first, *others = own.positives
            kept = [doc for doc in together if doc not in others]
            judged[own.query] = {doc: int(doc == first) for doc in kept}
            asked += [own.query] * len(kept)
            docs += kept
    question, text = (
        None if given is None else lookup(given, role)
        for given, role in ((queries, "queries"), (corpus, "corpus"))
    )
    return Candidates(
        source=mined.run.source,
        queries=asked,
        docs=docs,
        qrels=Qrels.from_dict(judged),
        question_texts=None if question is None else [joined(question(own)) for own in asked],
        texts=None if text is None else [joined(text(own)) for own in docs],
    )
