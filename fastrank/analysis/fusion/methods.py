"""The methods of fusion, the normalizations of scores, and the options that each method takes."""

from __future__ import annotations

from typing import NamedTuple

from fastrank.common.messages import closest, did_you_mean
from fastrank.core.kernels import fusion as codes
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


class Method(NamedTuple):
    """A method: what a run gives a document, how that is combined, and the options for both.

    values: None for normalized scores. parameter: the option with the number that the method needs.
    """

    values: int | None
    combination: int
    summary: str
    options: tuple[str, ...] = ()
    parameter: str = ""


BY_SCORE = ("normalization",)
SUMMED = (*BY_SCORE, "unretrieved")
METHODS = {
    "rrf": Method(
        codes.RECIPROCAL_RANKS,
        codes.SUM,
        "reciprocal rank fusion, sum of w / (k + rank)",
        ("rrf_k", "weights"),
        "rrf_k",
    ),
    "combsum": Method(None, codes.SUM, "sum of scores", SUMMED),
    "combmnz": Method(
        None, codes.SUM_BY_COUNT, "sum of scores × number of runs with the document", SUMMED
    ),
    "convex": Method(None, codes.SUM, "weighted sum of scores", (*SUMMED, "weights")),
    "borda": Method(codes.BORDA_POINTS, codes.SUM, "Borda count", ("weights",)),
    "isr": Method(
        codes.INVERSE_SQUARES,
        codes.SUM_BY_COUNT,
        "sum of 1 / rank² × number of runs with the document",
    ),
    "rbc": Method(
        codes.GEOMETRIC, codes.SUM, "rank-biased centroid, sum of (1 - p) p^(rank - 1)", ("p",), "p"
    ),
    "combmax": Method(None, codes.LARGEST, "largest score", BY_SCORE),
    "combmin": Method(None, codes.SMALLEST, "smallest score", BY_SCORE),
    "combmed": Method(None, codes.MEDIAN, "median of the scores", BY_SCORE),
    "combanz": Method(None, codes.MEAN, "mean of the scores", BY_SCORE),
    "gmnz": Method(
        None,
        codes.SUM_BY_POWER,
        "sum of scores × (number of runs with the document)^gamma",
        (*SUMMED, "gamma"),
        "gamma",
    ),
    "log_isr": Method(
        codes.INVERSE_SQUARES,
        codes.SUM_BY_LOG,
        "sum of 1 / rank² × ln(number of runs with the document)",
    ),
    "logn_isr": Method(
        codes.INVERSE_SQUARES,
        codes.SUM_BY_SHIFTED_LOG,
        "sum of 1 / rank² × ln(number of runs with the document + sigma)",
        ("sigma",),
        "sigma",
    ),
    "wmnz": Method(
        None,
        codes.SUM_BY_WEIGHTS,
        "sum of scores × sum of the weights of runs with the document",
        (*SUMMED, "weights"),
    ),
    "mixed": Method(
        None,
        codes.SUM_BY_ROOT,
        "weighted sum of scores × √(number of runs with the document)",
        (*SUMMED, "weights"),
    ),
    "condorcet": Method(
        None, codes.MAJORITIES, "Copeland count of pairwise majorities", ("weights",)
    ),
}
NORMALIZATIONS = {
    "min-max": codes.MIN_MAX,
    "min-max-inverted": codes.INVERTED,
    "max": codes.BY_MAXIMUM,
    "sum": codes.BY_SUM,
    "z": codes.STANDARD,
    "rank": codes.BY_RANK,
    "borda": codes.BY_BORDA,
    "dbsf": codes.DISTRIBUTION,
    "none": codes.SCORES,
}
# Names in ranx, trectools and search engines that do not resemble those here.
SYNONYMS = {
    "sum": "combsum",
    "mnz": "combmnz",
    "max": "combmax",
    "min": "combmin",
    "med": "combmed",
    "anz": "combanz",
    "comb_gmnz": "gmnz",
    "wsum": "convex",
    "weighted_sum": "convex",
    "linear": "convex",
    "bordafuse": "borda",
    "w_bordafuse": "borda",
    "w_condorcet": "condorcet",
    "reciprocal_rank_fusion": "rrf",
    "rank_biased_precision_fusion": "rbc",
    "dbsf": "combsum",
    "rsf": "combsum",
    "relative_score_fusion": "combsum",
}
NORMALIZATION_SYNONYMS = {
    "min_max": "min-max",
    "minmax": "min-max",
    "min_max_inverted": "min-max-inverted",
    "inverted": "min-max-inverted",
    "zmuv": "z",
    "zscore": "z",
    "z_score": "z",
    "standard": "z",
    "l1": "sum",
}


def find_method(method: object) -> Method:
    """The method of a name. Raises OptionError, with the closest name."""
    return METHODS[_known("method", method, METHODS, SYNONYMS)]


def check_normalization(name: str, value: object) -> str:
    """The normalization. Raises OptionError, with the closest name."""
    return _known(name, value, NORMALIZATIONS, NORMALIZATION_SYNONYMS)


def _known(option: str, value: object, names: Collection[str], others: Mapping[str, str]) -> str:
    if isinstance(value, str):
        if value in names:
            return value
        hint = did_you_mean(map(repr, closest(value, names, others)))
        if hint:
            raise OptionError(option, f"unknown name {value!r}{hint}")
    raise OptionError(option, f"expected one of {', '.join(names)}; found {value!r}")
