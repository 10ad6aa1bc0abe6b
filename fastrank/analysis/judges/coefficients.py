"""Coefficients of agreement of two judges, from their confusion matrices.

A confusion matrix counts the pairs of query and document by the grade of the first judge (row) and
that of the second (column). All functions take float64[..., grades, grades], such as one matrix per
resample, and return float64[...]; a coefficient without a value, such as 0 / 0, is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy.typing as npt

    from fastrank.common.arrays import Floats

    Coefficient: TypeAlias = Callable[[Floats], Floats]

ALPHA_METRICS = ("nominal", "ordinal", "interval")


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio: Floats = np.where(denominator == 0, np.nan, numerator / denominator)
    return ratio


def _sum(matrix: Floats) -> Floats:
    total: Floats = matrix.sum(axis=(-2, -1))
    return total


def _shares(confusion: Floats) -> Floats:
    return _ratio(confusion, confusion.sum(axis=(-2, -1), keepdims=True))


def _chance_shares(rows: Floats, columns: Floats) -> Floats:
    """The shares of pairs of grades that two distributions give by chance."""
    return rows[..., :, None] * columns[..., None, :]


def distances(grade_count: int, power: int) -> Floats:
    """The distances of grades in the scale, to a power; with 0, 1 wherever grades differ.

    0 gives the unweighted, 1 the linear, 2 the quadratic coefficient.
    """
    positions = np.arange(grade_count, dtype=float)
    distance = np.abs(positions[:, None] - positions)
    return distance**power if power else (distance > 0).astype(float)


def agreement(confusion: Floats) -> Floats:
    """The share of pairs with equal grades."""
    return _ratio(np.trace(confusion, axis1=-2, axis2=-1), _sum(confusion))


def kappa(confusion: Floats, power: int = 0) -> Floats:
    """Cohen's kappa: 1 - observed / expected disagreement.

    Sources: Cohen, Educational and Psychological Measurement 20(1), 1960; weighted: Psychological
    Bulletin 70(4), 1968.
    """
    distance, shares = distances(confusion.shape[-1], power), _shares(confusion)
    expected = _chance_shares(shares.sum(axis=-1), shares.sum(axis=-2))
    return 1 - _ratio(_sum(distance * shares), _sum(distance * expected))


def pi(confusion: Floats) -> Floats:
    """Scott's pi. Source: Scott, Public Opinion Quarterly 19(3), 1955."""
    distance, shares = distances(confusion.shape[-1], 0), _shares(confusion)
    pooled = (shares.sum(axis=-1) + shares.sum(axis=-2)) / 2
    return 1 - _ratio(_sum(distance * shares), _sum(distance * _chance_shares(pooled, pooled)))


def ac(confusion: Floats, power: int = 0) -> Floats:
    """Gwet's AC1, or with weights (power 1 or 2) his AC2.

    Source: Gwet, British Journal of Mathematical and Statistical Psychology 61(1), 2008; AC2:
    Handbook of inter-rater reliability, 4th edition, 2014.
    """
    grade_count = confusion.shape[-1]
    if grade_count < 2:
        return np.full(confusion.shape[:-2], np.nan)
    distance, shares = distances(grade_count, power), _shares(confusion)
    distance = distance / distance.max()
    pooled = (shares.sum(axis=-1) + shares.sum(axis=-2)) / 2
    weight = (1 - distance).sum() / (grade_count * (grade_count - 1))
    chance = weight * (pooled * (1 - pooled)).sum(axis=-1)
    return 1 - _ratio(_sum(distance * shares), 1 - chance)


def alpha(coincidence: Floats, grades: Floats, metric: str) -> Floats:
    """Krippendorff's alpha, from coincidence matrices of any number of judges.

    metric: "nominal", "ordinal" or "interval". Source: Krippendorff, Content analysis, 3rd edition,
    2013, chapter 12.
    """
    totals = coincidence.sum(axis=-1)
    if metric == "nominal":
        distance = distances(len(grades), 0)
    elif metric == "interval":
        distance = (grades[:, None] - grades) ** 2
    else:
        # The number of labels below a grade, plus half of those with it.
        mid_ranks = np.cumsum(totals, axis=-1) - totals / 2
        distance = (mid_ranks[..., :, None] - mid_ranks[..., None, :]) ** 2
    observed = _sum(coincidence * distance)
    expected = _sum(_chance_shares(totals, totals) * distance)
    return 1 - _ratio(observed * (totals.sum(axis=-1) - 1), expected)


def alpha_of_two(confusion: Floats, grades: Floats, metric: str) -> Floats:
    """Krippendorff's alpha of two judges: each pair of labels counts in both orders."""
    return alpha(confusion + np.swapaxes(confusion, -2, -1), grades, metric)


def bias(confusion: Floats, grades: Floats) -> Floats:
    """The mean grade of the second judge minus that of the first."""
    return _ratio(_sum(confusion * (grades - grades[:, None])), _sum(confusion))


def higher(confusion: Floats) -> Floats:
    """The share of pairs that the second judge grades higher."""
    return _ratio(_sum(np.triu(confusion, 1)), _sum(confusion))


def lower(confusion: Floats) -> Floats:
    """The share of pairs that the second judge grades lower."""
    return higher(np.swapaxes(confusion, -2, -1))


def binary(confusion: Floats, name: str, relevant: npt.NDArray[np.bool_]) -> Floats:
    """Precision, recall, F1 or specificity of the second judge; the first is taken as right.

    relevant: whether each grade is, bool[grades].
    """
    if name == "specificity":
        return binary(confusion, "recall", ~relevant)
    relevant_to_both = _sum(confusion[..., relevant, :][..., relevant])
    relevant_to_first = _sum(confusion[..., relevant, :])
    relevant_to_second = _sum(confusion[..., relevant])
    mean = (relevant_to_first + relevant_to_second) / 2
    divisors = {"precision": relevant_to_second, "recall": relevant_to_first, "f1": mean}
    return _ratio(relevant_to_both, divisors[name])


def coefficients(grades: Floats, level: float) -> dict[str, Coefficient]:
    """Everything that is computed from a confusion matrix, by name."""
    return {
        "agreement": agreement,
        "kappa": kappa,
        "kappa_linear": partial(kappa, power=1),
        "kappa_quadratic": partial(kappa, power=2),
        "pi": pi,
        "ac1": ac,
        "ac2_linear": partial(ac, power=1),
        "ac2": partial(ac, power=2),
        **{
            f"alpha_{metric}": partial(alpha_of_two, grades=grades, metric=metric)
            for metric in ALPHA_METRICS
        },
        "bias": partial(bias, grades=grades),
        "higher": higher,
        "lower": lower,
        **{
            name: partial(binary, name=name, relevant=grades >= level)
            for name in ("precision", "recall", "f1", "specificity")
        },
    }
