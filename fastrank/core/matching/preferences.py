"""Count the preferences that rankings fulfill."""

from __future__ import annotations

from array import array

from fastrank.core.data.texts import interning, spans
from fastrank.core.matching.judged import QueryError
from fastrank.core.matching.queries import what_is_wrong
from fastrank.core.native import codes, kernels, records
from fastrank.core.native.buffers import filled, zeros
from fastrank.core.native.records import rankings as counting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.core.formats.qrels import Preferences
    from fastrank.core.formats.run import Run
    from fastrank.core.matching.options import Options
    from fastrank.core.native.records import Matched


def count_preferences(
    preferences: Preferences, run: Run, matched: Matched, options: Options
) -> counting.PreferenceCounts:
    """The counts from which measures of preferences are computed. Raises QueryError."""
    count = len(matched.judgments)
    deepest, most = kernels.widest(run.offset_column), kernels.widest(preferences.offset_column)
    rows = len(preferences.docs)
    ranking_options = options.codes()
    problem, sizes, numbers = zeros("q", 3), zeros("q", 2 * count), zeros("q", rows)
    # Scratch for one query: its ranking and its judgments.
    widest = max(deepest, most)
    scratch = counting.NumberingScratch(
        ranking=records.RankingScratch(
            keys=zeros("d", deepest), order=zeros("q", widest), merge=zeros("q", widest)
        ),
        interning=interning(most).changed(table=zeros("q", kernels.table_size(deepest + most))),
        numbers=zeros("q", most),
        docs=spans(most),
    )
    columns = _columns(preferences)
    done = kernels.number_documents(
        columns, run.columns, matched, ranking_options, scratch, numbers, sizes, problem
    )
    repeats = problem[0] == codes.RUN_REPEATS
    stopped = QueryError(done, what_is_wrong(problem, preferences, run)) if repeats else None
    documents = max((sizes[2 * i] for i in range(done)), default=0)
    if ranking_options.single_precision:
        # The values of C floats, which trec_eval 9.0.8 holds preference levels in; without iter,
        # PyPy's array takes the bytes of the memory for its own.
        columns = columns.changed(levels=filled("d", array("f", iter(columns.levels)).tolist()))
    group_rows = kernels.count_picked(preferences.offset_column, matched.judgments)
    group_offsets = zeros("q", count + 1)
    counts = counting.PreferenceCounts(
        group_offsets,
        *(zeros("q", group_rows) for _ in range(5)),
        *(zeros("d", group_rows) for _ in range(4)),
        pair_offsets=filled("q", [3 * i for i in range(count + 1)]),
        pair_agreement=zeros("d", 3 * count),
        pair_count=zeros("q", 3 * count),
    )
    square = counting.PreferenceScratch(
        order=zeros("q", most),
        merge=zeros("q", most),
        wins=zeros("i", documents * documents),
        prefers=zeros("B", documents * documents),
        levels=zeros("d", documents),
        states=zeros("q", documents),
        tally=counting.Tally(),
    )
    problem[0] = codes.FINE
    done = kernels.count_preferences(
        columns, numbers, matched.judgments[:done], sizes, square, counts, problem
    )
    if problem[0] != codes.FINE:
        cycle = problem[0] == codes.CYCLE
        raise QueryError(done, what_is_wrong(problem, preferences, run), inconsistent=cycle)
    if stopped is not None:
        raise stopped
    return counts


def _columns(preferences: Preferences) -> counting.Preferences:
    """The preferences as input of kernels; without subgroups, these are empty strings."""
    rows, groups, subgroups = len(preferences.docs), preferences.groups, preferences.subgroups
    has_subgroups = len(subgroups) == rows
    return counting.Preferences(
        docs=preferences.docs.columns,
        offsets=preferences.offset_column,
        groups=records.Spans(*groups.columns[1:]),
        subgroups=records.Spans(*subgroups.columns[1:]) if has_subgroups else spans(rows),
        levels=preferences.level_column,
    )
