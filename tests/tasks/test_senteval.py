"""The protocol of SentEval, against recorded values of the package (tests/recorded/probes)."""

import json
from pathlib import Path

import numpy as np
import pytest

import fastrank as fr
from fastrank.errors import OptionError
from fastrank.tasks.classification import evaluate_classification
from fastrank.tasks.senteval_networks import Training, train, with_ones
from tests.helpers.labelled_vectors import labelled_pairs, labelled_vectors

pytest.importorskip("sklearn")

RECORDED = json.loads(
    (Path(__file__).parents[1] / "recorded" / "probes" / "senteval.json").read_text()
)
SINGLES = [
    labelled_vectors(rows, 24, 3, seed, 4.0) for rows, seed in ((401, 1), (151, 2), (153, 3))
]
PAIRS = [
    (tuple(sides), y)
    for *sides, y in (
        labelled_pairs(rows, 16, 3, seed) for rows, seed in ((402, 4), (150, 5), (152, 6))
    )
]
BINARY = [labelled_vectors(303, 24, 2, 7, 4.0)]
FAST = {"optimizer": "rmsprop", "batch": 128, "tenacity": 3, "epoch_size": 2}
SNLI = {"features": "snli", "regularize": False, "max_epoch": 15, "epoch_size": 1}
TRAIN_TEST = [SINGLES[0], SINGLES[2]]
CASES = {
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


def evaluated(name):
    """The result of a case."""
    sets, options = CASES[name]
    names = ("dev", "test") if len(sets) == 3 else ("test",)
    (vectors, y), others = sets[0], dict(zip(names, sets[1:], strict=False))
    return evaluate_classification(vectors, y, protocol="senteval", **others, **options)


@pytest.mark.parametrize("name", CASES)
def test_accuracies_are_those_of_the_package(name):
    found, expected = evaluated(name), RECORDED[name]
    assert round(100 * found.value, 2) == expected["test"]
    assert round(100 * found.mean["dev_accuracy"], 2) == expected["dev"]


@pytest.mark.parametrize("name", ["inner", "inner_mlp", "inner_fast", "kfold", "kfold_pair"])
def test_the_accuracy_of_each_penalty_and_fold_is_that_of_the_package(name):
    found, kfold = evaluated(name).records, CASES[name][1]["kfold"]
    # For each test fold: the fits of the grid, and the last one with the penalty chosen.
    fits = np.array([one[:2] for one in RECORDED[name]["fits"]])
    folds = fits.reshape(-1, 4 * kfold + 1, 2)
    means = folds[:, :-1, 1].reshape(-1, 4, kfold).mean(axis=2).ravel()
    np.testing.assert_allclose(found["dev_accuracy"], means, atol=5.1e-5)
    chosen = np.array(found["penalty"])[np.array(found["chosen"])]
    np.testing.assert_allclose(chosen, folds[:, -1, 0])


@pytest.mark.parametrize(("name", "changed"), [("split", {}), ("split_mlp", {"hidden": 12})])
def test_weights_are_those_of_torch(name, changed):
    training = {"hidden": 0, "dropout": 0.0, "optimizer": "adam", "batch": 64, "passes": 4}
    training |= {"tenacity": 5, "max_passes": 200, "seed": 1111, **changed}
    vectors, y = (np.concatenate(parts) for parts in zip(*SINGLES[:2], strict=True))
    rows, penalties = np.arange(len(y)), np.array([[1e-5, 1e-4, 1e-3, 1e-2]])
    given = (rows[None, :401], [rows[401:]], penalties, Training(**training))
    weights_found, accuracies = train(with_ones(vectors), y, 3, *given, np.random.RandomState(1111))

    for place, (_, accuracy, weights) in enumerate(RECORDED[name]["fits"][:4]):
        assert accuracies[0, place] == pytest.approx(accuracy, abs=1e-8)
        # The columns of a penalty follow each other; the last row is the bias.
        found = weights_found[0][0].reshape(25, 4, -1)[:2, place, :2].T.ravel()
        np.testing.assert_allclose(found, weights, atol=1e-6)


@pytest.mark.parametrize("features", ["pair", "snli"])
def test_rows_with_texts_are_sorted_by_words_and_class(features):
    random = np.random.RandomState(5)
    (first, second), y = PAIRS[0]
    words = random.randint(1, 9, size=(2, len(y)))
    texts = [
        [f"{name}{row} " + "w " * count for row, count in enumerate(one)]
        for name, one in zip("ab", words, strict=True)
    ]
    vectors = dict(zip(texts[0] + texts[1], np.concatenate([first, second]), strict=True))
    test = tuple(part[:50] for part in texts)

    def embed(given, prompt=None):
        return np.stack([vectors[text] for text in given])

    found = evaluate_classification(
        embed, (*texts, y), test=(*test, y[:50]), protocol="senteval", kfold=3, features=features
    )

    keys = (y, words[1], words[0]) if features == "pair" else (y, words[0], words[1])
    order = np.lexsort(keys)
    test = ((first[:50], second[:50]), y[:50])
    options = {"protocol": "senteval", "kfold": 3, "features": features}
    expected = evaluate_classification(
        (first[order], second[order]), y[order], test=test, **options
    )
    assert found.values == expected.values


def test_dropout_changes_the_networks_and_is_repeatable():
    vectors, y = BINARY[0]
    options = {"protocol": "senteval", "classifier": "mlp", "kfold": 3}
    found = [evaluate_classification(vectors, y, dropout=p, **options) for p in (0.0, 0.2, 0.2)]
    assert found[1].values == found[2].values != found[0].values


def test_the_fitted_embedder_needs_test_rows_and_is_fitted_on_training_rows():
    text = pytest.importorskip("sklearn.feature_extraction.text")
    clone = pytest.importorskip("sklearn.base").clone
    labels = [0] * 60 + [1] * 60
    texts = [f"{('good', 'bad')[label]} film {row % 7}" for row, label in enumerate(labels)]
    embedder = text.TfidfVectorizer(token_pattern=r"\w+")

    options = {"protocol": "senteval", "kfold": 3}
    task, vectors = (texts, labels), embedder.fit(texts).transform(texts)
    found = evaluate_classification(clone(embedder), task, test=task, **options)
    expected = evaluate_classification(vectors, labels, test=(vectors, labels), **options)
    assert found.values == expected.values
    with pytest.raises(OptionError, match="separate test rows"):
        evaluate_classification(clone(embedder), task, **options)


VECTORS, Y = BINARY[0]
FEW = (np.eye(16, dtype=np.float32), [0, 1] * 8)
OF_WIDTH_3 = (np.ones((4, 3)), [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("vectors", "y", "options", "message"),
    [
        (VECTORS, Y, {"classifier": "tree"}, "classifier.*one of 'logreg', 'mlp', 'sklearn'"),
        (VECTORS, Y, {"features": "sum"}, "features"),
        (VECTORS, Y, {"kfold": 1}, "kfold.*expected 2 or more, found 1"),
        (VECTORS, Y, {"kfold": 200}, r"class 0 has \d+ rows, fewer than kfold=200"),
        (VECTORS, Y, {"optimizer": "lion"}, "optimizer.*expected one of 'adam'"),
        (VECTORS, Y, {"dropout": 1.0}, "dropout.*expected a probability below 1"),
        (VECTORS, Y, {"regularize": False}, "regularize.*only rows in dev"),
        (VECTORS, Y, {"dev": BINARY[0]}, "dev needs separate test rows"),
        (VECTORS, Y, {"test": SINGLES[1][:1]}, "test.*expected a tuple"),
        (VECTORS, Y, {"test": OF_WIDTH_3}, "found 24 and 3 dimensions"),
        (*FEW, {"kfold": 2}, "at least 20 training rows"),
        ((VECTORS,) * 3, Y, {}, "expected one or two texts per row, found 3"),
    ],
)
def test_bad_input_is_an_error_before_training(vectors, y, options, message):
    with pytest.raises(fr.FastrankError, match=message):
        evaluate_classification(vectors, y, protocol="senteval", **options)
