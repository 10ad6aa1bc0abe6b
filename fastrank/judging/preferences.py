"""Preferences counted against rankings."""

from __future__ import annotations

from fastrank.judging.judged import QueryError
from fastrank.judging.problems import what_is_wrong
from fastrank.native import codes as at
from fastrank.native import kernels
from fastrank.native.buffers import filled, table_size, zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from fastrank.data.preferences import Preferences
    from fastrank.data.run import Run
    from fastrank.judging.matching import MatchedQueries
    from fastrank.judging.needs import JudgingOptions


def count_preferences(
    preferences: Preferences, run: Run, matched: MatchedQueries, options: JudgingOptions
) -> tuple[Any, ...]:
    """The columns of the record `Preferences` of fastrank/kernels. Raises QueryError."""
    count = len(matched)
    deepest, most = kernels.widest(run.offset_column), kernels.widest(preferences.offset_column)
    rows = len(preferences.docs)
    places = options.places(stop_if_none_judged=False)
    problem, sizes, numbers = zeros("q", 3), zeros("q", 2 * count), zeros("q", rows)
    # Scratch for one query: its ranking and its judgments.
    widest = max(deepest, most)
    done = kernels.number_documents(
        *preferences.columns,
        *run.columns,
        matched.judgments,
        matched.rankings,
        places,
        zeros("d", deepest),
        zeros("q", widest),
        zeros("q", widest),
        zeros("q", table_size(deepest + most)),
        *(zeros("q", most) for _ in range(5)),
        numbers,
        sizes,
        problem,
    )
    numbered = matched.first(done)
    repeats = problem[0] == at.RUN_REPEATS
    stopped = QueryError(done, what_is_wrong(problem, preferences, run)) if repeats else None
    documents = max((sizes[2 * i] for i in range(done)), default=0)
    levels = preferences.level_column
    if options.single_precision:
        levels = zeros("d", rows)
        kernels.to_single_precision(preferences.level_column, levels)
    group_rows = kernels.count_picked(preferences.offset_column, matched.judgments)
    group_offsets = zeros("q", count + 1)
    tallies = [zeros("q", group_rows) for _ in range(5)]
    balanced = [zeros("d", group_rows) for _ in range(4)]
    agreement, pairs = zeros("d", 3 * count), zeros("q", 3 * count)
    problem[0] = at.FINE
    done = kernels.count_preferences(
        preferences.docs.buffer,
        preferences.offset_column,
        preferences.groups.starts,
        preferences.groups.lengths,
        *_subgroups(preferences, rows),
        levels,
        numbers,
        numbered.judgments,
        sizes,
        zeros("q", most),
        zeros("q", max(most, at.TALLY_SIZE)),
        zeros("i", documents * documents),
        zeros("B", documents * documents),
        zeros("d", documents),
        zeros("q", documents),
        group_offsets,
        *tallies,
        *balanced,
        agreement,
        pairs,
        problem,
    )
    if problem[0] != at.FINE:
        cycle = problem[0] == at.CYCLE
        raise QueryError(done, what_is_wrong(problem, preferences, run), inconsistent=cycle)
    if stopped is not None:
        raise stopped
    pair_offsets = filled("q", [3 * i for i in range(count + 1)])
    return group_offsets, *tallies, *balanced, pair_offsets, agreement, pairs


def _subgroups(preferences: Preferences, rows: int) -> tuple[Any, Any]:
    """The subgroup texts; empty ones where the format has no subgroups."""
    texts = preferences.subgroups
    return (texts.starts, texts.lengths) if len(texts) == rows else (zeros("q", rows),) * 2
