"""MTEB's protocols of classes, lists of labels and numbers, against recorded values; neighbors."""

import json

import numpy as np
import pytest

import fastrank as fr
from fastrank.tasks.classification import evaluate_classification
from fastrank.tasks.multilabel import evaluate_multilabel
from fastrank.tasks.regression import evaluate_regression
from tests.helpers.labelled_vectors import labelled_vectors
from tests.helpers.mteb_cases import CASES, CLASSES, LABELS, labels, mteb_values, numbers
from tests.helpers.paths import TESTS

metrics = pytest.importorskip("sklearn.metrics")

RECORDED = json.loads((TESTS / "recorded" / "probes" / "mteb.json").read_text())
ROWS = labelled_vectors(60, 8, 2, 1)
TRAIN, TEST = (labelled_vectors(rows, 12, 4, rows, 3.0) for rows in (150, 80))
LISTS, TEST_LISTS = labels(200, 80)
NUMBERS, TEST_NUMBERS = numbers(9, 300, 60)
TEXT_MODEL = {"token_pattern": r"\w+"}


def evaluated(name):
    """The result of a case."""
    kind, make, _, options = CASES[name]
    (vectors, targets), *others = make()
    test = others[0] if others else None
    if kind == CLASSES:
        return evaluate_classification(vectors, targets, test=test, protocol="mteb", **options)
    evaluate = evaluate_multilabel if kind == LABELS else evaluate_regression
    return evaluate(vectors, targets, test=test, **options)


@pytest.mark.parametrize("name", CASES)
def test_every_value_is_the_recorded_one(name):
    found, expected = evaluated(name).values, RECORDED[name]
    assert set(found) == set(expected)
    for metric, values in expected.items():
        # scikit-learn's solver stops after 100 steps, where other roundings of the sums, as with
        # another number of threads, change a prediction or two.
        np.testing.assert_allclose(found[metric], values, rtol=1e-5, atol=0.02, err_msg=metric)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_every_value_is_that_of_the_installed_mteb(name, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    pytest.importorskip("mteb", reason="mteb is not installed")
    assert evaluated(name).values == mteb_values(name)


# Classes


def test_the_value_is_the_mean_accuracy_of_the_experiments_also_of_labels_that_are_strings():
    sets = [(vectors, [("no", "yes")[label] for label in y]) for vectors, y in CASES["binary"][1]()]
    found = evaluate_classification(*sets[0], protocol="mteb", test=sets[1])
    values = found.values["accuracy"]
    assert (found.values, found.classes) == (evaluated("binary").values, ["no", "yes"])
    assert (found.metric, len(values), found.value) == ("accuracy", 10, np.mean(values))
    assert found.std == pytest.approx(np.std(values, ddof=1))


def test_classes_with_too_few_rows_are_noted():
    y = np.array([0] * 50 + [1] * 10)
    options = {"protocol": "mteb", "samples_per_label": 20, "experiments": 1}
    found = evaluate_classification(ROWS[0], y, test=ROWS, **options)
    assert found.notes == ("fewer than 20 training rows: 1 has 10",)


def test_values_are_numbered_by_experiment():
    pytest.importorskip("pandas")
    frame = evaluated("folds").frame()
    assert frame[frame.metric == "accuracy"]["experiment"].tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "manhattan"])
@pytest.mark.parametrize("count", [1, 4, 5])
def test_test_rows_get_the_classes_of_scikit_learns_neighbors(distance, count):
    options = {"neighbors": count, "distance": distance}
    found = evaluate_classification(*TRAIN, test=TEST, protocol="knn", **options)
    predicted = nearest(count, distance).fit(*TRAIN).predict(TEST[0])
    expected = {"accuracy": metrics.accuracy_score(TEST[1], predicted)}
    for name, average in (("f1", "macro"), ("f1_weighted", "weighted")):
        expected[name] = metrics.f1_score(TEST[1], predicted, average=average)
    assert found.mean == pytest.approx(expected)


def test_without_test_rows_each_row_is_left_out_once():
    vectors, y = TRAIN
    found = evaluate_classification(vectors, y, protocol="knn", neighbors=3)
    correct = 0
    for row in range(len(y)):
        others = np.arange(len(y)) != row
        model = nearest(3, "cosine").fit(vectors[others], y[others])
        correct += int(model.predict(vectors[row : row + 1])[0] == y[row])
    assert found.value == pytest.approx(correct / len(y))


def nearest(count, distance):
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(n_neighbors=count, metric=distance)


# Lists of labels


def indicators(rows):
    """An array of 0 and 1."""
    return np.array([[int(label in row) for label in range(5)] for row in rows])


def named(rows):
    return [{"abcde"[label] for label in row} for row in rows]


@pytest.mark.parametrize(
    ("make", "classes"), [(indicators, [0, 1, 2, 3, 4]), (named, list("abcde"))]
)
def test_labels_may_be_an_array_of_0_and_1_or_sets_of_strings(make, classes):
    test = (TEST_LISTS[0], make(TEST_LISTS[1]))
    found = evaluate_multilabel(LISTS[0], make(LISTS[1]), test=test)
    assert found.classes == classes
    assert found.values == evaluate_multilabel(*LISTS, test=TEST_LISTS).values


