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
    from typing import Any, TypeAlias

    import numpy.typing as npt

    Floats: TypeAlias = npt.NDArray[np.float64]
    Coefficient: TypeAlias = Callable[[Floats], Floats]


def _ratio(numerator: Any, denominator: Any) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.where(denominator == 0, np.nan, numerator / denominator)
    return found


def _shares(confusion: Floats) -> Floats:
    return _ratio(confusion, confusion.sum(axis=(-2, -1), keepdims=True))


def _marginals(confusion: Floats) -> tuple[Floats, Floats]:
    return confusion.sum(axis=-1), confusion.sum(axis=-2)


def disagreements(grades: int, power: int) -> Floats:
    """How far two grades differ by their positions in the scale, to a power; 0: 1 if they differ.

    0 gives the unweighted, 1 the linear, 2 the quadratic coefficient.
    """
    places = np.arange(grades, dtype=float)
    distance = np.abs(places[:, None] - places)
    return distance**power if power else (distance > 0).astype(float)


def agreement(confusion: Floats) -> Floats:
    """The share of pairs with equal grades."""
    return _ratio(np.trace(confusion, axis1=-2, axis2=-1), confusion.sum(axis=(-2, -1)))


def kappa(confusion: Floats, power: int = 0) -> Floats:
    """Cohen's kappa: 1 - observed / expected disagreement.

    Sources: Cohen, Educational and Psychological Measurement 20(1), 1960; weighted: Psychological
    Bulletin 70(4), 1968.
    """
    weights = disagreements(confusion.shape[-1], power)
    rows, columns = _marginals(confusion)
    expected = rows[..., :, None] * columns[..., None, :]
    observed = (weights * confusion).sum(axis=(-2, -1)) * confusion.sum(axis=(-2, -1))
    return 1 - _ratio(observed, (weights * expected).sum(axis=(-2, -1)))


def pi(confusion: Floats) -> Floats:
    """Scott's pi. Source: Scott, Public Opinion Quarterly 19(3), 1955."""
    rows, columns = _marginals(_shares(confusion))
    expected = (((rows + columns) / 2) ** 2).sum(axis=-1)
    return _ratio(agreement(confusion) - expected, 1 - expected)


def ac(confusion: Floats, power: int = 0) -> Floats:
    """Gwet's AC1, or with weights (power 1 or 2) his AC2.

    Source: Gwet, British Journal of Mathematical and Statistical Psychology 61(1), 2008; AC2:
    Handbook of inter-rater reliability, 4th edition, 2014.
    """
    count = confusion.shape[-1]
    if count < 2:
        return np.full(confusion.shape[:-2], np.nan)
    distance = disagreements(count, power)
    weights = 1 - distance / distance.max()
    shares = _shares(confusion)
    rows, columns = _marginals(shares)
    prevalence = (rows + columns) / 2
    observed = (weights * shares).sum(axis=(-2, -1))
    chance = (prevalence * (1 - prevalence)).sum(axis=-1)
    expected = weights.sum() / (count * (count - 1)) * chance
    return _ratio(observed - expected, 1 - expected)


def coincidences(confusion: Floats) -> Floats:
    """The coincidence matrix of two judges: each pair of labels in both orders."""
    return confusion + np.swapaxes(confusion, -2, -1)


def alpha(coincidence: Floats, grades: Floats, metric: str) -> Floats:
    """Krippendorff's alpha, from coincidence matrices of any number of judges.

    metric: "nominal", "ordinal" or "interval". Source: Krippendorff, Content analysis, 3rd edition,
    2013, chapter 12.
    """
    totals = coincidence.sum(axis=-1)
    count = totals.sum(axis=-1)
    if metric == "nominal":
        squares = np.broadcast_to(disagreements(len(grades), 0), coincidence.shape)
    elif metric == "interval":
        squares = np.broadcast_to((grades[:, None] - grades) ** 2, coincidence.shape)
    else:
        # The labels between two grades, with half of those of the two.
        middle = np.cumsum(totals, axis=-1) - totals / 2
        squares = (middle[..., :, None] - middle[..., None, :]) ** 2
    observed = (coincidence * squares).sum(axis=(-2, -1))
    expected = (totals[..., :, None] * totals[..., None, :] * squares).sum(axis=(-2, -1))
    return 1 - _ratio(observed * (count - 1), expected)


def bias(confusion: Floats, grades: Floats) -> Floats:
    """The mean grade of the second judge minus that of the first."""
    rows, columns = _marginals(confusion)
    return _ratio(((columns - rows) * grades).sum(axis=-1), confusion.sum(axis=(-2, -1)))


def higher(confusion: Floats) -> Floats:
    """The share of pairs that the second judge grades higher."""
    return _ratio(np.triu(confusion, 1).sum(axis=(-2, -1)), confusion.sum(axis=(-2, -1)))


def lower(confusion: Floats) -> Floats:
    """The share of pairs that the second judge grades lower."""
    return higher(np.swapaxes(confusion, -2, -1))


def binary(confusion: Floats, grades: Floats, level: float) -> dict[str, Floats]:
    """Precision, recall, F1 and specificity of the second judge, where relevant is `level` or more.

    The first judge is taken as right.
    """
    relevant = grades >= level
    both = confusion[..., relevant, :][..., relevant].sum(axis=(-2, -1))
    neither = confusion[..., ~relevant, :][..., ~relevant].sum(axis=(-2, -1))
    rows, columns = _marginals(confusion)
    first, second = rows[..., relevant].sum(axis=-1), columns[..., relevant].sum(axis=-1)
    return {
        "precision": _ratio(both, second),
        "recall": _ratio(both, first),
        "f1": _ratio(2 * both, first + second),
        "specificity": _ratio(neither, rows[..., ~relevant].sum(axis=-1)),
    }


def coefficients(grades: Floats, level: float) -> dict[str, Coefficient]:
    """Everything that is computed from a confusion matrix, by name."""

    def of_coincidences(confusion: Floats, metric: str) -> Floats:
        return alpha(coincidences(confusion), grades, metric)

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
            f"alpha_{metric}": partial(of_coincidences, metric=metric)
            for metric in ("nominal", "ordinal", "interval")
        },
        "bias": partial(bias, grades=grades),
        "higher": higher,
        "lower": lower,
        **{
            name: partial(_of_binary, name=name, grades=grades, level=level)
            for name in ("precision", "recall", "f1", "specificity")
        },
    }


def _of_binary(confusion: Floats, name: str, grades: Floats, level: float) -> Floats:
    return binary(confusion, grades, level)[name]
