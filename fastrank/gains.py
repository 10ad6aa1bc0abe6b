"""What grades are worth to measures with options: exactly as they are defined."""

from __future__ import annotations

from itertools import pairwise

from fastrank.errors import EvaluationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.selection import BoundMeasure

# 2^grade is a finite number up to here.
LARGEST_EXPONENT = 1023


def exact_gains(own: BoundMeasure, grades: set[int], query: bytes) -> list[tuple[int, float]]:
    """Pairs of grade and gain for nDCG, of those given and all `grades` that there are.

    trec_eval sorts gains less than 1 apart as equal. A power of two spreads them, and cancels out
    in the quotient without a trace. `query` is named where a grade is too large.
    """
    assert own.options is not None
    if own.options.get("dcg") == "exp-log2":
        highest = max(grades, default=0)
        if highest > LARGEST_EXPONENT:
            raise EvaluationError(
                own.measure.name, query,
                f"grade {highest} is too large for gains of 2^grade - 1: expected at most"
                f" {LARGEST_EXPONENT}",
            )  # fmt: skip
        return [(grade, 2.0**grade - 1.0) for grade in sorted(grades)]
    if all(gain % 1 == 0 for _, gain in own.pairs):
        return own.pairs
    gains = {grade: float(grade) for grade in grades} | dict(own.pairs)
    ascending = sorted({0.0, *gains.values()})
    closest = min(b - a for a, b in pairwise(ascending))
    factor = 1.0
    while closest * factor < 1.0:
        factor *= 2.0
    return [(grade, gain * factor) for grade, gain in gains.items()]
