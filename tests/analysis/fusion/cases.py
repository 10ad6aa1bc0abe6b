"""Judgments and runs to tune a fusion with."""

from __future__ import annotations

import random
from typing import Any


def tuning_case(queries: int = 12) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Judgments, and three runs that find different documents."""
    rng = random.Random(1)
    docs = [f"d{i}" for i in range(12)]
    qrels = {f"q{q}": {doc: rng.randrange(3) for doc in docs[:9]} for q in range(queries)}

    def run() -> dict[str, dict[str, float]]:
        return {
            query: {doc: rng.random() * (1 + own.get(doc, 0)) for doc in rng.sample(docs, 8)}
            for query, own in qrels.items()
        }

    return qrels, [run() for _ in range(3)]