def test_texts_are_encoded():
    rows = np.concatenate([LISTS[0], TEST_LISTS[0]])
    vectors = {f"text {row}": own for row, own in enumerate(rows)}
    texts = list(vectors)
    found = evaluate_multilabel(
        lambda given: np.stack([vectors[text] for text in given]),
        fr.TextTask.from_texts(texts[:200], labels=LISTS[1], name="topics"),
        test=(texts[200:], TEST_LISTS[1]),
    )
    assert found.name == "topics"
    assert found.values == evaluate_multilabel(*LISTS, test=TEST_LISTS).values


def test_another_seed_draws_other_samples():
    found = [evaluate_multilabel(*LISTS, test=TEST_LISTS, seed=seed).values for seed in (42, 1, 1)]
    assert found[0] != found[1] == found[2]


# Numbers


def test_all_rows_train_if_there_are_few_else_samples_that_are_drawn_anew():
    from sklearn.linear_model import LinearRegression

    found = evaluate_regression(*NUMBERS, test=TEST_NUMBERS, experiments=2)
    predicted = LinearRegression().fit(*NUMBERS).predict(TEST_NUMBERS[0])
    assert found.values["kendalltau"] == [fr.tasks.kendall(TEST_NUMBERS[1], predicted)] * 2
    found = evaluate_regression(*NUMBERS, test=TEST_NUMBERS, samples=100, experiments=3)
    assert len(set(found.values["mse"])) == 3


def test_a_transformer_is_fitted_on_the_training_texts():
    from sklearn.feature_extraction.text import TfidfVectorizer

    task = [f"price {row % 13}" for row in range(60)], [float(row % 13) for row in range(60)]
    test = ["price 3", "price 9", "unseen words"], [3.0, 9.0, 1.0]
    assert evaluate_regression(TfidfVectorizer(**TEXT_MODEL), task, test=test).rows == 60


# Errors


def mteb(vectors=ROWS[0], y=ROWS[1], **options):
    return evaluate_classification(vectors, y, protocol="mteb", **options)


def knn(**options):
    return evaluate_classification(*TRAIN, protocol="knn", **options)


def lists(rows=LISTS[1], test=TEST_LISTS, **options):
    return evaluate_multilabel(LISTS[0], rows, test=test, **options)


def lengths(texts):
    return [[float(len(text))] for text in texts]


def regression(values):
    return evaluate_regression(NUMBERS[0], values, test=TEST_NUMBERS)


WIDTH_3 = (np.ones((4, 3)), [0, 1, 0, 1])
NARROW = (TEST_LISTS[0][:, :3], TEST_LISTS[1])
PAIR = (["a"], ["b"], [1.0])
UNEQUAL, EQUAL = ((["a", "ab"], [1.0, last]) for last in (2.0, 1.0))
IN_ALL = [[0, *row] for row in LISTS[1]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mteb(classifier="mlp"), "classifier.*expected one of 'logreg', 'knn'"),
        (lambda: mteb(experiments=0), "experiments.*expected 1 or more"),
        (lambda: mteb(folds=61), "60 rows are fewer than folds=61"),
        (lambda: mteb(samples_per_label=0), "samples_per_label"),
        (lambda: mteb(classifier="knn", neighbors=20), "16 training rows are fewer than neigh"),
        (lambda: mteb(test=WIDTH_3), "found 8 and 3 dimensions"),
        (lambda: mteb(np.eye(5), [0, 0, 0, 0, 1]), "only class 0"),
        (lambda: mteb((ROWS[0], ROWS[0])), "does not combine the vectors"),
        (lambda: knn(neighbors=150), "149 other rows are fewer than neighbors=150"),
        (lambda: knn(neighbors=0), "neighbors.*expected 1 or more"),
        (lambda: knn(distance="dot"), "distance.*expected one of 'cosine'"),
        (lambda: lists([1] * 200), "row 0: expected a list of labels, found int"),
        (lambda: lists(["ab"] * 200), "row 0: expected a list of labels, found str"),
        (lambda: lists([[0.5]] * 200), "expected labels that are int or str, found float"),
        (lambda: lists([["a"]] * 200), "expected labels of one type"),
        (lambda: lists(np.full((200, 5), 2)), "expected an array of 0 and 1"),
        (lambda: lists([None] + LISTS[1][1:]), "row 0: the label is missing"),
        (lambda: lists(LISTS[1][1:]), "expected 199 rows"),
        (lambda: lists(test=TEST_LISTS[0]), r"test.*expected a tuple \(vectors, labels\)"),
        (lambda: lists(test=(TEST_LISTS[0], [[1]] * 80)), r"\(test\): .*two labels, found 1"),
        (lambda: lists(test=NARROW), "expected 16 dimensions, as in training, found 3"),
        (lambda: lists(neighbors=100), "training rows are fewer than neighbors=100"),
        (lambda: lists(classifier="mlp"), "classifier.*expected one of 'knn', 'logreg'"),
        (lambda: lists(cache="folder"), "cache.*applies to models"),
        (lambda: lists(IN_ALL, classifier="logreg"), "label 0 is in all rows of a sample"),
        (lambda: regression(["a"] * 300), "row 0: expected a finite number, found 'a'"),
        (lambda: regression([1.0] * 300), "expected at least two distinct numbers"),
        (lambda: regression([np.inf] * 300), "expected a finite number, found inf"),
        (lambda: regression([np.nan] * 300), "row 0: the label is missing"),
        (lambda: evaluate_regression(len, PAIR, test=PAIR), "1 text in each row, found 2"),
        (lambda: evaluate_regression(lengths, UNEQUAL, test=EQUAL), r"\(test\): .*distinct numb"),
    ],
)
def test_invalid_input_is_an_error(call, message):
    with pytest.raises(fr.FastrankError, match=message):
        call()
