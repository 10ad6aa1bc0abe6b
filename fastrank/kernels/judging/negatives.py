"""Hard negatives: per query the best results that nobody judged relevant."""

from __future__ import annotations

from fastrank.kernels.judging.memory import join, rank_documents
from fastrank.native.codes import (
    FINE,
    LARGER_ID_FIRST,
    MINE_BY_HIGHEST,
    MINE_DEPTH,
    MINE_LEVEL,
    MINE_MARGIN,
    MINE_NUMBER,
    MINE_RELATIVE,
    MINE_SINGLE,
    MINE_SKIP,
    NO_REFERENCE,
    SCORE_IS_NAN,
)
from fastrank.native.declare import helper, kernel


@helper
def highest_allowed(reference, options, margins):
    """The highest score that a negative may have beside positives of this score."""
    limit = float("inf")
    if options[MINE_MARGIN]:
        limit = min(limit, reference - margins[0])
    if options[MINE_RELATIVE]:
        limit = min(limit, reference - abs(reference) * margins[1])
    return limit


@kernel(
    "int64(uint8[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " uint8[::1], int64[::1], int64[::1], int64[::1], float64[::1],"
    " int64[::1], int64[::1], int64[::1], float64[::1],"
    " int64[::1], float64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1])"
)
def mine_negatives(
    qrels_text,
    qrels_offsets,
    qrels_starts,
    qrels_lengths,
    grades,
    run_text,
    run_offsets,
    run_starts,
    run_lengths,
    scores,
    judgments,
    rankings,
    options,
    margins,
    table,
    keys,
    order,
    scratch,
    found,
    retrieved,
    picked,
    counts,
    problem,
):
    """Pick from ranking rankings[i] (-1: none) negatives for the judgments judgments[i].

    picked holds them where the rows of the ranking begin: rows of the run, best first, counts[i].
    retrieved[row of a judgment] becomes 1 + the row of the run that has its document, or stays 0.
    counts[i] becomes NO_REFERENCE where there are margins and no relevant document was retrieved.
    Stops at the first query with a problem, as `judge_rankings` does.
    """
    qrels = (qrels_text, qrels_starts, qrels_lengths)
    run = (run_text, run_starts, run_lengths)
    wanted, level = options[MINE_NUMBER], options[MINE_LEVEL]
    by_margin = options[MINE_MARGIN] or options[MINE_RELATIVE]
    for i in range(len(judgments)):
        if rankings[i] < 0:
            continue
        first, stop = run_offsets[rankings[i]], run_offsets[rankings[i] + 1]
        results = stop - first
        judged = qrels_offsets[judgments[i]]
        number = qrels_offsets[judgments[i] + 1] - judged
        for row in range(first, stop):
            if scores[row] != scores[row]:
                problem[0], problem[1] = SCORE_IS_NAN, row
                return i
        rank_documents(
            run_text, run_starts, run_lengths, scores, first, results, options[MINE_SINGLE],
            LARGER_ID_FIRST, keys, order, scratch,
        )  # fmt: skip
        problem[0] = join(qrels, judged, number, run, first, order, results, table, found, problem)
        if problem[0] != FINE:
            return i
        reference, known = 0.0, False
        for r in range(results):
            if found[r] < 0:
                continue
            row = first + order[r]
            retrieved[judged + found[r]] = row + 1
            if grades[judged + found[r]] >= level:
                # Ranks do not say it: in single precision equal ones may be different here.
                if not known:
                    reference = scores[row]
                elif options[MINE_BY_HIGHEST]:
                    reference = max(reference, scores[row])
                else:
                    reference = min(reference, scores[row])
                known = True
        if by_margin and not known:
            counts[i] = NO_REFERENCE
            continue
        limit = highest_allowed(reference, options, margins)
        taken = 0
        for r in range(options[MINE_SKIP], min(results, options[MINE_DEPTH])):
            if taken == wanted:
                break
            row = first + order[r]
            relevant = found[r] >= 0 and grades[judged + found[r]] >= level
            if not relevant and scores[row] <= limit:
                picked[first + taken] = row
                taken += 1
        counts[i] = taken
    return len(judgments)
