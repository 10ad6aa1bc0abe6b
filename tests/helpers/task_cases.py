"""Small tasks of every kind, and models for them."""

from __future__ import annotations

from typing import Any

import numpy as np

import fastrank as fr

CITIES = fr.Dataset.from_texts(
    {"d1": "Oslo", "d2": "Madrid", "d3": "Lima"},
    {"q1": "Oslo!", "q2": "to Lima", "q3": "Madrid?"},
    {"q1": {"d1": 1}, "q2": {"d3": 1}, "q3": {"d2": 1}},
)
WORDS = ["a mole", "a lamp", "real"], ["moles", "a room", "ii"], [4.5, 2.0, 1.0]


def letters(texts: list[str]) -> Any:
    """Numbers of some letters."""
    return np.array([[1 + text.count(letter) for letter in "aeilmor"] for text in texts], float)


def length(texts: list[str]) -> Any:
    """A constant and the number of characters."""
    return np.array([[1.0, len(text)] for text in texts])


def tasks_of_all_kinds(model: Any, rows: dict[str, Any]) -> dict[str, fr.Task]:
    """A task of each kind for a model and the rows of `similar_vectors.make`."""
    first, second = rows["bitext"]
    queries = [f"q{row}" for row in range(len(first))]
    data = fr.Dataset.from_texts(
        {f"d{row}": text for row, text in enumerate(second)},
        dict(zip(queries, first, strict=True)),
        {query: {f"d{row}": 1} for row, query in enumerate(queries)},
    )
    table = {
        "question": [first[row // 4] for row in range(80)],
        "answer": second[:80],
        "label": [int(row % 4 == row // 4 % 4) for row in range(80)],
    }
    texts = fr.TextTask.from_texts
    *pairs, labels = rows["pairs"]
    return {
        "retrieval": fr.Task("retrieval", data),
        "reranking": fr.Task("reranking", table),
        "classification": fr.Task(
            "classification", texts(*pairs, labels=labels), repetitions=1, epochs=1
        ),
        "similarity": fr.Task(
            "similarity", rows["similarity"], similarities=("cosine", "euclidean")
        ),
        "pairs": fr.Task("pairs", rows["pairs"]),
        "triplets": fr.Task("triplets", texts(*rows["triplets"])),
        "bitext": fr.Task("bitext", texts(*rows["bitext"])),
    }
