"""Rows with any number of labels; tests/probes/test_mteb.py compares the values with MTEB's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fastrank as fr
from fastrank.tasks.multilabel import evaluate_multilabel
from tests.helpers.mteb_cases import labels

pytest.importorskip("sklearn")

TRAIN, TEST = labels(200, 80)


def indicators(rows: list[list[int]]) -> Any:
    """An array of 0 and 1."""
    return np.array([[int(label in row) for label in range(5)] for row in rows])


def test_labels_may_be_an_array_of_0_and_1() -> None:
    found = evaluate_multilabel(TRAIN[0], indicators(TRAIN[1]), test=(TEST[0], indicators(TEST[1])))

    assert found.values == evaluate_multilabel(*TRAIN, test=TEST).values


def test_labels_may_be_sets_of_strings() -> None:
    named = [
        (vectors, [{"abcde"[n] for n in row} for row in rows]) for vectors, rows in (TRAIN, TEST)
    ]

    found = evaluate_multilabel(*named[0], test=named[1])

    assert found.classes == list("abcde")
    assert found.values == evaluate_multilabel(*TRAIN, test=TEST).values


def test_texts_are_encoded() -> None:
    vectors = {f"text {n}": row for n, row in enumerate(np.concatenate([TRAIN[0], TEST[0]]))}
    texts = list(vectors)

    found = evaluate_multilabel(
        lambda given: np.stack([vectors[text] for text in given]),
        fr.TextTask.from_texts(texts[:200], labels=TRAIN[1], name="topics"),
        test=(texts[200:], TEST[1]),
    )

    assert found.name == "topics"
    assert found.values == evaluate_multilabel(*TRAIN, test=TEST).values


def test_another_seed_draws_other_samples() -> None:
    found = [evaluate_multilabel(*TRAIN, test=TEST, seed=seed).values for seed in (42, 1, 1)]

    assert found[0] != found[1] == found[2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": [1] * 200}, "row 0: expected a list of labels, found int"),
        ({"labels": ["ab"] * 200}, "row 0: expected a list of labels, found str"),
        ({"labels": [[0.5]] * 200}, "expected labels that are int or str, found float"),
        ({"labels": [["a"]] * 200}, "expected labels of one type"),
        ({"labels": np.full((200, 5), 2)}, "expected an array of 0 and 1"),
        ({"labels": [None] + TRAIN[1][1:]}, "row 0: the label is missing"),
        ({"labels": TRAIN[1][1:]}, "expected 199 rows"),
        ({"test": TEST[0]}, r"test.*expected a tuple \(vectors, labels\)"),
        ({"test": (TEST[0], [[1]] * 80)}, "expected at least two labels, found 1"),
        ({"test": (TEST[0][:, :3], TEST[1])}, "expected 16 dimensions, as in training, found 3"),
        ({"neighbors": 100}, "training rows are fewer than neighbors=100"),
        ({"classifier": "mlp"}, "classifier.*expected one of 'knn', 'logreg'"),
        ({"cache": "folder"}, "cache.*applies to models"),
    ],
)
def test_bad_input_is_an_error(change: dict[str, Any], message: str) -> None:
    options = {"test": TEST, **change}
    given = options.pop("labels", TRAIN[1])
    with pytest.raises(fr.FastrankError, match=message):
        evaluate_multilabel(TRAIN[0], given, **options)


def test_logistic_regressions_need_rows_with_and_without_each_label() -> None:
    rows = [[0, *row] for row in TRAIN[1]]
    with pytest.raises(fr.InputError, match="label 0 is in all rows of a sample"):
        evaluate_multilabel(TRAIN[0], rows, test=TEST, classifier="logreg")
