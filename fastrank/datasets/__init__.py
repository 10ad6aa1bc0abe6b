"""Data sets of texts: a corpus, queries and judgments, from files, folders and objects."""

from fastrank.lazy import public_names

__all__, __getattr__ = public_names(
    __name__,
    {
        "answers": ("answer_qrels", "has_answer"),
        "dataset": ("Dataset", "as_dataset"),
        "insurance_qa": ("read_insurance_qa",),
    },
)
