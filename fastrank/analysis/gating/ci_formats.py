"""A verdict as JSON, and as annotations of GitHub Actions."""

from __future__ import annotations

from fastrank.analysis.gating.shown import LISTED, all_notes, heading, listed
from fastrank.common.messages import visible
from fastrank.core.scores.records import json_text
from fastrank.core.scores.tables import records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.analysis.gating.verdict import Verdict


def to_json(verdict: Verdict) -> str:
    """One object with everything but the values of all queries."""
    fields: dict[str, object] = {
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
        "regressed": {
            measure: records(verdict.regressed(measure, LISTED)) for measure in listed(verdict)
        },
        "baseline": {
            "file": verdict.name,
            "created": verdict.baseline.created,
            "run": verdict.baseline.run["name"],
            "source": verdict.baseline.source,
        },
    }
    return json_text(fields, indent=2) + "\n"


# How many errors, warnings and notices of a step GitHub shows.
SHOWN = 10


def to_github(verdict: Verdict) -> str:
    """A line for each check that does not pass, for the verdict, and for each note.

    At most ten of each kind: GitHub hides the others.
    """
    bad = [check for check in verdict.results if check.result != "pass"]
    kind = "warning" if verdict.passed else "error"
    more = len(bad) - (SHOWN - 1)
    lines = [annotation(kind, check.title, check.message) for check in bad[: SHOWN - 1]]
    summary = heading(verdict) + (f"; {more} more are not shown" if more > 0 else "")
    lines.append(
        annotation("notice" if verdict.status == "pass" else kind, "fastrank gate", summary)
    )
    notes = all_notes(verdict)[: SHOWN - 1]
    lines += [annotation("notice", "fastrank gate", note) for note in notes]
    return "".join(f"{line}\n" for line in lines)


def annotation(kind: str, title: str, message: str) -> str:
    """A workflow command: `::error title=...::...`."""
    return f"::{kind} title={escaped(visible(title), ':,')}::{escaped(visible(message))}"


def escaped(text: str, more: str = "") -> str:
    """Escape a string for GitHub's workflow commands; more: what properties escape, too."""
    for character in "%" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
