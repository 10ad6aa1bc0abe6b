"""Evaluate embedding models by classification, similarity, pairs, triplets, and bitext.

The texts are docstrings of Python's standard library. Classifiers predict whether the first
paragraph documents a function or a method. The other evaluations compare the first paragraph of a
docstring with the next one, and with those of other docstrings in the same module and in another
module. The models are TF-IDF, latent semantic analysis, and the static
embeddings of wordllama if that is installed.

    pip install 'fastrank-eval[examples,tasks]'
    python docs/examples/beyond_retrieval.py
"""

import importlib.util
import inspect
from collections import Counter
from pathlib import Path

from sklearn.feature_extraction.text import TfidfVectorizer
from stdlib_texts import Entry, encoder, entries

import fastrank as fr


def functions_and_methods(known: list[Entry]) -> fr.TextTask:
    """The first paragraphs of docstrings, each once, labelled with what they document."""
    labels: dict[str, str] = {}
    for entry in known:
        module, _, name = entry.name.rpartition(".")
        thing = vars(importlib.import_module(module))[name]
        if not inspect.isclass(thing):
            labels.setdefault(entry.summary, "function")
            continue
        for method in (vars(thing)[key] for key in sorted(vars(thing)) if key[0] != "_"):
            text = inspect.getdoc(method) if inspect.isroutine(method) else None
            if text and text.strip():
                labels.setdefault(" ".join(text.split("\n\n")[0].split()), "method")
    return fr.TextTask.from_texts(labels, labels=labels.values(), name="function or method")


def compared_paragraphs(known: list[Entry]) -> list[tuple[str, str, str, str]]:
    """The first and the second paragraph of a docstring, and the second ones of two others: of the
    same module, and of another module."""
    long = [entry for entry in known if entry.paragraphs]
    module = {entry.name: entry.name.rpartition(".")[0] for entry in long}
    rows = []
    for i, entry in enumerate(long):
        rest = long[i + 1 :] + long[:i]
        same = [one for one in rest if module[one.name] == module[entry.name]]
        other = [one for one in rest if module[one.name] != module[entry.name]]
        if same:
            found = (entry, same[0], other[len(other) // 2])
            rows.append((entry.summary, *(one.paragraphs[0] for one in found)))
    return rows


def evaluated(model, task: fr.TextTask, known: list[Entry]) -> dict[str, float]:
    """The main metric of each kind of evaluation. The classifiers have the default options, so
    that their values are comparable."""
    first, own, near, far = zip(*compared_paragraphs(known), strict=True)
    count = len(first)
    # 2: the same docstring, 1: the same module, 0: another module.
    graded = (first * 3, own + near + far, [2] * count + [1] * count + [0] * count)
    binary = (first * 2, own + near, [1] * count + [0] * count)
    found = [
        fr.tasks.evaluate_classification(model, task),
        fr.tasks.evaluate_similarity(model, graded),
        fr.tasks.evaluate_pairs(model, binary),
        fr.tasks.evaluate_triplets(model, (first, own, near)),
        fr.tasks.evaluate_bitext(model, (first, own)),
    ]
    return {f"{one.kind}: {one.metric}": one.value for one in found}


def static_embeddings():
    """The model that the package wordllama ships, or None if it is not installed."""
    found = importlib.util.find_spec("wordllama")
    if found is None or found.origin is None:
        return None
    import wordllama

    folder = Path(found.origin).parent
    return wordllama.WordLlama.load(dim=256, cache_dir=folder, disable_download=True)


if __name__ == "__main__":
    known = entries()
    texts = [text for entry in known for text in (entry.summary, *entry.paragraphs)]
    task = functions_and_methods(known)
    print(task, dict(Counter(task.labels)), end="\n\n")
    columns = {}
    # Not fitted: evaluate_classification fits a copy on the training part of each fold.
    tfidf = TfidfVectorizer(max_features=256, sublinear_tf=True)
    columns["TF-IDF"] = evaluated(tfidf, task, known)
    columns["LSA"] = evaluated(encoder(texts), task, known)
    if (static := static_embeddings()) is not None:
        columns["wordllama"] = evaluated(static, task, known)
    names = list(columns["LSA"])
    shown = {model: [values[name] for name in names] for model, values in columns.items()}
    print(fr.Table(columns={"": names, **shown}, digits=3))
