"""Metrics of a clustering against labels."""

from __future__ import annotations

from math import log

import numpy

from fastrank.tasks.metrics import label_array, same_length

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy.typing as npt

    Array = npt.NDArray[Any]


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
