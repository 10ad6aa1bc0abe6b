"""A verdict as annotations of GitHub Actions."""

from __future__ import annotations

from fastrank.analysis.gating.shown import all_notes, heading
from fastrank.common.messages import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.analysis.gating.verdict import Verdict


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
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
