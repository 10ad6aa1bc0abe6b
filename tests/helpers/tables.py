"""Tables of cases as texts."""

from __future__ import annotations


def cases(table: str) -> list[tuple[str, ...]]:
    """The cases of a table: a line that is not indented begins one.

    Its fields are separated by ` => `, or begin in lines that are indented by two blanks. Lines
    indented by more go on with the field before. Lines that begin with # are comments.
    """
    found: list[list[str]] = []
    for line in table.splitlines():
        fields = line.strip().split(" => ")
        if fields == [""] or line.startswith("#"):
            continue
        if line.startswith("   "):
            found[-1][-1] += f" {fields.pop(0)}"
            found[-1] += fields
        elif line.startswith("  "):
            found[-1] += fields
        else:
            found.append(fields)
    return [tuple(case) for case in found]
