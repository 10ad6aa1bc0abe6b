"""Rankings as users give them: with ties, as scores of systems, and as runs."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Iterable, Mapping
from itertools import groupby

import numpy as np

from fastrank.common.arguments import check_version
from fastrank.common.messages import first_few
from fastrank.core.data.columns import PerQuery
from fastrank.core.formats.inputs import as_run
from fastrank.core.formats.run import Run
from fastrank.core.native.records.runs import TiedRanks
from fastrank.core.results.table import Table
from fastrank.core.scores.columns import columns_by_name
from fastrank.core.scores.scores import Scores
from fastrank.errors import GroupError, InputError, MeasureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from fastrank.core.formats.inputs import RunLike

# Iterables whose items are not in order of rank.
NO_RANKINGS = (str, bytes, set, frozenset, PerQuery)
# How many systems an error names.
NAMED = 5


def indexed(value: Any, name: str) -> Any:
    """{index: value} of a pandas Series of numbers; anything else as it is.

    Raises InputError for an index that appears twice.
    """
    if not hasattr(value, "to_dict") or getattr(value, "ndim", 0) != 1:
        return value
    if value.dtype.kind not in "iufb":
        return value
    if not value.index.is_unique:
        repeated = value.index[value.index.duplicated()][0]
        raise InputError(name, f"{repeated!r} appears twice in the index")
    return value.to_dict()


def as_ranking(ranking: Any, name: str) -> tuple[list[Any], TiedRanks]:
    """The items of a ranking, best first, and the ranks of the tie group of each.

    ranking: a sequence of items or of groups of tied items, or {item: score}. Raises InputError for
    an item that appears twice or has a NaN score, TypeError for others.
    """
    groups = _groups_of(indexed(ranking, name), name)
    items: list[Any] = []
    seen: set[Hashable] = set()
    for group in groups:
        for item in group:
            if not isinstance(item, Hashable):
                raise TypeError(f"{name}: expected hashable items, found {type(item).__name__}")
            if item in seen:
                raise InputError(name, f"{item!r} appears twice in the ranking")
            seen.add(item)
            items.append(item)
    sizes = np.array([len(group) for group in groups], np.int64)
    bottoms = np.cumsum(sizes)
    tops = bottoms - sizes + 1
    return items, TiedRanks(tops=np.repeat(tops, sizes), bottoms=np.repeat(bottoms, sizes))


def _groups_of(ranking: Any, name: str) -> list[Collection[Any]]:
    """The groups of tied items, best first; of scores, those that are equal."""
    if isinstance(ranking, Mapping):
        scores = as_scores(ranking, name)
        ranked = sorted(scores, key=lambda item: -scores[item])
        return [list(group) for _, group in groupby(ranked, key=scores.__getitem__)]
    if not isinstance(ranking, Iterable) or isinstance(ranking, NO_RANKINGS):
        kind = type(ranking).__name__
        raise TypeError(
            f"{name}: expected a sequence of items or groups of items, or {{item: score}},"
            f" found {kind}" + "; for runs, use overlap" * isinstance(ranking, PerQuery)
        )
    items = ranking.tolist() if hasattr(ranking, "tolist") else ranking
    return [item if isinstance(item, (list, tuple, set, frozenset)) else [item] for item in items]


def as_scores(scores: Mapping[Any, Any], name: str) -> dict[Any, float]:
    """Scores as floats. Raises InputError for NaN, TypeError for what is not a number."""
    floats = {}
    for item, score in scores.items():
        if isinstance(score, (str, bytes)) or not hasattr(score, "__float__"):
            raise TypeError(f"{name}: {item!r}: expected a number, found {type(score).__name__}")
        floats[item] = float(score)
        if floats[item] != floats[item]:
            raise InputError(name, f"the score of {item!r} is NaN and cannot be ranked")
    return floats


class Listed(dict):  # type: ignore[type-arg]
    """Scores that were given without names, by position."""


def scores_of(scores: Any, name: str) -> dict[Any, float]:
    """{system: score}. Raises InputError, GroupError, MeasureError and TypeError."""
    from fastrank.analysis.comparing.comparison import Comparison

    scores = indexed(scores, name)
    if isinstance(scores, Comparison):
        measure = _only(scores.measures, "a Comparison", name)
        sign = _sign(scores.better(measure))
        return as_scores(
            {system: sign * mean for system, mean in scores.mean[measure].items()}, name
        )
    if isinstance(scores, Mapping):
        by_system = dict(scores)
    elif isinstance(scores, Iterable) and not isinstance(scores, (str, bytes, set, Scores)):
        listed = scores.tolist() if hasattr(scores, "tolist") else list(scores)
        if not any(isinstance(item, Scores) for item in listed):
            return Listed(as_scores(dict(enumerate(listed)), name))
        by_system = _by_name(listed, name)
    else:
        raise TypeError(
            f"{name}: expected {{system: score}}, a list of Scores or numbers, a Comparison, or a"
            f" run, found {type(scores).__name__}"
        )
    return as_scores(
        {
            system: _mean(value, name) if isinstance(value, Scores) else value
            for system, value in by_system.items()
        },
        name,
    )


def _by_name(scores: list[object], name: str) -> dict[str, Scores]:
    """Scores by the names of their runs. Raises GroupError for a repeated name."""
    by_name: dict[str, Scores] = {}
    for item in scores:
        if not isinstance(item, Scores):
            raise TypeError(f"{name}: expected only Scores, found also {type(item).__name__}")
        if item.name in by_name:
            reason = f"two Scores have the name {item.name!r}; use {{system: Scores}}"
            raise GroupError(f"{name}: {reason}")
        by_name[item.name] = item
    return by_name


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


def common_items(
    first: Mapping[Any, Any],
    second: Mapping[Any, Any],
    items: str,
    where: str = "",
    names: tuple[str, str] = ("a", "b"),
    advice: str = "; items='common' compares those that both have",
) -> list[Any]:
    """The items of both rankings, in the order of the first.

    Raises GroupError if one has others, unless these are ignored with items="common".
    """
    only = {
        f"only {names[0]} has": [item for item in first if item not in second],
        f"only {names[1]} has": [item for item in second if item not in first],
    }
    if items == "same" and any(only.values()):
        differences = " and ".join(
            f"{has} {named(others)}" for has, others in only.items() if others
        )
        raise GroupError(f"{where}{differences}{advice}")
    return [item for item in first if item in second]


def named(items: Iterable[object]) -> str:
    """The first items, and the number of the others."""
    return first_few(list(map(repr, items)), NAMED, count=True) or "none"


def is_run(value: object) -> bool:
    """Whether it is a run: a Run, a path, {query: {document: score}}, or a frame."""
    if isinstance(value, Mapping):
        return bool(value) and all(isinstance(inner, Mapping) for inner in value.values())
    return isinstance(value, (Run, str, os.PathLike)) or hasattr(value, "columns")


def two_runs(run_a: RunLike, run_b: RunLike, trec_eval_version: str) -> tuple[Run, Run]:
    """Two runs in any form. Raises OptionError, and what reading a run raises."""
    version = check_version(trec_eval_version)
    return as_run(run_a, trec_eval_version=version), as_run(run_b, trec_eval_version=version)


def with_means(queries: list[str], columns: Mapping[str, Sequence[float]]) -> Table:
    """A row for each query, and a last row `all` with the means of the values that are not NaN."""
    columns_of_table: dict[str, list[object]] = {"query": [*queries, "all"]}
    for name, values in columns.items():
        present = [value for value in values if value == value]
        columns_of_table[name] = [
            *values,
            math.fsum(present) / len(present) if present else math.nan,
        ]
    return Table(columns=columns_of_table)
