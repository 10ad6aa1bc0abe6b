"""The options of fusion, and their values for one method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fastrank.analysis.fusion.methods import (
    METHODS,
    NORMALIZATIONS,
    check_normalization,
    find_method,
)
from fastrank.common.arguments import finite, fraction, not_negative
from fastrank.common.keywords import Keyword, TypedDict
from fastrank.common.messages import counted
from fastrank.core.kernels import fusion as codes
from fastrank.core.matching.keywords import EVALUATION
from fastrank.core.matching.options import DIRECTIONS
from fastrank.core.matching.rankings import NO_CUTOFF
from fastrank.core.native.records.runs import FusionRules
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.common.choices import TrecEvalVersion

# The defaults of options that only some methods take.
K, P, GAMMA, SIGMA = 60, 0.8, 1.0, 0.01
PARAMETERS = {"rrf_k": K, "p": P, "gamma": GAMMA, "sigma": SIGMA}


class FusionOptions(TypedDict, total=False):
    """How to fuse runs."""

    weights: Sequence[float] | None
    normalization: str | None
    rrf_k: float | None
    p: float | None
    gamma: float | None
    sigma: float | None
    unretrieved: str | None
    depth: int | None
    keep: int | None
    ties: str
    tag: str | None
    trec_eval_version: TrecEvalVersion
    threads: int | None


def _weights(name: str, value: object) -> list[float]:
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__iter__"):
        raise TypeError(f"{name}: expected a list of numbers, found {type(value).__name__}")
    weights = [finite(name, weight) for weight in value]
    if min(weights, default=0.0) < 0.0:
        raise OptionError(name, f"expected numbers of at least 0, found {min(weights)}")
    if not any(weights):
        raise OptionError(name, f"expected a number above 0, found {weights}")
    return weights


FUSION = (
    Keyword(
        "weights",
        None,
        """a number for each run, for "rrf", "convex", "borda", "wmnz", "mixed" and "condorcet". By
        default all are 1, and 1 divided by the number of runs for "convex". A run with weight 0
        still contributes its documents.""",
        check=_weights,
    ),
    Keyword(
        "normalization",
        None,
        """how the scores of each run are normalized query by query, for methods that use scores:
        "min-max" (the default), "min-max-inverted" for distances, "max", "sum", "z", "rank",
        "borda", "dbsf" or "none"; see docs/fusion.md.""",
        check=check_normalization,
    ),
    Keyword(
        "rrf_k", None, f'the constant of "rrf", 0 or more; {K} by default.', check=not_negative
    ),
    Keyword(
        "p", None, f'the persistence of "rbc", between 0 and 1; {P} by default.', check=fraction
    ),
    Keyword(
        "gamma",
        None,
        f'the exponent of "gmnz"; {GAMMA:g} by default, which is "combmnz".',
        check=finite,
    ),
    Keyword(
        "sigma",
        None,
        f'the constant of "logn_isr", 0 or more; {SIGMA} by default.',
        check=not_negative,
    ),
    Keyword(
        "unretrieved",
        None,
        """how a document counts in a run that does not retrieve it, for sums of scores: as "zero",
        or with "min" as the lowest normalized score of the run for the query. The default is
        "zero", and "min" with the normalization "z", whose 0 is the mean.""",
        choices=("zero", "min"),
    ),
    Keyword("depth", None, "fuse only the first `depth` documents of each ranking.", least=1),
    Keyword("keep", None, "keep only the first `keep` fused documents of each query.", least=1),
    Keyword(
        "ties",
        "docno_desc",
        """the order of documents with equal scores in a run, which decides their ranks:
        "docno_desc" (ids in descending byte order, as in trec_eval), "docno_asc" or "given".""",
        choices=tuple(DIRECTIONS),
    ),
    Keyword("tag", None, "the name of the fused run; by default the method."),
    Keyword(
        "threads",
        None,
        "the maximum number of threads, by default as many as are useful. The result does not"
        " depend on it.",
        least=1,
    ),
    *(keyword for keyword in EVALUATION if keyword.name == "trec_eval_version"),
)


class Settings(NamedTuple):
    """What the kernels need to know of a method and its options, for a number of runs."""

    rules: FusionRules
    weights: list[float]
    tag: str
    threads: int | None


def settings_for(method: str, options: Mapping[str, object], runs: int) -> Settings:
    """Check the options of a method for a number of runs, and fill in the defaults.

    Raises OptionError for invalid values and for options that the method does not take, TypeError
    for other types.
    """
    chosen = find_method(method)
    keywords = {keyword.name: keyword for keyword in FUSION}
    checked = {name: keywords[name].checked(value) for name, value in options.items()}
    for name in ("weights", "normalization", "unretrieved", *PARAMETERS):
        if checked[name] is not None and name not in chosen.options:
            takers = [taker for taker, definition in METHODS.items() if name in definition.options]
            reason = f"no effect with {method}; it is an option of {', '.join(takers)}"
            raise OptionError(name, reason)
    weights = checked["weights"]
    if weights is not None and len(weights) != runs:
        raise OptionError(
            "weights", f"expected {counted(runs, 'number')}, one per run, found {len(weights)}"
        )
    if weights is None:
        weights = [1.0 / runs if method == "convex" else 1.0] * runs
    words = checked["normalization"], checked["unretrieved"]
    values, missing_lowest = _values(chosen.values, *words)
    if "unretrieved" not in chosen.options:
        missing_lowest = chosen.values == codes.BORDA_POINTS
    parameter = checked.get(chosen.parameter)
    if parameter is None:
        parameter = PARAMETERS.get(chosen.parameter, 0.0)
    rules = FusionRules(
        single_precision=checked["trec_eval_version"] == "9.0.8",
        tie_direction=DIRECTIONS[checked["ties"]],
        depth=checked["depth"] or NO_CUTOFF,
        keep=checked["keep"] or NO_CUTOFF,
        values=values,
        combination=chosen.combination,
        missing_lowest=missing_lowest,
        parameter=float(parameter),
    )
    tag = method if checked["tag"] is None else checked["tag"]
    return Settings(rules, weights, tag, checked["threads"])


def _values(
    kind: int | None, normalization: str | None, unretrieved: str | None
) -> tuple[int, bool]:
    """The kind of a run's values, and whether documents that it lacks count as its lowest."""
    if kind is not None:
        return kind, False
    name = normalization or "min-max"
    if name == "borda" and unretrieved is not None:
        raise OptionError("unretrieved", "no effect with normalization 'borda', which defines it")
    lowest = unretrieved == "min" if unretrieved else name in ("z", "borda")
    return NORMALIZATIONS[name], lowest
