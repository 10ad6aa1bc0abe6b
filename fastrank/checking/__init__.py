"""A strict reading of judgments and runs: everything that is wrong, with its line."""

from fastrank.lazy import public_names

__all__, __getattr__ = public_names(
    __name__,
    {
        "checker": ("check",),
    },
)
