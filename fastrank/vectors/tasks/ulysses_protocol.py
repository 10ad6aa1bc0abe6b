"""The protocol of Ulysses SentEval: repeated folds, a grid search and a classifier for each."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from math import ceil
from statistics import NormalDist

import numpy

from fastrank.common.lazy import optional
from fastrank.common.progress import bar
from fastrank.core.data.columns import Frozen
from fastrank.errors import ArrayError, InputError, OptionError
from fastrank.vectors.tasks.problem import pair_features
from fastrank.vectors.tasks.result import TaskResult
from fastrank.vectors.tasks.ulysses_training import (
    EPOCH_KEYS,
    SERIES,
    TEST_KEYS,
    FoldData,
    Settings,
    adjusted_macro_f1,
    are_probabilities,
    matthews,
    scaled,
    train,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from fastrank.common.arrays import Array
    from fastrank.vectors.tasks.problem import Problem

# The function that needs the extra.
USER = "evaluate_classification"
PUBLISHED_SEED = 9847706
METRICS = {"matthews": matthews, "adjusted_macro_f1": adjusted_macro_f1}
MOST_SEED = 2**32 - 1
# The number of resamples of the bootstrap.
RESAMPLES = 10_000
LEVEL = 0.99
NORMAL = NormalDist()
# The scaled features of the folds that are trained at once, in bytes.
MOST_BYTES = 128 << 20
BATCHES_TO_LEARN = 4
# Scaled features beyond this are divided by 1e-12 in place of a standard deviation.
LARGEST_SCALED = 1e4


def evaluate_ulysses(problem: Problem, options: Mapping[str, Any]) -> TaskResult:
    """The result of `evaluate_classification` with all its options, which are checked."""
    started = time.perf_counter()
    classes = len(problem.classes)
    repetitions, folds = options["repetitions"], options["folds"]
    seed = PUBLISHED_SEED if options["seed"] is None else options["seed"]
    metric = _metric(options["metric"], classes)
    # Appended to by several threads.
    probabilities: list[int] = []

    def measure(logits: Array, y: Array) -> float:
        if classes == 2 and are_probabilities(logits):
            probabilities.append(1)
        return METRICS[metric](logits, y)

    settings = Settings(
        hidden=options["hidden"],
        classes=classes,
        metric=measure,
        batch_size=options["train_batch_size"],
        epochs=options["epochs"],
        patience=options["patience"],
        min_improvement=options["min_improvement"],
    )
    _check_rows(problem, folds)
    threads = optional("threadpoolctl", USER, "tasks")
    of_repetitions, of_intervals = seeds(seed, repetitions)
    splits = [
        fold
        for repetition, repetition_seed in enumerate(of_repetitions)
        for fold in folds_of(problem.y, repetition_seed, repetition, folds, options["validation"])
    ]
    notes = _few_batches(min(len(fold.train) for fold in splits), settings)
    features = None if problem.encode is None else features_of(problem, problem.encode())
    trained: list[dict[str, list[float]]] = []
    far = 0
    # The rounding of a matrix product depends on the number of threads, and these products are so
    # small that several threads take longer.
    limit = threads.threadpool_limits(1, "blas")
    shown = bar(f"train {problem.name}", len(splits), "folds", options["progress"])
    with limit, shown as progress:
        for group in _groups(problem, features, splits):
            train(group, settings)
            far += sum(fold.is_far for fold in group)
            trained += [fold.series for fold in group]
            progress.update(len(group))
    if far:
        reason = f"in {far} of {len(splits)} folds, features that are constant in the training rows"
        notes += (f"{reason} are divided by 1e-12, as in the package, which makes them large",)
    if probabilities:
        reason = "as the package does, logits that were all between 0 and 1 counted as"
        notes += (f"{reason} probabilities in {len(probabilities)} computations of the metric",)
    for note in notes:
        warnings.warn(f"{problem.name}: {note}", stacklevel=3)
    losses, values = ([series[key][0] for series in trained] for key in TEST_KEYS)
    mean = float(numpy.mean(values))
    intervals = MeanIntervals(interval_seeds(of_intervals)["metric_test"])
    return TaskResult(
        name=problem.name,
        kind="classification",
        protocol="ulysses",
        metric=metric,
        value=mean,
        mean={metric: mean, "loss": sum(losses) / len(losses)},
        std=float(numpy.std(values, ddof=1)),
        interval=intervals.interval(numpy.array(values)),
        level=LEVEL,
        values={metric: values, "loss": losses},
        rows=len(problem),
        classes=problem.classes,
        seed=seed,
        seconds=time.perf_counter() - started,
        notes=notes,
        records=_records(splits, trained),
    )


def interval_seeds(seed: int) -> dict[str, int]:
    """The seed of the intervals of each series."""
    state = numpy.random.RandomState(seed)
    return {key: int(state.randint(0, MOST_SEED, dtype=numpy.int64)) for key in sorted(SERIES)}


def per_epoch(result: TaskResult) -> dict[str, Any]:
    """The means, deviations and 99 % intervals of a result, as ulysses-senteval returns them.

    result: of `evaluate_classification`. The keys start with `avg_`, `std_`, `ci99_low_` and
    `ci99_high_` and end with `loss_per_epoch_train`, `loss_per_epoch_eval` and
    `metric_per_epoch_eval` (values: float64[epochs], over the folds that trained that long),
    `loss_test` and `metric_test` (float).

    >>> round(fr.tasks.per_epoch(probed)["avg_metric_test"], 3)
    0.904
    """
    if result.records is None or result.seed is None:
        raise OptionError("result", "expected a result of evaluate_classification")
    columns = result.records
    repetitions = max(columns["kfold_repetition"])
    key_seeds = interval_seeds(seeds(result.seed, repetitions)[1])
    metrics = numpy.array(columns["metric"])
    epochs = numpy.array(columns["train_epoch"])
    values = numpy.array(columns["value"])
    summaries: dict[str, object] = {}
    for key in SERIES:
        intervals = MeanIntervals(key_seeds[key])
        of_key = metrics == key
        samples = [values[of_key & (epochs == epoch)] for epoch in sorted(set(epochs[of_key]))]
        bounds = numpy.array([intervals.interval(sample) for sample in samples])
        deviations = [sample.std(ddof=1) if len(sample) > 1 else 0.0 for sample in samples]
        summary = {
            "avg": numpy.array([sample.mean() for sample in samples]),
            "std": numpy.array(deviations),
            "ci99_low": bounds[:, 0],
            "ci99_high": bounds[:, 1],
        }
        for name, series in summary.items():
            summaries[f"{name}_{key}"] = float(series[0]) if len(series) == 1 else series
    return summaries


def features_of(problem: Problem, vectors: tuple[Array, ...]) -> Array:
    """The features of the classifier: float32[rows, features]. Raises ArrayError."""
    if len(vectors) == 1:
        return vectors[0]
    if len(vectors) == 2 and not problem.alternatives:
        return pair_features(*vectors)
    return numpy.hstack(vectors)


def _metric(metric: str | None, classes: int) -> str:
    if metric is None:
        return "matthews" if classes == 2 else "adjusted_macro_f1"
    if (metric == "matthews") != (classes == 2):
        raise OptionError("metric", f"{metric!r} does not apply to {classes} classes")
    return metric


def _check_rows(problem: Problem, folds: int) -> None:
    counts = Counter(problem.y.tolist())
    for number, label in enumerate(problem.classes):
        if counts[number] < folds:
            description = f"found {counts[number]} of class {label!r}"
            raise InputError(
                problem.name, f"expected {folds} or more rows per class, {description}"
            )


def _few_batches(rows: int, settings: Settings) -> tuple[str, ...]:
    """The notes on few training rows."""
    size = settings.batch_size
    if rows < size:
        return (f"{rows} training rows are less than a batch of {size}, so nothing is trained",)
    if rows < BATCHES_TO_LEARN * size:
        needed = f"{BATCHES_TO_LEARN} batches of {size} training rows, found {rows}"
        return (
            f"as in the package, the learning rate stays at 5 % with fewer than {needed} rows;"
            " the values say little about the embeddings",
        )
    return ()


def _groups(
    problem: Problem, features: Array | None, splits: Sequence[Fold]
) -> Iterator[list[FoldData]]:
    """The scaled data of as many folds as may be in memory at once."""
    group: list[FoldData] = []
    size = 0
    for fold in splits:
        parts = (fold.train, fold.validation, fold.test)
        if features is None:
            arrays = _embedded(problem, parts)
        else:
            arrays = [features[rows] for rows in parts]
        y = [problem.y[rows] for rows in parts]
        data = scaled(*arrays)
        needed = sum(part.nbytes for part in data)
        if group and size + needed > MOST_BYTES:
            yield group
            group, size = [], 0
        size += needed
        fold_data = FoldData(list(zip(data, y, strict=True)), fold.weights, fold.loader_seed)
        fold_data.is_far = any(max(part.max(), -part.min()) > LARGEST_SCALED for part in data)
        group.append(fold_data)
    yield group


def _embedded(problem: Problem, parts: Sequence[Array]) -> list[Array]:
    """The features of the parts of a fold from an embedder fitted on the first."""
    assert problem.new_embedder is not None
    embed = problem.new_embedder()
    features = [
        features_of(problem, embed(rows, split))
        for rows, split in zip(parts, ("train", "eval", "test"), strict=True)
    ]
    for part, split in zip(features[1:], ("eval", "test"), strict=True):
        if part.shape[1] != features[0].shape[1]:
            reason = f"expected {features[0].shape[1]} features, as for 'train', found"
            raise ArrayError(f"features of {split!r}", f"{reason} {part.shape[1]}")
    return features


def _records(
    splits: Sequence[Fold], trained: Sequence[dict[str, list[float]]]
) -> dict[str, list[object]]:
    """The columns of the package's frame of all results."""
    rows: list[tuple[int, int, int, str, float]] = []
    for key in SERIES:
        first = 1 if key in EPOCH_KEYS else -1
        for fold, series in zip(splits, trained, strict=True):
            numbers = fold.repetition + 1, fold.partition + 1
            rows += [
                (*numbers, epoch, key, value) for epoch, value in enumerate(series[key], first)
            ]
    names = ("kfold_repetition", "kfold_partition", "train_epoch", "metric", "value")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


