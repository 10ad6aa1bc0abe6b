"""Rank-biased overlap of two rankings."""

from __future__ import annotations

import math
from typing import NamedTuple

from fastrank.arguments import at_least, check_choice, finite
from fastrank.comparing.rankings import TiedRanking, as_ranking
from fastrank.errors import OptionError
from fastrank.native import codes, kernels
from fastrank.native.buffers import filled, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping, Sequence
    from typing import Any, TypeAlias

    from fastrank.choices import RboVariant

    Ranking: TypeAlias = "Sequence[Hashable | Collection[Hashable]] | Mapping[Any, float]"
    """Items, best first, or groups of tied items; or items with scores."""

VARIANTS = {"w": codes.TIES_SHARE_RANK, "a": codes.TIES_AVERAGED, "b": codes.TIES_CORRECTED}


class RankBiasedOverlap(NamedTuple):
    """Rank-biased overlap (RBO) of two rankings, from 0 (disjoint) to 1 (equal).

    ext: extrapolated, with the agreement of the known part continued; the usual value. min, max:
    the bounds over all continuations of the rankings. residual: max - min. truncated: the sum over
    the first ranks only, divided by its greatest value.

    >>> fr.rbo(["a", "b", "c"], ["b", "a", "d"])
    RankBiasedOverlap(ext=0.6..., min=0.311..., max=0.87..., residual=0.561..., truncated=0.311...)
    """

    ext: float
    min: float
    max: float
    residual: float
    truncated: float


def rbo(
    a: Ranking, b: Ranking, p: float = 0.9, *, variant: RboVariant = "a", depth: int = 1000
) -> RankBiasedOverlap:
    """Compute the rank-biased overlap (RBO) of two rankings, which may have different items.

    a, b: rankings, best first: sequences of items, in which a list, tuple or set is a group of
        tied items; or {item: score} or a pandas Series of scores with items as index, ranked by
        score, where equal scores are ties.
    p: the persistence, between 0 and 1: rank d has the weight p ** (d - 1). With 0.9, the first 10
        ranks have 86% of the weight.
    variant: how ties count. "a": each item in proportion over the ranks of its group, so that a
        ranking with ties has less than 1 with itself. "b": the same, corrected for the information
        lost, so that it has 1. "w": tied items share the first of their ranks, as in sports. With
        "a", `min` and `truncated` are the averages over all orders of tied items; so are `ext` and
        `max`, unless the longer ranking has ties below the length of the shorter one.
    depth: the last rank of the truncated form.

    With one empty ranking, `ext` and `truncated` are 0; with two, all values are NaN. Raises
    InputError for an item that appears twice and for a NaN score, OptionError for invalid options.

    Source: Webber, Moffat and Zobel, A similarity measure for indefinite rankings, 2010; for ties
    Corsi and Urbano, The treatment of ties in rank-biased overlap, SIGIR 2024. The truncated form
    is that of Compat (Clarke, Vtyurina and Smucker 2021) and of repro_eval.

    >>> fr.rbo(["a", "b", "c", "d", "e"], ["a", "b", "c", "e", "d"]).ext
    0.98177...
    >>> fr.rbo(["a", ("b", "c")], ["a", "b", "c"], variant="b").ext
    0.98794...
    >>> fr.rbo({"a": 3.5, "b": 1.0, "c": 1.0}, {"a": 0.9, "b": 0.8}, p=0.8).ext
    0.90666...
    """
    persistence = check_persistence(p)
    check_choice("variant", variant, tuple(VARIANTS))
    cutoff = at_least("depth", depth, 1)
    rankings = [as_ranking(a, "a"), as_ranking(b, "b")]
    shorter, longer = sorted(rankings, key=len)
    return _measured(shorter, longer, persistence, VARIANTS[variant], cutoff)


def check_persistence(p: float) -> float:
    """The persistence as a float. Raises OptionError outside (0, 1), TypeError for other types."""
    persistence = finite("p", p)
    if not 0.0 < persistence < 1.0:
        raise OptionError("p", f"expected a number between 0 and 1, both excluded, found {p}")
    return persistence


def persistence_column(p: float) -> Any:
    """p and ln(1 / (1 - p)), for kernels."""
    return filled("d", [p, -math.log1p(-p)])


def _measured(
    shorter: TiedRanking, longer: TiedRanking, p: float, variant: int, cutoff: int
) -> RankBiasedOverlap:
    """RBO of two rankings, by the kernel."""
    places = {item: place for place, item in enumerate(shorter.items)}
    partners = [places.get(item, -1) for item in longer.items]
    values = zeros("d", 5)
    kernels.rank_biased_overlap(
        shorter.columns,
        longer.columns,
        filled("q", partners),
        persistence_column(p),
        variant,
        cutoff,
        zeros("d", len(longer)),
        values,
    )
    ext, least, greatest, residual, truncated = values
    return RankBiasedOverlap(ext, least, greatest, residual, truncated)
