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
    documents, topics = rows["clustering"]
    half = len(documents) // 2
    train, test = (documents[:half], documents[half:])
    lists = [[topic, "other"] if row % 3 else [topic] for row, topic in enumerate(topics)]
    numbers = [float(topic.split()[1]) for topic in topics]
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
    return {
        "retrieval": fr.Task("retrieval", data),
        "reranking": fr.Task("reranking", table),
        "classification": fr.Task(
            "classification",
            texts(train, labels=topics[:half]),
            protocol="mteb",
            test=texts(test, labels=topics[half:]),
            experiments=3,
        ),
        "multilabel": fr.Task(
            "multilabel",
            texts(train, labels=lists[:half]),
            test=texts(test, labels=lists[half:]),
            experiments=3,
        ),
        "regression": fr.Task(
            "regression",
            texts(train, labels=numbers[:half]),
            test=texts(test, labels=numbers[half:]),
            experiments=3,
            samples=100,
        ),
        "similarity": fr.Task(
            "similarity", rows["similarity"], similarities=("cosine", "euclidean")
        ),
        "pairs": fr.Task("pairs", rows["pairs"]),
        "triplets": fr.Task("triplets", texts(*rows["triplets"])),
        "clustering": fr.Task("clustering", rows["clustering"], samples=2, sample_size=200),
        "bitext": fr.Task("bitext", texts(*rows["bitext"])),
        "summarization": fr.Task("summarization", rows["summarization"]),
    }
