"""Compare systems: tests, intervals, corrections and effect sizes over the same queries."""

from fastrank.lazy import public_names

__all__, __getattr__ = public_names(
    __name__,
    {
        "compare": ("compare", "compare_scores"),
        "comparison": ("Comparison", "Pair"),
        "power": ("topics_needed",),
        "standardization": ("standardize",),
    },
)