class Fold(Frozen):
    """One split of the rows: arrays of row numbers, and the seeds of weights and batches."""

    repetition: int
    partition: int
    train: Array
    validation: Array
    test: Array
    weights: int
    loader_seed: int


def seeds(seed: int, repetitions: int) -> tuple[list[int], int]:
    """The seeds of the repetitions, and that of the intervals."""
    state = numpy.random.RandomState(seed)
    drawn = state.randint(0, MOST_SEED, size=repetitions, dtype=numpy.int64)
    return drawn.tolist(), int(state.randint(0, MOST_SEED, dtype=numpy.int64))


def folds_of(y: Array, seed: int, repetition: int, folds: int, fraction: float) -> Iterator[Fold]:
    """The folds of one repetition; fraction: of the validation rows in those for training."""
    state = numpy.random.RandomState(seed)
    for_balance, for_folds = state.randint(0, MOST_SEED, size=2, dtype=numpy.int64)
    for_weights, for_loaders = state.randint(0, MOST_SEED, size=(2, folds), dtype=numpy.int64)
    # The original draws the delay of its progress bar here.
    state.random_sample()
    rows = balanced(y, int(for_balance))
    selection = optional("sklearn.model_selection", USER, "tasks")
    splitter = selection.StratifiedKFold(folds, shuffle=True, random_state=int(for_folds))
    for partition, (training, testing) in enumerate(splitter.split(rows, y[rows])):
        others = rows[training]
        state.shuffle(others)
        validation = ceil(fraction * others.size)
        yield Fold(
            repetition=repetition,
            partition=partition,
            train=others[validation:],
            validation=others[:validation],
            test=rows[testing],
            weights=int(for_weights[partition]),
            loader_seed=int(for_loaders[partition]),
        )


