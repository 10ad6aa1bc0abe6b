"""What it means to match a run with judgments, in plain Python.

This is the specification of `match` for graded judgments. The kernels do the same for each form of
a run without making these objects; a property test compares every form with it.
"""

from __future__ import annotations

from array import array
from typing import NamedTuple

from fastrank.common.arguments import DEFAULT_VERSION
from fastrank.core.data.texts import encoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# A document that was pooled, but not judged.
NEGATIVE = -2


class JoinedQuery(NamedTuple):
    """A judged query with results: what `Rankings` has of it.

    listed: rank and grade of each retrieved document that is in the judgments, best first; NEGATIVE
        stands for any grade below 0.
    grades: how many judgments of the query have each grade of at least 0.
    """

    query: str
    listed: list[tuple[int, int]]
    grades: dict[int, int]
    num_ret: int
    num_rel: int
    num_rel_ret: int


def join(
    qrels: Mapping[str, Mapping[str, int]],
    run: Mapping[str, Mapping[str, float]],
    *,
    relevance_level: int = 1,
    depth: int | None = None,
    judged_only: bool = False,
    trec_eval_version: str = DEFAULT_VERSION,
) -> list[JoinedQuery]:
    """Match a run with judgments as trec_eval does, the queries in byte order of their ids."""
    joined = []
    for query in sorted(qrels.keys() & run.keys(), key=encoded):
        grades = {doc: grade if grade >= 0 else NEGATIVE for doc, grade in qrels[query].items()}
        judged = [grade for grade in grades.values() if grade >= 0]
        # Among equal scores, the document whose id sorts later comes first.
        docs = sorted(run[query], key=encoded, reverse=True)
        scores = {doc: _compared(run[query][doc], trec_eval_version) for doc in docs}
        docs = sorted(docs, key=scores.__getitem__, reverse=True)[:depth]
        if judged_only:
            docs = [doc for doc in docs if grades.get(doc, NEGATIVE) >= 0]
        listed = [(rank, grades[doc]) for rank, doc in enumerate(docs, 1) if doc in grades]
        joined.append(
            JoinedQuery(
                query,
                listed,
                {grade: judged.count(grade) for grade in sorted({*judged})},
                num_ret=len(docs),
                num_rel=sum(grade >= relevance_level for grade in judged),
                num_rel_ret=sum(grade >= relevance_level for _, grade in listed),
            )
        )
    return joined


def _compared(score: float, trec_eval_version: str) -> float:
    """A score as trec_eval compares it: as a C float in 9.0.8, as a double in 10.0."""
    return array("f", [score])[0] if trec_eval_version == DEFAULT_VERSION else float(score)
