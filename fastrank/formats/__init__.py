"""Files, frames, dicts and arrays into judgments and runs, and back."""

from fastrank.lazy import public_names

__all__, __getattr__ = public_names(
    __name__,
    {
        "candidates": (
            "Candidates",
            "load_candidates",
        ),
        "load": (
            "load_qrels",
            "load_run",
            "save_qrels",
            "save_run",
        ),
        "trec_writers": ("write_prefs", "write_qrels", "write_run"),
        "trec": (
            "read_prefs",
            "read_qrels",
            "read_qrels_jg",
            "read_qrels_prefs",
            "read_run",
        ),
    },
)
