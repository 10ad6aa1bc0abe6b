"""Spans, chunks and runs, and their measures by definition: characters in sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

Place = tuple[str, int, int]
Characters = set[tuple[str, int]]


def table(names: str, *rows: Sequence[Any]) -> dict[str, list[Any]]:
    """Columns with these names."""
    return {name: [row[i] for row in rows] for i, name in enumerate(names.split())}


def characters(places: Iterable[Place]) -> Characters:
    """The characters of places."""
    return {(document, at) for document, start, end in places for at in range(start, end)}


def slow(
    evidence: dict[str, list[Place]], retrieved: list[Place], *, repeated: bool
) -> dict[str, float]:
    """The measures of one query; evidence: the spans that carry each piece of information."""
    found = characters(retrieved)
    everything = characters(place for places in evidence.values() for place in places)
    needed: Characters = set()
    for places in evidence.values():
        shares = [len(found & characters([own])) / (own[2] - own[1]) for own in places]
        needed |= characters([places[shares.index(max(shares))]])
    size = sum(end - start for _, start, end in retrieved) if repeated else len(found)
    hits = len(everything & found)
    precision = hits / size if size else 0.0
    recall = len(needed & found) / len(needed) if needed else 0.0
    both = precision + recall
    union = size + len(needed - found)
    return {
        "SpanRecall": recall,
        "SpanPrecision": precision,
        "SpanF1": 2 * precision * recall / both if both else 0.0,
        "SpanIoU": hits / union if union else 0.0,
    }


def places() -> st.SearchStrategy[Place]:
    """Short places in one of two documents."""
    return st.tuples(st.sampled_from("ab"), st.integers(0, 30), st.integers(1, 12)).map(
        lambda own: (own[0], own[1], own[1] + own[2])
    )
