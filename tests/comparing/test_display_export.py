"""A comparison as CSV and JSON."""

from __future__ import annotations

import csv
import io
import json

import fastrank as fr
from tests.helpers.comparisons import DATA, NAMES, compare_data, random_rows, scores_of


def test_csv_is_the_table_of_pairs() -> None:
    compared = compare_data()

    rows = list(csv.DictReader(io.StringIO(compared.to_csv())))

    assert list(rows[0]) == list(fr.types.Pair._fields)
    assert float(rows[1]["p"]) == compared.pair("map", "pixels", "profile").p
    assert len(rows) == 12


def test_csv_per_query_is_in_long_form() -> None:
    compared = compare_data()

    rows = list(csv.reader(io.StringIO(compared.to_csv(per_query=True))))

    assert rows[0] == ["query", "measure", "system", "value"]
    assert rows[2] == ["q0000", "map", "pca", repr(float(compared.values("map")[1, 0]))]
    assert len(rows) == 1 + 4 * 200 * 3


def test_json_has_means_pairs_settings_and_notes() -> None:
    compared = compare_data(baseline="pca", test="randomization", resamples=1000)

    found = json.loads(compared.to_json())

    low, high = compared.interval_of("map", "pca")
    assert found["schema"] == "fastrank.comparison/1"
    assert found["measures"] == compared.measures
    assert found["systems"]["pca"]["map"] == {
        "mean": compared.mean["map"]["pca"], "low": low, "high": high,
    }  # fmt: skip
    pair = compared.pair("map", "pixels", "pca")._replace(df=None)
    assert fr.types.Pair(**found["pairs"][0]) == pair
    assert found["notes"] == compared.notes
    assert found["settings"] == {
        "test": "randomization", "correction": "holm", "alpha": 0.05, "interval": "t",
        "level": 0.95, "seed": 0, "resamples": 1000, "family": "measure", "exact": False,
        "clusters": None, "version": fr.__version__,
    }  # fmt: skip


def test_json_of_runs_has_the_options_of_the_evaluation() -> None:
    runs = [DATA / f"{name}.run" for name in NAMES]
    compared = fr.compare(DATA / "digits.qrels", runs, "map", relevance_level=2, missing="skip")

    settings = json.loads(compared.to_json())["settings"]

    assert (settings["relevance_level"], settings["missing"], settings["exclude"]) == (
        2, "skip", False,
    )  # fmt: skip
    assert settings["trec_eval_version"] == "9.0.8"


def test_json_has_null_for_nan() -> None:
    compared = fr.compare_scores({"a": {"q": 0.5}, "b": {"q": 0.25}})

    assert json.loads(compared.to_json())["pairs"][0]["p"] is None


def test_json_can_have_the_values_of_each_query() -> None:
    compared = compare_data()

    found = json.loads(compared.to_json(per_query=True))["per_query"]

    assert found["q0001"]["P_10"]["pca"] == compared.values("P_10")[1, 1]


def test_frames_have_the_pairs() -> None:
    compared = compare_data(baseline="pca")

    expected = compared.pairs().columns
    assert {name: list(own) for name, own in compared.to_pandas().items()} == expected
    assert compared.to_polars().to_dict(as_series=False) == expected


def test_json_has_the_number_of_clusters() -> None:
    clusters = {f"q{place:03d}": place // 3 for place in range(30)}
    compared = fr.compare_scores(
        scores_of(random_rows(2, 30)), test="randomization", interval="none", clusters=clusters
    )

    assert json.loads(compared.to_json())["settings"]["clusters"] == 10
