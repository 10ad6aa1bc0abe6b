"""The protocol of SentEval (Conneau and Kiela, 2018): classifiers with the L2 penalty validated."""

from __future__ import annotations

import time
from collections import defaultdict

import numpy

from fastrank.arguments import at_least, check_choice, finite, flag
from fastrank.errors import InputError, OptionError
from fastrank.lazy import optional
from fastrank.messages import counted
from fastrank.searching.progress import bar
from fastrank.tasks.mteb import fitted
from fastrank.tasks.problem import embedded_sets, pair_features, stratified_folds
from fastrank.tasks.senteval_networks import OPTIMIZERS, Training, predicted, train, with_ones

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from fastrank.tasks.problem import Problem
    from fastrank.tasks.result import TaskResult

    Array = npt.NDArray[Any]
    Split = tuple[Array, Array]

CLASSIFIERS = ("logreg", "mlp", "sklearn")
FEATURES = {"pair": ("distance", "product"), "snli": ("a", "b", "product", "distance")}
SEED = 1111
# L2 penalties of the networks, and scikit-learn's C by the way of validation.
PENALTIES = [10.0**exponent for exponent in range(-5, -1)]
INVERSE_PENALTIES = {
    "folds": [2.0**exponent for exponent in range(-2, 4)],
    "test": [2.0**exponent for exponent in range(-1, 6)],
    "dev": [2.0**exponent for exponent in range(-2, 4)],
}
# The fraction of the training rows that decides when the last training stops.
HELD_OUT = 0.05


def evaluate_senteval(
    problem: Problem,
    *,
    test: Problem | None = None,
    dev: Problem | None = None,
    classifier: str = "logreg",
    hidden: int = 50,
    dropout: float = 0.0,
    kfold: int = 10,
    features: str = "pair",
    optimizer: str = "adam",
    batch: int = 64,
    epoch_size: int = 4,
    tenacity: int = 5,
    max_epoch: int = 200,
    regularize: bool = True,
    seed: int = SEED,
    progress: bool | None = None,
) -> TaskResult:
    """Accuracy of classifiers whose L2 penalty is chosen by validation, as SentEval computes it.

    The rows given decide the way, as in the tasks of SentEval: without test, test folds whose
    penalty is chosen by folds of the rest (MR, CR, SUBJ, MPQA); with test, folds of the training
    rows (TREC, MRPC); with dev and test, the development rows (SST, SICK, SNLI, probing tasks).

    classifier: "logreg" or "mlp", which are networks trained by gradient descent, or "sklearn" for
        scikit-learn's LogisticRegression (`usepytorch=False`).
    hidden: units of "mlp". dropout: of its hidden units; the original draws them on the GPU.
    kfold: number of folds.
    features: of pairs (a, b): "pair" for (|a - b|, a * b), as in MRPC and SICK; "snli" for
        (a, b, a * b, |a - b|).
    optimizer: "adam" or "rmsprop".
    batch, epoch_size, tenacity, max_epoch: rows per step, passes between two checks of the
        accuracy, checks without improvement that are tolerated, and passes after which training
        ends. For SentEval's fast configuration: kfold=5, optimizer="rmsprop", batch=128,
        tenacity=3, epoch_size=2. For its SNLI: max_epoch=15, epoch_size=1, regularize=False.
    regularize: False for no choice of the penalty; only with dev.
    seed: of weights and the order of rows.

    Rows with texts are first sorted by numbers of words and label, as SentEval does. Accuracies
    are rounded as SentEval rounds them: they are its percentages divided by 100. Its classes are
    numbered in sorted order.
    """
    check_choice("classifier", classifier, CLASSIFIERS)
    check_choice("features", features, tuple(FEATURES))
    at_least("kfold", kfold, 2)
    if dev is not None and test is None:
        raise OptionError("test", "dev needs separate test rows, too")
    if not flag("regularize", regularize) and dev is None:
        raise OptionError("regularize", "only rows in dev need no choice of the penalty")
    check_choice("optimizer", optimizer, tuple(OPTIMIZERS))
    if not 0.0 <= finite("dropout", dropout) < 1.0:
        raise OptionError("dropout", f"expected a probability below 1, found {dropout}")
    training = Training(
        hidden=at_least("hidden", hidden, 1) if classifier == "mlp" else 0,
        dropout=float(dropout),
        optimizer=optimizer,
        batch=at_least("batch", batch, 1),
        passes=at_least("epoch_size", epoch_size, 1),
        tenacity=at_least("tenacity", tenacity, 0),
        max_passes=at_least("max_epoch", max_epoch, 0),
        seed=at_least("seed", seed, 0),
    )
    if dev is None:
        _check_rows(problem, kfold, nested=test is None)
    inputs, y, order, rows = _rows_of(problem, dev, test, features)
    started = time.perf_counter()
    way = "dev" if dev is not None else "folds" if test is None else "test"
    penalties = INVERSE_PENALTIES[way] if classifier == "sklearn" else PENALTIES
    if not regularize:
        penalties = [1e9] if classifier == "sklearn" else [1e-9]
    # Products this small are slower on several threads, whose number would change last bits.
    threads = optional("threadpoolctl", "protocol 'senteval'", "probe").threadpool_limits
    with threads(1, "blas"), bar("training", None, "classifiers", progress) as shown:
        kind = _Sklearn if classifier == "sklearn" else _Stacked
        fitting = kind(inputs, y, len(problem.classes), training, shown)
        values, records = _tested(fitting, penalties, _splits(order, y, rows, kfold, training.seed))
    percent = round(numpy.mean([round(100 * one, 2) for one in values["accuracy"]]), 2)
    return problem.result(
        "senteval",
        values,
        "accuracy",
        started,
        value=float(percent) / 100,
        seed=training.seed,
        records=records,
    )


