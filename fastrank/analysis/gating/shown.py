"""Contents of a verdict, in text, in Markdown for pull requests, and as annotations of GitHub."""

from __future__ import annotations

import math

from fastrank.common.messages import counted, visible
from fastrank.common.rendering.document import Cell, Document, Grid, Items, Paragraph, Section
from fastrank.common.rendering.markdown import markdown
from fastrank.common.rendering.numbers import interval, number, p_text, signed
from fastrank.common.rendering.text import text
from fastrank.core.results.table import grid_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from fastrank.analysis.gating.checks import Check
    from fastrank.analysis.gating.verdict import Verdict
    from fastrank.common.rendering.document import Block


# The queries that are listed for a measure, in tables and in a line.
LISTED, WORST = 10, 5
# GitHub refuses a comment of more than 65,536 characters.
LARGEST = 65_000
CUT = "\n\n(cut: the rest is longer than GitHub accepts)\n"


def to_text(verdict: Verdict) -> str:
    """The table of the checks, the verdict with its reasons, the worst queries, and notes."""
    reasons = list(verdict.reasons)
    if verdict.status != "pass":
        for measure in listed(verdict):
            rows = list(verdict.regressed(measure, WORST).rows())
            worst_changes = ", ".join(f"{query} {signed(change)}" for query, *_, change in rows)
            reasons += [f"most regressed in {measure}: {worst_changes}"] if rows else []
    notes = [Paragraph(f"note: {note}") for note in all_notes(verdict)]
    return text(Document([_grid(verdict), Section(heading(verdict), [Items(reasons)]), *notes]))


def to_markdown(verdict: Verdict) -> str:
    """The reasons, the table of the checks, the notes, and the ten most regressed queries.

    At most 65 KB in UTF-8; the rest is cut at the end of a line.
    """
    return _cut(markdown(summary(verdict)) + "\n")


def summary(verdict: Verdict) -> Document:
    """The reasons, the table of the checks, the notes, and the ten most regressed queries."""
    title = heading(verdict)
    blocks: list[Block] = [
        *([Items(verdict.reasons)] if verdict.reasons else []),
        _grid(verdict),
        *([Items(all_notes(verdict))] if all_notes(verdict) else []),
    ]
    for measure in listed(verdict):
        worst = verdict.regressed(measure, LISTED)
        if len(worst):
            blocks.append(Paragraph(f"Most regressed queries in {measure}:"))
            blocks.append(grid_of(worst))
    return Document([Section(title[0].upper() + title[1:], blocks, 3)])


def _cut(written: str) -> str:
    encoded = written.encode()
    if len(encoded) <= LARGEST:
        return written
    start = encoded[: LARGEST - len(CUT)]
    return start[: start.rfind(b"\n")].decode() + CUT


def _grid(verdict: Verdict) -> Grid:
    """A row for each check."""
    level = f"{100 * verdict.comparison.level:g}% interval"
    header = ["measure", "baseline", "now", "change", level, "check", "p", "+/=/-", "result"]
    return Grid(header, [_row(check) for check in verdict.results])


def _row(check: Check) -> list[Cell]:
    # NaN: there is no interval and no p-value of one query.
    low = math.nan if check.low is None else check.low
    high = math.nan if check.high is None else check.high
    return [
        Cell(check.measure),
        _value(check.baseline, number),
        _value(check.now, number),
        _value(check.change, signed),
        Cell(interval(low, high, signed), number=True),
        Cell(check.check),
        Cell("") if check.p is None or check.p != check.p else Cell(p_text(check.p), number=True),
        Cell("" if check.wins is None else f"{check.wins}/{check.ties}/{check.losses}"),
        Cell(check.result),
    ]


def _value(value: float | None, formatted: Callable[[float], str]) -> Cell:
    # Numbers of queries are integers.
    if value is None:
        return Cell("", number=True)
    return Cell(f"{value:d}" if isinstance(value, int) else formatted(value), number=True)


def content_of(verdict: Verdict) -> dict[str, object]:
    """Everything but the values of all queries."""
    return {
        "status": verdict.status,
        "passed": verdict.passed,
        "policy": verdict.policy,
        "test": verdict.comparison.test,
        "alpha": verdict.alpha,
        "level": verdict.comparison.level,
        "queries": len(verdict.comparison.queries),
        "checks": [check._asdict() for check in verdict.results],
        "reasons": verdict.reasons,
        "notes": verdict.notes,
        "regressed": {measure: verdict.regressed(measure, LISTED) for measure in listed(verdict)},
        "baseline": {
            "file": verdict.name,
            "created": verdict.baseline.created,
            "run": verdict.baseline.run["name"],
            "source": verdict.baseline.source,
        },
    }


def heading(verdict: Verdict) -> str:
    """The verdict in one line."""
    queries = counted(len(verdict.comparison.queries), "query", "queries")
    compared = f"{queries}, {_policy(verdict)}"
    if verdict.status == "pass":
        return f"gate passed ({compared})"
    bad_count = sum(check.result == verdict.status for check in verdict.results)
    checks = f"{bad_count} of {len(verdict.results)} checks"
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
    failing = [check.measure for check in verdict.results if check.result != "pass"]
    return [measure for measure in measures if measure in failing] or measures[:1]


def all_notes(verdict: Verdict) -> list[str]:
    """The notes, and the messages of checks that pass."""
    passed = [
        check.message for check in verdict.results if check.result == "pass" and check.message
    ]
    return [*passed, *verdict.notes]


# The number of errors, of warnings and of notices that GitHub shows of a step.
SHOWN = 10


def to_github(verdict: Verdict) -> str:
    """A line for each check that does not pass, for the verdict, and for each note.

    At most ten of each kind: GitHub hides the others.
    """
    bad = [check for check in verdict.results if check.result != "pass"]
    kind = "warning" if verdict.passed else "error"
    hidden_count = len(bad) - (SHOWN - 1)
    lines = [annotation(kind, check.title, check.message) for check in bad[: SHOWN - 1]]
    hidden = f"; {hidden_count} more are not shown" if hidden_count > 0 else ""
    last_line = heading(verdict) + hidden
    lines.append(
        annotation("notice" if verdict.status == "pass" else kind, "fastrank gate", last_line)
    )
    notes = all_notes(verdict)[: SHOWN - 1]
    lines += [annotation("notice", "fastrank gate", note) for note in notes]
    return "".join(f"{line}\n" for line in lines)


def annotation(kind: str, title: str, message: str) -> str:
    """A workflow command: `::error title=...::...`."""
    return f"::{kind} title={escaped(visible(title), ':,')}::{escaped(visible(message))}"


def escaped(text: str, more: str = "") -> str:
    """Escape a string for GitHub's workflow commands; more: what properties escape, too."""
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
