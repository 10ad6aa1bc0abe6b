"""The functions that evaluate a run against judgments."""

from fastrank.common.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.core.evaluation.arrays import evaluate_arrays as evaluate_arrays
    from fastrank.core.evaluation.embeddings import evaluate_embeddings as evaluate_embeddings
    from fastrank.core.evaluation.evaluator import Evaluator as Evaluator
    from fastrank.core.evaluation.evaluator import evaluate as evaluate
    from fastrank.core.evaluation.labels import evaluate_labels as evaluate_labels
    from fastrank.core.evaluation.likelihood import (
        negative_log_likelihood as negative_log_likelihood,
    )
    from fastrank.core.evaluation.ties import TieRange as TieRange
    from fastrank.core.evaluation.ties import TieReport as TieReport
    from fastrank.core.evaluation.ties import tie_report as tie_report

__getattr__, __dir__ = public_names(__name__)
