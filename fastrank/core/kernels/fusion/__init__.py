"""Fusion of rankings, and the meaning of the numbers that its kernels and their callers pass.

Nothing is imported here, as in native/codes.py: callers of the compiled library need nothing else.
"""

from __future__ import annotations

# rules.values: what a run gives a document that it retrieves, by the document's rank ...
RECIPROCAL_RANKS, INVERSE_SQUARES, GEOMETRIC, BORDA_POINTS = range(4)
# ... or by its score; from SCORES on, scores must be finite.
SCORES, MIN_MAX, BY_MAXIMUM, BY_SUM, STANDARD, BY_RANK, BY_BORDA, DISTRIBUTION = range(4, 12)
INVERTED = 12

# rules.combination: the sum of a document's values, as it is or multiplied by: the number of
# runs with the document, a power of it, its logarithm, that of the number plus a constant, its
# square root, the weights of the runs; one of the values or their mean; or a count of majorities.
(
    SUM,
    SUM_BY_COUNT,
    SUM_BY_POWER,
    SUM_BY_LOG,
    SUM_BY_SHIFTED_LOG,
    SUM_BY_ROOT,
    SUM_BY_WEIGHTS,
    LARGEST,
    SMALLEST,
    MEDIAN,
    MEAN,
    MAJORITIES,
) = range(12)

# problem[0]: what is wrong; problem[1] is the query in its block, problem[2] the run, problem[3]
# the entry of the document.
FINE, REPEATED, NOT_FINITE, NO_MAXIMUM, RESULT_NOT_FINITE = range(5)
PROBLEM_SIZE = 4

# Bytes behind each text, so that 8 can be stored at once.
SLACK = 8
