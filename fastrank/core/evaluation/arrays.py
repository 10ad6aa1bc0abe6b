"""Evaluate rankings given as arrays of integer ids and scores, as faiss returns them."""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.common.arguments import check_threads, flag
from fastrank.common.keywords import takes, with_defaults
from fastrank.core.data.texts import decoded
from fastrank.core.evaluation.ties import scores_and_ties
from fastrank.core.formats.inputs import is_file
from fastrank.core.formats.qrels import Qrels
from fastrank.core.formats.tables.values import (
    as_rows,
    check_integers,
    check_scores,
    query_ids,
    row_numbers,
)
from fastrank.core.matching.array_qrels import ArrayQrels, index_qrels, moved, select_queries
from fastrank.core.matching.arrays import ArrayRun, match_rows
from fastrank.core.matching.keywords import EVALUATION, ArrayOptions, Request
from fastrank.core.matching.plan import Plan
from fastrank.core.matching.queries import relevant_queries
from fastrank.errors import ArrayError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt
    from typing_extensions import Unpack

    from fastrank.common.arrays import Array
    from fastrank.core.matching.array_qrels import ArrayQrelsLike
    from fastrank.core.measures.selection import Measures
    from fastrank.core.scores.scores import Scores


@takes(ArrayOptions, EVALUATION)
def evaluate_arrays(
    qrels: ArrayQrelsLike,
    ids: npt.ArrayLike,
    scores: npt.ArrayLike | None,
    measures: Measures = "official",
    *,
    queries: Iterable[object] | None = None,
    higher_is_better: bool = True,
    assume_unique: bool = False,
    threads: int | None = None,
    **options: Unpack[ArrayOptions],
) -> Scores:
    """Evaluate rankings given as rows of integer document ids, as faiss returns them.

    qrels: judgments as `index_qrels` takes them, or its result, which saves indexing them again.
    ids: integers[queries, k] of any width and memory order, including memory maps; at least 0, or
        -1 for no document, at any position.
    scores: float16, float32, float64 or integers[queries, k]; or None if each row is a ranking,
        best first. The scores of -1 ids are ignored.
    measures: as `evaluate` takes them.
    queries: the id of each row, for looking up its judgments. By default row i has the judgments of
        row i, or those of query i if they are keyed by query.
    higher_is_better: False for distances: rows are ranked by ascending scores.
    assume_unique: skip the search for duplicate documents in a row; duplicates of judged documents
        are found anyway. The search takes two fifths of the time for rankings of 1,000 documents
        with one judged document, and hardly any with 50.
    threads: the maximum number of threads, by default as many as are useful. The values do not
        depend on it.
    **options: see `ArrayOptions`.

    `ignore_identical_ids` and `exclude` compare the ids of the rows, or their numbers, with the
    document ids as decimal strings.

    The values are those of trec_eval for the same run and judgments as files. Scores are compared
    as in `trec_eval_version` (9.0.8: as 32-bit floats). Of documents with equal scores, the one
    whose decimal id sorts later comes first (9 before 10), unless `ties` says otherwise. With
    `scores=None` the order of the row counts, and there are no ties. The queries of the Scores are
    in byte order of their ids, in which trec_eval sums them, or in the order of the rows if they
    have no ids. As in trec_eval, rows without judgments are skipped; they are not read, and count
    as `unjudged_queries`. A row without documents is a query that found nothing, and counts 0;
    judged queries without a row are `missing_queries`.

    With other values of `ties` or `duplicates`, with `ignore_identical_ids` or `exclude`, and if a
    document is repeated below `depth`, the arrays are first converted to a Run with string ids,
    which takes 0.1 to 0.25 µs per document, 10 to 40 times as long. Then `threads` and
    `assume_unique` have no effect.

    Raises ArrayError, which names row and column, for other shapes and types, a NaN, a duplicate
    document (except below `depth`, as in `evaluate`) or an id below -1; MeasureError,
    NoQueriesError and EvaluationError as `evaluate` does.

    >>> ids = [[4, 59, 31], [26, 15, -1]]
    >>> distances = [[0.1, 0.3, 0.2], [0.5, 0.7, 0.0]]
    >>> qrels = [{31: 1, 4: 2}, {15: 1}]
    >>> scores = fr.evaluate_arrays(qrels, ids, distances, "map P.1", higher_is_better=False)
    >>> scores.mean
    {'map': 0.75, 'P_1': 0.5}
    >>> scores["map"].tolist()
    [1.0, 0.5]
    """
    request = Request(measures, with_defaults(evaluate_arrays, options))
    check_threads(threads)
    docs = check_integers("ids", as_rows("ids", ids, 2))
    keys = None
    if scores is not None:
        keys = check_scores("scores", as_rows("scores", scores, 2))
        if keys.shape != docs.shape:
            raise ArrayError(
                "scores", f"expected the shape of ids {docs.shape}, found {keys.shape}"
            )
    if queries is not None and not hasattr(queries, "__len__"):
        queries = list(queries)
    names = queries
    if not isinstance(qrels, ArrayQrels):
        keyed = isinstance(qrels, (Qrels, Mapping)) or is_file(qrels)
        qrels = index_qrels(qrels, queries=None if keyed else queries)
        queries = queries if keyed else None
    row_queries = _queries_of_rows(qrels, queries, len(docs))
    unknown = _unknown_queries(row_queries, names)
    is_named = qrels.is_named if queries is None and qrels.rows is not None else queries is not None
    picks, left_out = relevant_queries(qrels, request.options)
    if left_out:
        qrels, now = select_queries(qrels, picks)
        row_queries = moved(row_queries, now)
    order = qrels.order if is_named else row_queries[row_queries >= 0]
    rows = _rows_of_queries(row_queries, len(qrels))[order]
    run = ArrayRun(
        ids=docs,
        scores=keys,
        queries=order,
        rows=rows,
        lower_is_better=not flag("higher_is_better", higher_is_better),
        unique=flag("assume_unique", assume_unique),
        unknown=unknown,
    )
    plan = Plan(
        qrels,
        request.measures,
        request.options,
        skipped=left_out,
        query_order=None if is_named else qrels.queries.take(order.tolist()),
    )
    return scores_and_ties(plan, match_rows(plan, run, threads))


