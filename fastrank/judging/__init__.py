"""Match judgments with a run: the ranks and grades from which measures are computed."""

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
