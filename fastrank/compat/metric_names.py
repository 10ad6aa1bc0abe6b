"""What sentence-transformers calls our measures, as keys of metrics and in its CSV files."""

from __future__ import annotations

from fastrank.arguments import check_version
from fastrank.errors import MeasureError
from fastrank.measures.notation import parse_measure
from fastrank.measures.selection import Selection

# A measure's name and the key for it, each followed by the cutoff.
_KEYS = {
    "Success@": "accuracy@", "success.": "accuracy@", "P@": "precision@", "P.": "precision@",
    "R@": "recall@", "recall.": "recall@", "RR@": "mrr@", "nDCG@": "ndcg@",
    "ndcg_cut.": "ndcg@", "AP(denominator='min_k')@": "map@",
}  # fmt: skip
_TITLES = {
    "accuracy": "Accuracy", "precision": "Precision", "recall": "Recall", "mrr": "MRR",
    "ndcg": "NDCG", "map": "MAP",
}  # fmt: skip

# Measures that are better when they are smaller begin with one of these.
_RANKS = ("PercentileRank", "MedianRank", "FirstRank")


def names_of(measures: str | list[str], trec_eval_version: str) -> list[str]:
    """What the values of measures are called. Raises MeasureError if they are called alike."""
    names = [
        name.decode()
        for bound in Selection(measures).bind(check_version(trec_eval_version))
        for name in bound.names
    ]
    if not names:
        raise MeasureError("", "expected a measure, found none")
    keys: dict[str, str] = {}
    for name in names:
        other = keys.setdefault(key_of(name), name)
        if other != name:
            raise MeasureError(name, f"{other!r} and {name!r} are both called {key_of(name)!r}")
    return names


def primary_of(names: list[str], asked: str | None, trec_eval_version: str) -> str:
    """The measure that selects the best model. Raises MeasureError."""
    if asked is None:
        gains = [name for name in names if key_of(name).startswith("ndcg@")]
        return max(gains, key=lambda name: int(key_of(name)[5:])) if gains else names[0]
    printed = names_of(asked, trec_eval_version)
    if len(printed) != 1 or printed[0] not in names:
        raise MeasureError(asked, f"primary: expected one of {', '.join(names)}, found {asked!r}")
    return printed[0]


def is_greater_better(measure: str) -> bool:
    """Whether larger values of a measure are better: not if it is a rank."""
    return not _canonical(measure).startswith(_RANKS)


def key_of(measure: str) -> str:
    """The name of a measure in sentence-transformers, or its own."""
    canonical = _canonical(measure)
    for prefix, key in _KEYS.items():
        cutoff = canonical.removeprefix(prefix)
        if cutoff != canonical and cutoff.isdigit():
            return key + cutoff
    return measure


def _canonical(measure: str) -> str:
    """The one spelling of the name of a value, which may be a measure of the user's."""
    try:
        return str(parse_measure(measure))
    except MeasureError:
        return measure


def title_of(measure: str) -> str:
    """The title of its column in the CSV file."""
    name, at, cutoff = key_of(measure).partition("@")
    return _TITLES.get(name, name) + at + cutoff
