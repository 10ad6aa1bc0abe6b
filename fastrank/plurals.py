"""Numbers with their nouns, and the first of many names."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def counted(count: int, one: str, several: str = "") -> str:
    """`1 query`, `2 queries`.

    >>> counted(1, "row"), counted(0, "row"), counted(2, "query", "queries")
    ('1 row', '0 rows', '2 queries')
    """
    return f"{count} {one if count == 1 else several or one + 's'}"


def first_few(names: Sequence[str], most: int, *, count: bool = False) -> str:
    """The first names; `...` or, with `count`, the number of the others if there are more.

    >>> first_few(["a", "b"], 2), first_few("abcd", 2), first_few("abcd", 2, count=True)
    ('a, b', 'a, b, ...', 'a, b and 2 more')
    """
    shown, others = ", ".join(names[:most]), len(names) - most
    if others <= 0:
        return shown
    return f"{shown} and {others} more" if count else f"{shown}, ..."
