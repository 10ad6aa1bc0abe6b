"""Further analyses of a comparison, as tables."""

from __future__ import annotations

import math

import numpy as np

from fastrank.comparing.bootstrap import two_level_means
from fastrank.comparing.power import detectable, queries_for
from fastrank.comparing.randomization import resampled_sums
from fastrank.comparing.tukey import two_way
from fastrank.scores.tables import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from fastrank.comparing.comparison import Comparison, Pair
    from fastrank.comparing.options import Settings
    from fastrank.comparing.paired import Floats, Paired


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    names = list(rows[0]) if rows else []
    return Table(columns={name: [row[name] for row in rows] for name in names})


def effects_table(pairs: Iterable[Pair], paired: Paired) -> Table:
    """Effect sizes of the pairs of a measure."""
    rows = []
    for place, pair in enumerate(pairs):
        higher, equal = paired.higher[place], paired.equal[place]
        rows.append(
            {
                "a": pair.a,
                "b": pair.b,
                "d_z": pair.effect,
                "hedges": pair.effect * (1 - 3 / (4 * (pair.n - 1) - 1))
                if pair.n > 1
                else math.nan,
                "superiority": float((higher + equal / 2) / pair.n) if pair.n else math.nan,
                "cliff_unpaired": cliffs_delta(*map(paired.rounded, paired.both(place))),
                "sd": pair.sd,
            }
        )
    return _table(rows)


def cliffs_delta(first: Floats, second: Floats) -> float:
    """The share of all combinations in which the first is higher, less those where it is lower.

    Source: Cliff, 'Dominance statistics', Psychological Bulletin 114(3), 1993.
    """
    if not len(first) or not len(second):
        return math.nan
    ordered = np.sort(second)
    below = np.searchsorted(ordered, first, side="left")
    above = len(ordered) - np.searchsorted(ordered, first, side="right")
    return float((below - above).sum() / (len(first) * len(second)))


def power_table(
    pairs: Iterable[Pair], alpha: float, power: float, differences: Sequence[float]
) -> Table:
    """What each pair's number of queries can show."""
    rows = []
    for pair in pairs:
        row: dict[str, Any] = {
            "a": pair.a,
            "b": pair.b,
            "n": pair.n,
            "sd": pair.sd,
            "detectable": detectable(pair.n, alpha, power) * pair.sd,
            "queries": _queries(pair.difference, pair.sd, alpha, power),
        }
        for difference in differences:
            row[f"queries_{difference:g}"] = _queries(difference, pair.sd, alpha, power)
        rows.append(row)
    return _table(rows)


def _queries(difference: float, sd: float, alpha: float, power: float) -> int | None:
    return queries_for(difference / sd, alpha, power) if sd > 0 else None


def equivalence_table(pairs: Iterable[Pair], margin: float, alpha: float) -> Table:
    """Two one-sided t-tests against a margin."""
    from scipy.special import stdtr, stdtrit

    rows = []
    for pair in pairs:
        p, half, df = math.nan, math.nan, pair.n - 1.0
        if pair.n > 1:
            error = pair.sd / math.sqrt(pair.n)
            inside = margin - abs(pair.difference)
            p = float(stdtr(df, -inside / error)) if error > 0 else float(inside <= 0)
            half = stdtrit(df, 1 - alpha) * error
        rows.append(
            {
                "a": pair.a,
                "b": pair.b,
                "difference": pair.difference,
                "low": pair.difference - half,
                "high": pair.difference + half,
                "p": p,
                "equivalent": p <= alpha,
            }
        )
    return _table(rows)


def bayes_table(pairs: Iterable[Pair], rope: float, better: str) -> Table:
    """The posterior of the mean difference under a flat prior."""
    from scipy.special import stdtr

    rows = []
    for pair in pairs:
        difference = -pair.difference if better == "lower" else pair.difference
        worse = above = math.nan
        if pair.n > 1:
            error = pair.sd / math.sqrt(pair.n)
            if error > 0:
                worse = float(stdtr(pair.n - 1.0, (-rope - difference) / error))
                above = float(stdtr(pair.n - 1.0, (difference - rope) / error))
            else:
                worse, above = float(difference < -rope), float(difference > rope)
        rows.append(
            {
                "a": pair.a,
                "b": pair.b,
                "p_b_better": worse,
                "p_rope": max(0.0, 1 - worse - above) if worse == worse else math.nan,
                "p_a_better": above,
            }
        )
    return _table(rows)


def anova_table(paired: Paired) -> Table:
    """The two-way analysis of variance of the queries with values of all systems."""
    from scipy.special import fdtrc

    values = paired.complete()
    residual = two_way(values)[-1]
    rows = []
    for source in two_way(values):
        f = p = omega = math.nan
        if source.name != residual.name and residual.mean_square > 0:
            f = source.mean_square / residual.mean_square
            p = float(fdtrc(source.df, residual.df, f))
            omega = source.df * (f - 1) / (source.df * (f - 1) + values.size)
        rows.append(
            {
                "source": source.name,
                "squares": source.squares,
                "df": source.df,
                "mean_square": source.mean_square,
                "F": f,
                "p": p,
                "partial_omega_squared": omega,
            }
        )
    return _table(rows)


def rank_table(
    comparison: Comparison, measure: str, paired: Paired, settings: Settings, resamples: int
) -> Table:
    """Bootstrap intervals of the ranks of systems."""
    values = paired.complete()
    sign = {"higher": -1.0, "lower": 1.0}[comparison.better(measure)]
    grid = sign * paired.grid(values)
    # Sums on the grid are exact: equal ones are ties.
    if paired.within is not None:
        sums = sign * paired.rounded(two_level_means(paired, settings, resamples))
    else:
        sums = resampled_sums(
            grid, "draw_with_replacement", resamples, settings.seed, settings.threads
        )
    ordered = np.sort(sums, axis=0)
    ranks = np.empty(sums.shape)
    for b in range(resamples):
        ranks[:, b] = np.searchsorted(ordered[:, b], sums[:, b]) + 1
    best = ranks == 1
    chances = (best / best.sum(axis=0)).mean(axis=1)
    tail = (1 - settings.level) / 2
    low, high = np.quantile(ranks, [tail, 1 - tail], axis=1, method="nearest")
    totals = grid.sum(axis=1)
    own = np.searchsorted(np.sort(totals), totals) + 1
    tied = set() if comparison.baseline else set(comparison.tied_with_best(measure))
    rows = [
        {
            "system": comparison.names[place],
            "mean": comparison.mean[measure][comparison.names[place]],
            "rank": int(own[place]),
            "low": int(low[place]),
            "high": int(high[place]),
            "p_best": float(chances[place]),
            "tied_with_best": None if comparison.baseline else comparison.names[place] in tied,
        }
        for place in np.argsort(own, kind="stable")
    ]
    return _table(rows)
