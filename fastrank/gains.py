"""What grades are worth to measures with options: exactly as they are defined."""

from __future__ import annotations

from itertools import pairwise

from fastrank.columns import Graded, Qrels, decoded
from fastrank.errors import EvaluationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.binding import BoundMeasure

# 2^grade is a finite number up to here.
LARGEST_EXPONENT = 1023
INFINITE = float("inf")


def exact_gains(
    own: BoundMeasure, grade_values: Any, qrels: Qrels | Graded
) -> list[tuple[int, float]]:
    """Pairs of grade and gain for nDCG; `grade_values` are all grades, however often.

    trec_eval sorts gains less than 1 apart as equal. A power of two spreads them, and cancels out
    in the quotient without a trace. Raises EvaluationError for gains that are no finite numbers.
    """
    assert own.options is not None
    if own.options.get("dcg") == "exp-log2":
        grades = sorted(set(grade_values))
        # The gains of all documents must have a finite sum.
        largest = LARGEST_EXPONENT - len(qrels.grade_column).bit_length()
        if grades and grades[-1] > largest:
            raise _too_large(own, qrels, largest, "is too large for gains of 2^grade - 1")
        return [(grade, 2.0**grade - 1.0) for grade in grades]
    most = max((abs(gain) for _, gain in own.pairs), default=0.0)
    if most * len(qrels.grade_column) == INFINITE:
        reason = f"a gain of {most:g} is too large to be added up"
        raise EvaluationError(own.measure.name, qrels.queries[0], reason)
    if all(gain % 1 == 0 for _, gain in own.pairs):
        return own.pairs
    gains = {grade: float(grade) for grade in set(grade_values)} | dict(own.pairs)
    ascending = sorted({0.0, *gains.values()})
    closest = min(b - a for a, b in pairwise(ascending))
    factor = 1.0
    while closest * factor < 1.0:
        factor *= 2.0
    if max(map(abs, ascending)) * factor * len(qrels.grade_column) == INFINITE:
        raise EvaluationError(
            own.measure.name, qrels.queries[0], "the gains are too far apart to be told apart"
        )
    return [(grade, gain * factor) for grade, gain in gains.items()]


def grade_scale(own: BoundMeasure, qrels: Qrels | Graded) -> float:
    """The highest grade for ERR: the one given, or that of the judgments.

    Raises EvaluationError for a grade above it, or one too large for a probability.
    """
    assert own.options is not None
    highest = max(qrels.grade_column, default=0)
    given = own.options.get("max_grade", max(highest, 1))
    if highest > given:
        raise _too_large(own, qrels, given, f"is above max_grade={given}")
    if given > LARGEST_EXPONENT:
        reason = f"max_grade={given}: expected at most {LARGEST_EXPONENT}"
        raise EvaluationError(own.measure.name, qrels.queries[0], reason)
    return float(given)


def _too_large(own: BoundMeasure, qrels: Qrels | Graded, limit: int, why: str) -> EvaluationError:
    """The error for the first grade above a limit."""
    grades, offsets = qrels.grade_column, qrels.offset_column
    row = next(row for row, grade in enumerate(grades) if grade > limit)
    query = qrels.queries[sum(stop <= row for stop in offsets[1:])]
    document = row if isinstance(qrels, Graded) else decoded(qrels.docs[row])
    return EvaluationError(
        own.measure.name,
        query,
        f"grade {grades[row]} of document {document} of query '{decoded(query)}' {why}",
    )
