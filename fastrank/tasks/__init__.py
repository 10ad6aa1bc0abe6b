"""Embeddings and models judged by tasks: classification, similarity, pairs, translations, ...

Each `evaluate_` function evaluates a model, or vectors, on a task of one kind; `evaluate_tasks` of
the package evaluates models on tasks of any kinds. The metrics of labels, scores and answers are
functions, too, equal to those of scikit-learn and scipy.

>>> import fastrank as fr
>>> fr.tasks.matthews(["a", "b", "b", "a"], ["a", "b", "a", "a"])
0.5773502691896258
"""

from __future__ import annotations

from fastrank.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.tasks.answer_spans import exact_match as exact_match
    from fastrank.tasks.answer_spans import token_f1 as token_f1
    from fastrank.tasks.classification import evaluate_classification as evaluate_classification
    from fastrank.tasks.metrics import accuracy as accuracy
    from fastrank.tasks.metrics import adjusted_f1 as adjusted_f1
    from fastrank.tasks.metrics import average_recall as average_recall
    from fastrank.tasks.metrics import f1 as f1
    from fastrank.tasks.metrics import hinge_loss as hinge_loss
    from fastrank.tasks.metrics import matthews as matthews
    from fastrank.tasks.metrics import pearson as pearson
    from fastrank.tasks.metrics import precision as precision
    from fastrank.tasks.metrics import rank_hinge_loss as rank_hinge_loss
    from fastrank.tasks.metrics import recall as recall
    from fastrank.tasks.metrics import spearman as spearman
    from fastrank.tasks.pairs import evaluate_bitext as evaluate_bitext
    from fastrank.tasks.pairs import evaluate_pairs as evaluate_pairs
    from fastrank.tasks.pairs import evaluate_similarity as evaluate_similarity
    from fastrank.tasks.pairs import evaluate_triplets as evaluate_triplets
    from fastrank.tasks.result import TaskResult as TaskResult
    from fastrank.tasks.results import TaskResults as TaskResults
    from fastrank.tasks.results import TaskScore as TaskScore
    from fastrank.tasks.thresholds import Cut as Cut
    from fastrank.tasks.thresholds import average_precision as average_precision
    from fastrank.tasks.thresholds import best_accuracy as best_accuracy
    from fastrank.tasks.thresholds import best_f1 as best_f1
    from fastrank.tasks.ulysses_files import ulysses as ulysses
    from fastrank.tasks.ulysses_protocol import per_epoch as per_epoch

__getattr__, __dir__ = public_names(__name__)
