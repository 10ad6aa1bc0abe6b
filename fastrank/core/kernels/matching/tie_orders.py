"""Documents with equal scores: which they are, the ranks that grades can give them, and what is
listed then.
"""

from __future__ import annotations

from fastrank.core.kernels.matching.rankings import sort_values_if_needed
from fastrank.core.kernels.matching.ranks import make_keys, put_in_order, sort_scratch
from fastrank.core.native.declare import helper, kernel


@kernel("int64(Run, int64, float64[::1], int64[::1], int64[::1], int64[::1])")
def count_ties(run, single, keys, memory, tied, largest):
    """Per query of a run: results whose score another one has, and the most with one score.

    keys, memory: for the scores of any query, and their order (codes.SORT_COLUMNS). Returns the
    number of queries before the first with a score that is not a number.
    """
    _, offsets, scores = run
    for q in range(len(offsets) - 1):
        query_scores = scores[offsets[q] : offsets[q + 1]]
        results = len(query_scores)
        if not make_keys(query_scores, results, single, keys):
            return q
        work = sort_scratch(memory, results)
        put_in_order(keys[:results], single, work)
        low = 0
        while low < results:
            high = low + 1
            while high < results and keys[work.order[high]] == keys[work.order[low]]:
                high += 1
            if high - low > 1:
                tied[q] += high - low
            largest[q] = max(largest[q], high - low)
            low = high
    return len(offsets) - 1


@kernel("void(Rankings, Ties, TieBounds)")
def bound_ties(rankings, ties, bounds):
    """Find what each listed document of the rankings ties with."""
    offsets, ranks = rankings.offsets, rankings.ranks
    for row in range(offsets[len(offsets) - 1]):
        bounds.lows[row], bounds.highs[row] = ranks[row] - 1, ranks[row]
    for q in range(len(offsets) - 1):
        for tie in range(ties.offsets[q], ties.offsets[q + 1]):
            low, high = ties.lows[tie], ties.highs[tie]
            row, stop = offsets[q], offsets[q + 1]
            while row < stop:
                middle = row + (stop - row) // 2
                if ranks[middle] <= low:
                    row = middle + 1
                else:
                    stop = middle
            while row < offsets[q + 1] and ranks[row] <= high:
                if bounds.highs[row] - bounds.lows[row] > 1:
                    # It was noted before.
                    break
                bounds.lows[row], bounds.highs[row] = low, high
                row += 1


@helper
def lower_below(codes, level):
    """Put the grades below the level under -1, which all that is not judged becomes."""
    for i in range(len(codes)):
        codes[i] = -2 - codes[i] if 0 <= codes[i] < level else max(codes[i], -1)


@helper
def raise_again(codes):
    """Make them grades again."""
    for i in range(len(codes)):
        codes[i] = -2 - codes[i] if codes[i] < -1 else codes[i]


@kernel("void(int64, int64, Rankings, TieBounds, int64[::1])")
def order_ties(highest_first, unjudged_below, rankings, bounds, scratch):
    """Rank the listed documents of each tie group by grade, the highest or the lowest first.

    Documents outside the judgments (-1) rank as if below grade 0 and above negative ones (-2). If
    `unjudged_below` is above 0, all that is not judged ranks as if just below that grade instead,
    and becomes -1.
    """
    offsets, ranks, codes = rankings.offsets, rankings.ranks, rankings.grades
    lows, highs = bounds
    for q in range(len(offsets) - 1):
        first = offsets[q]
        while first < offsets[q + 1]:
            stop = first + 1
            while stop < offsets[q + 1] and lows[stop] == lows[first]:
                stop += 1
            count = stop - first
            group = codes[first:stop]
            if unjudged_below > 0:
                lower_below(group, unjudged_below)
            sort_values_if_needed(group, count, scratch, ())
            if highest_first:
                for i in range(count // 2):
                    group[i], group[count - 1 - i] = group[count - 1 - i], group[i]
            for i in range(count):
                # Between grades >= 0 and negative ones stand those that are not listed.
                if (group[i] >= 0) == (highest_first != 0):
                    ranks[first + i] = lows[first] + 1 + i
                else:
                    ranks[first + i] = highs[first] - (count - 1 - i)
            if unjudged_below > 0:
                raise_again(group)
            first = stop


@kernel("void(Rankings, int64, int64, int64, Rankings)")
def list_otherwise(rankings, level, depth, judged_only, others):
    """What judging lists with another level, depth, or of the judged documents only.

    The other rankings have the same distinct grades, and may be in the same memory.
    """
    ranks, codes = rankings.ranks, rankings.grades
    start, to = 0, 0
    for q in range(len(rankings.offsets) - 1):
        stop = rankings.offsets[q + 1]
        retrieved = min(rankings.num_ret[q], depth)
        listed, relevant = 0, 0
        for row in range(start, stop):
            rank, code = ranks[row], codes[row]
            # Ranks of expected rankings, which nothing cuts here, have no meaning.
            if rank > depth:
                break
            if judged_only:
                if code < 0:
                    continue
                rank = listed + 1
            relevant += code >= 0 and code >= level
            others.ranks[to], others.grades[to] = rank, code
            listed, to = listed + 1, to + 1
        others.num_ret[q] = listed if judged_only else retrieved
        others.num_rel_ret[q] = relevant
        start, others.offsets[q + 1] = stop, to
        relevant = 0
        for v in range(rankings.grade_offsets[q], rankings.grade_offsets[q + 1]):
            if rankings.grade_values[v] >= level:
                relevant += rankings.grade_counts[v]
        others.num_rel[q] = relevant


@kernel("void(Rankings, TieBounds)")
def drop_unjudged(rankings, bounds):
    """Leave the judged documents alone in the ranking, as -J does, within and between ties."""
    offsets, codes, num_ret = rankings.offsets, rankings.grades, rankings.num_ret
    lows, highs = bounds
    start, to = 0, 0
    for q in range(len(offsets) - 1):
        stop, base = offsets[q + 1], to
        row = start
        while row < stop:
            first, low = to, lows[row]
            while row < stop and lows[row] == low:
                if codes[row] >= 0:
                    codes[to] = codes[row]
                    to += 1
                row += 1
            for i in range(first, to):
                lows[i], highs[i] = first - base, to - base
        num_ret[q] = to - base
        start, offsets[q + 1] = stop, to
