"""The available measures: their records, notation and options."""

from fastrank.lazy import public_names

__all__, __getattr__ = public_names(
    __name__,
    {
        "custom": (
            "Ranking",
            "measure",
        ),
        "families": ("MEASURES",),
        "notation": (
            "MeasureSpec",
            "parse_measure",
        ),
        "trec": ("Measure",),
    },
)
