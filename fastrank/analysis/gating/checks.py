"""The checks of a gate: what each policy allows, the limits by measure, and whether they hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from fastrank.common.arguments import finite, not_negative
from fastrank.common.messages import counted
from fastrank.common.rendering.numbers import number, p_words
from fastrank.core.measures.notation import canonical_names
from fastrank.core.scores.text import lacks, treated
from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.analysis.comparing.comparison import Comparison
    from fastrank.analysis.comparing.pairs import Pair
    from fastrank.analysis.gating.baseline import Baseline

    # {measure: number}; None is the key for the other measures.
    Limits = float | Mapping[Any, float]
    """One number for all measures, or one for each."""

NOW, BASELINE = "now", "baseline"
OF_BASELINE = "query of the baseline", "queries of the baseline"
# The setting of a baseline that counts queries without results as 0.
SAVED_WITH_ZERO = "a baseline saved with --missing zero"
# The setting of a baseline for the order of tied documents.
SAVED_WITH_TIES = "a baseline saved with --ties"
# Drops may exceed what is allowed by this much, which is only rounding.
ROUNDING = 1e-12


class Check(NamedTuple):
    """The result of one check.

    measure: its name, "unjudged" or "queries". check: what must hold. baseline, now, change: means,
    shares of documents, or numbers of queries; baseline and change are None if unknown. low, high:
    the interval of the change. allowed: the limit. p: of the test. wins, ties, losses: the
    numbers of queries on which the run is better than, equal to, and worse than the baseline. p and
    these are None for limits of the run alone.
    result: "pass", "fail" or "undecided". message: the result in words, "" if there is nothing to
    say. title: its first half.
    """

    measure: str
    check: str
    baseline: float | None
    now: float
    change: float | None
    low: float | None
    high: float | None
    allowed: float
    p: float | None
    wins: int | None
    ties: int | None
    losses: int | None
    result: str
    title: str
    message: str


def check_change(
    comparison: Comparison, measure: str, policy: str, allowed: float, alpha: float
) -> Check:
    """Whether a measure is not worse than its baseline by more than is allowed."""
    pair = comparison.pair(measure, NOW, BASELINE)
    sign = -1.0 if comparison.better(measure) == "lower" else 1.0
    gain = sign * pair.difference
    p = one_sided(pair, gain)
    moved = "fell" if pair.difference < 0 else "rose"
    title = f"{measure} {moved} by {number(abs(pair.difference))}"
    dropped = gain < -allowed - ROUNDING
    if policy == "non-inferior":
        bound = pair.low if sign > 0 else -pair.high
        p = p_non_inferior(pair, gain, allowed)
        result, message = _non_inferior(pair, bound, allowed, alpha)
        if result != "pass":
            title = f"{measure} may be worse than allowed"
    elif not dropped:
        result, message = "pass", ""
    else:
        text = f"{title} to {number(pair.mean_a)}; at most {allowed:g} is allowed"
        result, message = "fail", text
        if policy == "significant":
            result, message = _significant(pair, p, alpha, text)
    check = f"{'rise' if sign < 0 else 'drop'} <= {allowed:g}"
    return Check(
        *(measure, check, pair.mean_b, pair.mean_a, pair.difference, pair.low, pair.high, allowed),
        *(p, pair.wins, pair.ties, pair.losses, result, title, message),
    )


def _significant(pair: Pair, p: float, alpha: float, text: str) -> tuple[str, str]:
    """The result for a drop that is larger than allowed."""
    unequal = pair.n - pair.ties
    if p <= alpha:
        return "fail", f"{text} ({p_words(p)})"
    if 0.5**unequal > alpha:
        return "undecided", (
            f"{text}, but only {unequal} of {counted(pair.n, 'query', 'queries')}"
            f" {'differs' if unequal == 1 else 'differ'}, too few to tell chance from a regression"
        )
    return "pass", f"{text}, but the drop is not significant ({p_words(p)})"


def _non_inferior(pair: Pair, bound: float, allowed: float, alpha: float) -> tuple[str, str]:
    if pair.n and pair.n == pair.ties:
        # The run is what it was.
        return "pass", ""
    if math.isnan(bound):
        return "undecided", f"{pair.measure}: {pair.n} query is too few for an interval"
    if bound >= -allowed - ROUNDING:
        return "pass", ""
    return "fail", (
        f"{pair.measure} may be worse by up to {number(-bound)} ({100 * (1 - alpha):g}%"
        f" confidence); at most {allowed:g} is allowed"
    )


def one_sided(pair: Pair, gain: float) -> float:
    """The p-value of "not worse" against "worse", from the two-sided one of a symmetric test."""
    if not pair.n - pair.ties:
        return 1.0 if pair.n else math.nan
    half: float = pair.p / 2
    return half if gain < 0 else 1.0 - half


def p_non_inferior(pair: Pair, gain: float, margin: float) -> float:
    """The p-value of "worse by at least the margin" against "worse by less", of a paired t-test."""
    if pair.n < 2:
        return math.nan
    if not pair.sd:
        return float(gain < -margin)
    from scipy.special import stdtr

    return float(stdtr(pair.n - 1.0, -(gain + margin) / (pair.sd / math.sqrt(pair.n))))


def check_lost(before: int, lost: list[str]) -> Check:
    """The failure of a run that lacks queries of the baseline, which are left out."""
    title = lacks("the run", lost, counted(before, *OF_BASELINE))
    message = f"{title}; {treated(len(lost), SAVED_WITH_ZERO, zero=False)}"
    now = before - len(lost)
    return _limit("queries", f"results for {before}", before, now, before, title, message)


def _limit(
    measure: str,
    check: str,
    baseline: float | None,
    now: float,
    allowed: float,
    title: str,
    message: str,
) -> Check:
    """A check of the run alone, without a test; it passes without a message."""
    return Check(
        measure=measure,
        check=check,
        baseline=baseline,
        now=now,
        change=None if baseline is None else now - baseline,
        allowed=allowed,
        result="fail" if message else "pass",
        title=title,
        message=message,
        **dict.fromkeys(("low", "high", "p", "wins", "ties", "losses")),
    )


MAX_DROP = 0.02


def drop_limits(limits: Limits, measures: list[str]) -> dict[str, float]:
    """{measure: allowed drop} for all measures. Raises OptionError."""
    option = "max_drop"
    if not isinstance(limits, Mapping):
        limits = {None: limits}
    allowed = dict.fromkeys(measures, not_negative(option, limits.get(None, MAX_DROP)))
    for asked, limit in limits.items():
        if asked is not None:
            allowed[_measure_of(option, asked, measures)] = not_negative(option, limit)
    return allowed


def _measure_of(option: str, asked: str, measures: list[str]) -> str:
    """The measure of the baseline that is meant. Raises OptionError."""
    by_spelling = {canonical(measure): measure for measure in measures}
    measure = by_spelling.get(canonical(asked))
    if measure is None:
        raise OptionError(
            option, f"{asked!r} is not in the baseline, which has {', '.join(measures)}"
        )
    return measure


def check_floors(comparison: Comparison, floors: Mapping[str, float]) -> list[Check]:
    """A check for each smallest mean. Raises OptionError."""
    checks = []
    for asked, least in floors.items():
        measure = _measure_of("min", asked, comparison.measures)
        if comparison.better(measure) == "lower":
            raise OptionError("min", f"{measure!r}: lower values are better, so it has no minimum")
        least, mean = finite("min", least), comparison.mean[measure]
        title = f"{measure} is {number(mean[NOW])}"
        passed = mean[NOW] >= least - ROUNDING
        message = "" if passed else f"{title}; at least {least:g} is required"
        numbers = mean[BASELINE], mean[NOW], least
        checks.append(_limit(measure, f"mean >= {least:g}", *numbers, title, message))
    return checks


def check_share(saved: Baseline, current: Baseline, most: float) -> Check:
    """The check of the share of unjudged documents. Raises OptionError."""
    if not_negative("max_unjudged", most) > 1.0:
        raise OptionError("max_unjudged", f"expected a share from 0 to 1, found {most}")
    before, now = (_share_unjudged(baseline.counts) for baseline in (saved, current))
    if now is None:
        raise OptionError("max_unjudged", "the number of unjudged documents is not known")
    title = f"{100 * now:.1f}% of the retrieved documents are unjudged"
    message = "" if now <= most + ROUNDING else f"{title}; at most {100 * most:g}% are allowed"
    return _limit("unjudged", f"share <= {most:g}", before, now, most, title, message)


def _share_unjudged(counts: dict[str, int]) -> float | None:
    if "unjudged" not in counts or not counts.get("retrieved"):
        return None
    return counts["unjudged"] / counts["retrieved"]


def canonical(name: str) -> tuple[str, ...]:
    """The canonical spelling of a measure; that of a function is its name."""
    return tuple(canonical_names(name)) or (name,)
