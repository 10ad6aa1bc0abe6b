"""Compact letter display: systems that share a letter do not differ significantly."""

from __future__ import annotations

from itertools import product
from string import ascii_lowercase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeVar

    Key = TypeVar("Key")


def letter_display(order: Sequence[int], different: Iterable[tuple[int, int]]) -> dict[int, str]:
    """The letters of each system; the best has the letter a. The arguments are those of `alike`.

    Commas separate the letters of a system if some are aa, ab, ...
    """
    groups = alike(order, different)
    separator = "," if len(groups) > len(ascii_lowercase) else ""
    found = letters_of(groups)
    return {system: separator.join(found[system]) for system in order}


def letters_of(groups: Sequence[Sequence[Key]]) -> dict[Key, list[str]]:
    """The letters of each system; those of one group share a letter."""
    found: dict[Key, list[str]] = {}
    for letter, group in zip(letters(), groups, strict=False):
        for system in group:
            found.setdefault(system, []).append(letter)
    return found


def alike(order: Sequence[int], different: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The largest groups of systems without a pair that differs significantly, best first.

    order: the systems, best first. different: the pairs that differ significantly. Source: Piepho,
    'An algorithm for a letter-based representation of all-pairwise comparisons', Journal of
    Computational and Graphical Statistics 13(2), 2004 (insert and absorb).
    """
    groups: list[frozenset[int]] = [frozenset(order)]
    for one, other in different:
        kept = [group for group in groups if not {one, other} <= group]
        split = [
            group - {removed}
            for group in groups
            if {one, other} <= group
            for removed in (one, other)
        ]
        groups = kept
        for group in dict.fromkeys(split):
            if not any(group <= own for own in groups):
                groups = [own for own in groups if not own <= group] + [group]
    place = {system: i for i, system in enumerate(order)}
    ordered = sorted(sorted(place[system] for system in group) for group in groups)
    return [[order[i] for i in group] for group in ordered]


def letters() -> Iterable[str]:
    """a to z, then aa, ab, ...: without end."""
    length = 1
    while True:
        yield from map("".join, product(ascii_lowercase, repeat=length))
        length += 1
