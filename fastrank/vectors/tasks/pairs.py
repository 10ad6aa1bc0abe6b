"""Similarities of the texts of a row, with gold scores or labels; triplets and translations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy

from fastrank.common.arguments import check_choice, finite
from fastrank.common.keywords import takes, with_defaults
from fastrank.common.messages import counted
from fastrank.core.native import kernels
from fastrank.core.native.threads import default_threads, in_threads
from fastrank.core.scores.text import NOTED
from fastrank.errors import ArrayError, InputError, OptionError
from fastrank.vectors.embeddings.text_vectors import are_vectors
from fastrank.vectors.tasks.inputs import (
    DISTANCES,
    SIMILARITIES,
    TASK,
    PairOptions,
    TaskOptions,
    TaskRows,
    checked_similarities,
    read_task,
    similarity_name,
)
from fastrank.vectors.tasks.metrics import (
    accuracy,
    binary_array,
    f1,
    number_array,
    pearson,
    precision,
    recall,
    spearman,
)
from fastrank.vectors.tasks.result import TaskResult
from fastrank.vectors.tasks.thresholds import Sweep, cut_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Unpack

    from fastrank.common.arrays import Array

# Values of both vectors for which a thread pays off.
WORTH_A_THREAD = 1 << 18
CORRELATIONS = ("spearman", "pearson")
# Protocols for labelled pairs.
PROTOCOLS = ("sentence-transformers", "mteb")
METRICS = ("accuracy", "f1", "precision", "recall", "ap", "mcc")
# Similarities of translations that are computed at once: 64 MB.
BLOCK_VALUES = 1 << 24
# The shortest length that torch divides by.
SHORTEST = 1e-12


def similarities_of(a: Array, b: Array, similarities: tuple[str, ...]) -> dict[str, Array]:
    """The similarities of rows of equal shape, as float32[rows]; distances are negative.

    They are the same for any number of threads. Raises ArrayError for values that are not finite.
    """
    rows = len(a)
    by_name: dict[str, Array] = {}
    for kernel, names in (
        (kernels.products_of_pairs, SIMILARITIES[:2]),
        (kernels.distances_of_pairs, DISTANCES),
    ):
        columns = [numpy.empty(rows * (name in similarities), numpy.float32) for name in names]
        if any(map(len, columns)):
            _run(kernel, a, b, columns)
            by_name |= dict(zip(names, columns, strict=True))
    for name in similarities:
        values = by_name[name]
        # Both are NaN if any value is.
        if not (numpy.isfinite(values.min()) and numpy.isfinite(values.max())):
            _refuse(a, b, int((~numpy.isfinite(values)).argmax()))
    return {name: by_name[name] for name in similarities}


def _run(kernel: Callable[..., object], a: Array, b: Array, columns: list[Array]) -> None:
    rows, width = a.shape
    flat = a.reshape(-1), b.reshape(-1)
    count = default_threads(2 * a.size, WORTH_A_THREAD)

    def work(part: int) -> None:
        first, last = (rows * edge // count for edge in (part, part + 1))
        kernel(*flat, width, first, last, *columns)

    in_threads(work, count)


def _refuse(a: Array, b: Array, row: int) -> None:
    for number, vectors in enumerate((a, b), 1):
        bad = ~numpy.isfinite(vectors[row])
        if bad.any():
            column = int(bad.argmax())
            reason = f"expected finite values, found {vectors[row, column]}"
            raise ArrayError(f"vectors of text {number}", reason, row, column)
    raise ArrayError("vectors", "the products of the values are too large for 32-bit floats", row)


def add_highest(
    mean: dict[str, float], similarities: tuple[str, ...], metrics: tuple[str, ...], main: str
) -> str:
    """Add the highest values of several similarities; returns the main metric with its prefix."""
    if len(similarities) == 1:
        return f"{similarities[0]}_{main}"
    for metric in metrics:
        mean[f"max_{metric}"] = max(mean[f"{similarity}_{metric}"] for similarity in similarities)
    return f"max_{main}"


@takes(PairOptions, TASK)
def evaluate_similarity(
    model_or_vectors: object, task: object, **options: Unpack[PairOptions]
) -> TaskResult:
    """Correlate the similarities of pairs of texts with gold scores (STS).

    Metrics: `cosine_spearman` and `cosine_pearson`, and so for each similarity, as in
    sentence-transformers' EmbeddingSimilarityEvaluator and MTEB; with several similarities also
    `max_spearman` and `max_pearson`. The main metric is the Spearman correlation.

    model_or_vectors: a model as in `evaluate_model`, or a tuple of two arrays of vectors.
    task: a TextTask with two texts and a score per row, or what makes one: a file, a frame, a
        Dataset, or a tuple (texts a, texts b, scores). With vectors also the scores, a list or
        array of numbers.
    **options: see `PairOptions`.

    Raises InputError for scores that are missing or all equal; ArrayError for invalid vectors or
    scores, such as text (only the cells of CSV and TSV are text that is read as numbers), and if
    all similarities are equal; what `encode_task` raises.

    >>> a, b = [[1, 0], [1, 0], [1, 0]], [[1, 0], [1, 1], [0, 1]]
    >>> fr.tasks.evaluate_similarity((a, b), [5.0, 4.0, 0.5]).mean["cosine_spearman"]
    1.0
    """
    settings = with_defaults(evaluate_similarity, options)
    names = checked_similarities("similarities", settings["similarities"])
    rows = read_task(model_or_vectors, task, settings, texts=2, labels=True)
    gold = number_array("scores", rows.labels)
    if len(gold) < 2:
        raise InputError(rows.name, "expected at least two pairs, found one")
    if (gold == gold[0]).all():
        raise InputError(rows.name, f"all scores are {gold[0]:g}, so the correlation is undefined")
    similarities = similarities_of(rows.vectors[0], rows.vectors[1], names)
    mean = {}
    for name, values in similarities.items():
        if (values == values[0]).all():
            reason = f"all {name} similarities are {values[0]:g}, so the correlation is undefined"
            raise InputError(rows.name, reason)
        mean[f"{name}_spearman"] = spearman(gold, values)
        mean[f"{name}_pearson"] = pearson(gold, values)
    main = add_highest(mean, names, CORRELATIONS, "spearman")
    notes = _zero_notes(rows, similarities)
    return rows.result(
        "similarity", "sentence-transformers", main, mean, similarities=similarities, notes=notes
    )


@takes(PairOptions, TASK)
def evaluate_pairs(
    model_or_vectors: object,
    task: object,
    *,
    protocol: str = "sentence-transformers",
    threshold: float | Mapping[str, float] | None = None,
    dev: object = None,
    **options: Unpack[PairOptions],
) -> TaskResult:
    """Tell similar pairs of texts from others by their similarity (pair classification).

    Metrics, for each similarity: `cosine_ap`, the average precision (the main metric);
    `cosine_accuracy` and `cosine_f1` at their best thresholds, which are
    `cosine_accuracy_threshold` and `cosine_f1_threshold`; and `cosine_precision`, `cosine_recall`
    and `cosine_mcc` at the threshold of the best F1. With several similarities also `max_ap` and so
    on, the highest of each; `max_ap` is then the main metric. Thresholds of Euclidean and Manhattan
    are distances.

    model_or_vectors: as in `evaluate_similarity`.
    task: as in `evaluate_similarity`, with labels 0 and 1 (or bool, or text such as "1")
        in place of the scores.
    protocol: "sentence-transformers" for its BinaryClassificationEvaluator; "mteb" for MTEB's pair
        classification, which never calls all pairs similar, or none.
    threshold: the least similarity, or greatest distance, of pairs that are called similar, instead
        of the best ones; a number, or {similarity: number}.
    dev: other pairs with labels, on which the thresholds are chosen: like `task`, or with vectors
        (vectors, labels).
    **options: see `PairOptions`.

    Raises InputError if all labels are equal, or missing; ArrayError for other labels than 0 and 1
    and for invalid vectors; what `encode_task` raises.

    >>> a, b = [[1, 0], [1, 0], [1, 0]], [[1, 0], [1, 1], [0, 1]]
    >>> found = fr.tasks.evaluate_pairs((a, b), [1, 1, 0])
    >>> found.value, round(found.mean["cosine_f1_threshold"], 4)
    (1.0, 0.3536)
    """
    settings = with_defaults(evaluate_pairs, options)
    check_choice("protocol", protocol, PROTOCOLS)
    names = checked_similarities("similarities", settings["similarities"])
    rows = read_task(model_or_vectors, task, settings, texts=2, labels=True)
    positive = binary_array("labels", rows.labels)
    if positive.all() or not positive.any():
        label = int(positive[0])
        raise InputError(rows.name, f"expected labels 0 and 1, found only {label}")
    similarities = similarities_of(rows.vectors[0], rows.vectors[1], names)
    extremes = protocol == PROTOCOLS[0]
    thresholds: dict[str, tuple[float, float]] = {}
    if threshold is not None:
        if dev is not None:
            raise OptionError("threshold", "cannot be combined with dev, which gives thresholds")
        numbers = _by_similarity("threshold", threshold)
        lacking = next((name for name in names if name not in numbers), None)
        if lacking is not None:
            raise OptionError(
                "threshold", f"expected one for each similarity, {lacking!r} has none"
            )
        thresholds = {name: (numbers[name], numbers[name]) for name in names}
    elif dev is not None:
        chosen = evaluate_pairs(*_dev_task(model_or_vectors, dev), protocol=protocol, **options)
        thresholds = {
            name: (chosen.mean[f"{name}_accuracy_threshold"], chosen.mean[f"{name}_f1_threshold"])
            for name in names
        }
    mean: dict[str, float] = {}
    for name, values in similarities.items():
        at = thresholds.get(name)
        mean |= _metrics(name, positive, values, at, extremes=extremes)
    main = add_highest(mean, names, METRICS, "ap")
    notes = _zero_notes(rows, similarities)
    return rows.result("pairs", protocol, main, mean, similarities=similarities, notes=notes)


def _zero_notes(rows: TaskRows, *compared: dict[str, Array]) -> tuple[str, ...]:
    """The note on zero vectors, if rows of them were compared by their cosines."""
    suspects = numpy.zeros(len(rows), bool)
    for similarities in compared:
        # The cosine of a zero vector is 0.
        suspects |= similarities.get("cosine", numpy.ones(1)) == 0
    zeros = sum(int((~part[suspects].any(axis=1)).sum()) for part in rows.vectors)
    return (counted(zeros, *NOTED["zero_texts"]),) if zeros else ()


def _dev_task(model_or_vectors: object, dev: object) -> tuple[object, object]:
    """The model, or vectors, of other pairs, and their task or labels."""
    if not are_vectors(model_or_vectors):
        return model_or_vectors, dev
    if not isinstance(dev, tuple) or len(dev) != 2:
        raise OptionError("dev", "expected (vectors, labels), because vectors are given")
    return dev


def _metrics(
    name: str,
    positive: Array,
    similarities: Array,
    thresholds: tuple[float, float] | None,
    *,
    extremes: bool,
) -> dict[str, float]:
    """The metrics of a similarity, with its name before theirs.

    thresholds: for accuracy and F1, if they were chosen elsewhere; else the best.
    """
    sweep = Sweep(positive, similarities, extremes=extremes)
    best_accuracy, best_f1 = sweep.accuracy, sweep.f1
    # The similarity is the negative distance.
    sign = -1.0 if name in DISTANCES else 1.0
    if thresholds is not None:
        best_accuracy, best_f1 = (cut_at(sign * at, positive, similarities) for at in thresholds)
    metrics = {
        "accuracy": best_accuracy.accuracy,
        "accuracy_threshold": sign * best_accuracy.threshold,
        "f1": best_f1.f1,
        "f1_threshold": sign * best_f1.threshold,
        "precision": best_f1.precision,
        "recall": best_f1.recall,
        "ap": sweep.average_precision,
        "mcc": best_f1.matthews,
    }
    return {f"{name}_{metric}": value for metric, value in metrics.items()}


@takes(PairOptions, TASK)
def evaluate_triplets(
    model_or_vectors: object,
    task: object = None,
    *,
    margin: float | Mapping[str, float] = 0.0,
    **options: Unpack[PairOptions],
) -> TaskResult:
    """Count the triplets whose anchor is more similar to the positive than to the negative.

    Metrics: `cosine_accuracy`, and so for each similarity, as in sentence-transformers'
    TripletEvaluator; with several similarities also `max_accuracy`, which is then the main metric.
    `values` has 1.0 or 0.0 for each triplet.

    model_or_vectors: a model as in `evaluate_model`, or a tuple of three arrays of vectors
        (anchors, positives, negatives).
    task: a TextTask with three texts per row (anchor, positive, negative), or what makes one: a
        file, a frame, a Dataset, or a tuple (anchors, positives, negatives). None with vectors.
    margin: by how much the similarity to the positive must exceed that to the negative; a number,
        or {similarity: number}.
    **options: see `PairOptions`.

    Raises InputError and ArrayError for invalid rows or vectors; OptionError for an invalid margin;
    what `encode_task` raises.

    >>> anchors, positives, negatives = [[1, 0], [0, 1]], [[1, 1], [1, 0]], [[0, 1], [1, 1]]
    >>> fr.tasks.evaluate_triplets((anchors, positives, negatives)).value
    0.5
    """
    settings = with_defaults(evaluate_triplets, options)
    names = checked_similarities("similarities", settings["similarities"])
    margins = _by_similarity("margin", margin)
    rows = read_task(model_or_vectors, task, settings, texts=3, labels=False)
    anchors, positives, negatives = rows.vectors
    similarities = [similarities_of(anchors, part, names) for part in (positives, negatives)]
    correct = {
        f"{name}_accuracy": (
            similarities[0][name] > similarities[1][name] + margins.get(name, 0.0)
        ).astype(float)
        for name in names
    }
    mean = {metric: float(outcomes.mean()) for metric, outcomes in correct.items()}
    values = {metric: outcomes.tolist() for metric, outcomes in correct.items()}
    best = max(values, key=lambda metric: mean[metric])
    main = add_highest(mean, names, ("accuracy",), "accuracy")
    values[main] = values[best]
    notes = _zero_notes(rows, *similarities)
    return rows.result("triplets", "sentence-transformers", main, mean, values=values, notes=notes)


def _by_similarity(option: str, value: float | Mapping[str, float]) -> dict[str, float]:
    """{similarity: number} of an option that may be one number for all. Raises OptionError."""
    if not isinstance(value, Mapping):
        return dict.fromkeys(SIMILARITIES, finite(option, value))
    value = {similarity_name(name): number for name, number in value.items()}
    unknown = [name for name in value if name not in SIMILARITIES]
    if unknown:
        expected = ", ".join(map(repr, SIMILARITIES))
        raise OptionError(option, f"expected keys {expected}, found {unknown[0]!r}")
    return {name: finite(option, number) for name, number in value.items()}


@takes(TaskOptions, TASK)
def evaluate_bitext(
    model_or_vectors: object, task: object = None, **options: Unpack[TaskOptions]
) -> TaskResult:
    """Find for each text its translation as the nearest text by cosine (bitext mining).

    Metrics: `f1` (the main metric), `precision`, `recall` and `accuracy` of finding the second
    text of a row with the first, where every row is a class and the averages are weighted, as in
    MTEB; and `reverse_f1` and so on of finding the first with the second. `values` has the
    `accuracy` of each row. Of equally near texts, the first one is found.

    model_or_vectors: a model as in `evaluate_model`, or a tuple of two arrays of vectors.
    task: a TextTask with two texts per row, which are translations of each other, or what makes
        one: a file, a frame, a Dataset, or a tuple (texts, translations). None with vectors.
    **options: see `TaskOptions`.

    Raises InputError and ArrayError for invalid rows or vectors; what `encode_task` raises.

    >>> fr.tasks.evaluate_bitext(([[1, 0], [0, 1]], [[2, 1], [1, 2]])).mean["f1"]
    1.0
    """
    settings = with_defaults(evaluate_bitext, options)
    rows = read_task(model_or_vectors, task, settings, texts=2, labels=False)
    a, b = (_unit(part, number) for number, part in enumerate(rows.vectors, 1))
    truth = numpy.arange(len(a))
    mean: dict[str, float] = {}
    values: dict[str, list[float]] = {}
    for prefix, nearest in (("", _nearest(a, b)), ("reverse_", _nearest(b, a))):
        mean |= {
            f"{prefix}f1": f1(truth, nearest, average="weighted"),
            f"{prefix}precision": precision(truth, nearest, average="weighted"),
            f"{prefix}recall": recall(truth, nearest, average="weighted"),
            f"{prefix}accuracy": accuracy(truth, nearest),
        }
        values[f"{prefix}accuracy"] = (truth == nearest).astype(float).tolist()
    notes = _zero_notes(rows, {"cosine": truth * 0})
    return rows.result("bitext", "mteb", "f1", mean, values=values, notes=notes)


def _unit(vectors: Array, number: int) -> Array:
    """The vectors normalized to length 1. Raises ArrayError for values that are not finite."""
    with numpy.errstate(invalid="ignore"):
        lengths = numpy.sqrt(numpy.einsum("ij,ij->i", vectors, vectors, dtype=numpy.float64))
    if not numpy.isfinite(lengths).all():
        row = int((~numpy.isfinite(lengths)).argmax())
        raise ArrayError(f"vectors of text {number}", "expected finite values", row)
    scaled = numpy.empty_like(vectors)
    divisors = numpy.maximum(lengths, SHORTEST)[:, None]
    numpy.divide(vectors, divisors, out=scaled, casting="unsafe")
    return scaled


def _nearest(queries: Array, corpus: Array) -> Array:
    """The row of the corpus with the highest product with each query."""
    step = max(1, BLOCK_VALUES // len(corpus))
    blocks = range(0, len(queries), step)
    rows = [(queries[start : start + step] @ corpus.T).argmax(axis=1) for start in blocks]
    return numpy.concatenate(rows)
