"""Clusters of vectors against labels, and the metrics of clusters."""

from __future__ import annotations

import random
from math import log

import numpy

from fastrank.arguments import at_least, finite, integer
from fastrank.datasets.text_task import TextTask, as_text_task
from fastrank.embeddings.text_vectors import are_vectors
from fastrank.errors import InputError, OptionError
from fastrank.keywords import takes, with_defaults
from fastrank.lazy import optional
from fastrank.messages import counted
from fastrank.tasks.inputs import TASK, TaskOptions, read_task
from fastrank.tasks.metrics import label_array, same_length
from fastrank.tasks.result import TaskResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt
    from typing_extensions import Unpack

    Array = npt.NDArray[Any]


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


def v_measure(labels: Any, clusters: Any, *, beta: float = 1.0) -> float:
    """The harmonic mean of homogeneity and completeness.

    labels, clusters: lists or arrays of equal length, numbers or str. beta: the weight of
    completeness. Raises ArrayError for other input. Equal to `sklearn.metrics.v_measure_score`.
    Source: Rosenberg and Hirschberg, V-Measure, 2007.

    >>> round(fr.tasks.v_measure([0, 0, 1, 1], [0, 0, 1, 2]), 12)
    0.8
    """
    homogeneous, complete, _ = _scores(labels, clusters)
    if homogeneous + complete == 0.0:
        return 0.0
    return (1 + beta) * homogeneous * complete / (beta * homogeneous + complete)


def homogeneity(labels: Any, clusters: Any) -> float:
    """Mutual information of labels and clusters divided by the entropy of the labels.

    It is 1 if each cluster has a single label, and if all labels are equal. labels, clusters: as in
    `v_measure`. Equal to `sklearn.metrics.homogeneity_score`.

    >>> round(fr.tasks.homogeneity([0, 0, 1, 1], [0, 0, 1, 2]), 12)
    1.0
    """
    return _scores(labels, clusters)[0]


def completeness(labels: Any, clusters: Any) -> float:
    """Mutual information of labels and clusters divided by the entropy of the clusters.

    It is 1 if each label is in a single cluster, and if there is one cluster. labels, clusters: as
    in `v_measure`. Equal to `sklearn.metrics.completeness_score`.

    >>> round(fr.tasks.completeness([0, 0, 1, 1], [0, 0, 1, 2]), 12)
    0.666666666667
    """
    return _scores(labels, clusters)[1]


def adjusted_mutual_info(labels: Any, clusters: Any) -> float:
    """Mutual information of labels and clusters, adjusted for chance.

    (MI - E) / (mean of both entropies - E), where E is the expected mutual information of random
    clusters of the same sizes. labels, clusters: as in `v_measure`. Equal to
    `sklearn.metrics.adjusted_mutual_info_score` up to that function's rounding: E is summed here
    without its differences of large logarithms. Source: Vinh, Epps and Bailey, Information
    theoretic measures for clusterings comparison, 2010.

    >>> round(fr.tasks.adjusted_mutual_info([0, 0, 1, 1], [0, 0, 1, 2]), 12)
    0.571428571429
    """
    *_, table = _scores(labels, clusters)
    in_labels, in_clusters = table.labels, table.clusters
    if len(in_labels) == 1 or len(in_clusters) == 1:
        return 1.0 if len(in_labels) == len(in_clusters) else 0.0
    expected = _expected_information(in_labels, in_clusters)
    mean_entropy = float(numpy.mean([_entropy(in_labels), _entropy(in_clusters)]))
    return _signed(table.information() - expected) / _signed(mean_entropy - expected)


class _Table:
    """The contingency table of labels and clusters: its cells that are not 0, and the sizes."""

    def __init__(self, labels: Any, clusters: Any) -> None:
        first, second = label_array("labels", labels), label_array("clusters", clusters)
        same_length("labels", first, "clusters", second)
        _, rows, self.labels = numpy.unique(first, return_inverse=True, return_counts=True)
        _, columns, self.clusters = numpy.unique(second, return_inverse=True, return_counts=True)
        # By row, as scipy iterates over sparse matrices: sums then have the same last bit.
        cells, self.cells = numpy.unique(rows * len(self.clusters) + columns, return_counts=True)
        self.rows, self.columns = numpy.divmod(cells, len(self.clusters))
        self.size = len(first)

    def information(self) -> float:
        """The mutual information of labels and clusters."""
        if len(self.labels) == 1 or len(self.clusters) == 1:
            return 0.0
        share = self.cells / self.size
        expected = -numpy.log(self.labels[self.rows] * self.clusters[self.columns])
        expected = expected + log(self.size) + log(self.size)
        terms = share * (numpy.log(self.cells) - log(self.size)) + share * expected
        terms[numpy.abs(terms) < numpy.finfo(float).eps] = 0.0
        return max(0.0, float(terms.sum()))


def _scores(labels: Any, clusters: Any) -> tuple[float, float, _Table]:
    """Homogeneity, completeness and the table."""
    table = _Table(labels, clusters)
    information = table.information()
    entropies = _entropy(table.labels), _entropy(table.clusters)
    homogeneous, complete = (information / one if one else 1.0 for one in entropies)
    return homogeneous, complete, table


def _entropy(sizes: Array) -> float:
    if len(sizes) == 1:
        return 0.0
    total = sizes.sum()
    return float(-numpy.sum(sizes / total * (numpy.log(sizes) - log(total))))


def _expected_information(labels: Array, clusters: Array) -> float:
    """The expected mutual information of random clusterings with clusters of these sizes."""
    size = int(labels.sum())
    (label_sizes, label_counts), (cluster_sizes, cluster_counts) = (
        numpy.unique(sizes, return_counts=True) for sizes in (labels, clusters)
    )
    total = 0.0
    for a, times in zip(label_sizes.tolist(), label_counts.tolist(), strict=True):
        for b, and_times in zip(cluster_sizes.tolist(), cluster_counts.tolist(), strict=True):
            common, chances = _hypergeometric(size, a, b)
            common, chances = common[common > 0], chances[common > 0]
            terms = common / size * numpy.log(size * common / (a * b)) * chances
            total += times * and_times * float(terms.sum())
    return total


def _hypergeometric(size: int, a: int, b: int) -> tuple[Array, Array]:
    """The numbers of items that subsets of a and b of the items can share, and their chances."""
    low, high = max(0, a + b - size), min(a, b)
    common = numpy.arange(low, high + 1, dtype=numpy.float64)
    # From the most likely number on in both directions, so that all factors are at most 1.
    mode = min(max((a + 1) * (b + 1) // (size + 2), low), high) - low
    steps = (a - common) * (b - common) / ((common + 1) * (size - a - b + common + 1))
    chances = numpy.ones(len(common))
    chances[mode + 1 :] = numpy.cumprod(steps[mode:-1])
    chances[:mode] = numpy.cumprod(1.0 / steps[:mode][::-1])[::-1]
    return common, chances / chances.sum()


def _signed(difference: float) -> float:
    """A difference away from 0, as in scikit-learn, so that a perfect match yields 1."""
    least = float(numpy.finfo(float).eps)
    return min(difference, -least) if difference < 0 else max(difference, least)
