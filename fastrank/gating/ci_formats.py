"""A verdict as JSON, JUnit XML, OpenMetrics, and annotations of GitHub Actions."""

from __future__ import annotations

import re

from fastrank.document.html import safe
from fastrank.gating.shown import LISTED, all_notes, heading, listed, to_text
from fastrank.messages import visible
from fastrank.scores.records import json_text
from fastrank.scores.tables import records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.gating.verdict import Verdict


def to_json(verdict: Verdict) -> str:
    """One object with everything but the values of all queries."""
    found: dict[str, Any] = {
        "status": verdict.status,
        "passed": verdict.passed,
        "policy": verdict.policy,
        "test": verdict.comparison.test,
        "alpha": verdict.alpha,
        "level": verdict.comparison.level,
        "queries": len(verdict.comparison.queries),
        "checks": [one._asdict() for one in verdict.results],
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
    return json_text(found, indent=2) + "\n"


def to_junit(verdict: Verdict) -> str:
    """A test case for each check, as GitLab and Jenkins show them."""
    bad = [one for one in verdict.results if one.result != "pass"]
    failures, skipped = (0, len(bad)) if verdict.passed else (len(bad), 0)
    counts = f'tests="{len(verdict.results)}" failures="{failures}" errors="0" skipped="{skipped}"'
    output = "\n".join(map(safe, to_text(verdict).splitlines()))
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="fastrank gate" {counts}>',
        f'<testsuite name="fastrank gate" {counts}>',
    ]
    for one in verdict.results:
        start = f"<testcase classname={_quoted(one.measure)} name={_quoted(one.check)}"
        if one.result == "pass":
            lines.append(f"{start}/>")
        elif verdict.passed:
            lines.append(f"{start}><skipped message={_quoted(one.message)}/></testcase>")
        else:
            failure = f"<failure type={_quoted(one.result)} message={_quoted(one.message)}/>"
            lines.append(f"{start}>{failure}</testcase>")
    lines += [
        f"<system-out>{output}</system-out>",
        "</testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return f'"{safe(text)}"'


def to_openmetrics(verdict: Verdict) -> str:
    """The means of the run, and whether it passed, as GitLab's metrics reports read them."""
    taken: set[str] = set()
    lines = []
    for measure in verdict.comparison.measures:
        name = re.sub("[^a-zA-Z0-9_]", "_", measure)
        if name[:1].isdigit():
            name = f"_{name}"
        while name in taken:
            name += "_"
        taken.add(name)
        lines.append(f"{name} {verdict.comparison.mean[measure]['now']!r}")
    lines.append(f"fastrank_gate_passed {int(verdict.passed)}")
    return "\n".join([*lines, "# EOF"]) + "\n"


# How many errors, warnings and notices of a step GitHub shows.
SHOWN = 10


def to_github(verdict: Verdict) -> str:
    """A line for each check that does not pass, for the verdict, and for each note.

    At most ten of each kind: GitHub hides the others.
    """
    bad = [one for one in verdict.results if one.result != "pass"]
    kind = "warning" if verdict.passed else "error"
    more = len(bad) - (SHOWN - 1)
    lines = [annotation(kind, one.title, one.message) for one in bad[: SHOWN - 1]]
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
