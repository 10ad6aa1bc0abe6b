"""Files, frames, dicts and arrays into judgments and runs, and back."""

from fastrank.lazy import public_names

__all__, __getattr__ = public_names(
    __name__,
    {
        "candidates": (
            "Candidates",
            "read_candidates",
        ),
        "load": (
            "read_qrels",
            "read_run",
            "write_qrels",
            "write_run",
        ),
        "trec_writers": ("write_prefs", "write_trec_qrels", "write_trec_run"),
        "trec": (
            "read_prefs",
            "read_trec_qrels",
            "read_qrels_jg",
            "read_qrels_prefs",
            "read_trec_run",
        ),
    },
)
