"""Results of evaluations: values, means, tables, frames and groups of queries."""

from fastrank.lazy import public_names

__all__, __getattr__ = public_names(
    __name__,
    {
        "differences": ("ScoreDifferences",),
        "groups": ("mean_over_datasets",),
        "scores": ("Scores",),
        "side_by_side": ("table",),
        "tables": ("Table",),
        "zscores": (
            "ZScores",
            "read_zscores",
            "write_zscores",
        ),
    },
)
