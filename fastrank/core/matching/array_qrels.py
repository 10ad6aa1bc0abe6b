"""Judgments of documents with integer ids, indexed once for any number of evaluations."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.common.messages import counted
from fastrank.core.data.texts import as_texts, decoded, text_order
from fastrank.core.formats.inputs import is_file
from fastrank.core.formats.qrels import Graded, Qrels
from fastrank.core.formats.tables.dicts import LISTED_GRADE, is_listing
from fastrank.core.formats.tables.values import (
    LARGEST,
    as_rows,
    check_integers,
    graded_numbers,
    grades_of,
    query_ids,
    row_numbers,
    row_offsets,
    to_int64,
)
from fastrank.core.matching.filters import rows_of_queries
from fastrank.core.native import codes, kernels
from fastrank.core.native.buffers import columns, zeros
from fastrank.core.native.records.objects import IndexedQrels
from fastrank.errors import ArrayError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, NoReturn, TypeAlias

    import numpy.typing as npt

    from fastrank.common.arrays import Array
    from fastrank.core.data.grades import Scale
    from fastrank.core.formats.files.files import Source
    from fastrank.core.native.record import Int64Array

    ArrayQrelsLike: TypeAlias = "ArrayQrels | Qrels | Source | Any"
    """Judgments of documents with integer ids, as `index_qrels` takes them: arrays, a sparse matrix
    of scipy, dicts, lists, Qrels, or a file; or what it returns."""
    # Offsets, document ids, and grades with what they stand for.
    Rows = tuple[Array, Array, Array, Scale | None]


class ArrayQrels(Graded):
    """Indexed judgments of documents with integer ids, for `evaluate_arrays`; see `index_qrels`.

    queries: the ids of the judged queries. order: int64[queries], the queries in byte order of
    their ids. rows: int64[rows], for each row of the arrays evaluated without `queries=` the index
    of its query, or -1; None if the judgments are keyed by query. is_named: whether ids of the
    queries were given. columns: the input of kernels.

    >>> judged = fr.index_qrels({"q1": {31: 1, 4: 2}, "q2": {15: 1}})
    >>> len(judged)
    2
    >>> for ids in [[4, 9], [15, 3]], [[31, 4], [2, 15]]:
    ...     print(fr.evaluate_arrays(judged, ids, None, "P.1", queries=["q1", "q2"]).mean)
    {'P_1': 1.0}
    {'P_1': 0.5}
    """

    internal = Graded.internal | {"as_texts"}

    order: Int64Array
    rows: Int64Array | None
    is_named: bool
    columns: IndexedQrels

    def as_texts(self) -> Qrels:
        """The judgments with decimal numbers as ids of documents."""
        # Imported late, for the module knows these judgments.
        from fastrank.core.matching.arrays import with_ids

        return with_ids(self, self.columns.docs)

    def __repr__(self) -> str:
        judgments = counted(len(self.grade_column), "judgment")
        return f"<{type(self).__name__}: {counted(len(self), 'query', 'queries')}, {judgments}>"


def index_qrels(qrels: ArrayQrelsLike, *, queries: Iterable[object] | None = None) -> ArrayQrels:
    """Index judgments of documents with integer ids, for `evaluate_arrays`.

    qrels: one of
        * arrays `(indptr, doc_ids, grades)`: row i has the judgments indptr[i] : indptr[i + 1];
          or a scipy.sparse CSR matrix of queries × documents, whose stored values are grades;
        * a list with a dict {document id: grade} for each row;
        * a dict {query: {document id: grade}};
        * the last two with lists or sets of document ids, whose grade is 1, instead of dicts;
        * Qrels whose document ids are decimal numbers, or a file of them, as `read_qrels` takes it.
    queries: the ids of the rows, for the first two; by default the row numbers: "0", "1", ...

    Document ids are integers from 0 to 2**63 - 1. Grades are integers, bools or floats; a negative
    grade means not judged, as in trec_eval. A row without judgments is a query that is not judged.
    Raises ArrayError for anything else, and for a document that is judged twice for a query.

    >>> fr.index_qrels([{31: 1, 4: 2}, {15: 1}])
    <ArrayQrels: 2 queries, 3 judgments>
    >>> fr.index_qrels([[31, 4], {15}])
    <ArrayQrels: 2 queries, 3 judgments>
    >>> fr.index_qrels(([0, 2, 3], [31, 4, 15], [1, 2, 1]), queries=["q1", "q2"])
    <ArrayQrels: 2 queries, 3 judgments>
    """
    judgments: Any = qrels
    if isinstance(judgments, ArrayQrels):
        if queries is not None:
            raise ArrayError("queries", "the judgments are already indexed with their queries")
        return judgments
    if is_file(judgments):
        # Imported late: judgments in memory need no reader.
        from fastrank.core.formats.load import read_qrels

        judgments = read_qrels(judgments)
    if isinstance(judgments, (Qrels, Mapping)):
        if queries is not None:
            raise ArrayError("queries", "the judgments already have query ids")
        if isinstance(judgments, Mapping):
            ids = query_ids(judgments)
            return _index(ids, *_flatten(list(judgments.values()), ids), keyed=True, is_named=True)
        return _index(list(judgments.queries), *_numbered(judgments), keyed=True, is_named=True)
    if all(hasattr(judgments, name) for name in ("indptr", "indices", "data")):
        judgments = (judgments.indptr, judgments.indices, judgments.data)
    if not isinstance(judgments, (list, tuple)):
        kind = type(judgments).__name__
        raise ArrayError("qrels", f"expected arrays, dicts, Qrels or a file, found {kind}")
    of_rows = isinstance(judgments, list) or all(isinstance(row, Mapping) for row in judgments)
    if not of_rows and len(judgments) != 3:
        raise ArrayError(
            "qrels",
            "expected (indptr, doc_ids, grades), or a list with a dict"
            " {document id: grade} or a list of ids for each row",
        )
    given_ids = None if queries is None else query_ids(queries)
    rows = None if of_rows else _compressed_rows(*judgments)
    count = len(judgments) if rows is None else len(rows[0]) - 1
    ids = row_numbers(count) if given_ids is None else given_ids
    if len(ids) != count:
        reason = f"expected {count} ids, one per row of qrels, found {len(ids)}"
        raise ArrayError("queries", reason)
    rows = _flatten(judgments, ids) if rows is None else rows
    return _index(ids, *rows, keyed=False, is_named=queries is not None)


def select_queries(qrels: ArrayQrels, picks: Int64Array) -> tuple[ArrayQrels, Array]:
    """The judgments of some queries, and for each old index of a query the new one, or -1."""
    import numpy

    numbers = numpy.asarray(picks)
    new_numbers = numpy.full(len(qrels), -1, numpy.int64)
    new_numbers[numbers] = numpy.arange(len(numbers))
    rows, offsets = map(numpy.asarray, rows_of_queries(qrels.offset_column, picks))
    selected = _index(
        qrels.queries.take(picks),
        offsets,
        qrels.columns.docs[rows],
        qrels.grade_column[rows],
        qrels.scale,
        keyed=qrels.rows is None,
        is_named=qrels.is_named,
    )
    if qrels.rows is None:
        return selected, new_numbers
    return selected.changed(rows=moved(qrels.rows, new_numbers)), new_numbers


def moved(numbers: Array, new: Array) -> Array:
    """Map old indexes of queries, or -1, to new ones."""
    import numpy

    return numpy.where(numbers < 0, -1, new[numbers]) if len(new) else numbers


def _compressed_rows(indptr: npt.ArrayLike, doc_ids: npt.ArrayLike, grades: npt.ArrayLike) -> Rows:
    """CSR arrays as int64; the offsets are checked to ascend from 0 to the number of judgments."""
    name = "qrels doc_ids"
    docs = to_int64(name, check_integers(name, as_rows(name, doc_ids, 1)))
    values, scale = graded_numbers("qrels grades", as_rows("qrels grades", grades, 1))
    if len(values) != len(docs):
        raise ArrayError(
            "qrels grades", f"expected {len(docs)}, one per document id, found {len(values)}"
        )
    return row_offsets("qrels indptr", indptr, len(docs), "judgments"), docs, values, scale


def _flatten(rows: Sequence[Any], ids: list[bytes]) -> Rows:
    """Dicts {document id: grade}, or lists of document ids, as CSR arrays."""
    from itertools import chain, repeat

    import numpy

    for i, row in enumerate(rows):
        if not isinstance(row, Mapping) and not is_listing(row):
            raise ArrayError(
                "qrels",
                f"query {decoded(ids[i])!r}: expected a dict {{document id: grade}}"
                f" or a list of document ids, found {type(row).__name__}",
                i,
            )
    offsets = numpy.zeros(len(rows) + 1, numpy.int64)
    numpy.cumsum(numpy.fromiter(map(len, rows), numpy.int64, len(rows)), out=offsets[1:])
    docs = list(chain.from_iterable(rows))

    def fail(position: int, reason: str) -> NoReturn:
        row = int(numpy.searchsorted(offsets, position, "right")) - 1
        query = decoded(ids[row])
        raise ArrayError("qrels", f"query {query!r}: document {docs[position]!r}: {reason}", row)

    grades_of_rows = (
        row.values() if isinstance(row, Mapping) else repeat(LISTED_GRADE, len(row)) for row in rows
    )
    grades, scale = grades_of(list(chain.from_iterable(grades_of_rows)), fail)
    return offsets, _doc_ids(docs, rows, ids), numpy.asarray(grades), scale


def _doc_ids(docs: list[Any], rows: Sequence[Any], ids: list[bytes]) -> Array:
    """Document ids as an array. Raises ArrayError, which names the query, for a non-integer."""
    import numpy

    kinds = set(map(type, docs))
    if all(kind is int or issubclass(kind, numpy.signedinteger) for kind in kinds):
        try:
            return numpy.array(docs, numpy.int64)
        except OverflowError:
            pass
    queries = (i for i, row in enumerate(rows) for _ in row)
    for doc, i in zip(docs, queries, strict=True):
        is_truth = isinstance(doc, (bool, numpy.bool_))
        if is_truth or not hasattr(doc, "__index__") or not -LARGEST - 1 <= doc <= LARGEST:
            reason = f"expected an integer as document id, found {doc!r}"
            raise ArrayError("qrels", f"query {decoded(ids[i])!r}: {reason}", i)
    return numpy.array([doc.__index__() for doc in docs], numpy.int64)


def _numbered(qrels: Qrels) -> Rows:
    """Convert judgments with string document ids to CSR arrays."""
    import numpy

    docs = numpy.empty(len(qrels.docs), numpy.int64)
    for row, text in enumerate(qrels.docs):
        if not text.isdigit() or (text[:1] == b"0" and text != b"0") or int(text) > LARGEST:
            query = int(numpy.searchsorted(qrels.offsets, row, "right")) - 1
            raise ArrayError(
                "qrels",
                f"query {decoded(qrels.queries[query])!r}: document {decoded(text)!r}:"
                " expected a decimal integer; give a dict {query: {row of the document: grade}}"
                " instead",
                query,
            )
        docs[row] = int(text)
    return qrels.offsets, docs, numpy.asarray(qrels.grade_column), qrels.scale


def _index(
    ids: list[bytes],
    offsets: Array,
    docs: Array,
    grades: Array,
    scale: Scale | None,
    *,
    keyed: bool,
    is_named: bool,
) -> ArrayQrels:
    """Drop queries without judgments, and index the documents of the others."""
    import numpy

    # Copies: later changes of the caller's arrays must not affect the index.
    docs, grades = numpy.array(docs), numpy.array(grades)
    negative = numpy.flatnonzero(docs < 0)
    if len(negative):
        row = int(negative[0])
        query = int(numpy.searchsorted(offsets, row, "right")) - 1
        raise ArrayError(
            "qrels",
            f"query {decoded(ids[query])!r}: expected document ids of at least 0,"
            f" found {docs[row]}",
            query,
        )
    sizes = numpy.diff(offsets)
    judged = numpy.flatnonzero(sizes)
    rows = numpy.full(len(ids), -1, numpy.int64)
    rows[judged] = numpy.arange(len(judged))
    judged_offsets = numpy.concatenate([numpy.zeros(1, numpy.int64), offsets[1:][judged]])
    texts = as_texts([ids[i] for i in judged.tolist()] if len(judged) < len(ids) else ids)
    count, total = len(judged), len(docs)
    tables, grades_of_queries, values, counts = columns("q", *[count + 1] * 2, *[total] * 2)
    indexed = IndexedQrels(
        offsets=judged_offsets,
        docs=docs,
        texts=zeros("q", 0),
        grades=grades,
        table_offsets=tables,
        tables=zeros("i", 4 * total),
        grade_offsets=grades_of_queries,
        grade_values=values,
        grade_counts=counts,
    )
    problem = zeros("q", 3)
    done = kernels.index_judgments(indexed, problem)
    if problem[0] != codes.FINE:
        query = int(judged[done])
        reason = "a grade is too large to count judgments by grade"
        if problem[0] == codes.QRELS_REPEAT:
            first = judged_offsets[done]
            reason = (
                f"document {docs[problem[1]]} is judged twice, as number"
                f" {problem[1] - first} and {problem[2] - first}"
            )
        raise ArrayError("qrels", f"query {decoded(ids[query])!r}: {reason}", query)
    return ArrayQrels(
        queries=texts,
        offset_column=judged_offsets,
        grade_column=grades,
        scale=scale,
        order=numpy.asarray(text_order(texts)),
        rows=None if keyed else rows,
        is_named=is_named,
        columns=indexed,
    )
