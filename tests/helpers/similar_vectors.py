"""Vectors and labels for the evaluations of similarities, and the texts they belong to.

They are generated, so that other libraries can be run on the same ones (tests/recorded/similarity).
"""

from __future__ import annotations

from typing import Any

import numpy

# Whole numbers, whose sums are exact in any order as 32-bit floats; and others.
KINDS = ("whole", "real")
WIDTH = 19
PAIRS, TRIPLETS, SENTENCES = 300, 200, 120

Array = Any


class Vectors:
    """The vectors of one kind; each text is the name of its set and its row."""

    def __init__(self, kind: str) -> None:
        self.random = numpy.random.RandomState(KINDS.index(kind))
        self.kind = kind
        self.by_text: dict[str, Array] = {}

    def noise(self, rows: int, scale: int) -> Array:
        """Random vectors, float32[rows, WIDTH]."""
        if self.kind == "whole":
            return self.random.randint(-scale, scale + 1, (rows, WIDTH)).astype(numpy.float32)
        return (scale * self.random.normal(size=(rows, WIDTH))).astype(numpy.float32)

    def texts(self, name: str, vectors: Array) -> list[str]:
        """The texts of vectors."""
        texts = [f"{name} {row}" for row in range(len(vectors))]
        self.by_text.update(zip(texts, vectors, strict=True))
        return texts

    def encode(self, texts: list[str], **_: Any) -> Array:
        """The vectors of texts."""
        return numpy.array([self.by_text[text] for text in texts])


def make(kind: str) -> tuple[Vectors, dict[str, Any]]:
    """A model, and the texts and labels of each evaluation."""
    model = Vectors(kind)
    random = model.random

    one = model.noise(PAIRS, 3)
    labels = random.randint(0, 2, PAIRS)
    other = numpy.where(labels[:, None] == 1, one + model.noise(PAIRS, 3), model.noise(PAIRS, 3))
    scores = (2 * labels + random.randint(0, 31, PAIRS) / 10).round(1)
    pairs = [model.texts("a", one), model.texts("b", other)]

    anchors = model.noise(TRIPLETS, 3)
    near, far = anchors + model.noise(TRIPLETS, 4), anchors + model.noise(TRIPLETS, 5)
    triplets = [
        model.texts(name, part)
        for name, part in (("anchor", anchors), ("near", near), ("far", far))
    ]

    sentences = model.noise(SENTENCES, 3)
    bitext = [
        model.texts("en", sentences),
        model.texts("de", sentences + model.noise(SENTENCES, 4)),
    ]

    return model, {
        "pairs": (*pairs, labels.tolist()),
        "similarity": (*pairs, scores.tolist()),
        "triplets": tuple(triplets),
        "bitext": tuple(bitext),
    }
