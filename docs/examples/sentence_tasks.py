"""Evaluate sentence embeddings on tasks in the folder format of Ulysses SentEval.

A task is a CSV file with a column of row numbers, one or two columns of texts, and a column of
labels; its name says which task it is. The texts are docstrings of Python's standard library: here
T1A asks whether a first paragraph documents a function or a method, and G3, a task of pairs,
whether two paragraphs belong to one docstring.

    pip install 'fastrank-eval[examples,tasks]'
    python docs/examples/sentence_tasks.py
"""

import csv
import tempfile
from pathlib import Path

from beyond_retrieval import functions_and_methods
from sklearn.feature_extraction.text import TfidfVectorizer
from stdlib_texts import Entry, encoder, entries

import fastrank as fr
from fastrank.compat.ulysses_senteval import UlyssesSentEval, UlyssesSentEvalLazy

# Comparable values need the default, 10 repetitions of 5 folds.
OPTIONS = {"n_repeats": 2}


def paragraphs_of_one_docstring(known: list[Entry]) -> list[tuple[str, str, int]]:
    """The first and another paragraph of the same docstring (1), and of different ones (0)."""
    long = [entry for entry in known if entry.paragraphs]
    shifted = long[len(long) // 2 :] + long[: len(long) // 2]
    return [
        (entry.summary, one.paragraphs[0], int(one is entry))
        for entry, other in zip(long, shifted, strict=True)
        for one in (entry, other)
    ]


def write(folder: Path, known: list[Entry]) -> None:
    """The files of the tasks, with the package's names."""
    kinds = functions_and_methods(known)
    labels = [int(kind == "method") for kind in kinds.labels]
    rows = list(zip(*kinds.texts, labels, strict=True))
    tasks = {
        "hatebr_offensive_lang.csv": (["text", "label"], rows),  # T1A
        "faqs.csv": (["question", "answer", "label"], paragraphs_of_one_docstring(known)),  # G3
    }
    for name, (header, rows) in tasks.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["", *header], *([i, *row] for i, row in enumerate(rows))])


class Sentences:
    """A model with the method of sentence-transformers."""

    def __init__(self, texts: list[str]) -> None:
        self.model = encoder(texts)

    def encode(self, texts: list[str]):
        """The vectors of texts, float32[texts, 64]."""
        return self.model(texts)


def evaluate(folder: Path, known: list[Entry]) -> None:
    """Print the results of both interfaces, which are the same."""
    model = Sentences([text for entry in known for text in (entry.summary, *entry.paragraphs)])

    print("With fastrank:")
    for name, task in fr.tasks.ulysses(folder).items():
        found = fr.tasks.evaluate_classification(model, task, repetitions=OPTIONS["n_repeats"])
        low, high = found.interval
        print(f"{name}: {found.metric} {found.value:.3f}, 99 % interval {low:.3f} to {high:.3f}")

    print("\nWith the package's import changed:")
    evaluator = UlyssesSentEval(model, tasks=["T1A", "G3"], data_dir_path=str(folder))
    means, values = evaluator.evaluate(kwargs_train=OPTIONS, return_all_results=True)
    for name, mean in means.items():
        epochs = len(mean["avg_loss_per_epoch_train"])
        print(f"{name}: {mean['avg_metric_test']:.3f}, at most {epochs} epochs")
    print(values.to_string(max_rows=6))

    print("\nTF-IDF, fitted on the training part of each fold:")
    lazy = UlyssesSentEvalLazy(
        TfidfVectorizer(max_features=256), tasks="T1A", data_dir_path=str(folder)
    )
    print(f"T1A: {lazy.evaluate(kwargs_train=OPTIONS)['T1A']['avg_metric_test']:.3f}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), known := entries())
        evaluate(Path(folder), known)
