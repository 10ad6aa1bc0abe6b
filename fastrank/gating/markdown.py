"""A verdict as Markdown, for pull requests and the summaries of CI jobs."""

from __future__ import annotations

from fastrank.gating.rows import LISTED, header, heading, listed, row
from fastrank.gating.text import all_notes
from fastrank.scores.table_formats import markdown, markdown_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.gating.verdict import Verdict

# GitHub refuses a summary of more than 1 MiB.
LARGEST = 900_000
CUT = "\n\n(cut: the rest is longer than GitHub accepts)\n"


def to_markdown(verdict: Verdict) -> str:
    """The table of the checks, the reasons and notes, and the ten most regressed queries.

    At most 900 KB in UTF-8; the rest is cut at the end of a line.
    """
    parts = [f"### {markdown_text(_capitalized(heading(verdict)))}"]
    if verdict.reasons:
        parts.append(_list(verdict.reasons))
    parts.append(markdown(header(verdict), map(row, verdict.results)))
    if all_notes(verdict):
        parts.append(_list(all_notes(verdict)))
    for measure in listed(verdict):
        worst = verdict.regressed(measure, LISTED)
        if len(worst):
            parts += [
                f"Most regressed queries in {markdown_text(measure)}:",
                worst.to_markdown(),
            ]
    return _cut("\n\n".join(parts) + "\n")


def _capitalized(text: str) -> str:
    return text[0].upper() + text[1:]


def _list(items: list[str]) -> str:
    return "\n".join(f"* {markdown_text(item)}" for item in items)


def _cut(text: str) -> str:
    encoded = text.encode()
    if len(encoded) <= LARGEST:
        return text
    kept = encoded[: LARGEST - len(CUT)]
    return kept[: kept.rfind(b"\n")].decode() + CUT