def balanced(y: Array, seed: int) -> Array:
    """Row numbers with equally many rows of each class, drawn without replacement."""
    state = numpy.random.RandomState(seed)
    size = int(numpy.bincount(y).min())
    return numpy.concatenate(
        [
            state.choice(numpy.flatnonzero(y == number), size=size, replace=False)
            for number in range(int(y.max()) + 1)
        ]
    )


class MeanIntervals:
    """Intervals of means of samples, all resampled with the same seed.

    The statistic is the difference between the mean of a sample and that of a resample, as in
    Ulysses SentEval; the bounds of the difference are added to the mean.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._drawn: dict[int, Array] = {}

    def interval(self, values: Array) -> tuple[float, float]:
        """The bounds at level 0.99 for float64[values]; NaN if all values are equal."""
        count = len(values)
        if count == 1:
            return float(values[0]), float(values[0])
        mean = values.mean()
        differences = mean - values[self._resamples(count)].mean(axis=1)
        # `mean - mean` is 0 for the sample itself.
        below, equal = int((differences < 0.0).sum()), int((differences == 0.0).sum())
        share = (below + below + equal) / (2 * RESAMPLES)
        total = values.sum()
        left_out = mean - numpy.array([numpy.delete(values, i).mean() for i in range(count)])
        apart = (count - 1) * (left_out.mean() - left_out)
        spread = (apart**2).sum() / count**2
        if not (0.0 < share < 1.0 and spread > 0.0 and total == total):
            return float("nan"), float("nan")
        bias = NORMAL.inv_cdf(share)
        skew = float((apart**3).sum() / count**3 / spread**1.5 / 6)
        tail = NORMAL.inv_cdf((1 - LEVEL) / 2)
        bounds = []
        for z in (tail, -tail):
            moved = bias + z
            quantile = NORMAL.cdf(bias + moved / (1 - skew * moved))
            bounds.append(float(mean + numpy.percentile(differences, 100 * quantile)))
        return bounds[0], bounds[1]

    def _resamples(self, count: int) -> Array:
        """Row numbers of the resamples, int64[resamples, count]."""
        if count not in self._drawn:
            state = numpy.random.RandomState(self._seed)
            shape = (RESAMPLES, count)
            self._drawn[count] = state.randint(0, count, shape, dtype=numpy.int64)
        return self._drawn[count]
