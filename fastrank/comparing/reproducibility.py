"""How well a reproduced run has the effectiveness of the original (Breuer et al., SIGIR 2020)."""

from __future__ import annotations

import math

from fastrank.arguments import check_choice
from fastrank.comparing.pair_tests import t_test
from fastrank.comparing.paired import Paired
from fastrank.errors import OptionError
from fastrank.scores.columns import columns_by_name
from fastrank.scores.scores import Scores
from fastrank.scores.tables import Table, common_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from fastrank.choices import SameOrDifferent
    from fastrank.scores.differences import ScoreDifferences


def reproduce(
    original: Scores,
    reproduced: Scores,
    *,
    original_baseline: Scores | None = None,
    reproduced_baseline: Scores | None = None,
    queries: SameOrDifferent = "same",
) -> Table:
    """Compare the effectiveness of a reproduced run with that of the original.

    original, reproduced: the Scores of both, for the same measures.
    original_baseline, reproduced_baseline: the Scores of the baselines that the two runs are said
        to improve, for the effect ratio and DeltaRI; both or none.
    queries: "same": both were evaluated on the same queries (reproduction); "different": on others,
        such as those of another collection (replication), for which there is no RMSE.

    Returns a table with a row for each measure that has numbers per query:

    original, reproduced: the values over all queries, as in `Scores.mean`.
    rmse: the root mean square error over the queries; 0 is a perfect reproduction.
    nrmse: the same, divided by its greatest possible value for these original values; NaN for
        measures with values outside 0 to 1.
    effect_ratio: the mean improvement over the baseline, reproduced / original; 1 is perfect.
    delta_ri: the difference of the relative improvements of the means, original - reproduced; 0 is
        perfect.

    p: that of the paired t-test of the values or, for different queries, of Welch's t-test; a small
        p shows that the values differ, a large one does not show that they are alike.

    A ratio is NaN if its denominator is 0. For the order of the documents see `fastrank.overlap`.
    Raises GroupError for queries that only one of two
    Scores has, MeasureError if the measures differ, OptionError for only one baseline.

    Source: Breuer et al., How to measure the reproducibility of system-oriented IR experiments,
    SIGIR 2020.

    >>> qrels = fr.read_qrels("data/digits.qrels")
    >>> runs = ["data/pixels.run", "data/pca.run", "data/profile.run"]
    >>> original, reproduced, baseline = fr.evaluate(qrels, runs, "map")
    >>> print(fr.reproduce(original, reproduced).transpose())
    measure        map
    ----------  ------
    original    0.4348
    reproduced  0.3493
    rmse        0.1430
    nrmse       0.2206
    p           0.0000
    """
    check_choice("queries", queries, ("same", "different"))
    given = {
        "original": original,
        "reproduced": reproduced,
        "original_baseline": original_baseline,
        "reproduced_baseline": reproduced_baseline,
    }
    for name, scores in given.items():
        if not isinstance(scores, Scores) and not (scores is None and name.endswith("baseline")):
            found = type(scores).__name__
            raise TypeError(f"{name}: expected Scores, as evaluate returns them, found {found}")
    if (original_baseline is None) != (reproduced_baseline is None):
        raise OptionError("original_baseline", "expected both baselines, or none, found one")
    error = original - reproduced if queries == "same" else None
    names = _names(original, reproduced)
    columns: dict[str, list[Any]] = {
        "measure": names,
        "original": [original.mean[name] for name in names],
        "reproduced": [reproduced.mean[name] for name in names],
    }
    if error is not None:
        columns["rmse"] = [_root_mean_square(error[name]) for name in names]
        columns["nrmse"] = [_normalized(original[name], error[name]) for name in names]
    if original_baseline is not None and reproduced_baseline is not None:
        effects = [original - original_baseline, reproduced - reproduced_baseline]
        baselines = [original_baseline, reproduced_baseline]
        columns["effect_ratio"] = [
            _ratio(_mean(effects[1][name]), _mean(effects[0][name])) for name in names
        ]
        columns["delta_ri"] = [_improvements(effects, baselines, name) for name in names]
    test = _paired_p if queries == "same" else _welch_p
    columns["p"] = [test(original[name], reproduced[name]) for name in names]
    return Table(columns=columns)


def _names(original: Scores, reproduced: Scores) -> list[str]:
    """The measures with numbers per query. Raises MeasureError if the measures differ."""
    common_names([original, reproduced])
    kinds = columns_by_name(original)
    return [name for name in original.names if kinds[name].kind != "text"]


def _mean(values: npt.NDArray[np.float64]) -> float:
    return math.fsum(values) / len(values) if len(values) else math.nan


def _root_mean_square(errors: npt.NDArray[np.float64]) -> float:
    return math.sqrt(_mean(errors**2))


def _normalized(original: npt.NDArray[np.float64], errors: npt.NDArray[np.float64]) -> float:
    """The root mean square error, divided by that of the worst values from 0 to 1."""
    import numpy

    if not len(original) or original.min() < 0 or original.max() > 1:
        return math.nan
    return _root_mean_square(errors) / _root_mean_square(numpy.maximum(original, 1 - original))


def _paired_p(original: npt.NDArray[np.float64], reproduced: npt.NDArray[np.float64]) -> float:
    """The p-value of the paired t-test, NaN for less than two queries."""
    import numpy

    if not len(original):
        return math.nan
    values = numpy.stack([original, reproduced]).astype(float)
    return float(t_test(Paired(values, numpy.array([0]), numpy.array([1]))).p[0])


def _welch_p(original: npt.NDArray[np.float64], reproduced: npt.NDArray[np.float64]) -> float:
    """The p-value of Welch's t-test, NaN for less than two queries and without variance.

    Source: Welch, 'The generalization of Student's problem', Biometrika 34, 1947.
    """
    from scipy.special import stdtr

    both = (original.astype(float), reproduced.astype(float))
    if min(map(len, both)) < 2:
        return math.nan
    errors = [float(values.var(ddof=1)) / len(values) for values in both]
    if not sum(errors) > 0:
        return math.nan
    df = sum(errors) ** 2 / sum(
        error**2 / (len(values) - 1) for error, values in zip(errors, both, strict=True)
    )
    t = (both[0].mean() - both[1].mean()) / math.sqrt(sum(errors))
    return float(2 * stdtr(df, -abs(t)))


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else math.nan


def _improvements(effects: list[ScoreDifferences], baselines: list[Scores], name: str) -> float:
    """The difference of the relative improvements."""
    relative = [
        _ratio(_mean(effect[name]), _mean(baseline[name]))
        for effect, baseline in zip(effects, baselines, strict=True)
    ]
    return relative[0] - relative[1]
