"""The protocol of Ulysses SentEval, against recorded values of the package."""

from __future__ import annotations

import gzip
import json
import warnings

import numpy as np
import pytest

import fastrank as fr
from tests.helpers.paths import TESTS
from tests.helpers.probe_inputs import CASES, vectors_of

OPTIONS = {
    "n_repeats": "repetitions", "k_fold": "folds", "n_epochs": "epochs", "hidden_dims": "hidden",
}  # fmt: skip


@pytest.fixture(scope="module")
def recorded():
    path = TESTS / "recorded" / "probes" / "ulysses.json.gz"
    return json.loads(gzip.decompress(path.read_bytes()))["cases"]


@pytest.fixture(scope="module")
def computed():
    found = {}
    for name, (*_, options) in CASES.items():
        given = {OPTIONS[key]: value for key, value in options.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found[name] = fr.evaluate_classifier(*vectors_of(name), name=name, **given)
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
    np.testing.assert_allclose(series(computed[name], metric), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", CASES)
def test_mean_deviation_and_interval_equal_the_recorded_ones(name, recorded, computed):
    means, result = recorded[name]["means"], computed[name]
    found = [result.value, result.std, *result.interval]
    keys = ("avg", "std", "ci99_low", "ci99_high")
    expected = [means[f"{key}_metric_test"] for key in keys]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
