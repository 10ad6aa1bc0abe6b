"""The meaning of the numbers that kernels and their callers pass each other.

Plain integers in a module without imports: the compiler sees constants, and the callers of the
compiled library need not import the kernels' sources to know them.
"""

from __future__ import annotations

# Scanning: places in `state` ...
ROWS, STRETCHES, HARD_NUMBERS, STATUS, AT, FIELDS_FOUND, TAG_START, TAG_LENGTH = range(8)
STATE_SIZE = 8
# ... and values of state[STATUS].
DONE, MALFORMED, NUL_IN_LINE, NUL_AT_LINE_START = range(4)
# Which lines of a relevance file are comments: none; as in trec_eval 10.0; all that begin with #.
NO_COMMENTS, SINGLE_COMMENTS, ALL_COMMENTS = range(3)

# Judging: places in `options` ...
LEVEL, MAX_RETRIEVED, JUDGED_ONLY, LIST_UNJUDGED, SINGLE_PRECISION, STOP_IF_NONE_JUDGED = range(6)
OPTIONS_SIZE = 6
# ... and what problem[0] says; problem[1] and problem[2] are rows.
(
    FINE,
    RUN_REPEATS,
    QRELS_REPEAT,
    NONE_JUDGED,
    GRADE_TOO_LARGE,
    TWO_LEVELS,
    ZERO_AND_NONZERO,
    CYCLE,
) = range(8)

# Counting preferences: places in the tally of a judgment group.
RET, RET_DONE, IMP, IMP_DONE, ABSENT, REL, NONREL, REL_RET, NONREL_RET = range(9)
TALLY_SIZE = 9

# Grades of retrieved documents without one of their own: outside the qrels; negative there.
UNJUDGED, POOLED = -1, -2
