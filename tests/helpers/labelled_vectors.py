"""Generated vectors with classes, the same in every environment."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def labelled_vectors(
    rows: int, width: int, classes: int, seed: int, spread: float = 1.5
) -> tuple[Array, Array]:
    """Vectors around one centre per class, float32[rows, width], and the classes."""
    random = np.random.RandomState(seed)
    centres = np.random.RandomState(classes).standard_normal((classes, width))
    labels = random.randint(0, classes, size=rows)
    vectors = centres[labels] + spread * random.standard_normal((rows, width))
    return vectors.astype(np.float32), labels


def labelled_pairs(rows: int, width: int, classes: int, seed: int) -> tuple[Array, Array, Array]:
    """Pairs of vectors, the farther apart the higher the class."""
    random = np.random.RandomState(seed)
    first = random.standard_normal((rows, width))
    labels = random.randint(0, classes, size=rows)
    second = first + (0.6 * labels + 0.4)[:, None] * random.standard_normal((rows, width))
    return first.astype(np.float32), second.astype(np.float32), labels
