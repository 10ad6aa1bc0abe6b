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

METRICS = ("nominal", "ordinal", "interval")


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio: Floats = np.where(denominator == 0, np.nan, numerator / denominator)
    return ratio


def _sum(matrix: Floats) -> Floats:
    total: Floats = matrix.sum(axis=(-2, -1))
    return total


def _shares(confusion: Floats) -> Floats:
    return _ratio(confusion, confusion.sum(axis=(-2, -1), keepdims=True))


def _product(rows: Floats, columns: Floats) -> Floats:
    """The shares that two distributions of grades would have by chance."""
    return rows[..., :, None] * columns[..., None, :]


def distances(grades: int, power: int) -> Floats:
    """How far two grades differ by their positions in the scale, to a power; 0: 1 if they differ.

    0 gives the unweighted, 1 the linear, 2 the quadratic coefficient.
    """
    positions = np.arange(grades, dtype=float)
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
    apart, shares = distances(confusion.shape[-1], power), _shares(confusion)
    expected = _product(shares.sum(axis=-1), shares.sum(axis=-2))
    return 1 - _ratio(_sum(apart * shares), _sum(apart * expected))


def pi(confusion: Floats) -> Floats:
    """Scott's pi. Source: Scott, Public Opinion Quarterly 19(3), 1955."""
    apart, shares = distances(confusion.shape[-1], 0), _shares(confusion)
    both = (shares.sum(axis=-1) + shares.sum(axis=-2)) / 2
    return 1 - _ratio(_sum(apart * shares), _sum(apart * _product(both, both)))


def ac(confusion: Floats, power: int = 0) -> Floats:
    """Gwet's AC1, or with weights (power 1 or 2) his AC2.

    Source: Gwet, British Journal of Mathematical and Statistical Psychology 61(1), 2008; AC2:
    Handbook of inter-rater reliability, 4th edition, 2014.
    """
    count = confusion.shape[-1]
    if count < 2:
        return np.full(confusion.shape[:-2], np.nan)
    apart, shares = distances(count, power), _shares(confusion)
    apart = apart / apart.max()
    both = (shares.sum(axis=-1) + shares.sum(axis=-2)) / 2
    chance = (1 - apart).sum() / (count * (count - 1)) * (both * (1 - both)).sum(axis=-1)
    return 1 - _ratio(_sum(apart * shares), 1 - chance)


def alpha(coincidence: Floats, grades: Floats, metric: str) -> Floats:
    """Krippendorff's alpha, from coincidence matrices of any number of judges.

    metric: "nominal", "ordinal" or "interval". Source: Krippendorff, Content analysis, 3rd edition,
    2013, chapter 12.
    """
    totals = coincidence.sum(axis=-1)
    if metric == "nominal":
        apart = distances(len(grades), 0)
    elif metric == "interval":
        apart = (grades[:, None] - grades) ** 2
    else:
        # The labels between two grades, with half of those of the two.
        middle = np.cumsum(totals, axis=-1) - totals / 2
        apart = (middle[..., :, None] - middle[..., None, :]) ** 2
    observed, expected = _sum(coincidence * apart), _sum(_product(totals, totals) * apart)
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
    both = _sum(confusion[..., relevant, :][..., relevant])
    first, second = _sum(confusion[..., relevant, :]), _sum(confusion[..., relevant])
    return _ratio(both, {"precision": second, "recall": first, "f1": (first + second) / 2}[name])


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
            for metric in METRICS
        },
        "bias": partial(bias, grades=grades),
        "higher": higher,
        "lower": lower,
        **{
            name: partial(binary, name=name, relevant=grades >= level)
            for name in ("precision", "recall", "f1", "specificity")
        },
    }
