"""Generated inputs of the recorded values of Ulysses SentEval, from numpy alone."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

import numpy as np

# name: (rows, dimension, texts per row, classes, noise, options of the training)
CASES = {
    "two-classes": (1100, 16, 1, 2, 3.0, {"n_repeats": 2}),
    "pairs": (1000, 8, 2, 2, 1.0, {"n_repeats": 1}),
    "four-classes": (1000, 12, 1, 4, 1.0, {"n_repeats": 1}),
    "constant-feature": (1000, 12, 1, 4, 1.0, {"n_repeats": 1, "n_epochs": 2}),
    "too-small": (400, 6, 1, 2, 0.5, {"n_repeats": 1, "n_epochs": 20}),
    "hidden-layer": (900, 6, 4, 4, 1.0, {"n_repeats": 1, "hidden_dims": [256], "n_epochs": 30}),
    "hidden-layer-binary": (
        900,
        6,
        1,
        2,
        1.0,
        {"n_repeats": 1, "k_fold": 5, "hidden_dims": [32, 16], "n_epochs": 30},
    ),
}


@cache
def recorded_values() -> dict:
    """What the package computed for these inputs."""
    path = Path(__file__).parent.parent / "recorded" / "probes" / "ulysses.json.gz"
    return json.loads(gzip.decompress(path.read_bytes()))


def vectors_of(name: str) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """The vectors of each text of a row as float32, and the classes as int64."""
    rows, dimension, texts, classes, noise, _ = CASES[name]
    random = np.random.RandomState(sum(map(ord, name)))
    y = random.permutation(np.arange(rows) % classes)
    y[: rows // 40] = 0
    parts = [random.normal(size=(rows, dimension)) for _ in range(texts)]
    directions = random.normal(size=(classes, dimension))
    parts[-1] = parts[-1] * noise + directions[y]
    if texts == 2:
        # Texts of class 1 are near each other.
        parts[1] = np.where(y[:, None] == 1, parts[0] + 0.7 * parts[1], parts[1])
    if name == "constant-feature":
        # Scaling divides what is left of a constant after subtracting its rounded mean by 1e-12.
        parts[0][:, 3] = 0.1
    return tuple(part.astype(np.float32) for part in parts), y


def features_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The features on which a classifier is trained, and the classes."""
    parts, y = vectors_of(name)
    if len(parts) == 2:
        a, b = parts
        parts = (a, b, np.abs(a - b), a * b)
    return np.hstack(parts), y


# Logits and classes for which torchmetrics has conventions of its own.
METRIC_CASES = [
    ([3.0, 2.0, -1.0, -2.0], [1, 1, 0, 0]),
    ([-3.0, -2.0, 1.0, 2.0], [1, 1, 0, 0]),
    ([3.0, 2.0, 1.0, 2.0, 4.0], [1, 1, 0, 0, 1]),
    ([-3.0, -2.0, -1.0, -2.0, -4.0], [1, 1, 0, 0, 0]),
    ([3.0, -2.0, 1.0, 2.0, 4.0], [1, 1, 1, 1, 1]),
    ([3.0, -2.0, -1.0, -2.0, -4.0], [0, 0, 0, 0, 0]),
    ([0.2, 0.4, 0.7, 0.9, 0.6], [0, 0, 1, 1, 0]),
    ([0.2, 0.4, 0.7, 1.1, 0.6], [0, 0, 1, 1, 0]),
    ([1e-9, -1e-9, 0.0, 2.0, -3.0], [1, 0, 1, 1, 0]),
    ([3.0, -2.0, 1.0, 2.0, -4.0, 0.5, -0.5], [1, 0, 1, 0, 0, 1, 1]),
    ([[3.0, 1.0, 0.0], [0.0, 2.0, 1.0], [1.0, 2.0, 0.0], [4.0, 1.0, 2.0]], [0, 1, 1, 1]),
    ([[3.0, 1.0, 0.0], [0.0, 2.0, 1.0], [1.0, 2.0, 5.0], [4.0, 1.0, 2.0]], [0, 1, 1, 0]),
    ([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0], [1.0, 2.0, 5.0], [4.0, 1.0, 2.0]], [1, 1, 2, 0]),
    ([[1.0, 0.0, 0.0], [3.0, 2.0, 1.0], [7.0, 2.0, 5.0], [4.0, 1.0, 2.0]], [1, 1, 2, 2]),
]


def samples() -> list[tuple[np.ndarray, int]]:
    """Values whose mean has an interval, and the seed of this."""
    random = np.random.RandomState(8)
    found = [random.normal(size=count) for count in (1, 2, 5, 9, 50, 200)]
    found += [random.gamma(0.3, size=50), np.round(random.uniform(size=50), 1), np.full(50, 0.7)]
    return [(values, 1000 + place) for place, values in enumerate(found)]


def texts_of(rows: int, classes: int, seed: int, alternatives: int = 0) -> dict[str, list]:
    """Columns of generated texts, and labels: words of a class are more frequent in its texts."""
    random = np.random.RandomState(seed)
    words = ["".join(random.choice(list("aeioubcdlmnprst"), 4)) for _ in range(60)]
    labels = random.permutation(np.arange(rows) % classes)

    def text(label: int) -> str:
        chosen = random.randint(0, 60, 8)
        chosen[:3] = chosen[:3] % 8 + 8 * label
        return " ".join(words[place] for place in chosen)

    columns: dict[str, list] = {"text_a": [text(label) for label in labels]}
    if alternatives:
        columns["text_b"] = [
            " [SEP] ".join(text((label + place) % classes) for place in range(alternatives))
            for label in labels
        ]
    return {**columns, "label": [int(label) for label in labels]}


def letter_counts(texts: list[str]) -> np.ndarray:
    """A model: how often each of 15 letters occurs in a text, float32[texts, 15]."""
    return np.array([[t.count(x) for x in "aeioubcdlmnprst"] for t in texts], np.float32)


# Tasks of Ulysses SentEval: rows, classes, seed and number of alternatives or second texts.
# F3 is the last: the package uses its hidden layer for all later tasks if kwargs_train is given.
TASKS = {"T1A": (900, 2, 1, 0), "G3": (820, 2, 3, 1), "F3": (820, 4, 2, 3)}
TRAINING = {"n_repeats": 1, "k_fold": 5, "n_epochs": 12}


def write_tasks(folder, file_names: dict[str, str]) -> None:
    """Write the tasks as CSV files with a column of row numbers."""
    for task, given in TASKS.items():
        columns = texts_of(*given)
        lines = ["," + ",".join(columns)]
        lines += [
            f"{number}," + ",".join(map(str, row))
            for number, row in enumerate(zip(*columns.values(), strict=True))
        ]
        (folder / file_names[task]).write_text("\n".join(lines) + "\n", "utf-8")