def _splits(
    order: Array, y: Array, rows: dict[str, Array], kfold: int, seed: int
) -> list[tuple[Array, Array | None, Array, list[Split]]]:
    """Training rows, rows that stop the training, test rows, and splits that choose the penalty.

    rows: of the sets "dev" and "test". Where no rows stop the training (None), a part of the
    training rows does.
    """
    if "dev" in rows:
        return [(order, rows["dev"], rows["test"], [(order, rows["dev"])])]
    if "test" in rows:
        return [(order, None, rows["test"], stratified_folds(order, y, kfold, seed, "senteval"))]
    # The original has this seed whatever the seed of the classifiers.
    return [
        (training, None, tests, stratified_folds(training, y, kfold, SEED, "senteval"))
        for training, tests in stratified_folds(order, y, kfold, SEED, "senteval")
    ]


def _tested(
    fitting: _Stacked | _Sklearn, penalties: list[float], splits: list[Any]
) -> tuple[dict[str, list[float]], dict[str, list[Any]]]:
    """Choose penalties by validation, train with them, and test: metrics and records."""
    y = fitting.y
    records: dict[str, list[Any]] = defaultdict(list)
    values: dict[str, list[float]] = defaultdict(list)
    chosen = []
    for fold, (*_, validation) in enumerate(splits, 1):
        accuracies = fitting.validate(validation, penalties)
        # SentEval's rounding, which decides which penalties are equal.
        scores = [round(100 * numpy.mean(one), 2) for one in accuracies.T]
        best = int(numpy.argmax(scores))
        chosen.append(penalties[best])
        values["dev_accuracy"].append(float(scores[best]) / 100)
        for penalty, score in zip(penalties, scores, strict=True):
            records["fold"].append(fold)
            records["penalty"].append(penalty)
            records["chosen"].append(penalty == chosen[-1])
            records["dev_accuracy"].append(float(score) / 100)
    predictions = fitting.predict([split[:3] for split in splits], chosen)
    for (_, _, rows, _), classes in zip(splits, predictions, strict=True):
        accuracy = float((classes == y[rows]).sum() / len(rows))
        values["accuracy"].append(round(100 * accuracy, 2) / 100)
        if fitting.classes == 2:
            # F1 of the second class, which SentEval prints of MRPC.
            positive, found = y[rows] == 1, classes == 1
            f1 = 2 * (positive & found).sum() / max(1, positive.sum() + found.sum())
            values["f1"].append(round(100 * float(f1), 2) / 100)
    return dict(values), dict(records)


class _Stacked:
    """Networks, trained together where their numbers of training rows are equal."""

    def __init__(
        self, inputs: Array, y: Array, classes: int, training: Training, shown: Any
    ) -> None:
        self._inputs, self.y, self.classes = with_ones(inputs), y, classes
        self._training, self._shown = training, shown

    def validate(self, splits: list[Split], penalties: list[float]) -> Array:
        """Accuracies, float64[splits, penalties]."""
        accuracies = numpy.empty((len(splits), len(penalties)))
        for group in _of_equal_size(splits):
            train_rows = numpy.stack([splits[place][0] for place in group])
            valid_rows = [splits[place][1] for place in group]
            stack = numpy.tile(penalties, (len(group), 1))
            _, accuracies[group] = self._train(train_rows, valid_rows, stack, self._random())
        return accuracies

    def predict(self, splits: list[Any], penalties: list[float]) -> list[Array]:
        """The classes of the test rows of splits, each trained with a penalty."""
        found = [numpy.empty(0)] * len(splits)
        for group in _of_equal_size(splits):
            random = self._random()
            train_rows = numpy.stack([splits[place][0] for place in group])
            valid_rows = [splits[place][1] for place in group]
            if valid_rows[0] is None:
                # All folds of a group are of one size, and have the same order.
                order = random.permutation(train_rows.shape[1])
                held = int(HELD_OUT * len(order))
                valid_rows = list(train_rows[:, order[:held]])
                train_rows = train_rows[:, order[held:]]
            stack = numpy.array([[penalties[place]] for place in group])
            weights, _ = self._train(train_rows, valid_rows, stack, random)
            for fold, place in enumerate(group):
                inputs = self._inputs[splits[place][2]]
                found[place] = predicted(weights, 1, inputs, fold)[:, 0]
        return found

    def _random(self) -> numpy.random.RandomState:
        return numpy.random.RandomState(self._training.seed)

    def _train(self, train_rows: Array, valid_rows: Any, stack: Array, random: Any) -> Any:
        found = train(
            self._inputs,
            self.y,
            self.classes,
            train_rows,
            valid_rows,
            stack,
            self._training,
            random,
        )
        self._shown.update(stack.size)
        return found


