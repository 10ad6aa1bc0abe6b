"""The names of measures in sentence-transformers: keys of metrics and columns of CSV files."""

from __future__ import annotations

from fastrank.common.arguments import DEFAULT_VERSION, check_version
from fastrank.core.measures.notation import parse_measure
from fastrank.core.measures.selection import Selection
from fastrank.errors import MeasureError

# Keys of measures, their titles, and how the measures begin here; a cutoff follows each of them.
_NAMES = {
    "accuracy": ("Accuracy", ("Success@", "success.")),
    "precision": ("Precision", ("P@", "P.")),
    "recall": ("Recall", ("R@", "recall.")),
    "mrr": ("MRR", ("RR@",)),
    "ndcg": ("NDCG", ("nDCG@", "ndcg_cut.")),
    "map": ("MAP", ("AP(denominator='min_k')@",)),
}


def names_of(measures: str | list[str], trec_eval_version: str) -> list[str]:
    """The names of the values of measures. Raises MeasureError if two have the same key."""
    names = [
        name.decode()
        for bound in Selection(measures).bind(check_version(trec_eval_version))
        for name in bound.names
    ]
    if not names:
        raise MeasureError("", "expected a measure, found none")
    keys: dict[str, str] = {}
    for name in names:
        first = keys.setdefault(key_of(name), name)
        if first != name:
            raise MeasureError(name, f"{first!r} and {name!r} have the same key {key_of(name)!r}")
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
    """Whether higher values of a measure are better: False for ranks."""
    return all(
        bound.measure.better != "lower" for bound in Selection(measure).bind(DEFAULT_VERSION)
    )


def key_of(measure: str) -> str:
    """The key of a measure in sentence-transformers, or the name of the measure."""
    canonical = _canonical(measure)
    for key, (_, beginnings) in _NAMES.items():
        for beginning in beginnings:
            cutoff = canonical.removeprefix(beginning)
            if cutoff != canonical and cutoff.isdigit():
                return f"{key}@{cutoff}"
    return measure


def _canonical(measure: str) -> str:
    """The canonical spelling of a value's name; unknown names are returned unchanged."""
    try:
        return str(parse_measure(measure))
    except MeasureError:
        return measure


def title_of(measure: str) -> str:
    """The title of a measure's column in the CSV file."""
    name, separator, cutoff = key_of(measure).partition("@")
    title, _ = _NAMES.get(name, (name, ()))
    return title + separator + cutoff
