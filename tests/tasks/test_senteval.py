"""The protocol of SentEval, against recorded values of the package (tests/recorded/probes)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.tasks.classification import evaluate_classification
from fastrank.tasks.senteval_networks import Training, train, with_ones
from tests.helpers.labelled_vectors import labelled_pairs, labelled_vectors

pytest.importorskip("sklearn")

RECORDED = json.loads(
    (Path(__file__).parents[1] / "recorded" / "probes" / "senteval.json").read_text()
)
SINGLES = [
    labelled_vectors(*one, 4.0) for one in ((401, 24, 3, 1), (151, 24, 3, 2), (153, 24, 3, 3))
]
PAIRS = [
    ((first, second), y)
    for first, second, y in (
        labelled_pairs(*one) for one in ((402, 16, 3, 4), (150, 16, 3, 5), (152, 16, 3, 6))
    )
]
BINARY = [labelled_vectors(303, 24, 2, 7, 4.0)]
FAST = {"optimizer": "rmsprop", "batch": 128, "tenacity": 3, "epoch_size": 2}
SNLI = {"features": "snli", "regularize": False, "max_epoch": 15, "epoch_size": 1}
TRAIN_TEST = [SINGLES[0], SINGLES[2]]
CASES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "inner": (BINARY, {"kfold": 3}),
    "inner_mlp": (BINARY, {"kfold": 3, "classifier": "mlp", "hidden": 10}),
    "inner_fast": (SINGLES[:1], {"kfold": 5, **FAST}),
    "inner_sklearn": (BINARY, {"kfold": 3, "classifier": "sklearn"}),
    "kfold": (TRAIN_TEST, {"kfold": 5}),
    "kfold_pair": ([PAIRS[0], PAIRS[2]], {"kfold": 5}),
    "kfold_sklearn": (TRAIN_TEST, {"kfold": 5, "classifier": "sklearn"}),
    "split": (SINGLES, {}),
    "split_mlp": (SINGLES, {"classifier": "mlp", "hidden": 12}),
    "split_pair": (PAIRS, {}),
    "split_snli": (PAIRS, SNLI),
    "split_sklearn": (SINGLES, {"classifier": "sklearn"}),
}


def evaluated(name: str) -> Any:
    """The result of a case."""
    sets, options = CASES[name]
    names = ("dev", "test") if len(sets) == 3 else ("test",)
    (vectors, y), others = sets[0], dict(zip(names, sets[1:], strict=False))
    return evaluate_classification(vectors, y, protocol="senteval", **others, **options)


@pytest.mark.parametrize("name", CASES)
def test_accuracies_are_those_of_the_package(name: str) -> None:
    found, expected = evaluated(name), RECORDED[name]

    assert round(100 * found.value, 2) == expected["test"]
    assert round(100 * found.mean["dev_accuracy"], 2) == expected["dev"]


@pytest.mark.parametrize("name", ["inner", "inner_mlp", "inner_fast", "kfold", "kfold_pair"])
def test_the_accuracy_of_each_penalty_and_fold_is_that_of_the_package(name: str) -> None:
    found, kfold = evaluated(name).records, CASES[name][1]["kfold"]

    # For each test fold: the fits of the grid, and the last one with the penalty chosen.
    fits = np.array([one[:2] for one in RECORDED[name]["fits"]])
    folds = fits.reshape(-1, 4 * kfold + 1, 2)
    means = folds[:, :-1, 1].reshape(-1, 4, kfold).mean(axis=2).ravel()
    np.testing.assert_allclose(found["dev_accuracy"], means, atol=5.1e-5)
    chosen = np.array(found["penalty"])[np.array(found["chosen"])]
    np.testing.assert_allclose(chosen, folds[:, -1, 0])


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("split", {}),
        ("split_mlp", {"hidden": 12}),
    ],
)
def test_weights_are_those_of_torch(name: str, changed: dict[str, Any]) -> None:
    training = {
        "hidden": 0, "dropout": 0.0, "optimizer": "adam", "batch": 64, "passes": 4, "tenacity": 5,
        "max_passes": 200, "seed": 1111, **changed,
    }  # fmt: skip
    vectors, y = (np.concatenate(parts) for parts in zip(*SINGLES[:2], strict=True))
    rows = np.arange(len(y))
    penalties = np.array([[1e-5, 1e-4, 1e-3, 1e-2]])

    weights_found, accuracies = train(
        with_ones(vectors), y, 3, rows[None, :401], [rows[401:]], penalties, Training(**training),
        np.random.RandomState(1111),
    )  # fmt: skip

    for place, (_, accuracy, weights) in enumerate(RECORDED[name]["fits"][:4]):
        assert accuracies[0, place] == pytest.approx(accuracy, abs=1e-8)
        # The columns of a penalty follow each other; the last row is the bias.
        found = weights_found[0][0].reshape(25, 4, -1)[:2, place, :2].T.ravel()
        np.testing.assert_allclose(found, weights, atol=1e-6)


@pytest.mark.parametrize("features", ["pair", "snli"])
def test_rows_with_texts_are_sorted_by_words_and_class(features: str) -> None:
    random = np.random.RandomState(5)
    (first, second), y = PAIRS[0]
    words = random.randint(1, 9, size=(2, len(y)))
    texts = [
        [f"{name}{row} " + "w " * count for row, count in enumerate(one)]
        for name, one in zip("ab", words, strict=True)
    ]
    vectors = dict(zip(texts[0] + texts[1], np.concatenate([first, second]), strict=True))
    test = tuple(part[:50] for part in texts)

    def embed(given: list[str], prompt: str | None = None) -> Any:
        return np.stack([vectors[text] for text in given])

    found = evaluate_classification(
        embed, (*texts, y), test=(*test, y[:50]), protocol="senteval", kfold=3, features=features
    )

    keys = (y, words[1], words[0]) if features == "pair" else (y, words[0], words[1])
    order = np.lexsort(keys)
    expected = evaluate_classification(
        (first[order], second[order]), y[order], test=((first[:50], second[:50]), y[:50]),
        protocol="senteval", kfold=3, features=features,
    )  # fmt: skip
    assert found.values == expected.values


def test_dropout_changes_the_networks_and_is_repeatable() -> None:
    vectors, y = BINARY[0]
    options: dict[str, Any] = {"protocol": "senteval", "classifier": "mlp", "kfold": 3}

    found = [evaluate_classification(vectors, y, dropout=p, **options) for p in (0.0, 0.2, 0.2)]

    assert found[1].values == found[2].values != found[0].values


def test_the_fitted_embedder_needs_test_rows_and_is_fitted_on_training_rows() -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    clone = pytest.importorskip("sklearn.base").clone
    labels = [0] * 60 + [1] * 60
    texts = [f"{('good', 'bad')[label]} film {row % 7}" for row, label in enumerate(labels)]
    embedder = text.TfidfVectorizer(token_pattern=r"\w+")

    found = evaluate_classification(
        clone(embedder), (texts, labels), test=(texts, labels), protocol="senteval", kfold=3
    )

    vectors = embedder.fit(texts).transform(texts)
    expected = evaluate_classification(
        vectors, labels, test=(vectors, labels), protocol="senteval", kfold=3
    )
    assert found.values == expected.values
    with pytest.raises(fr.OptionError, match="separate test rows"):
        evaluate_classification(clone(embedder), (texts, labels), protocol="senteval", kfold=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"classifier": "tree"}, "classifier.*expected one of 'logreg', 'mlp', 'sklearn'"),
        ({"features": "sum"}, "features"),
        ({"kfold": 1}, "kfold.*expected 2 or more, found 1"),
        ({"kfold": 200}, r"class 0 has \d+ rows, fewer than kfold=200"),
        ({"optimizer": "lion"}, "optimizer.*expected one of 'adam'"),
        ({"dropout": 1.0}, "dropout.*expected a probability below 1"),
        ({"regularize": False}, "regularize.*only rows in dev"),
        ({"dev": BINARY[0]}, "dev needs separate test rows"),
        ({"test": SINGLES[1][:1]}, "test.*expected a tuple"),
        ({"test": (np.ones((4, 3)), [0, 1, 0, 1])}, "found 24 and 3 dimensions"),
    ],
)
def test_bad_options_are_errors_before_training(options: dict[str, Any], message: str) -> None:
    vectors, y = BINARY[0]
    with pytest.raises(fr.FastrankError, match=message):
        evaluate_classification(vectors, y, protocol="senteval", **options)


def test_too_few_rows_are_an_error() -> None:
    vectors, y = np.eye(16, dtype=np.float32), [0, 1] * 8
    with pytest.raises(fr.InputError, match="at least 20 training rows"):
        evaluate_classification(vectors, y, protocol="senteval", kfold=2)


def test_three_texts_per_row_have_no_features() -> None:
    vectors, y = BINARY[0]
    with pytest.raises(fr.InputError, match="expected one or two texts per row, found 3"):
        evaluate_classification((vectors,) * 3, y, protocol="senteval")