class _Sklearn:
    """scikit-learn's logistic regressions, whose parameter C is the inverse of a penalty."""

    def __init__(
        self, inputs: Array, y: Array, classes: int, training: Training, shown: Any
    ) -> None:
        self._inputs, self.y, self.classes = inputs, y, classes
        self._seed, self._shown = training.seed, shown

    def validate(self, splits: list[Split], penalties: list[float]) -> Array:
        """Accuracies, float64[splits, penalties]."""
        return numpy.array(
            [
                [
                    (self._classes(rows, penalty, valid) == self.y[valid]).mean()
                    for penalty in penalties
                ]
                for rows, valid in splits
            ]
        )

    def predict(self, splits: list[Any], penalties: list[float]) -> list[Array]:
        """The classes of the test rows of splits, each trained with a penalty."""
        parts = zip(splits, penalties, strict=True)
        return [self._classes(rows, penalty, tests) for (rows, _, tests), penalty in parts]

    def _classes(self, rows: Array, penalty: float, tests: Array) -> Array:
        options = {"C": penalty, "random_state": self._seed}
        model = fitted(self._inputs[rows], self.y[rows], "protocol 'senteval'", **options)
        self._shown.update(1)
        found: Array = model.predict(self._inputs[tests])
        return found


def _of_equal_size(splits: list[Any]) -> list[list[int]]:
    """The places of splits, grouped by the number of training rows."""
    groups = defaultdict(list)
    for place, (rows, *_) in enumerate(splits):
        groups[len(rows)].append(place)
    return list(groups.values())


def _rows_of(
    problem: Problem, dev: Problem | None, test: Problem | None, features: str
) -> tuple[Array, Array, Array, dict[str, Array]]:
    """Features and classes of all rows, the training rows in order, and those of the sets."""
    sets = {"dev": dev, "test": test}
    parts = {name: part for name, part in sets.items() if part is not None}
    vectors = embedded_sets(problem, **parts)
    inputs = numpy.concatenate([_features(problem, one, features) for one in vectors])
    y = numpy.concatenate([problem.y, *(part.y for part in parts.values())])
    rows, start = {}, len(problem)
    for name, part in parts.items():
        rows[name] = numpy.arange(start, start + len(part))
        start += len(part)
    return inputs, y, _order(problem, features), rows


def _features(problem: Problem, vectors: tuple[Array, ...], features: str) -> Array:
    if len(vectors) == 1:
        return vectors[0]
    if len(vectors) > 2 or problem.alternatives:
        reason = f"expected one or two texts per row, found {len(vectors)}"
        raise InputError(problem.name, f"{reason}; protocol 'senteval' has no features for these")
    return pair_features(vectors, *FEATURES[features])


def _order(problem: Problem, features: str) -> Array:
    """SentEval's order of rows: by numbers of words, then by class."""
    if problem.texts is None:
        return numpy.arange(len(problem))
    words = [[len(text.split()) for text in column] for column in problem.texts]
    # SNLI is sorted by the second text first.
    columns = words[::-1] if features == "snli" else words
    keys = list(zip(*columns, problem.y.tolist(), strict=True))
    return numpy.array(sorted(range(len(keys)), key=keys.__getitem__), numpy.int64)


def _check_rows(problem: Problem, kfold: int, nested: bool) -> None:
    """Raise InputError for classes smaller than the number of folds, and for too few rows."""
    counts = numpy.bincount(problem.y, minlength=len(problem.classes))
    for label, count in zip(problem.classes, counts.tolist(), strict=True):
        # A class that only the test rows have is no problem.
        if 0 < count < kfold:
            reason = f"class {label!r} has {counted(count, 'row')}"
            raise InputError(problem.name, f"{reason}, fewer than kfold={kfold}")
    rows = len(problem) - -(-len(problem) // kfold) if nested else len(problem)
    if int(HELD_OUT * rows) < 1:
        found = f"expected at least 20 training rows, of which 5 % are held out, found {rows}"
        raise InputError(problem.name, found)
