"""The protocol of SentEval (Conneau and Kiela, 2018): classifiers with the L2 penalty validated."""

from __future__ import annotations

import time
from collections import defaultdict

import numpy

from fastrank.arguments import at_least, check_choice, finite, flag
from fastrank.errors import ArrayError, InputError, OptionError
from fastrank.lazy import optional
from fastrank.messages import counted
from fastrank.searching.progress import bar
from fastrank.tasks.problem import embedded_sets
from fastrank.tasks.result import TaskResult, mean_of_tests
from fastrank.tasks.senteval_networks import Training, parsed, train, with_ones

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    from fastrank.tasks.problem import Problem

    Array = npt.NDArray[Any]
    Split = tuple[Array, Array]

CLASSIFIERS = ("logreg", "mlp", "sklearn")
FEATURES = ("pair", "snli")
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
    optimizer: "adam", "rmsprop", "adagrad" or "sgd", with options as in "sgd,lr=0.1".
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
    check_choice("features", features, FEATURES)
    at_least("kfold", kfold, 2)
    if dev is not None and test is None:
        raise OptionError("test", "dev needs separate test rows, too")
    if not flag("regularize", regularize) and dev is None:
        raise OptionError("regularize", "only rows in dev need no choice of the penalty")
    parsed(optimizer)
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
    fitting = _Sklearn if classifier == "sklearn" else _Stacked
    # Products this small are slower on several threads, whose number would change last bits.
    threads = optional("threadpoolctl", "protocol 'senteval'", "probe").threadpool_limits
    with threads(1, "blas"), bar("training", None, "classifiers", progress) as shown:
        probe = _Probe(fitting(inputs, y, len(problem.classes), training, shown), penalties, y)
        if way == "folds":
            _nested_folds(probe, order, kfold)
        elif way == "test":
            _validated_folds(probe, order, rows["test"], kfold, training.seed)
        else:
            probe.test([(order, rows["dev"])], [rows["test"]], [[(order, rows["dev"])]])
    return probe.result(problem, training.seed, time.perf_counter() - started)


class _Probe:
    """Penalties, the validation accuracies from which they are chosen, and test accuracies."""

    def __init__(self, fitting: _Stacked | _Sklearn, penalties: list[float], y: Array) -> None:
        self._fitting, self._penalties, self._y = fitting, penalties, y
        self._records: dict[str, list[Any]] = defaultdict(list)
        self._values: dict[str, list[float]] = defaultdict(list)

    def test(
        self,
        final: list[tuple[Array, Array | None]],
        tests: list[Array],
        validation: list[list[tuple[Array, Array]]],
    ) -> None:
        """Choose penalties by validation splits, train with them, and test.

        final: training rows, and rows that stop the training or None for a part of the former.
        tests, validation: of each of these.
        """
        chosen = []
        for fold, splits in enumerate(validation, 1):
            accuracies = self._fitting.validate(splits, self._penalties)
            # SentEval's rounding, which decides which penalties are equal.
            scores = [round(100 * numpy.mean(one), 2) for one in accuracies.T]
            place = int(numpy.argmax(scores))
            chosen.append(self._penalties[place])
            self._values["dev_accuracy"].append(float(scores[place]) / 100)
            for penalty, score in zip(self._penalties, scores, strict=True):
                self._records["fold"].append(fold)
                self._records["penalty"].append(penalty)
                self._records["chosen"].append(penalty == chosen[-1])
                self._records["dev_accuracy"].append(float(score) / 100)
        predicted = self._fitting.predict(final, chosen, tests)
        for rows, classes in zip(tests, predicted, strict=True):
            accuracy = float((classes == self._y[rows]).sum() / len(rows))
            self._values["accuracy"].append(round(100 * accuracy, 2) / 100)
            self._add_f1(rows, classes)

    def _add_f1(self, rows: Array, classes: Array) -> None:
        """F1 of the second of two classes, which SentEval prints of MRPC."""
        if self._fitting.classes == 2:
            positive, found = self._y[rows] == 1, classes == 1
            f1 = 2 * (positive & found).sum() / max(1, positive.sum() + found.sum())
            self._values["f1"].append(round(100 * float(f1), 2) / 100)

    def result(self, problem: Problem, seed: int, seconds: float) -> TaskResult:
        """The result with the mean of the test accuracies, rounded."""
        accuracies = self._values["accuracy"]
        percent = round(numpy.mean([round(100 * one, 2) for one in accuracies]), 2)
        return mean_of_tests(
            dict(self._values), "accuracy", value=float(percent) / 100, name=problem.name,
            kind="classification", protocol="senteval", rows=len(problem),
            classes=problem.classes, seed=seed, seconds=seconds, records=dict(self._records),
        )  # fmt: skip


