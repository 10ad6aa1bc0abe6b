"""Scores of groups of queries, and means over data sets."""

from __future__ import annotations

from fastrank.data.columns import as_array
from fastrank.data.texts import decoded
from fastrank.errors import GroupError
from fastrank.scores.scores import Scores
from fastrank.scores.side_by_side import as_list, common_names
from fastrank.scores.summary import Coverage, counts_missing, summaries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping
    from typing import Any

    from fastrank.measures.selection import BoundMeasure

# How many queries an error names.
NAMED = 5


def mean_over_datasets(scores: Iterable[Scores] | Mapping[Any, Scores]) -> dict[str, float]:
    """The mean over data sets of each measure's value over its queries: {measure: mean}.

    scores: one Scores per data set, or {name: Scores}, all with the same measures. Every data set
        counts the same, however many queries it has.

    What is averaged is `Scores.mean`: for counts the sums, for gm_map the geometric means. Raises
    MeasureError if the measures differ, GroupError if there are no scores. Source: the average
    over data sets of BEIR (Thakur et al. 2021).

    >>> qrels = fr.read_qrels("data/digits.qrels")
    >>> fr.mean_over_datasets(fr.evaluate(qrels, ["data/pixels.run", "data/pca.run"], "map"))
    {'map': 0.3920...}
    """
    rows = as_list(scores)
    if not rows:
        raise GroupError("mean_over_datasets: expected one data set or more, found none")
    names = common_names(rows)
    means = [row_scores.mean for row_scores in rows]
    return {name: sum(mean[name] for mean in means) / len(means) for name in names}


def by_group(
    scores: Scores, groups: Mapping[Any, Hashable], *, rest: Hashable
) -> dict[Hashable, Scores]:
    """The scores of each group of queries; see `Scores.by_group`."""
    if not hasattr(groups, "items"):
        raise TypeError(f"groups: expected {{query: group}}, found {type(groups).__name__}")
    named = {_text(query): group for query, group in groups.items() if not _is_none(group)}
    members = _Members(named, rest)
    evaluated = members.of(scores.query_ids)
    coverage = scores.coverage
    found = set(coverage.found)
    # Only where they count need the judged queries without results have a group.
    judged = members.of(coverage.judged, all_of_them=coverage.complete)
    members.refuse_strangers()
    made: dict[Hashable, Scores] = {}
    for group in sorted(judged.keys() | evaluated.keys(), key=members.place):
        if group not in evaluated:
            raise GroupError(
                f"by_group: none of the {len(judged[group])} judged queries of group {group!r} has"
                " results"
            )
        covered = _restrict_coverage(coverage, judged.get(group, []), found)
        made[group] = _of_rows(scores, evaluated[group], covered)
    return made


def _text(query: object) -> str:
    return decoded(query) if isinstance(query, bytes) else str(query)


def _is_none(group: object) -> bool:
    """None, or the NaN that stands for it in a frame."""
    return group is None or group != group


class _Members:
    """Queries sorted into their groups, by their places; strangers are those without one."""

    def __init__(self, named: dict[str, Hashable], rest: Hashable) -> None:
        self._named, self._rest = named, rest
        self._strangers: dict[str, None] = {}
        self._places = {group: i for i, group in enumerate(dict.fromkeys(named.values()))}

    def place(self, group: Hashable) -> int:
        """Where a group stands in the order of the mapping; the rest stands last."""
        return self._places.get(group, len(self._places))

    def of(
        self, queries: Iterable[bytes], *, all_of_them: bool = True
    ) -> dict[Hashable, list[int]]:
        """The places of the queries of each group."""
        found: dict[Hashable, list[int]] = {}
        for i, query in enumerate(queries):
            name = decoded(query)
            group = self._named.get(name, self._rest)
            if not _is_none(group):
                found.setdefault(group, []).append(i)
            elif all_of_them:
                self._strangers[name] = None
        return found

    def refuse_strangers(self) -> None:
        """Raise GroupError if a query had no group."""
        if self._strangers:
            names = [repr(name) for name in self._strangers]
            count, first = len(names), ", ".join(names[:NAMED])
            raise GroupError(
                f"by_group: {count} {'queries have' if count != 1 else 'query has'} no group:"
                f" {first}{', ...' if count > NAMED else ''} (rest= names a group for them)"
            )


def _restrict_coverage(coverage: Coverage, places: list[int], found: set[int]) -> Coverage:
    """What is covered of some of the judged queries."""
    positive = coverage.positive
    return Coverage(
        complete=coverage.complete,
        judged=[coverage.judged[i] for i in places],
        found=[i for i, place in enumerate(places) if place in found],
        unknown=None,
        positive=None if positive is None else [positive[i] for i in places],
    )


def _of_rows(scores: Scores, rows: list[int], coverage: Coverage) -> Scores:
    """The scores of some of the queries."""
    without_results = set(scores.zero_rows)
    zero_rows = [i for i, row in enumerate(rows) if row in without_results]
    missing = [rows[i] for i in zero_rows]
    evaluated = [row for row in rows if row not in without_results]
    columns = list(zip(scores.bound, scores.value_columns, strict=True))
    # The summary goes through the values as it does for all queries: those of the evaluated ones,
    # and after them those of the others.
    extended = [
        _select_rows(bound, column, evaluated + missing)
        if coverage.complete and counts_missing(bound)
        else None
        for bound, column in columns
    ]
    return Scores(
        bound=scores.bound,
        counts={
            "evaluated_queries": len(evaluated),
            "missing_queries": len(coverage.judged) - len(coverage.found),
        },
        coverage=coverage,
        tag_bytes=scores.tag_bytes,
        zscored=scores.zscored,
        query_ids=[scores.query_ids[row] for row in rows],
        value_columns=[_select_rows(bound, column, rows) for bound, column in columns],
        zero_rows=zero_rows,
        summaries=summaries(
            scores.bound, [_select_rows(bound, column, evaluated) for bound, column in columns],
            extended, len(evaluated), coverage, scores.tag_bytes, zscored=scores.zscored,
        ),
    )  # fmt: skip


def _select_rows(bound: BoundMeasure, column: Any, rows: list[int]) -> Any:
    """The rows of a column of values."""
    if column is None:
        return None
    if isinstance(column, list):
        return [column[row] for row in rows]
    selected: Any = as_array(column).reshape(-1, bound.width)[rows].reshape(-1)
    return memoryview(selected)
