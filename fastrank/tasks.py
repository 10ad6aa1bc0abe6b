"""Embeddings and models judged by tasks: classification, similarity, pairs, translations, ...

Each `evaluate_` function evaluates a model, or vectors, on a task of one kind; `evaluate_tasks` of
the package evaluates models on tasks of any kinds. The metrics of labels, scores and answers are
functions, too, equal to those of scikit-learn and scipy.

>>> import fastrank as fr
>>> fr.tasks.matthews(["a", "b", "b", "a"], ["a", "b", "a", "a"])
0.5773502691896258
"""

from __future__ import annotations

from fastrank.common.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.vectors.tasks.answer_spans import exact_match as exact_match
    from fastrank.vectors.tasks.answer_spans import token_f1 as token_f1
    from fastrank.vectors.tasks.classification import (
        evaluate_classification as evaluate_classification,
    )
    from fastrank.vectors.tasks.metrics import accuracy as accuracy
    from fastrank.vectors.tasks.metrics import adjusted_f1 as adjusted_f1
    from fastrank.vectors.tasks.metrics import average_recall as average_recall
    from fastrank.vectors.tasks.metrics import categorical_hinge_loss as categorical_hinge_loss
    from fastrank.vectors.tasks.metrics import f1 as f1
    from fastrank.vectors.tasks.metrics import hinge_loss as hinge_loss
    from fastrank.vectors.tasks.metrics import matthews as matthews
    from fastrank.vectors.tasks.metrics import pearson as pearson
    from fastrank.vectors.tasks.metrics import precision as precision
    from fastrank.vectors.tasks.metrics import rank_hinge_loss as rank_hinge_loss
    from fastrank.vectors.tasks.metrics import recall as recall
    from fastrank.vectors.tasks.metrics import spearman as spearman
    from fastrank.vectors.tasks.pairs import evaluate_bitext as evaluate_bitext
    from fastrank.vectors.tasks.pairs import evaluate_pairs as evaluate_pairs
    from fastrank.vectors.tasks.pairs import evaluate_similarity as evaluate_similarity
    from fastrank.vectors.tasks.pairs import evaluate_triplets as evaluate_triplets
    from fastrank.vectors.tasks.result import TaskResult as TaskResult
    from fastrank.vectors.tasks.results import TaskResults as TaskResults
    from fastrank.vectors.tasks.results import TaskScore as TaskScore
    from fastrank.vectors.tasks.thresholds import Cut as Cut
    from fastrank.vectors.tasks.thresholds import average_precision as average_precision
    from fastrank.vectors.tasks.thresholds import best_accuracy as best_accuracy
    from fastrank.vectors.tasks.thresholds import best_f1 as best_f1
    from fastrank.vectors.tasks.ulysses_files import ulysses as ulysses
    from fastrank.vectors.tasks.ulysses_protocol import per_epoch as per_epoch

__getattr__, __dir__ = public_names(__name__)
