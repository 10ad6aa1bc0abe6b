"""The interval of one system's mean: `Scores.interval`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import fastrank as fr
from tests.helpers.comparisons import DATA, data_scores

RUN = DATA / "pixels.run"


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_t_interval_is_scipys(level: float) -> None:
    scores = data_scores()["pixels"]
    values = scores["map"]

    expected = stats.t.interval(level, len(values) - 1, values.mean(), stats.sem(values))

    assert scores.interval("map", level) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("method", "name"), [("percentile", "percentile"), ("bca", "BCa")])
def test_bootstrap_intervals_are_scipys_up_to_the_resamples(method: str, name: str) -> None:
    scores = data_scores()["pixels"]
    expected = stats.bootstrap(
        (scores["map"],), np.mean, method=name, n_resamples=10_000, rng=np.random.default_rng(1)
    ).confidence_interval

    assert scores.interval("map", method=method) == pytest.approx(tuple(expected), abs=1e-3)


@pytest.mark.parametrize("method", ["t", "percentile", "bca", "studentized"])
def test_the_interval_is_that_of_a_comparison(method: str) -> None:
    options = {"seed": 3, "resamples": 500, "level": 0.8}
    alone = fr.compare(DATA / "digits.qrels", [RUN], "map P.10", interval=method, **options)

    for measure in ("map", "P_10"):
        found = data_scores()["pixels"].interval(measure, method=method, **options)
        assert found == alone.interval_of(measure, "pixels")


@pytest.mark.parametrize("measure", ["gm_map", "num_ret", "ndcg"])
def test_what_is_no_mean_has_no_interval(measure: str) -> None:
    scores = fr.evaluate(DATA / "digits.qrels", RUN, "map gm_map num_ret")

    with pytest.raises(fr.MeasureError, match=measure):
        scores.interval(measure)
    with pytest.raises(fr.OptionError, match="method"):
        scores.interval("map", method="none")


def test_the_only_measure_need_not_be_named() -> None:
    only, several = (fr.evaluate(DATA / "digits.qrels", RUN, asked) for asked in ("map", "map P.5"))

    assert only.interval() == only.interval("map")
    assert only.plot().get_title(loc="left") == only.plot("map").get_title(loc="left")
    for call in (several.interval, several.plot):
        with pytest.raises(fr.MeasureError, match="found 2 measures; name one: map, P_5"):
            call()
