"""Hard negatives: per query the best results that nobody judged relevant."""

from __future__ import annotations

from fastrank.core.kernels.matching.texts import join, rank_documents
from fastrank.core.native.codes import FINE, LARGER_ID_FIRST, NO_REFERENCE, SCORE_IS_NAN
from fastrank.core.native.declare import helper, kernel


@helper
def highest_allowed(reference, rules):
    """The highest score that a negative may have beside positives of this score."""
    limit = float("inf")
    if rules.by_margin:
        limit = min(limit, reference - rules.margin)
    if rules.by_relative_margin:
        limit = min(limit, reference - abs(reference) * rules.relative_margin)
    return limit


@kernel("int64(Qrels, Run, Matched, MiningRules, MiningScratch, Negatives, int64[::1])")
def mine_negatives(qrels, run, matched, rules, scratch, negatives, problem):
    """Pick negatives from the matched rankings (-1: none) for their judgments.

    counts[i] becomes NO_REFERENCE where there are margins and no relevant document was retrieved.
    Stops at the first query with a problem, as `judge_rankings` does.
    """
    judgments, rankings = matched
    scores, judged_rows, order = run.scores, scratch.judged_rows, scratch.ranking.order
    most, level = rules.number, rules.level
    by_margin = rules.by_margin or rules.by_relative_margin
    for i in range(len(judgments)):
        if rankings[i] < 0:
            continue
        first, stop = run.offsets[rankings[i]], run.offsets[rankings[i] + 1]
        results = stop - first
        judged = qrels.offsets[judgments[i]]
        number = qrels.offsets[judgments[i] + 1] - judged
        grades = qrels.grades[judged : judged + number]
        for row in range(first, stop):
            if scores[row] != scores[row]:
                problem[0], problem[1] = SCORE_IS_NAN, row
                return i
        rank_documents(
            run.docs,
            scores,
            first,
            results,
            rules.single_precision,
            LARGER_ID_FIRST,
            scratch.ranking,
        )
        problem[0] = join(
            qrels.docs,
            judged,
            number,
            run.docs,
            first,
            order,
            results,
            scratch.table,
            judged_rows,
            problem,
        )
        if problem[0] != FINE:
            return i
        reference, has_reference = 0.0, False
        for r in range(results):
            if judged_rows[r] < 0:
                continue
            row = first + order[r]
            negatives.retrieved[judged + judged_rows[r]] = row + 1
            if grades[judged_rows[r]] >= level:
                # Ranks do not say it: in single precision equal ones may be different here.
                if not has_reference:
                    reference = scores[row]
                elif rules.by_highest:
                    reference = max(reference, scores[row])
                else:
                    reference = min(reference, scores[row])
                has_reference = True
        if by_margin and not has_reference:
            negatives.counts[i] = NO_REFERENCE
            continue
        limit = highest_allowed(reference, rules)
        taken = 0
        for r in range(rules.skipped, min(results, rules.depth)):
            if taken == most:
                break
            row = first + order[r]
            relevant = judged_rows[r] >= 0 and grades[judged_rows[r]] >= level
            if not relevant and scores[row] <= limit:
                negatives.selected[first + taken] = row
                taken += 1
        negatives.counts[i] = taken
    return len(judgments)
