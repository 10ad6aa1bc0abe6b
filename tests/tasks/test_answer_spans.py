"""Exact match and F1 of answers, against recorded values of SQuAD's official script."""

from __future__ import annotations

import pytest

import fastrank as fr

RECORDED = [
    (["Denver Broncos"], "The Denver Broncos!", 1.0, 1.0),
    (["a Rhine-river", "Danube"], "the river Danube, Danube", 0.0, 0.5),
    (["gold theme", "golden anniversary"], "golden  gold anniversary", 0.0, 0.8),
    (["The\u2013the"], "\u2013", 1.0, 1.0),
    (["3,5"], "35 a", 1.0, 1.0),
    (["1900"], "twelve", 0.0, 0.0),
]


@pytest.mark.parametrize(("answers", "prediction", "match", "f1"), RECORDED)
def test_values_of_one_answer_are_those_of_the_official_script(
    answers: list[str], prediction: str, match: float, f1: float
) -> None:
    assert fr.tasks.exact_match([answers], [prediction]) == match
    assert fr.tasks.token_f1([answers], [prediction]) == f1


def test_the_value_of_several_questions_is_the_mean() -> None:
    answers, predictions, matches, values = zip(*RECORDED, strict=True)
    assert fr.tasks.exact_match(answers, predictions) == sum(matches) / len(matches)
    assert fr.tasks.token_f1(answers, predictions) == sum(values) / len(values)


@pytest.mark.parametrize("metric", [fr.tasks.exact_match, fr.tasks.token_f1])
def test_no_answer_is_right_where_there_is_none(metric: object) -> None:
    assert callable(metric)
    assert metric([[], [], ["the", "Oslo"]], ["", "Oslo", "the"]) == 1 / 3


@pytest.mark.parametrize(
    ("answers", "predictions", "message"),
    [
        ([["a"]], ["a", "b"], "predictions: expected 1 values, as in answers, found 2"),
        (["Oslo"], ["Oslo"], r"answers\[0\]: expected a list of answers, found 'Oslo'"),
        ([], [], "answers: expected at least one question, found none"),
    ],
)
def test_invalid_answers_are_an_error(
    answers: list[list[str]], predictions: list[str], message: str
) -> None:
    with pytest.raises(fr.ArrayError, match=message):
        fr.tasks.token_f1(answers, predictions)
