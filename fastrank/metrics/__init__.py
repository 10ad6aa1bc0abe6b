"""Metrics of predicted labels, scores and clusters, equal to those of scikit-learn and scipy.

>>> import fastrank as fr
>>> fr.metrics.matthews(["a", "b", "b", "a"], ["a", "b", "a", "a"])
0.5773502691896258
>>> fr.metrics.accuracy(["a", "b", "b", "a"], ["a", "b", "a", "a"])
0.75
"""

from fastrank.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.metrics.answer_spans import exact_match as exact_match
    from fastrank.metrics.answer_spans import token_f1 as token_f1
    from fastrank.metrics.classification import accuracy as accuracy
    from fastrank.metrics.classification import adjusted_f1 as adjusted_f1
    from fastrank.metrics.classification import f1 as f1
    from fastrank.metrics.classification import macro_f1 as macro_f1
    from fastrank.metrics.classification import matthews as matthews
    from fastrank.metrics.classification import precision as precision
    from fastrank.metrics.classification import recall as recall
    from fastrank.metrics.classification import weighted_f1 as weighted_f1
    from fastrank.metrics.clusters import adjusted_mutual_info as adjusted_mutual_info
    from fastrank.metrics.clusters import completeness as completeness
    from fastrank.metrics.clusters import homogeneity as homogeneity
    from fastrank.metrics.clusters import v_measure as v_measure
    from fastrank.metrics.correlation import kendall as kendall
    from fastrank.metrics.correlation import pearson as pearson
    from fastrank.metrics.correlation import spearman as spearman
    from fastrank.metrics.losses import hinge_loss as hinge_loss
    from fastrank.metrics.losses import rank_hinge_loss as rank_hinge_loss
    from fastrank.metrics.rankings import average_recall as average_recall
    from fastrank.metrics.thresholds import Cut as Cut
    from fastrank.metrics.thresholds import average_precision as average_precision
    from fastrank.metrics.thresholds import best_accuracy as best_accuracy
    from fastrank.metrics.thresholds import best_f1 as best_f1

__getattr__, __dir__ = public_names(__name__)
