"""Correlation of similarities with gold scores."""

from __future__ import annotations

from time import perf_counter

from fastrank.errors import InputError
from fastrank.keywords import takes, with_defaults
from fastrank.metrics.correlation import pearson, spearman
from fastrank.metrics.inputs import number_array
from fastrank.similarity.inputs import read_task
from fastrank.similarity.options import TASK, PairOptions, checked_similarities
from fastrank.similarity.pair_scores import similarities_of
from fastrank.similarity.results import SimilarityResult, main_metric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Unpack


@takes(PairOptions, TASK)
def evaluate_similarity(
    model_or_vectors: Any, task: Any, **options: Unpack[PairOptions]
) -> SimilarityResult:
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
    >>> fr.evaluate_similarity((a, b), [5.0, 4.0, 0.5]).mean["cosine_spearman"]
    1.0
    """
    given = with_defaults(evaluate_similarity, options)
    wanted = checked_similarities("similarities", given["similarities"])
    name, vectors, labels = read_task(model_or_vectors, task, given, texts=2, labels=True)
    gold = number_array("scores", labels)
    start = perf_counter()
    if len(gold) < 2:
        raise InputError(name, "expected at least two pairs, found one")
    if (gold == gold[0]).all():
        raise InputError(name, f"all scores are {gold[0]:g}, so the correlation is undefined")
    similarities = similarities_of(vectors[0], vectors[1], wanted)
    mean = {}
    for one, values in similarities.items():
        if (values == values[0]).all():
            reason = f"all {one} similarities are {values[0]:g}, so the correlation is undefined"
            raise InputError(name, reason)
        mean[f"{one}_spearman"] = spearman(gold, values)
        mean[f"{one}_pearson"] = pearson(gold, values)
    if len(wanted) > 1:
        for metric in ("spearman", "pearson"):
            mean[f"max_{metric}"] = max(mean[f"{one}_{metric}"] for one in wanted)
    main = main_metric(wanted, "spearman", mean)
    return SimilarityResult(
        name=name, kind="similarity", protocol="sentence-transformers", metric=main,
        value=mean[main], mean=mean, similarities=similarities, rows=len(gold),
        seconds=perf_counter() - start,
    )  # fmt: skip
