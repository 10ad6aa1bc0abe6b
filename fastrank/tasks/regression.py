"""Linear regression of numbers on embeddings, as in MTEB."""

from __future__ import annotations

import numpy

from fastrank.arguments import at_least
from fastrank.errors import InputError
from fastrank.keywords import takes, with_defaults
from fastrank.lazy import optional
from fastrank.tasks.inputs import TASK, TaskOptions, TaskRows, training_and_tests
from fastrank.tasks.metrics import kendall
from fastrank.tasks.result import TaskResult, means_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt
    from typing_extensions import Unpack

    Array = npt.NDArray[Any]

# Training samples have as many rows of each tenth of the numbers as all rows have.
BINS = 10


@takes(TaskOptions, TASK)
def evaluate_regression(
    model_or_vectors: Any,
    task: Any,
    *,
    test: Any,
    samples: int = 2048,
    experiments: int = 10,
    seed: int = 42,
    **options: Unpack[TaskOptions],
) -> TaskResult:
    """Predict numbers from embeddings by linear regression, as MTEB does.

    model_or_vectors, task, test: as in `evaluate_multilabel`, with a number as the label of a row.
    samples: number of training rows in each experiment, stratified by their numbers; all rows, and
        equal experiments, if there are fewer.
    experiments: number of samples. seed: of these.
    **options: see `TaskOptions`.

    The metrics are kendalltau (the main one), r2, mae, mse and rmse. Raises InputError for labels
    that are not finite numbers or all equal; ArrayError, OptionError and TypeError as
    `evaluate_classification`.

    >>> import numpy
    >>> vectors = numpy.random.RandomState(0).normal(size=(300, 4))
    >>> numbers = vectors[:, 0] + vectors[:, 1] ** 2
    >>> test = vectors[200:], numbers[200:]
    >>> fr.tasks.evaluate_regression(vectors[:200], numbers[:200], test=test)
    <TaskResult labels: regression, kendalltau 0.4549 ± 0.0000, 200 rows>
    """
    at_least("samples", samples, 1)
    at_least("experiments", experiments, 1)
    at_least("seed", seed, 0)
    given = with_defaults(evaluate_regression, options)
    training, tests = training_and_tests(model_or_vectors, task, test, given)
    (vectors,), (test_vectors,) = training.vectors, tests.vectors
    y, expected = _numbers(training), _numbers(tests)
    linear = optional("sklearn.linear_model", "evaluate_regression", "probe")
    values: dict[str, list[float]] = {}
    for experiment in range(experiments if samples < len(y) else 1):
        rows = numpy.arange(len(y))
        if samples < len(y):
            rows = _stratified(y, samples, seed + experiment)
        model = linear.LinearRegression().fit(vectors[rows], y[rows])
        for metric, value in _scores(expected, model.predict(test_vectors)).items():
            values.setdefault(metric, []).append(value)
    if samples >= len(y):
        values = {metric: found * experiments for metric, found in values.items()}
    return training.result("regression", "mteb", **means_of(values, "kendalltau"), seed=seed)


def _scores(expected: Array, predicted: Array) -> dict[str, float]:
    """MTEB's metrics, by MTEB's names."""
    metrics = optional("sklearn.metrics", "evaluate_regression", "probe")
    # With a list, as MTEB has it, scikit-learn calculates in the float32 of the predictions.
    numbers = expected.tolist()
    squared = float(metrics.mean_squared_error(numbers, predicted))
    return {
        "kendalltau": kendall(expected, predicted),
        "r2": float(metrics.r2_score(numbers, predicted)),
        "mae": float(metrics.mean_absolute_error(numbers, predicted)),
        "mse": squared,
        "rmse": float(numpy.sqrt(squared)),
    }


def _numbers(given: TaskRows) -> Array:
    """The labels as float64. Raises InputError."""
    for row, label in enumerate(given.labels):
        if isinstance(label, str) or not hasattr(label, "__float__") or label - label != 0:
            raise InputError(
                given.name, f"row {row}: expected a finite number, found {label!r:.40}"
            )
    if len(set(given.labels)) < 2:
        raise InputError(given.name, "expected at least two distinct numbers")
    return numpy.array(given.labels, numpy.float64)


def _stratified(y: Array, count: int, seed: int) -> Array:
    """Some rows, as many of each bin of numbers as the bin's part of all rows is.

    These are the rows that `datasets.Dataset.train_test_split` returns for quantiles of pandas.
    """
    random = numpy.random.default_rng(seed)
    edges = numpy.unique(numpy.percentile(y, numpy.linspace(0, 1, BINS + 1) * 100))
    _, bins = numpy.unique(numpy.searchsorted(edges[1:-1], y), return_inverse=True)
    sizes = numpy.bincount(bins)
    rows = numpy.split(numpy.argsort(bins, kind="stable"), numpy.cumsum(sizes)[:-1])
    left = _proportional(sizes, len(y) - count, random)
    drawn = _proportional(sizes - left, count, random)
    others, found = [], []
    for members, skipped, taken in zip(rows, left, drawn, strict=True):
        shuffled = members[random.permutation(len(members))]
        others.append(shuffled[:skipped])
        found.append(shuffled[skipped : skipped + taken])
    random.permutation(numpy.concatenate(others))
    chosen: Array = random.permutation(numpy.concatenate(found))
    return chosen


def _proportional(sizes: Array, count: int, random: numpy.random.Generator) -> Array:
    """A number of rows for each bin, in proportion to its size, with `count` as their sum."""
    exact = count * sizes / sizes.sum()
    found = numpy.floor(exact)
    missing = int(count - found.sum())
    rest = exact - found
    for value in numpy.unique(rest)[::-1]:
        if not missing:
            break
        (bins,) = numpy.nonzero(rest == value)
        chosen = random.choice(bins, size=min(len(bins), missing), replace=False)
        found[chosen] += 1
        missing -= len(chosen)
    counts: Array = found.astype(numpy.int64)
    return counts
