"""Mine training data from a run: relevant documents and hard negatives of each query."""

from fastrank.lazy import public_names

__all__, __getattr__ = public_names(
    __name__,
    {
        "instances": (
            "HardNegatives",
            "Instance",
        ),
        "mine": ("hard_negatives",),
    },
)
