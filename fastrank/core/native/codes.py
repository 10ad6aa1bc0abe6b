"""The meaning of the numbers that kernels and their callers pass each other.

Plain integers in a module without imports: the compiler sees constants, and the callers of the
compiled library need not import the kernels' sources to know them.
"""

from __future__ import annotations

# Scanning: values of `status` ...
DONE, MALFORMED, NUL_IN_LINE, NUL_AT_LINE_START, MISPLACED, BARE_RETURN = range(6)
# Numbers: what is known of the text of one, as bits. It must be given to a slower reader; or only
# its beginning is a number, or nothing of it.
EXACT, HARD, PARTIAL = 0, 1, 2
# The classes of text that are refused where numbers are read as C's atof reads them, and where a
# whole text must be one.
AS_C, STRICTLY = HARD, HARD | PARTIAL
# Taking lines of a run: what is known of the blanks of a block. Fields are marked, and several may
# come between two; they are marked, and one comes; fields are not marked, and all blanks are spaces
# ...
SEVERAL, SINGLE, UNMARKED = range(3)
# ... what comes next, if it is none of the values of `status` ...
NEW_QUERY, SAME_QUERY, SIMILAR, END_OF_BLOCK = range(6, 10)
# ... how many lines are taken at once, and how much text is indexed at once: the text, its index,
# and what is noted of its lines stay in the L1 cache.
CHUNK = 256
BLOCK = 1 << 13
# Bytes for one bit per byte of a block, with a word behind them that is always set; and places for
# newlines, of which every byte may be one.
MARK_BYTES = BLOCK // 8 + 16
NEWLINE_PLACES = BLOCK + 4
# The value of cursor.file where kernels are not to read on by themselves.
NO_FILE = -1
# The shortest line of a run, `q Q d r s t` with its newline, by which a text has lines at most.
SHORTEST_LINE = 12
# How much of a run is read at once: it fits the second-level cache, with what is stored per line.
PIECE = 1 << 18
# The start and stop of each of the first six fields of a line.
BOUNDS = 12
# Bytes that come behind the text of a piece, so that words can be loaded without a look at its end.
SLACK = 64
# Scores of consecutive lines: where they descend nobody reads them all.
DESCENDING, ASCENDING, UNREADABLE = range(3)
# Streaming and packing: values of `status` beside those above; the whole file must be read then, by
# readers that know more or to gather the lines of queries that stand in several places.
SCATTERED, NOT_STREAMED = range(10, 12)
# ... when lines of queries are gathered, also that there is no room.
NO_PAGE_LEFT = 12
# Which lines of a relevance file are comments: none; as in trec_eval 10.0; all that begin with #.
NO_COMMENTS, SINGLE_COMMENTS, ALL_COMMENTS = range(3)

# Judging: values of `tie_direction`: which of two documents with equal scores ranks first. The one
# whose id sorts later (trec_eval's rule), the one whose line comes first, or the one whose id sorts
# earlier ...
LARGER_ID_FIRST, FIRST_LINE_FIRST, SMALLER_ID_FIRST = range(-1, 2)
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
    SCORE_IS_NAN,
    NEGATIVE_ID,
) = range(10)

# Comparing rankings: how rank-biased overlap treats ties. Tied items share the first of their ranks
# (w); are averaged over their orders (a); the same, corrected for the information lost (b) ...
TIES_SHARE_RANK, TIES_AVERAGED, TIES_CORRECTED = range(3)
# ... and the number of values for each query in a comparison of two runs.
OVERLAP_VALUES = 5

# Python's objects: bytes before an object's type, the number in a float and the hash of a text.
TYPE_IN_OBJECT, NUMBER_IN_FLOAT, HASH_IN_TEXT = 8, 16, 24
# ... and before the address of the items of a list.
ITEMS_IN_LIST = 24
# The kinds of arguments of kernels; an array's items have their size.
RECORD, INTEGER = -1, 0

# Grades of retrieved documents without one of their own: outside the qrels; negative there.
UNJUDGED, POOLED = -1, -2

# Checking: what is odd about a line. A comment may be data to trec_eval 9.0.8, or to 10.0, which
# skips one at a time ...
(
    TOO_FEW_FIELDS,
    TOO_MANY_FIELDS,
    BLANK_LINE,
    COMMENT_LINE,
    DATA_COMMENT,
    SECOND_COMMENT,
    NUL_LINE,
    MISPLACED_FIELDS,
) = range(8)
ODD_KINDS = 8
# The classes of a number's text: all of it a number (for a grade: an integer), only its beginning,
# nothing of it, nan, infinite, a decimal that is whole or not where an integer should stand, and
# one that only a slower reader can tell.
(
    A_NUMBER,
    A_PREFIX,
    NO_NUMBER,
    NOT_A_NUMBER,
    INFINITE,
    WHOLE_DECIMAL,
    FRACTION,
    FALLBACK_NUMBER,
) = range(8)

# Mining: the count of negatives where margins have nothing to hold to.
NO_REFERENCE = -1

# Ranking: numbers in the memory for it, for each result, and besides for the values of the bytes of
# a score.
SORT_COLUMNS, SORT_BYTES = 4, 256 * 8
