"""Rankings with ties, and scores of systems, from what users give."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import groupby

from fastrank.data.columns import PerQuery
from fastrank.errors import GroupError, InputError, MeasureError
from fastrank.native.buffers import filled
from fastrank.native.records.runs import TiedRanks
from fastrank.scores.columns import columns_by_name
from fastrank.scores.scores import Scores

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


class Listed(dict):  # type: ignore[type-arg]
    """Scores that were given without names, by position."""


def scores_of(given: Any, name: str) -> dict[Any, float]:
    """{system: score}. Raises InputError, GroupError, MeasureError and TypeError."""
    from fastrank.comparing.comparison import Comparison

    given = indexed(given, name)
    if isinstance(given, Comparison):
        measure = _only(given.measures, "a Comparison", name)
        sign = _sign(given.better(measure))
        return as_scores({own: sign * mean for own, mean in given.mean[measure].items()}, name)
    if isinstance(given, Mapping):
        named = dict(given)
    elif isinstance(given, Iterable) and not isinstance(given, (str, bytes, set, Scores)):
        listed = given.tolist() if hasattr(given, "tolist") else list(given)
        if not any(isinstance(one, Scores) for one in listed):
            return Listed(as_scores(dict(enumerate(listed)), name))
        named = _by_name(listed, name)
    else:
        raise TypeError(
            f"{name}: expected {{system: score}}, a list of Scores or numbers, a Comparison, or a"
            f" run, found {type(given).__name__}"
        )
    return as_scores(
        {
            system: _mean(value, name) if isinstance(value, Scores) else value
            for system, value in named.items()
        },
        name,
    )


def _by_name(scores: list[Any], name: str) -> dict[str, Any]:
    """Scores by the names of their runs. Raises GroupError for a repeated name."""
    made: dict[str, Any] = {}
    for one in scores:
        if not isinstance(one, Scores):
            raise TypeError(f"{name}: expected only Scores, found also {type(one).__name__}")
        if one.name in made:
            reason = f"two Scores have the name {one.name!r}; use {{system: Scores}}"
            raise GroupError(f"{name}: {reason}")
        made[one.name] = one
    return made


def _mean(scores: Scores, name: str) -> float:
    """The mean of the only measure, negated if lower values are better."""
    means = scores.mean
    measure = _only(list(means), "Scores", name)
    return _sign(columns_by_name(scores)[measure].better) * means[measure]


def _sign(better: str) -> float:
    return -1.0 if better == "lower" else 1.0


def _only(measures: list[str], kind: str, name: str) -> str:
    if len(measures) != 1:
        raise MeasureError(
            ", ".join(measures),
            f"{name}: expected {kind} of one measure, found {len(measures)}: {', '.join(measures)};"
            " use {system: score}",
        )
    return measures[0]
