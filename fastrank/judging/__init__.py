"""Judgments and a run into the ranks and grades that measures see."""

from fastrank.lazy import public_names

__all__, __getattr__ = public_names(
    __name__,
    {
        "array_qrels": (
            "ArrayQrels",
            "index_qrels",
        ),
    },
)
