"""Evaluate embedding models and compare approximate indexes."""

from fastrank.lazy import public_names

__all__, __getattr__ = public_names(
    __name__,
    {
        "embed": (
            "Embeddings",
            "embed_dataset",
        ),
        "evaluation": ("evaluate_model",),
        "index_benchmark": ("compare_indexes",),
        "index_comparison": (
            "IndexComparison",
            "IndexPoint",
        ),
    },
)
