"""Metrics of answers in words, as in question answering."""

from __future__ import annotations

import re
import string
from collections import Counter

from fastrank.errors import ArrayError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PUNCTUATION = str.maketrans("", "", string.punctuation)
ARTICLES = re.compile(r"\b(a|an|the)\b")


def exact_match(answers: Sequence[Sequence[str]], predictions: Sequence[str]) -> float:
    """The fraction of predictions that equal one of the answers, after normalization.

    Text is normalized to lower case, without punctuation, articles and superfluous white space.

    answers: for each question a list of right answers; an empty one if it has none, which "" then
        answers. predictions: a str per question. Raises ArrayError for other input.

    Source: the official script of SQuAD 2.0 (which has percent); that of 1.1 has the same values
    unless a right answer is empty after normalization.

    >>> fr.tasks.exact_match([["the Seine"], ["1889", "in 1889"]], ["Seine", "March 1889"])
    0.5
    """
    return _mean_of_best(lambda right, predicted: float(right == predicted), answers, predictions)


def token_f1(answers: Sequence[Sequence[str]], predictions: Sequence[str]) -> float:
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
    answers: Sequence[Sequence[str]],
    predictions: Sequence[str],
) -> float:
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


def _words(text: str) -> list[str]:
    return ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split()