def _queries_of_rows(qrels: ArrayQrels, queries: Iterable[object] | None, count: int) -> Array:
    """For each row the index of its query in the judgments, or -1."""
    import numpy

    if queries is None and qrels.rows is not None:
        if len(qrels.rows) != count:
            raise ArrayError(
                "ids", f"expected {len(qrels.rows)} rows, one per query of qrels, found {count}"
            )
        rows: Array = qrels.rows
        return rows
    ids = row_numbers(count) if queries is None else query_ids(queries)
    if len(ids) != count:
        raise ArrayError("queries", f"expected {count}, one per row of ids, found {len(ids)}")
    numbers = {query: i for i, query in enumerate(qrels.queries)}
    if queries is None:
        row_ids = set(ids)
        strange = next((query for query in numbers if query not in row_ids), None)
        if strange is not None:
            raise ArrayError(
                "queries",
                "expected the query id of each row, because the query"
                f" {decoded(strange)!r} of qrels is not a row number",
            )
    return numpy.fromiter((numbers.get(query, -1) for query in ids), numpy.int64, count)


def _unknown_queries(row_queries: Array, queries: Iterable[object] | None) -> list[bytes]:
    """The ids of the rows without judgments."""
    import numpy

    rows = numpy.flatnonzero(row_queries < 0)
    if not len(rows):
        return []
    ids = row_numbers(len(row_queries)) if queries is None else query_ids(queries)
    return [ids[row] for row in rows.tolist()]


def _rows_of_queries(row_queries: Array, count: int) -> Array:
    """For each query of the judgments the index of its row, or -1."""
    import numpy

    rows = numpy.full(count, -1, numpy.int64)
    judged = numpy.flatnonzero(row_queries >= 0)
    rows[row_queries[judged]] = judged
    return rows
