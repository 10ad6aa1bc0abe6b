"""Triplets: whether a text is more similar to a positive than to a negative."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter

from fastrank.arguments import finite
from fastrank.errors import OptionError
from fastrank.keywords import takes, with_defaults
from fastrank.similarity.inputs import read_task
from fastrank.similarity.options import SIMILARITIES, TASK, PairOptions, checked_similarities
from fastrank.similarity.pair_scores import similarities_of
from fastrank.similarity.results import SimilarityResult, main_metric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Unpack


@takes(PairOptions, TASK)
def evaluate_triplets(
    model_or_vectors: Any,
    task: Any = None,
    *,
    margin: float | Mapping[str, float] = 0.0,
    **options: Unpack[PairOptions],
) -> SimilarityResult:
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
    >>> fr.evaluate_triplets((anchors, positives, negatives)).value
    0.5
    """
    given = with_defaults(evaluate_triplets, options)
    wanted = checked_similarities("similarities", given["similarities"])
    margins = _margins(margin)
    name, vectors, _ = read_task(model_or_vectors, task, given, texts=3, labels=False)
    start = perf_counter()
    anchors, positives, negatives = vectors
    found = [similarities_of(anchors, part, wanted) for part in (positives, negatives)]
    values = {
        f"{one}_accuracy": (found[0][one] > found[1][one] + margins.get(one, 0.0)).astype(float)
        for one in wanted
    }
    mean = {metric: float(correct.mean()) for metric, correct in values.items()}
    if len(wanted) > 1:
        best = max(values, key=lambda metric: mean[metric])
        values["max_accuracy"], mean["max_accuracy"] = values[best], mean[best]
    main = main_metric(wanted, "accuracy", mean)
    return SimilarityResult(
        name=name, kind="triplets", protocol="sentence-transformers", metric=main,
        value=mean[main], mean=mean, values=values, rows=len(anchors),
        seconds=perf_counter() - start,
    )  # fmt: skip


def _margins(margin: Any) -> dict[str, float]:
    if not isinstance(margin, Mapping):
        return dict.fromkeys(SIMILARITIES, finite("margin", margin))
    unknown = [name for name in margin if name not in SIMILARITIES]
    if unknown:
        expected = ", ".join(map(repr, SIMILARITIES))
        raise OptionError("margin", f"expected keys {expected}, found {unknown[0]!r}")
    return {name: finite("margin", value) for name, value in margin.items()}
