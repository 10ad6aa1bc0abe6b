"""Coefficients of agreement against scikit-learn, krippendorff and irrCAC."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support

import fastrank as fr
from fastrank.analysis.judges.coefficients import coefficients
from fastrank.errors import GroupError

RECORDED = json.loads((Path(__file__).parent / "coefficients.json").read_text())["cases"]
NAMES = [name for name in RECORDED[0] if name not in ("grades", "confusion")]
# Random labels often lack a grade.
pytestmark = pytest.mark.filterwarnings("ignore:.*map them with scale:UserWarning")


@pytest.mark.parametrize("name", NAMES)
def test_a_coefficient_is_that_of_the_package_that_people_use(name):
    for case in RECORDED:
        function = coefficients(np.array(case["grades"], float), 1)[name]
        assert float(function(np.array(case["confusion"], float))) == pytest.approx(
            case[name], abs=1e-12
        )


labels = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 4)), min_size=2, max_size=40
)


def judges_of(rows: list[tuple[int, int, int]]) -> list[dict[str, dict[str, int]]]:
    made: list[dict[str, dict[str, int]]] = [{}, {}]
    for place, (*grades, query) in enumerate(rows):
        for own, grade in zip(made, grades, strict=True):
            own.setdefault(f"q{query}", {})[f"d{place}"] = grade
    return made


@given(labels)
def test_random_labels_have_the_kappas_and_rates_of_scikit_learn(rows):
    first, second, _ = (np.array(column) for column in zip(*rows, strict=True))
    found = fr.judge_agreement(*judges_of(rows), resamples=1)
    if len(found.grades) > 1:
        for name, weights in (
            ("kappa", None),
            ("kappa_linear", "linear"),
            ("kappa_quadratic", "quadratic"),
        ):
            expected = cohen_kappa_score(first, second, weights=weights)
            assert found.value(name) == pytest.approx(expected, abs=1e-12, nan_ok=True)
    precision, recall, f1, _ = precision_recall_fscore_support(
        first > 0, second > 0, average="binary", zero_division=math.nan
    )
    assert found.precision == pytest.approx(precision, nan_ok=True)
    assert found.recall == pytest.approx(recall, nan_ok=True)
    if (first > 0).any() or (second > 0).any():
        assert found.f1 == pytest.approx(0.0 if math.isnan(f1) else f1)
    assert found.bias == pytest.approx(float(np.mean(second - first)), abs=1e-12)
    assert found.higher == pytest.approx(float(np.mean(second > first)))
    assert found.lower == pytest.approx(float(np.mean(second < first)))


@given(
    st.lists(
        st.lists(st.none() | st.integers(0, 3), min_size=3, max_size=3), min_size=2, max_size=30
    )
)
def test_alpha_of_several_judges_with_missing_labels_is_that_of_krippendorff(units):
    krippendorff = pytest.importorskip("krippendorff", reason="needs krippendorff (Python 3.11)")
    judges = [
        {
            "q": {
                f"d{place}": unit[judge]
                for place, unit in enumerate(units)
                if unit[judge] is not None
            }
        }
        for judge in range(3)
    ]
    paired = [[own for own in unit if own is not None] for unit in units]
    values = {own for unit in paired if len(unit) > 1 for own in unit}
    if not values:
        with pytest.raises(GroupError, match="no judged pair"):
            fr.judge_agreement(*judges)
        return
    found = fr.judge_agreement(*judges)
    if len(values) == 1:
        assert math.isnan(found.alpha["nominal"])
        return
    table = np.array([[math.nan if own is None else own for own in unit] for unit in units]).T
    for metric, value in found.alpha.items():
        expected = krippendorff.alpha(table, level_of_measurement=metric)
        assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("second", "expected"),
    [([0, 1, 2], 1.0), ([2, 1, 0], -1.0), ([1, 1, 1], 0.0)],
    ids=["perfect", "reversed", "constant"],
)
def test_quadratic_kappa_is_1_0_and_minus_1_where_it_must_be(second, expected):
    first = {"q": {"a": 0, "b": 1, "c": 2}}
    other = {"q": dict(zip("abc", second, strict=True))}
    assert fr.judge_agreement(first, other).kappa_quadratic == pytest.approx(expected)


def test_one_grade_only_has_full_agreement_and_no_chance_corrected_value():
    same = {"q": {"a": 1, "b": 1}}
    found = fr.judge_agreement(same, {"q": {"a": 1, "b": 1}})
    assert found.agreement == 1.0
    assert all(math.isnan(found.value(name)) for name in NAMES)
