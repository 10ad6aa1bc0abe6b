"""Rankings and judgments that are arrays of integers or Python's own objects."""

from __future__ import annotations

from fastrank.core.native.record import Record, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fastrank.core.native.record import Float32Array, Float64Array, Int32Array, Int64Array
    from fastrank.core.native.records import Hits, Rankings, RowIndex, Ties


class IndexedQrels(Record):
    """Judgments as `index_judgments` or `index_dicts` leaves them.

    Query q has the rows offsets[q] : offsets[q + 1] of docs and grades, the hash table
    tables[table_offsets[q] : table_offsets[q + 1]], and the distinct grades >= 0
    grade_values[grade_offsets[q] : grade_offsets[q + 1]], which occur grade_counts times. docs:
    integer ids, or the addresses of Python's strings; `texts` has four words for each of these
    (see kernels/matching/dicts.py).
    """

    offsets: Int64Array
    docs: Int64Array
    texts: Int64Array
    grades: Int64Array
    table_offsets: Int64Array
    tables: Int32Array
    grade_offsets: Int64Array
    grade_values: Int64Array
    grade_counts: Int64Array


class IdRows(Record):
    """Rankings as rows of ids of one width, and what is said of them (0 or 1).

    in_order: they stand by rank, also where there are scores. ascending: lower scores are better.
    unique: no id is twice in a row. with_absent: queries without a row get a placeholder.
    """

    ids: Int64Array
    width: int
    in_order: int
    ascending: int
    unique: int
    with_absent: int


class JudgedRows(Record):
    """The queries evaluated, -1 - query if with a placeholder; the rankings, `done` so far, and
    their ties.

    problem: see native/codes.py.
    """

    queries: Int64Array
    done: int
    rankings: Rankings
    ties: Ties
    problem: Int64Array


class RowScratch(Record):
    """Memory for judging one row of ids.

    marks: zeroed, one for each judgment. ids: one for each of a row. rows: 64 more. work: what
    ranking takes.
    """

    row_index: RowIndex
    marks: Int64Array
    ids: Int64Array
    rows: Int64Array
    work: Int64Array


class LabelledRows(Record):
    """Labels and scores: query q has the documents offsets[q] : offsets[q + 1]."""

    labels: Int64Array
    scores: Float64Array
    offsets: Int64Array


class LabelScratch(Record):
    """Memory for ordering the labelled documents of one query by their scores.

    singles, keys: the scores as compared, with room for as many and 256 more. above: how many are
    above each of 256 at most. work: what ranking takes.
    """

    singles: Float32Array
    keys: Float64Array
    above: Int32Array
    work: Int64Array


class DictRun(Record):
    """Rankings that are dicts: their addresses and lengths, and the place of each query.

    check_keys: one number, whether a key may be of another type than str.
    """

    dicts: Int64Array
    lengths: Int64Array
    queries: Int64Array
    check_keys: Int64Array


class DictScratch(Record):
    """Memory for judging one query's dict: as many places as it has documents.

    docs, texts, lengths: the addresses of the keys, and of their UTF-8 with its length. hits: the
    judged ones. work: what ranking takes.
    """

    docs: Int64Array
    texts: Int64Array
    lengths: Int64Array
    scores: Float64Array
    hits: Hits
    work: Int64Array


class PythonApi(State):
    """Addresses of functions and types of CPython, two types of NumPy, and the float 1.0."""

    next_item: int
    get_item: int
    set_item: int
    make_float: int
    drop_reference: int
    as_utf8: int
    as_integer: int
    clear_error: int
    tuple_item: int
    get_buffer: int
    release_buffer: int
    text: int
    integer: int
    double: int
    numpy_double: int
    numpy_single: int
    one: int


class ExpectedArguments(Record):
    """The arguments that a kernel takes, and behind each record its fields.

    owners: where the record is in this list, -1 for an argument; indices: which of its fields it
    is. kinds: of native/codes.py, or an array's bytes in an item; details: the address of a
    record's class, the letter of an array's format.
    """

    owners: Int64Array
    indices: Int64Array
    kinds: Int64Array
    details: Int64Array
