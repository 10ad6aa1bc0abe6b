"""The gains of grades, exactly as the measures define them."""

from __future__ import annotations

from itertools import pairwise

from fastrank.core.data.columns import as_array
from fastrank.core.data.texts import decoded
from fastrank.core.formats.qrels import Graded, Qrels, query_and_document
from fastrank.core.measures.measure_options import LARGEST
from fastrank.core.native import records
from fastrank.core.native.buffers import filled
from fastrank.errors import EvaluationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fastrank.core.matching.judged import Judged
    from fastrank.core.measures.bound import BoundMeasure
    from fastrank.core.native.record import Int64Array

    Pairs = list[tuple[int, float]]

# 2^grade is a finite number up to here.
LARGEST_EXPONENT = 1023
INFINITE = float("inf")


def exact_gains(
    measure: BoundMeasure, grade_values: Iterable[int], qrels: Qrels | Graded
) -> tuple[Pairs, float]:
    """Pairs of grade and gain for a measure with options, and the factor of these gains.

    grade_values: all whole grades, which may repeat.

    trec_eval sorts gains less than 1 apart as equal. A power of two spreads them, and cancels out
    exactly in the quotient; measures without a quotient do not depend on the order. Raises
    EvaluationError for gains that are not finite.
    """
    if measure.measure.needs in ("stops", "normalized gains") or _is_exponential(measure):
        grades = sorted(set(grade_values))
        return list(zip(grades, gains_of(measure, grades, qrels), strict=True)), 1.0
    pairs = [(int(grade), gain) for grade, gain in measure.pairs if grade % 1 == 0]
    _check_sum(measure, [gain for _, gain in pairs], qrels)
    if all(gain % 1 == 0 for _, gain in pairs) or measure.measure.adds == ("discounted gain", ""):
        return pairs, 1.0
    gains = {grade: float(grade) for grade in set(grade_values)} | dict(pairs)
    ascending = sorted({0.0, *gains.values()})
    closest = min(b - a for a, b in pairwise(ascending))
    factor = 1.0
    while closest * factor < 1.0:
        factor *= 2.0
    if max(map(abs, ascending)) * factor * len(qrels.grade_column) == INFINITE:
        raise EvaluationError(
            measure.measure.name,
            qrels.queries[0],
            "the range of the gains is too large to distinguish the closest of them",
        )
    return [(grade, gain * factor) for grade, gain in gains.items()], factor


def gains_of(measure: BoundMeasure, grades: Sequence[float], qrels: Qrels | Graded) -> list[float]:
    """The gains of ascending grades that are not negative.

    Raises EvaluationError for gains that are not finite.
    """
    if measure.measure.needs == "stops":
        highest = grade_scale(measure, qrels)
        return [(2.0**grade - 1.0) / 2.0**highest for grade in grades]
    if measure.measure.needs == "normalized gains":
        lowest, highest = _grade_range(measure, qrels)
        clipped = [min(max(grade, lowest), highest) for grade in grades]
        return [(grade - lowest) / (highest - lowest) for grade in clipped]
    if _is_exponential(measure):
        # The gains of all documents must have a finite sum.
        largest = LARGEST_EXPONENT - len(qrels.grade_column).bit_length()
        if grades and grades[-1] > largest:
            raise _too_large(measure, qrels, largest, "is too large for the gain 2^grade - 1")
        return [2.0**grade - 1.0 for grade in grades]
    gain_of: dict[float, float] = dict(measure.pairs)
    gains = [gain_of.get(grade, float(grade)) for grade in grades]
    _check_sum(measure, gains, qrels)
    return gains


def grade_scale(measure: BoundMeasure, qrels: Qrels | Graded) -> float:
    """The highest grade for ERR: the one given, or that of the judgments.

    Raises EvaluationError for a grade above it, or one too large for a probability.
    """
    assert measure.options is not None
    highest = max(_grades(qrels), default=0)
    max_grade = measure.options.get("max_grade", max(highest, 1))
    if highest > max_grade:
        raise _too_large(measure, qrels, max_grade, f"is above max_grade={max_grade}")
    if max_grade > LARGEST_EXPONENT:
        reason = f"max_grade={max_grade}: expected at most {LARGEST_EXPONENT}"
        raise EvaluationError(measure.measure.name, qrels.queries[0], reason)
    return float(max_grade)


def _grade_range(measure: BoundMeasure, qrels: Qrels | Graded) -> tuple[float, float]:
    """The grades whose gains are 0 and 1. Raises EvaluationError if the first is not lower."""
    assert measure.options is not None
    lowest = measure.options.get("min_rel", 0.0)
    highest = measure.options.get("max_rel")
    if highest is None:
        highest = max(max(_grades(qrels), default=0), 1)
    if not lowest < highest:
        where = "the highest grade" if "max_rel" not in measure.options else "max_rel"
        reason = f"min_rel={lowest:g}: expected less than {where}, {highest:g}"
        raise EvaluationError(measure.measure.name, qrels.queries[0], reason)
    return lowest, highest


