"""The protocol of Ulysses SentEval, against recorded values of the package."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import fastrank as fr
from fastrank.tasks.ulysses_training import adjusted_macro_f1, matthews
from tests.helpers.probe_inputs import CASES, METRIC_CASES, recorded_values, vectors_of

OPTIONS = {
    "n_repeats": "repetitions", "k_fold": "folds", "n_epochs": "epochs", "hidden_dims": "hidden",
}  # fmt: skip


@pytest.fixture(scope="module")
def recorded():
    return recorded_values()["cases"]


@pytest.fixture(scope="module")
def computed():
    found = {}
    for name, (*_, options) in CASES.items():
        given = {OPTIONS[key]: value for key, value in options.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            vectors, y = vectors_of(name)
            found[name] = fr.tasks.evaluate_classification(vectors, y, name=name, **given)
    return found


def series(result, metric: str) -> np.ndarray:
    return np.array(
        [
            value
            for key, value in zip(result.records["metric"], result.records["value"], strict=True)
            if key == metric
        ]
    )


@pytest.mark.parametrize("name", CASES)
def test_every_fold_trains_for_the_recorded_number_of_epochs(name, recorded, computed):
    expected, found = recorded[name]["values"], computed[name].records
    for column in ("kfold_repetition", "kfold_partition", "train_epoch", "metric"):
        assert found[column] == expected[column]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    ("metric", "tolerance"),
    [
        ("loss_per_epoch_train", 1e-5),
        ("loss_per_epoch_eval", 1e-5),
        ("metric_per_epoch_eval", 1e-6),
        ("loss_test", 1e-5),
        ("metric_test", 1e-6),
    ],
)
def test_values_equal_the_recorded_ones(name, metric, tolerance, recorded, computed):
    values = recorded[name]["values"]
    expected = [
        v for key, v in zip(values["metric"], values["value"], strict=True) if key == metric
    ]
    # A constant feature causes losses of thousands, with the relative error of float32.
    relative = 1e-6 if name == "constant-feature" else 0
    found = series(computed[name], metric)
    np.testing.assert_allclose(found, expected, rtol=relative, atol=tolerance)


@pytest.mark.parametrize("name", CASES)
def test_mean_deviation_and_interval_equal_the_recorded_ones(name, recorded, computed):
    means, result = recorded[name]["means"], computed[name]
    found = [result.value, result.std, *result.interval]
    keys = ("avg", "std", "ci99_low", "ci99_high")
    expected = [means[f"{key}_metric_test"] for key in keys]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_metrics_equal_those_of_torchmetrics_in_edge_cases():
    for (logits, y), expected in zip(METRIC_CASES, recorded_values()["metrics"], strict=True):
        metric = matthews if np.ndim(logits) == 1 else adjusted_macro_f1
        found = metric(np.array(logits, np.float32), np.array(y))
        assert found == pytest.approx(expected, abs=1e-7), (logits, y)


def test_the_frame_has_the_columns_of_the_package(computed):
    frame = computed["pairs"].frame()
    assert list(frame.columns) == [
        "task", "kfold_repetition", "kfold_partition", "train_epoch", "metric", "value",
    ]  # fmt: skip
    assert set(frame["task"]) == {"pairs"}


def test_values_do_not_depend_on_the_order_of_equal_features_in_memory():
    vectors, y = vectors_of("two-classes")
    options = {"repetitions": 1, "epochs": 3}
    rows = fr.tasks.evaluate_classification(vectors[0], y, **options)
    columns = fr.tasks.evaluate_classification(np.asfortranarray(vectors[0]), y, **options)
    assert rows.values == columns.values


def test_values_do_not_depend_on_the_number_of_threads_of_numpy():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    vectors, y = vectors_of("hidden-layer")
    found = []
    for threads in (1, 2):
        with threadpoolctl.threadpool_limits(threads):
            result = fr.tasks.evaluate_classification(
                vectors, y, hidden=(256,), repetitions=1, epochs=1
            )
            found.append(result.records)
    assert found[0] == found[1]


def test_few_training_rows_are_noted():
    vectors, y = vectors_of("too-small")
    with pytest.warns(UserWarning, match="learning rate stays at 5 %"):
        result = fr.tasks.evaluate_classification(vectors, y, repetitions=1, epochs=1)
    assert "4 batches of 128 training rows, found 2" in result.notes[0]


def test_less_than_a_batch_of_training_rows_trains_nothing_and_is_noted():
    vectors, y = vectors_of("too-small")
    with pytest.warns(UserWarning, match="less than a batch of 128"):
        result = fr.tasks.evaluate_classification(
            vectors[0][:150], y[:150], repetitions=1, epochs=1
        )
    assert np.isnan(series(result, "loss_per_epoch_train")).all()
    assert np.isfinite(series(result, "loss_test")).all()


def test_logits_between_0_and_1_are_noted():
    y = np.arange(800) % 2
    with pytest.warns(UserWarning, match="counted as probabilities"):
        fr.tasks.evaluate_classification(np.ones((800, 1)), y, repetitions=1, epochs=1)


def test_features_far_from_the_training_rows_are_noted():
    vectors, y = vectors_of("constant-feature")
    with pytest.warns(UserWarning, match="divided by 1e-12"):
        fr.tasks.evaluate_classification(vectors, y, repetitions=1, epochs=1)


def test_other_seeds_give_other_folds():
    vectors, y = vectors_of("two-classes")
    found = [
        fr.tasks.evaluate_classification(vectors[0], y, repetitions=1, epochs=2, seed=seed).values
        for seed in (1, 2)
    ]
    assert found[0] != found[1]
