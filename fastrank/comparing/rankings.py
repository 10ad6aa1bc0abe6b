"""Rankings with ties, from sequences of items or from scores."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import groupby

from fastrank.data.columns import PerQuery
from fastrank.errors import InputError
from fastrank.native.buffers import filled
from fastrank.native.records.runs import TiedRanks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# Iterables whose items are not in order of rank.
NO_RANKINGS = (str, bytes, set, frozenset, PerQuery)


class TiedRanking:
    """A ranking with ties: its items, best first, and the ranks of the tie group of each.

    Raises InputError for an item that appears twice.
    """

    def __init__(self, groups: Iterable[Iterable[Any]], name: str) -> None:
        self.items: list[Any] = []
        tops: list[int] = []
        bottoms: list[int] = []
        for group in groups:
            top = len(self.items) + 1
            self.items += group
            bottom = len(self.items)
            tops += [top] * (bottom + 1 - top)
            bottoms += [bottom] * (bottom + 1 - top)
        self.columns = TiedRanks(tops=filled("q", tops), bottoms=filled("q", bottoms))
        seen: set[Any] = set()
        for item in self.items:
            if item in seen:
                raise InputError(name, f"{item!r} appears twice in the ranking")
            seen.add(item)

    def __len__(self) -> int:
        return len(self.items)


def indexed(given: Any, name: str) -> Any:
    """{index: value} of a pandas Series of numbers; anything else as it is.

    Raises InputError for an index that appears twice.
    """
    if not hasattr(given, "to_dict") or getattr(given, "ndim", 0) != 1:
        return given
    if given.dtype.kind not in "iufb":
        return given
    if not given.index.is_unique:
        repeated = given.index[given.index.duplicated()][0]
        raise InputError(name, f"{repeated!r} appears twice in the index")
    return given.to_dict()


def as_ranking(given: Any, name: str) -> TiedRanking:
    """A ranking from a sequence of items or groups of tied items, or from {item: score}.

    Raises InputError for an item that appears twice or has a NaN score, TypeError for others.
    """
    given = indexed(given, name)
    if isinstance(given, Mapping):
        return TiedRanking(_groups_by_score(given, name), name)
    if not isinstance(given, Iterable) or isinstance(given, NO_RANKINGS):
        found = type(given).__name__
        raise TypeError(
            f"{name}: expected a sequence of items or groups of items, or {{item: score}},"
            f" found {found}" + "; for runs, use overlap" * isinstance(given, PerQuery)
        )
    items = given.tolist() if hasattr(given, "tolist") else given
    groups = [item if _is_group(item) else [item] for item in items]
    for group in groups:
        for item in group:
            if not isinstance(item, Hashable):
                raise TypeError(f"{name}: expected hashable items, found {type(item).__name__}")
    return TiedRanking(groups, name)


def _is_group(item: object) -> bool:
    return isinstance(item, (list, tuple, set, frozenset))


def _groups_by_score(given: Mapping[Any, Any], name: str) -> Iterable[list[Any]]:
    """The items, highest score first; those with equal scores in one group."""
    scores = as_scores(given, name)
    ranked = sorted(scores, key=lambda item: -scores[item])
    return [list(group) for _, group in groupby(ranked, key=scores.__getitem__)]


def as_scores(given: Mapping[Any, Any], name: str) -> dict[Any, float]:
    """Scores as floats. Raises InputError for NaN, TypeError for what is not a number."""
    made = {}
    for item, score in given.items():
        if isinstance(score, (str, bytes)) or not hasattr(score, "__float__"):
            raise TypeError(f"{name}: {item!r}: expected a number, found {type(score).__name__}")
        made[item] = float(score)
        if made[item] != made[item]:
            raise InputError(name, f"the score of {item!r} is NaN and cannot be ranked")
    return made
