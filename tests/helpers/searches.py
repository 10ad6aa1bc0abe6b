"""Vectors to search, and what comparing every query with every vector finds."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

import fastrank as fr

Array = Any

RNG = np.random.default_rng(7)
CORPUS = RNG.standard_normal((300, 16)).astype(np.float32)
QUERIES = RNG.standard_normal((20, 16)).astype(np.float32)
METRICS = ["ip", "l2", "cosine"]
DOCS = [f"d{i}" for i in range(300)]


def scores_of(metric: str, queries: Array, corpus: Array) -> Array:
    """All scores, in double precision; larger is better."""
    queries, corpus = np.asarray(queries, float), np.asarray(corpus, float)
    if metric == "l2":
        return -((queries[:, None, :] - corpus[None]) ** 2).sum(axis=2)
    if metric == "cosine":
        queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
        corpus = corpus / np.linalg.norm(corpus, axis=1, keepdims=True)
    return queries @ corpus.T


def slow_search(
    metric: str,
    queries: Array,
    corpus: Array,
    k: int,
    ids: Sequence[str],
    left_out: Sequence[Collection[str]],
) -> list[list[str]]:
    """The ids of the k best of each query; of equal scores the larger id first."""
    found = []
    for scores, gone in zip(scores_of(metric, queries, corpus).tolist(), left_out, strict=True):
        own = sorted(zip(scores, (i.encode() for i in ids), strict=True), reverse=True)
        found.append([doc.decode() for _, doc in own if doc.decode() not in gone][:k])
    return found


def rankings(run: fr.Run) -> dict[str, list[str]]:
    """The documents of each query, best first."""
    return {query: list(docs) for query, docs in run.to_dict().items()}


def blocks(vectors: Array) -> Iterator[Array]:
    """Vectors in blocks of an odd size."""
    for first in range(0, len(vectors), 37):
        yield vectors[first : first + 37]
