"""Classification of pairs by a threshold of their similarity."""

from __future__ import annotations

from time import perf_counter

from fastrank.arguments import check_choice
from fastrank.errors import InputError
from fastrank.keywords import takes, with_defaults
from fastrank.metrics.inputs import binary_array
from fastrank.metrics.thresholds import Sweep
from fastrank.similarity.inputs import read_task
from fastrank.similarity.options import DISTANCES, TASK, PairOptions, checked_similarities
from fastrank.similarity.pair_scores import similarities_of
from fastrank.similarity.results import SimilarityResult, main_metric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt
    from typing_extensions import Unpack

    Array = npt.NDArray[Any]

PROTOCOLS = ("sentence-transformers", "mteb")
METRICS = ("accuracy", "f1", "precision", "recall", "ap", "mcc")


@takes(PairOptions, TASK)
def evaluate_pairs(
    model_or_vectors: Any,
    task: Any,
    *,
    protocol: str = "sentence-transformers",
    **options: Unpack[PairOptions],
) -> SimilarityResult:
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
    **options: see `PairOptions`.

    Raises InputError if all labels are equal, or missing; ArrayError for other labels than 0 and 1
    and for invalid vectors; what `encode_task` raises.

    >>> a, b = [[1, 0], [1, 0], [1, 0]], [[1, 0], [1, 1], [0, 1]]
    >>> found = fr.evaluate_pairs((a, b), [1, 1, 0])
    >>> found.value, round(found.mean["cosine_f1_threshold"], 4)
    (1.0, 0.3536)
    """
    given = with_defaults(evaluate_pairs, options)
    check_choice("protocol", protocol, PROTOCOLS)
    wanted = checked_similarities("similarities", given["similarities"])
    name, vectors, labels = read_task(model_or_vectors, task, given, texts=2, labels=True)
    start = perf_counter()
    positive = binary_array("labels", labels)
    if positive.all() or not positive.any():
        found = int(positive[0])
        raise InputError(name, f"expected labels 0 and 1, found only {found}")
    similarities = similarities_of(vectors[0], vectors[1], wanted)
    mean: dict[str, float] = {}
    for one, values in similarities.items():
        mean |= _metrics(one, positive, values, extremes=protocol == PROTOCOLS[0])
    if len(wanted) > 1:
        for metric in METRICS:
            mean[f"max_{metric}"] = max(mean[f"{one}_{metric}"] for one in wanted)
    main = main_metric(wanted, "ap", mean)
    return SimilarityResult(
        name=name, kind="pairs", protocol=protocol, metric=main, value=mean[main], mean=mean,
        similarities=similarities, rows=len(positive), seconds=perf_counter() - start,
    )  # fmt: skip


def _metrics(
    name: str, positive: Array, similarities: Array, *, extremes: bool
) -> dict[str, float]:
    """The metrics of a similarity, with its name before theirs."""
    sweep = Sweep(positive, similarities, extremes=extremes)
    accuracy, f1 = sweep.accuracy, sweep.f1
    # The similarity is the negative distance.
    sign = -1.0 if name in DISTANCES else 1.0
    found = {
        "accuracy": accuracy.accuracy,
        "accuracy_threshold": sign * accuracy.threshold,
        "f1": f1.f1,
        "f1_threshold": sign * f1.threshold,
        "precision": f1.precision,
        "recall": f1.recall,
        "ap": sweep.average_precision,
        "mcc": f1.matthews,
    }
    return {f"{name}_{metric}": value for metric, value in found.items()}
