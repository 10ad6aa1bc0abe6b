"""Tables of cases as texts."""

from __future__ import annotations


def cases(table: str) -> list[tuple[str, ...]]:
    """The cases of a table: a line that is not indented begins one.

    Lines indented by two blanks are its further fields; lines indented by more go on with the line
    before. Lines that begin with # are comments.
    """
    found: list[list[str]] = []
    for line in table.splitlines():
        text = line.strip()
        if not text or line.startswith("#"):
            continue
        if line.startswith("   "):
            found[-1][-1] += f" {text}"
        elif line.startswith("  "):
            found[-1].append(text)
        else:
            found.append([text])
    return [tuple(case) for case in found]
