"""Judgments and runs, as flat columns with one row range per query."""

from fastrank.lazy import public_names

__all__, __getattr__ = public_names(
    __name__,
    {
        "preferences": ("Preferences",),
        "qrels": ("Qrels",),
        "run": ("Run",),
    },
)
