"""The functions that evaluate a run against judgments."""

from fastrank.lazy import public_names

__all__, __getattr__ = public_names(
    __name__,
    {
        "arrays": ("evaluate_arrays",),
        "embeddings": ("evaluate_embeddings",),
        "evaluator": (
            "Evaluator",
            "evaluate",
        ),
        "labels": ("evaluate_labels",),
        "likelihood": ("negative_log_likelihood",),
        "tie_reports": (
            "TieRange",
            "TieReport",
            "tie_report",
        ),
    },
)
