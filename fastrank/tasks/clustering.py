"""Clusters of vectors against labels."""

from __future__ import annotations

import random

import numpy

from fastrank.arguments import at_least, finite, integer
from fastrank.datasets.text_task import TextTask, as_text_task
from fastrank.embeddings.text_vectors import are_vectors
from fastrank.errors import InputError, OptionError
from fastrank.keywords import takes, with_defaults
from fastrank.lazy import optional
from fastrank.messages import counted
from fastrank.tasks.cluster_metrics import adjusted_mutual_info, v_measure
from fastrank.tasks.inputs import TASK, TaskOptions, read_task
from fastrank.tasks.metrics import label_array
from fastrank.tasks.result import TaskResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Unpack


@takes(TaskOptions, TASK)
def evaluate_clustering(
    model_or_vectors: Any,
    task: Any,
    *,
    samples: int = 10,
    sample_size: int = 16_384,
    fraction: float | None = None,
    kmeans_batch_size: int = 512,
    seed: int = 42,
    **options: Unpack[TaskOptions],
) -> TaskResult:
    """Cluster vectors with k-means and compare the clusters with labels, as MTEB does.

    Samples of the texts are drawn with replacement and clustered by scikit-learn's MiniBatchKMeans
    with as many clusters as there are labels. Metrics, means over the samples: `v_measure` (the
    main metric) and `ami`, the adjusted mutual information; see `fastrank.tasks`. `values` has
    those of each sample. With the defaults and `fraction=0.04`, the samples and seeds are those of
    MTEB's AbsTaskClustering. Needs scikit-learn: the extra `probe`.

    model_or_vectors: a model as in `evaluate_model`, or an array of vectors.
    task: a TextTask with a text and a label per row, or what makes one: a file, a frame, a Dataset,
        or a tuple (texts, labels). With vectors also a list or array of labels.
    samples: the number of samples. sample_size: the number of texts of each.
    fraction: encode and cluster only this fraction of the texts, chosen at random. MTEB's default
        is 0.04, which many of its tasks change.
    kmeans_batch_size: batch size of k-means. seed: of samples and k-means.
    **options: see `TaskOptions`.

    Raises InputError for fewer than two different labels, or missing ones; ArrayError for invalid
    labels or vectors; OptionError for invalid options; what `encode_task` raises.

    >>> vectors = [[1, 0], [1, 0.1], [0, 1], [0.1, 1]]
    >>> fr.tasks.evaluate_clustering(vectors, ["a", "a", "b", "b"], sample_size=20).metric
    'v_measure'
    """
    given = with_defaults(evaluate_clustering, options)
    for name, value in (("samples", samples), ("kmeans_batch_size", kmeans_batch_size)):
        at_least(name, value, 1)
    at_least("sample_size", sample_size, 2)
    source = random.Random(integer("seed", seed))
    cluster: Any = optional("sklearn.cluster", "evaluate_clustering", "probe")
    if fraction is not None:
        model_or_vectors, task = _part(model_or_vectors, task, fraction, source)
    found = read_task(model_or_vectors, task, given, texts=1, labels=True)
    name, (vectors,) = found.name, found.vectors
    labels = label_array("labels", found.labels)
    count = len(numpy.unique(labels))
    if count < 2:
        raise InputError(
            name, f"expected at least two different labels, found only {found.labels[0]!r}"
        )
    if sample_size < count:
        raise OptionError(
            "sample_size", f"expected {count} or more, the number of labels, found {sample_size}"
        )
    if not numpy.isfinite(vectors).all():
        row = int((~numpy.isfinite(vectors)).any(axis=1).argmax())
        raise InputError(name, f"row {row}: the vector has values that are not finite")
    kmeans = cluster.MiniBatchKMeans(
        n_clusters=count,
        batch_size=kmeans_batch_size,
        init="k-means++",
        n_init=1,
        random_state=seed,
    )
    values: dict[str, list[float]] = {"v_measure": [], "ami": []}
    for _ in range(samples):
        rows = source.choices(range(len(labels)), k=sample_size)
        clusters = kmeans.fit_predict(vectors[rows])
        values["v_measure"].append(v_measure(labels[rows], clusters))
        values["ami"].append(adjusted_mutual_info(labels[rows], clusters))
    mean = {metric: float(numpy.mean(of_samples)) for metric, of_samples in values.items()}
    std = float(numpy.std(values["v_measure"]))
    return found.result("clustering", "mteb", "v_measure", mean, std=std, values=values)


def _part(given: Any, task: Any, fraction: Any, source: random.Random) -> tuple[Any, Any]:
    """A random part of the rows, of vectors and of labels or texts."""
    share = finite("fraction", fraction)
    if not 0.0 < share <= 1.0:
        raise OptionError("fraction", f"expected a number from 0 to 1, found {fraction}")
    vectors = are_vectors(given)
    texts = task if isinstance(task, TextTask) or vectors else as_text_task(task)
    labels = texts.labels if isinstance(texts, TextTask) else texts
    count = len(given) if vectors else len(texts)
    chosen = int(share * count)
    if not chosen:
        raise OptionError("fraction", f"{share:g} of {counted(count, 'row')} leaves no row")
    rows = source.sample(range(count), k=chosen)
    if labels is None or len(labels) != count:
        # The error is raised where the rows are read.
        return given, task
    some = [labels[row] for row in rows]
    if vectors:
        return numpy.asarray(given)[rows], some
    part = [texts.texts[0][row] for row in rows]
    return given, TextTask.from_texts(part, labels=some, name=texts.name)
