"""Metrics of answers in words, as in question answering."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Mapping

from fastrank.common.messages import counted, first_few
from fastrank.errors import ArrayError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    Answers: TypeAlias = "Sequence[Sequence[str]] | Mapping[Any, Sequence[str]]"
    Predictions: TypeAlias = "Sequence[str] | Mapping[Any, str]"

PUNCTUATION = str.maketrans("", "", string.punctuation)
# How many questions an error names.
NAMED = 3
ARTICLES = re.compile(r"\b(a|an|the)\b")


def exact_match(answers: Answers, predictions: Predictions) -> float:
    """The fraction of predictions that equal one of the answers, after normalization.

    Text is normalized to lower case, without punctuation, articles and superfluous white space.

    answers: for each question a list of right answers; an empty one if it has none, which "" then
        answers. predictions: a str per question. Or both as mappings from question to answers, and
        from question to prediction, of the same questions. Raises ArrayError for other input.

    Source: the official script of SQuAD 2.0 (which has percent); that of 1.1 has the same values
    unless a right answer is empty after normalization.

    >>> fr.tasks.exact_match([["the Seine"], ["1889", "in 1889"]], ["Seine", "March 1889"])
    0.5
    >>> fr.tasks.exact_match({"q1": ["the Seine"]}, {"q1": "Seine"})
    1.0
    """
    return _mean_of_best(lambda right, predicted: float(right == predicted), answers, predictions)


def token_f1(answers: Answers, predictions: Predictions) -> float:
    """The mean F1 of the words of predictions and answers, the best over the answers of a question.

    Arguments, normalization and source as in `exact_match`. Without words, the F1 is 1 if both
    have none, else 0.

    >>> fr.tasks.token_f1([["the Seine"], ["1889", "in 1889"]], ["Seine", "March 1889"])
    0.8333333333333333
    """
    return _mean_of_best(_f1, answers, predictions)


def _f1(right: list[str], predicted: list[str]) -> float:
    if not right or not predicted:
        return float(right == predicted)
    common = (Counter(right) & Counter(predicted)).total()
    if not common:
        return 0.0
    precision, recall = common / len(predicted), common / len(right)
    return 2 * precision * recall / (precision + recall)


def _mean_of_best(
    metric: Callable[[list[str], list[str]], float],
    answers: Answers,
    predictions: Predictions,
) -> float:
    answers, predictions = _by_question(answers, predictions)
    if len(answers) != len(predictions):
        expected = f"expected {len(answers)} values, as in answers"
        raise ArrayError("predictions", f"{expected}, found {len(predictions)}")
    if not len(answers):
        raise ArrayError("answers", "expected at least one question, found none")
    total = 0.0
    for row, (right, prediction) in enumerate(zip(answers, predictions, strict=True)):
        if isinstance(right, str):
            raise ArrayError("answers", f"expected a list of answers, found {right!r:.60}", row)
        words = [answer_words for answer in right if (answer_words := _words(answer))] or [[]]
        total += max(metric(candidate, _words(prediction)) for candidate in words)
    return total / len(answers)


def _by_question(
    answers: Answers, predictions: Predictions
) -> tuple[Sequence[Sequence[str]], Sequence[str]]:
    """Answers and predictions in the order of the answers. Raises ArrayError."""
    if not isinstance(answers, Mapping) and not isinstance(predictions, Mapping):
        return answers, predictions
    if not isinstance(answers, Mapping) or not isinstance(predictions, Mapping):
        name = "predictions" if isinstance(answers, Mapping) else "answers"
        raise ArrayError(name, "expected a mapping from question, as the other argument is")
    for name, lacking in (
        ("predictions", [question for question in answers if question not in predictions]),
        ("answers", [question for question in predictions if question not in answers]),
    ):
        if lacking:
            questions = counted(len(lacking), "question")
            hint = {"predictions": '"" is no answer', "answers": "[] has none"}[name]
            raise ArrayError(
                name, f"{questions} missing: {first_few(list(map(repr, lacking)), NAMED)}; {hint}"
            )
    return list(answers.values()), [predictions[question] for question in answers]


def _words(text: str) -> list[str]:
    return ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split()
