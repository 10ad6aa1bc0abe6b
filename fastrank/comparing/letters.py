"""Compact letter display: systems that share a letter do not differ significantly."""

from __future__ import annotations

from itertools import product
from string import ascii_lowercase

from fastrank.errors import OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeVar

    Key = TypeVar("Key")

# More groups than this have no use, and many systems can have exponentially many.
MOST_GROUPS = 10_000


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

    order: the systems, best first. different: the pairs that differ significantly. Raises
    OptionError if there are more than MOST_GROUPS. These are the groups of Piepho, 'An algorithm
    for a letter-based representation of all-pairwise comparisons', Journal of Computational and
    Graphical Statistics 13(2), 2004, found as the maximal cliques of the systems that do not
    differ: Bron and Kerbosch, Communications of the ACM 16(9), 1973, with pivots.
    """
    place = {system: i for i, system in enumerate(order)}
    everyone = (1 << len(order)) - 1
    # Sets of systems are the bits of integers.
    like = [everyone ^ (1 << i) for i in range(len(order))]
    for one, other in different:
        like[place[one]] &= ~(1 << place[other])
        like[place[other]] &= ~(1 << place[one])
    groups = []
    open_branches = [(0, everyone, 0)]
    while open_branches:
        group, candidates, excluded = open_branches.pop()
        if not candidates and not excluded:
            groups.append(sorted(_bits(group)))
            if len(groups) > MOST_GROUPS:
                raise OptionError(
                    "letters", f"{len(order):,} systems form more than {MOST_GROUPS:,} overlapping"
                    " groups; compare fewer systems"
                )  # fmt: skip
        if not candidates:
            continue
        pivot = max(_bits(candidates | excluded), key=lambda i: (candidates & like[i]).bit_count())
        for i in _bits(candidates & ~like[pivot]):
            open_branches.append((group | 1 << i, candidates & like[i], excluded & like[i]))
            candidates ^= 1 << i
            excluded |= 1 << i
    return [[order[i] for i in group] for group in sorted(groups)]


def _bits(number: int) -> Iterator[int]:
    """The places of the bits that are 1."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def letters() -> Iterable[str]:
    """a to z, then aa, ab, ...: without end."""
    length = 1
    while True:
        yield from map("".join, product(ascii_lowercase, repeat=length))
        length += 1
