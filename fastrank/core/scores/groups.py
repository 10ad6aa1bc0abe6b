"""Scores of groups of queries, and means over datasets."""

from __future__ import annotations

from fastrank.common.messages import counted, first_few
from fastrank.core.data.columns import as_array
from fastrank.core.data.texts import decoded
from fastrank.core.scores.summary import counts_missing, summaries
from fastrank.core.scores.tables import as_list, common_names
from fastrank.core.scores.text import warn_of_mean
from fastrank.errors import GroupError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping
    from typing import Any, TypeVar

    from fastrank.core.measures.bound import BoundMeasure
    from fastrank.core.scores.columns import Evaluated
    from fastrank.core.scores.summary import Coverage

    Group = TypeVar("Group", bound=Evaluated)

# The number of queries that an error names.
NAMED = 5


def mean_over_datasets(scores: Iterable[Evaluated] | Mapping[Any, Evaluated]) -> dict[str, float]:
    """Average `Scores.mean` over datasets: {measure: mean}.

    scores: one Scores per dataset, or {name: Scores}, all with the same measures. All datasets have
        the same weight, regardless of their number of queries.

    For counts this averages sums, for gm_map geometric means. Warns as `Scores.mean`. Raises
    MeasureError if the measures differ, GroupError if there are no scores. Source: the average over
    datasets of BEIR (Thakur et al. 2021).

    >>> qrels = fr.read_qrels("data/digits.qrels")
    >>> fr.mean_over_datasets(fr.evaluate(qrels, ["data/pixels.run", "data/pca.run"], "map"))
    {'map': 0.3920...}
    """
    rows = as_list(scores)
    if not rows:
        raise GroupError("mean_over_datasets: expected at least one Scores, found none")
    names = common_names(rows)
    for row_scores in rows:
        warn_of_mean(row_scores)
    means = [row_scores.mean for row_scores in rows]
    return {name: sum(mean[name] for mean in means) / len(means) for name in names}


def by_group(
    scores: Group, groups: Mapping[Any, Hashable], *, rest: Hashable
) -> dict[Hashable, Group]:
    """The scores of each group of queries; see `Scores.by_group`."""
    if not hasattr(groups, "items"):
        raise TypeError(f"groups: expected {{query: group}}, found {type(groups).__name__}")
    group_of = {_text(query): group for query, group in groups.items() if not _is_none(group)}
    strangers: dict[str, None] = {}

    def members(queries: Iterable[bytes], *, need_group: bool = True) -> dict[Hashable, list[int]]:
        """The indexes of the queries of each group; those without one become strangers."""
        rows: dict[Hashable, list[int]] = {}
        for i, query in enumerate(queries):
            name = decoded(query)
            group = group_of.get(name, rest)
            if not _is_none(group):
                rows.setdefault(group, []).append(i)
            elif need_group:
                strangers[name] = None
        return rows

    rows_by_group = members(scores.query_ids)
    coverage = scores.coverage
    # Judged queries without results need a group only if they count.
    judged = members(coverage.judged, need_group=coverage.complete)
    if strangers:
        names = first_few([repr(name) for name in strangers], NAMED)
        have = counted(len(strangers), "query has", "queries have")
        raise GroupError(f"by_group: {have} no group: {names} (use rest= to assign one)")
    # `rest` comes last.
    positions = {group: i for i, group in enumerate(dict.fromkeys(group_of.values()))}
    with_results, positive = set(coverage.found), coverage.positive
    group_scores: dict[Hashable, Group] = {}
    for group in sorted(
        judged.keys() | rows_by_group.keys(), key=lambda group: positions.get(group, len(positions))
    ):
        if group not in rows_by_group:
            raise GroupError(
                f"by_group: none of the {len(judged[group])} judged queries of group {group!r} has"
                " results in the run"
            )
        indexes = judged.get(group, [])
        covered = coverage.changed(
            judged=[coverage.judged[i] for i in indexes],
            found=[i for i, index in enumerate(indexes) if index in with_results],
            unknown=None,
            positive=None if positive is None else [positive[i] for i in indexes],
        )
        group_scores[group] = _of_rows(scores, rows_by_group[group], covered)
    return group_scores


def _text(query: object) -> str:
    return decoded(query) if isinstance(query, bytes) else str(query)


def _is_none(group: object) -> bool:
    """Whether it is None, or NaN as frames represent None."""
    return group is None or group != group


def _of_rows(scores: Group, rows: list[int], coverage: Coverage) -> Group:
    """The scores of some of the queries."""
    without_results = set(scores.zero_rows)
    zero_rows = [i for i, row in enumerate(rows) if row in without_results]
    zeros = [rows[i] for i in zero_rows]
    with_results = [row for row in rows if row not in without_results]
    columns = list(zip(scores.bound, scores.value_columns, strict=True))
    # Summed in the same order as for all queries: the evaluated ones first, then the others.
    extended = [
        _select_rows(bound, column, with_results + zeros)
        if coverage.complete and counts_missing(bound)
        else None
        for bound, column in columns
    ]
    return type(scores)(
        bound=scores.bound,
        counts={
            "evaluated_queries": len(with_results),
            "missing_queries": len(coverage.judged) - len(coverage.found),
        },
        coverage=coverage,
        tag_bytes=scores.tag_bytes,
        zscored=scores.zscored,
        query_ids=[scores.query_ids[row] for row in rows],
        value_columns=[_select_rows(bound, column, rows) for bound, column in columns],
        zero_rows=zero_rows,
        summaries=summaries(
            scores.bound,
            [_select_rows(bound, column, with_results) for bound, column in columns],
            extended,
            len(with_results),
            coverage,
            scores.tag_bytes,
            zscored=scores.zscored,
        ),
        ties=scores.ties and scores.ties.of_group(lambda part: _of_rows(part, rows, coverage)),
    )


def _select_rows(bound: BoundMeasure, column: Any, rows: list[int]) -> Any:
    """The rows of a column of values."""
    if column is None:
        return None
    if isinstance(column, list):
        return [column[row] for row in rows]
    selected: Any = as_array(column).reshape(-1, bound.width)[rows].reshape(-1)
    return memoryview(selected)
