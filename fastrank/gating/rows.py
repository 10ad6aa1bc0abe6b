"""The table of a verdict, as rows of text."""

from __future__ import annotations

from fastrank.comparing.display import interval_text
from fastrank.gating.checks import p_text
from fastrank.scores.table_formats import Number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.gating.checks import Check
    from fastrank.gating.verdict import Verdict

# Queries that are listed for a measure.
LISTED = 10


def header(verdict: Verdict) -> list[str]:
    """The names of the columns."""
    level = 100 * verdict.comparison.level
    return [
        "measure",
        "baseline",
        "now",
        "change",
        f"{level:g}% interval",
        "check",
        "p",
        "+/=/-",
        "result",
    ]


def row(check: Check) -> list[Any]:
    """The cells of a check."""
    # NaN: there is no interval and no p-value of one query.
    interval = ""
    if check.low is not None and check.high is not None:
        interval = interval_text(check.low, check.high, "{:+.4f}".format)
    p = "" if check.p is None or check.p != check.p else Number(p_text(check.p))
    counts = "" if check.wins is None else f"{check.wins}/{check.ties}/{check.losses}"
    return [
        check.measure, _number(check.baseline), _number(check.now),
        _number(check.change, "+.4f"), interval, check.check,
        p, counts, check.result,
    ]  # fmt: skip


def _number(value: float | None, form: str = ".4f") -> Number | None:
    # Numbers of queries are integers.
    form = form.replace(".4f", "d") if isinstance(value, int) else form
    return None if value is None else Number(format(value, form))


def heading(verdict: Verdict) -> str:
    """The verdict in one line."""
    found = verdict.comparison
    count = len(found.queries)
    compared = f"{count} {'query' if count == 1 else 'queries'}, {_policy(verdict)}"
    if verdict.status == "pass":
        return f"gate passed ({compared})"
    bad = sum(one.result == verdict.status for one in verdict.results)
    checks = f"{bad} of {len(verdict.results)} checks"
    if verdict.status == "fail":
        return f"gate failed: {checks} ({compared})"
    outcome = "passed with a warning" if verdict.passed else "failed"
    return f"gate {outcome}: {checks} undecided ({compared})"


def _policy(verdict: Verdict) -> str:
    if verdict.policy == "drop":
        return "policy drop"
    test = {"t": "paired t-test", "randomization": "randomization test"}[verdict.comparison.test]
    return f"policy {verdict.policy}, one-sided {test}, alpha = {verdict.alpha:g}"


def listed(verdict: Verdict) -> list[str]:
    """The measures whose worst queries are shown: those that do not pass, else the first."""
    measures = verdict.comparison.measures
    found = [one.measure for one in verdict.results if one.result != "pass"]
    return [own for own in measures if own in found] or measures[:1]