def with_best_gain(
    measure: BoundMeasure, gained: records.GainedRankings, pairs: Pairs, qrels: Qrels | Graded
) -> records.GainedRankings:
    """The same rankings with the gain of max_grade at every rank of the ideal ranking."""
    best = grade_scale(measure, qrels)
    gain_of = dict(pairs)
    gain = gain_of[int(best)] if best in gain_of else gains_of(measure, [best], qrels)[0]
    queries = len(gained.offsets) - 1
    return gained.changed(
        ideal_offsets=filled("q", list(range(queries + 1))),
        ideal_gains=filled("d", [gain] * queries),
        ideal_counts=filled("q", [LARGEST] * queries),
    )


def scaled_gains(
    measure: BoundMeasure, judged: Judged, qrels: Qrels | Graded, *, rescale: bool
) -> records.GainedRankings:
    """The rankings with gains, for grades with fractions.

    trec_eval does not support these, so gains are sorted exactly, however close they are.
    rescale: map the gains of a query to [0, 1] if one is outside.
    """
    import numpy

    scale = qrels.scale
    assert scale is not None
    offsets, ranks, codes, grade_offsets, distinct, counts, num_ret, num_rel, *_ = judged.columns
    codes = as_array(codes)[: offsets[len(offsets) - 1]]
    bounds = as_array(grade_offsets)
    queries, size = len(bounds) - 1, int(bounds[-1])
    table = numpy.array(gains_of(measure, scale.values[: scale.judged].tolist(), qrels))
    # Documents not in the judgments (-1) and with negative grades (-2) may have given gains.
    unjudged_gains = {grade: gain for grade, gain in measure.pairs if grade in (-1, -2)}
    gains = numpy.where(codes >= 0, table[numpy.maximum(codes, 0)], 0.0)
    for grade, gain in unjudged_gains.items():
        gains[codes == grade] = gain
    best = table[as_array(distinct)[:size]]
    query_of = numpy.repeat(numpy.arange(queries), numpy.diff(bounds))
    if rescale:
        all_gains = [gain for _, gain in measure.pairs]
        lowest = numpy.full(queries, min([0.0, *all_gains]))
        highest = numpy.full(queries, max([0.0, *all_gains]))
        numpy.minimum.at(lowest, query_of, best)
        numpy.maximum.at(highest, query_of, best)
        outside = (lowest < 0.0) | (highest > 1.0)
        base = numpy.where(outside, lowest, 0.0)
        span = numpy.where(outside, highest - lowest, 1.0)
        best = (best - base[query_of]) / span[query_of]
        ranked = numpy.repeat(numpy.arange(queries), numpy.diff(as_array(offsets)))
        has_gain = (codes >= 0) | numpy.isin(codes, list(unjudged_gains))
        gains = numpy.where(has_gain, (gains - base[ranked]) / span[ranked], 0.0)
    rows = numpy.flatnonzero(best > 0.0)
    rows = rows[numpy.lexsort((-best[rows], query_of[rows]))]
    ideal_offsets = numpy.zeros(queries + 1, numpy.int64)
    numpy.cumsum(numpy.bincount(query_of[rows], minlength=queries), out=ideal_offsets[1:])
    ideal_counts = as_array(counts)[:size][rows]
    return records.GainedRankings(
        offsets=offsets,
        ranks=ranks,
        gains=gains,
        ideal_offsets=ideal_offsets,
        ideal_gains=best[rows],
        ideal_counts=ideal_counts,
        num_ret=num_ret,
        num_rel=num_rel,
    )


def _is_exponential(measure: BoundMeasure) -> bool:
    return measure.options is not None and measure.options.get("dcg") == "exp-log2"


def _check_sum(measure: BoundMeasure, gains: list[float], qrels: Qrels | Graded) -> None:
    most = max(map(abs, gains), default=0.0)
    if most * len(qrels.grade_column) == INFINITE:
        reason = f"the gain {most:g} is too large: the sum of gains would be infinite"
        raise EvaluationError(measure.measure.name, qrels.queries[0], reason)


def _grades(qrels: Qrels | Graded) -> Int64Array | list[float]:
    codes = qrels.grade_column
    return codes if qrels.scale is None else qrels.scale.grades(codes).tolist()


def _too_large(
    measure: BoundMeasure, qrels: Qrels | Graded, limit: int, why: str
) -> EvaluationError:
    """The error for the first grade above a limit."""
    grades = _grades(qrels)
    row = next(row for row, grade in enumerate(grades) if grade > limit)
    query, document = query_and_document(qrels, row)
    return EvaluationError(
        measure.measure.name,
        query,
        f"grade {grades[row]} of document {document} of query '{decoded(query)}' {why}",
    )
