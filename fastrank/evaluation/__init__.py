"""The functions that evaluate a run against judgments."""

from fastrank.common.lazy import public_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.evaluation.arrays import evaluate_arrays as evaluate_arrays
    from fastrank.evaluation.embeddings import evaluate_embeddings as evaluate_embeddings
    from fastrank.evaluation.evaluator import Evaluator as Evaluator
    from fastrank.evaluation.evaluator import evaluate as evaluate
    from fastrank.evaluation.labels import evaluate_labels as evaluate_labels
    from fastrank.evaluation.likelihood import negative_log_likelihood as negative_log_likelihood
    from fastrank.evaluation.ties import TieRange as TieRange
    from fastrank.evaluation.ties import TieReport as TieReport
    from fastrank.evaluation.ties import tie_report as tie_report

__getattr__, __dir__ = public_names(__name__)
