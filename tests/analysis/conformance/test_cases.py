"""The cases of `fastrank conformance`, and that each mistake is told from all others."""

from __future__ import annotations

import json

import pytest

from fastrank.analysis.conformance.asking import Answer
from fastrank.analysis.conformance.cases import all_cases, mistakes
from fastrank.analysis.conformance.report import diagnosed
from tests.helpers.contract import FILE, right_values, wrong_values

CASES = json.loads(FILE.read_text("ascii"))["cases"]


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_values_are_those_of_trec_eval_and_of_measures_with_a_mistake(case):
    right, wrong = right_values(case), wrong_values(case, mistakes())

    assert case["right"] == pytest.approx(right)
    assert case["wrong"] == pytest.approx(wrong)
    assert case["finds"] in wrong
    assert case["finds"] in case["case"]


def test_there_are_at_most_60_cases_and_each_mistake_has_some():
    assert len({case["case"] for case in CASES}) == len(CASES) <= 60
    assert {mistake for case in CASES for mistake in case["wrong"]} == {*mistakes()}


def answers(*names: str) -> list[Answer]:
    """Those of a program that makes mistakes, of which the first that shows decides."""
    values = []
    for case in all_cases():
        right = next(value for value in case.right.values() if value is not None)
        wrong = [case.wrong[name] for name in names if name in case.wrong]
        value = [*wrong, right][0]
        values.append(Answer(value, "" if value is not None else "exit status 1"))
    return values


@pytest.mark.parametrize("mistake", mistakes())
def test_each_mistake_is_told_from_all_others(mistake):
    found = diagnosed(all_cases(), answers(mistake)).mistakes

    # The only case of a measure that has no value does not tell why.
    assert [own.name for own in found if own.name] == [mistake]
    assert found[0].cases == found[0].of


def test_two_mistakes_in_different_measures_are_told():
    found = diagnosed(all_cases(), answers("ideal-of-retrieved", "hit-rate-called-recall"))

    assert {own.name for own in found.mistakes} == {"ideal-of-retrieved", "hit-rate-called-recall"}


def test_values_may_be_rounded_to_four_decimals():
    rounded = [own._replace(value=round(own.value, 4)) for own in answers()]  # type: ignore[arg-type]

    found = diagnosed(all_cases(), rounded)

    assert (found.mistakes, found.right) == ([], len(CASES))
    assert found.to_text() == "0 mistakes; 60 of 60 cases right."


@pytest.mark.parametrize(
    ("transformed", "expected"),
    [
        (lambda value: round(value, 2), "values that are right to two or three decimals"),
        (lambda value: 100 * value, "values that are right as percentages"),
        (lambda value: 0.0, "all values are the same"),
    ],
)
def test_what_is_wrong_with_all_values_is_no_known_mistake(transformed, expected):
    values = [own._replace(value=transformed(own.value)) for own in answers()]

    (found,) = diagnosed(all_cases(), values).mistakes

    assert (found.mistake.partition(";")[0], found.name) == (expected, "")


def test_a_mistake_that_shows_in_few_of_its_cases_is_not_assumed():
    cases = [case for case in all_cases() if "discount-by-rank" in case.wrong]
    values = [
        Answer(case.wrong["discount-by-rank"] if n == 0 else 0.123) for n, case in enumerate(cases)
    ]

    found = diagnosed(cases, values)

    assert [own.name for own in found.mistakes] == [""]
    names = ", ".join(case.case for case in cases[1:])
    assert f"Also: {names}." in " ".join(found.to_text().split())


def test_why_there_is_no_value_is_told():
    case = next(case for case in all_cases() if case.finds == "no-results-fail")
    values = [Answer(0.25), Answer(problem="KeyError: 'a'", is_error=True)]

    text = diagnosed([all_cases()[0], case], values).to_text()

    assert "no value (KeyError: 'a'), expected 0.0000" in " ".join(text.split())