def _nested_folds(probe: _Probe, order: Array, kfold: int) -> None:
    """Test folds, with the penalty chosen by folds of the rest."""
    # The original has this seed whatever the seed of the classifiers.
    splits = _stratified(order, probe._y, kfold, SEED)
    inner = [_stratified(rows, probe._y, kfold, SEED) for rows, _ in splits]
    probe.test([(rows, None) for rows, _ in splits], [rows for _, rows in splits], inner)


def _validated_folds(probe: _Probe, order: Array, tests: Array, kfold: int, seed: int) -> None:
    """Test rows, with the penalty chosen by folds of the training rows."""
    probe.test([(order, None)], [tests], [_stratified(order, probe._y, kfold, seed)])


def _stratified(rows: Array, y: Array, kfold: int, seed: int) -> list[Split]:
    """scikit-learn's stratified folds: training rows and validation rows of each."""
    import warnings

    selection = optional("sklearn.model_selection", "protocol 'senteval'", "probe")
    folds = selection.StratifiedKFold(n_splits=kfold, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # Of a class that the outer folds left with fewer rows than inner folds.
        warnings.simplefilter("ignore", UserWarning)
        found = list(folds.split(rows, y[rows]))
    return [(rows[training], rows[validation]) for training, validation in found]


class _Stacked:
    """Networks, trained together where their numbers of training rows are equal."""

    def __init__(
        self, inputs: Array, y: Array, classes: int, training: Training, shown: Any
    ) -> None:
        self._inputs, self._y, self.classes = with_ones(inputs), y, classes
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

    def predict(
        self,
        final: list[tuple[Array, Array | None]],
        penalties: list[float],
        tests: list[Array],
    ) -> list[Array]:
        """The classes of the test rows of each of the training sets."""
        predicted = [numpy.empty(0)] * len(final)
        for group in _of_equal_size(final):
            random = self._random()
            train_rows = numpy.stack([final[place][0] for place in group])
            valid_rows = [final[place][1] for place in group]
            if valid_rows[0] is None:
                # All folds of a group are of one size, and have the same order.
                order = random.permutation(train_rows.shape[1])
                held = int(HELD_OUT * len(order))
                valid_rows = list(train_rows[:, order[:held]])
                train_rows = train_rows[:, order[held:]]
            stack = numpy.array([[penalties[place]] for place in group])
            networks, _ = self._train(train_rows, valid_rows, stack, random)
            for fold, place in enumerate(group):
                classes = networks.predict(self._inputs[tests[place]], fold)
                predicted[place] = classes[:, 0]
        return predicted

    def _random(self) -> numpy.random.RandomState:
        return numpy.random.RandomState(self._training.seed)

    def _train(self, train_rows: Array, valid_rows: Any, stack: Array, random: Any) -> Any:
        found = train(
            self._inputs, self._y, self.classes, train_rows, valid_rows, stack, self._training,
            random,
        )  # fmt: skip
        self._shown.update(stack.size)
        return found


class _Sklearn:
    """scikit-learn's logistic regressions, whose parameter C is the inverse of a penalty."""

    def __init__(
        self, inputs: Array, y: Array, classes: int, training: Training, shown: Any
    ) -> None:
        self._inputs, self._y, self.classes = inputs, y, classes
        self._seed, self._shown = training.seed, shown

    def validate(self, splits: list[Split], penalties: list[float]) -> Array:
        """Accuracies, float64[splits, penalties]."""
        return numpy.array(
            [
                [(self._classes(rows, penalty, valid) == self._y[valid]).mean()
                 for penalty in penalties]
                for rows, valid in splits
            ]
        )  # fmt: skip

    def predict(
        self,
        final: list[tuple[Array, Array | None]],
        penalties: list[float],
        tests: list[Array],
    ) -> list[Array]:
        """The classes of the test rows of each of the training sets."""
        parts = zip(final, penalties, tests, strict=True)
        return [self._classes(rows, penalty, test) for (rows, _), penalty, test in parts]

    def _classes(self, rows: Array, penalty: float, tests: Array) -> Array:
        from fastrank.tasks.mteb import fitted

        options = {"C": penalty, "random_state": self._seed}
        model = fitted(self._inputs[rows], self._y[rows], "protocol 'senteval'", **options)
        self._shown.update(1)
        found: Array = model.predict(self._inputs[tests])
        return found


def _of_equal_size(splits: list[Any]) -> list[list[int]]:
    """The places of splits, grouped by the number of training rows."""
    groups = defaultdict(list)
    for place, (rows, _) in enumerate(splits):
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
    first, second = vectors
    if first.shape[1] != second.shape[1]:
        expected = f"expected vectors of dimension {first.shape[1]}, as of the first"
        raise ArrayError("vectors of text 2", f"{expected}, found {second.shape[1]}")
    distance, product = numpy.abs(first - second), first * second
    parts = (distance, product) if features == "pair" else (first, second, product, distance)
    return numpy.concatenate(parts, axis=1)


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
