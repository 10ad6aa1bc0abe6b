"""The documents of a query in the order of an evaluation, for what shows rankings to people."""

from __future__ import annotations

import math

import numpy as np

from fastrank.arguments import DEFAULT_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


def rank_documents(
    results: Sequence[tuple[str, float]],
    grades: Mapping[str, float],
    *,
    ties: str,
    trec_eval_version: str,
) -> list[tuple[str, float]]:
    """Sort (document, score), best first.

    results: in the order of the lines. grades: of the judged documents. ties: as in `evaluate`.
    """
    ordered = list(results)
    if ties != "given":
        ordered.sort(key=_id_bytes, reverse=ties != "docno_asc")
    if ties in ("best", "worst"):
        sign = -1 if ties == "best" else 1
        ordered.sort(key=lambda result: sign * grades.get(result[0], -math.inf))
    scores = np.array([score for _, score in ordered], float)
    order = np.argsort(-compared_scores(scores, trec_eval_version), kind="stable")
    return [ordered[place] for place in order]


def compared_scores(scores: Any, trec_eval_version: str) -> Any:
    """Scores as trec_eval compares them: as 32-bit floats in 9.0.8."""
    if trec_eval_version != DEFAULT_VERSION:
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(float)


def _id_bytes(result: tuple[str, float]) -> bytes:
    return result[0].encode("utf-8", "surrogateescape")
