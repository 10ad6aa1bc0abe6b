"""Evaluate labels and scores of documents, the format of learning to rank."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import compress

from fastrank.common.arguments import check_choice
from fastrank.common.keywords import takes, with_defaults
from fastrank.common.messages import python_warning
from fastrank.core.data.texts import Groups, Texts, as_texts, memory_of, text_order
from fastrank.core.evaluation.scoring import scores_of
from fastrank.core.evaluation.ties import ties_later
from fastrank.core.formats.qrels import Graded
from fastrank.core.formats.tables.values import (
    as_rows,
    check_integers,
    check_scores,
    graded_numbers,
    row_offsets,
    texts_of_ids,
    to_int64,
)
from fastrank.core.formats.tables.values import query_ids as ids_of_queries
from fastrank.core.matching.filters import rows_of_queries
from fastrank.core.matching.keywords import EVALUATION, LabelOptions, Request
from fastrank.core.matching.labels import Labels, match_as_texts, match_labels
from fastrank.core.matching.options import BY_GRADE
from fastrank.core.matching.plan import Plan
from fastrank.core.matching.queries import relevant_queries
from fastrank.core.measures.over_ties import has_expected_value
from fastrank.core.native.buffers import WORTH_KEEPING, Recycled
from fastrank.errors import ArrayError, OptionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    import numpy.typing as npt
    from typing_extensions import Unpack

    from fastrank.common.arrays import Array
    from fastrank.common.choices import LabelTies
    from fastrank.core.measures.selection import Measures
    from fastrank.core.scores.scores import Scores

TABLE = "a table of queries × documents, or a flat array with query_ids=, group_sizes= or offsets="
# More row numbers are not kept.
MANY = 1 << 17
# Memory for scores as float64, free again when the values are computed.
_SCORES = Recycled()
# Orders of documents with equal scores that do not depend on ids.
TIES = ("given", *BY_GRADE)


@takes(LabelOptions, EVALUATION)
def evaluate_labels(
    labels: npt.ArrayLike,
    scores: npt.ArrayLike | None,
    measures: Measures = "official",
    *,
    query_ids: npt.ArrayLike | None = None,
    group_sizes: npt.ArrayLike | None = None,
    offsets: npt.ArrayLike | None = None,
    mask: npt.ArrayLike | None = None,
    queries: Iterable[object] | None = None,
    ties: LabelTies | None = None,
    **options: Unpack[LabelOptions],
) -> Scores:
    """Evaluate scores of documents that are all labelled, as in learning to rank.

    labels: integers or floats, at least 0: the grade of each document.
    scores: float16, float32, float64 or integers of the same shape; higher is better. None if the
        documents of each query are a ranking, best first, without ties.
        Both are arrays [queries, n]; or lists with a row for each query, of different lengths; or
        flat arrays of documents, with one of query_ids, group_sizes and offsets.
    measures: as `evaluate` takes them.
    query_ids: for flat arrays, the query id of each document: integers or strings in an array, a
        list, or a column of pandas, polars or pyarrow, in any order. As `indexes` of torchmetrics,
        `group_id` of CatBoost, and `groups` of scikit-learn.
    group_sizes: for flat arrays with the documents of each query together, integers[queries]: the
        number of documents of each query. As `group` of LightGBM and XGBoost.
    offsets: integers[queries + 1]: the same, query i has the documents offsets[i] : offsets[i + 1].
    mask: for arrays [queries, n], bools of the same shape: which positions hold a document.
    queries: without query_ids, the id of each query; by default the row numbers: "0", "1", ...
    ties: the order of documents with equal scores (compared as 32-bit floats in 9.0.8): "average",
        "best" or "worst" as for `evaluate`, or "given"; there are no ids to sort by. By default the
        expected value, "average", which is the nDCG of scikit-learn and torchmetrics, for each
        measure that has one; the others are as "given", with a note. The first three, where
        documents tie, and the measures AUC and GAUC, take three times as long, because the arrays
        are first converted to Qrels and a Run.
    **options: see `LabelOptions`.

    All documents of a query count as retrieved and judged. Without ties, the values are those of
    trec_eval; with "given", for document ids that descend in the given order. The ideal ranking of
    ndcg contains all documents of the query, and a query without a relevant document counts as 0.
    The queries of the Scores are in byte order of their ids, in which trec_eval sums them, or in
    the order of the rows if they have no ids. Queries without documents are skipped. A warning is
    issued if the labels have fractions and the scores are few small integers, which have probably
    changed places.

    Raises ArrayError, which names row and column, for other shapes and types, a NaN, or a label
    that is negative or not a number; OptionError, MeasureError, NoQueriesError and EvaluationError
    as `evaluate` does.

    >>> labels, values = [[2, 0, 1], [0, 1, 0]], [[0.9, 0.8, 0.7], [0.6, 0.5, 0.4]]
    >>> fr.evaluate_labels(labels, values, "recip_rank").mean
    {'recip_rank': 0.75}
    >>> fr.evaluate_labels([2, 0, 1, 0, 1], [5, 4, 3, 2, 1], "recip_rank", group_sizes=[3, 2]).mean
    {'recip_rank': 0.75}
    >>> ids = ["b", "a", "b", "b", "a"]
    >>> fr.evaluate_labels([2, 0, 1, 0, 1], [5, 4, 3, 2, 1], "recip_rank", query_ids=ids).to_dict()
    {'a': {'recip_rank': 0.5}, 'b': {'recip_rank': 1.0}}
    >>> fr.evaluate_labels([[0, 1], [0, 1, 0]], [[2, 1], [1, 3, 2]], "recip_rank").mean
    {'recip_rank': 0.75}
    >>> fr.evaluate_labels([[1, 0]], [[0.5, 0.5]], "recip_rank").mean
    {'recip_rank': 0.75}
    """
    import numpy

    _check_ties(ties)
    if "groups" in options:
        raise TypeError(
            "evaluate_labels() got an unexpected keyword argument 'groups'; query_ids= takes the"
            " query id of each label, group_sizes= the number of labels of each query"
        )
    # Used twice, so it must not be an iterator.
    measures = list(measures) if isinstance(measures, Iterator) else measures
    checked = with_defaults(evaluate_labels, options)
    request = Request(measures, {**checked, "ties": ties or "given"})
    flat = _is_flat(query_ids=query_ids, group_sizes=group_sizes, offsets=offsets)
    if not flat and mask is None and (sizes := _uneven_sizes(labels)):
        labels, scores, mask = _padded(labels, scores, sizes)
    grades = as_rows("labels", labels, 1 if flat else 2, TABLE)
    chosen = None if mask is None else _mask(mask, grades, flat)
    values = None if scores is None else _values(scores, grades, chosen)
    if chosen is not None:
        # Values at masked positions, such as a label of -1, have no meaning.
        grades = numpy.where(chosen, grades, numpy.zeros((), grades.dtype))
    raw_grades = grades
    grades, scale = graded_numbers("labels", raw_grades)
    if grades.size and grades.min() < 0:
        _refuse("labels", "expected at least 0 (see mask=), found", raw_grades, grades < 0, chosen)
    ids, order = None, None
    if query_ids is not None:
        if queries is not None:
            raise ArrayError("queries", "expected query_ids or queries, found both")
        ids, bounds, order = _by_query(query_ids, len(grades))
    elif flat:
        bounds = _bounds(offsets, group_sizes, len(grades))
    elif chosen is None:
        count, width = grades.shape
        bounds = numpy.arange(count + 1) * width
    else:
        bounds = numpy.concatenate([[0], numpy.cumsum(chosen.sum(axis=1))])
        order = chosen
    if order is not None:
        grades = grades[order]
        values = values if values is None else values[order]
    if values is None:
        # Scores that descend within each query.
        values = numpy.repeat(bounds[:-1], numpy.diff(bounds)) - numpy.arange(bounds[-1])
    count = len(bounds) - 1
    if ids is None:
        ids = _query_texts(queries, count)
    # A query without documents is not a judged query: neither missing nor without a relevant one.
    query_rows = numpy.flatnonzero(numpy.diff(bounds))
    graded: Graded = Labels(
        queries=ids if len(query_rows) == count else as_texts(ids.take(query_rows.tolist())),
        offset_column=numpy.concatenate([numpy.zeros(1, numpy.int64), bounds[1:][query_rows]]),
        grade_column=grades.reshape(-1),
        scale=scale,
    )
    values = _doubles(values)
    if scores is not None:
        _warn_if_swapped(graded, values)
    picks, left_out = relevant_queries(graded, request.options)
    if left_out:
        query_rows = query_rows[numpy.asarray(picks)]
        rows, picked_offsets = map(numpy.asarray, rows_of_queries(graded.offset_column, picks))
        values = values[rows]
        graded = graded.changed(
            queries=as_texts(graded.queries.take(picks)),
            offset_column=picked_offsets,
            grade_column=graded.grade_column[rows],
        )
    has_ids = queries is not None or query_ids is not None
    query_order = (
        numpy.asarray(text_order(graded.queries)) if has_ids else numpy.arange(len(query_rows))
    )
    plan = Plan(graded, request.measures, request.options, skipped=left_out)
    run, tied = match_labels(plan, values, order=query_order, rows=query_rows)
    if not tied:
        return scores_of(plan, run)
    is_cut = request.options.is_cut
    averaged = [
        ties is None and has_expected_value(bound, is_cut=is_cut) for bound in plan.measures
    ]
    as_given = [bound for bound, known in zip(plan.measures, averaged, strict=True) if not known]
    with_ties: Scores = scores_of(plan, run)
    if any(averaged):
        averages = plan.changed(
            measures=list(compress(plan.measures, averaged)),
            options=request.options.changed(ties="average"),
        )
        expected = scores_of(averages, match_as_texts(averages, values, query_order))
        if not as_given:
            return expected
        with_ties = _replaced(with_ties, averaged, expected)
    # Copies: later changes of the caller's arrays must not affect the ranges.
    graded = graded.changed(grade_column=numpy.array(graded.grade_column))
    plan, values = plan.changed(judgments=graded, measures=as_given), numpy.array(values)
    ties_found = ties_later(plan, lambda: match_as_texts(plan, values, query_order))
    return with_ties.changed(ties=ties_found)


def _replaced(scores: Scores, averaged: Sequence[bool], expected: Scores) -> Scores:
    """The Scores with the values of some measures from `expected`, which has only these."""
    columns, summaries = iter(expected.value_columns), iter(expected.summaries)
    rows = list(zip(averaged, scores.value_columns, scores.summaries, strict=True))
    return scores.changed(
        value_columns=[next(columns) if chosen else column for chosen, column, _ in rows],
        summaries=[next(summaries) if chosen else summary for chosen, _, summary in rows],
    )


def _is_flat(**arguments: object) -> bool:
    """Whether one of these arguments is given. Raises ArrayError for several."""
    names = [name for name, value in arguments.items() if value is not None]
    if len(names) > 1:
        raise ArrayError(names[0], f"expected {names[0]} or {names[1]}, found both")
    return bool(names)


def _values(scores: npt.ArrayLike, grades: Array, chosen: Array | None) -> Array:
    """The checked scores."""
    import numpy

    values = check_scores("scores", as_rows("scores", scores, grades.ndim))
    if values.shape != grades.shape:
        expected = f"the shape of labels {grades.shape}"
        raise ArrayError("scores", f"expected {expected}, found {values.shape}")
    # The minimum is NaN if any value is.
    if values.size and numpy.isnan(values.min()):
        _refuse("scores", "expected a number, found", values, numpy.isnan(values), chosen)
    return values


def _doubles(values: Array) -> Array:
    """The scores as float64[documents], others than these in memory that serves again."""
    import numpy

    if values.dtype == numpy.float64 or values.size not in WORTH_KEEPING:
        return numpy.ascontiguousarray(values, numpy.float64).reshape(-1)
    (memory,) = _SCORES.make(("d", values.size))
    doubles: Array = numpy.asarray(memory)
    doubles.reshape(values.shape)[...] = values
    return doubles


def _warn_if_swapped(graded: Graded, scores: Array) -> None:
    """Issue a warning where labels with fractions and scores have probably changed places."""
    import numpy

    from fastrank.core.formats.swapped import SMALL, SOME_QUERIES, have_fractions, warn_if_swapped

    if graded.scale is None or not have_fractions(graded.scale):
        return
    offsets = graded.offset_column
    some = scores[: offsets[min(len(graded), SOME_QUERIES)]]
    are_labels = (some >= 0) & (some < SMALL) & (numpy.floor(some) == some)
    # Ranks differ within a query, and the scores of a baseline are all equal.
    first = len(set(some[: offsets[1]].tolist()))
    if are_labels.all() and first < offsets[1] and len(set(some.tolist())) > 1:
        nouns = "labels", "scores", "labels and scores"
        warn_if_swapped(graded, [some.astype(int).tolist()], python_warning, nouns)


def _query_texts(queries: Iterable[object] | None, count: int) -> Texts:
    """The ids of the queries, by default their numbers."""
    if queries is None:
        # Keeping the numbers of the last call, unless they are many, saves a tenth of an
        # evaluation.
        numbers = _row_numbers if count < MANY else _row_numbers.__wrapped__
        return numbers(count)
    ids = ids_of_queries(queries)
    if len(ids) != count:
        raise ArrayError("queries", f"expected {count}, one per query of labels, found {len(ids)}")
    return as_texts(ids)


@lru_cache(maxsize=1)
def _row_numbers(count: int) -> Texts:
    import numpy

    return texts_of_ids("queries", numpy.arange(count))


def _check_ties(ties: str | None) -> None:
    """Raise OptionError for an order of tied documents that needs ids."""
    if ties in ("docno_desc", "docno_asc"):
        raise OptionError(
            "ties",
            f"expected one of {', '.join(map(repr, TIES))}, found {ties!r}; labels have no"
            " document ids to sort by",
        )
    if ties is not None:
        check_choice("ties", ties, TIES)


def _uneven_sizes(labels: Any) -> list[int]:
    """The lengths of the rows, empty if they are all the same."""
    if not isinstance(labels, (list, tuple)) and getattr(labels, "dtype", "") != "O":
        return []
    if not all(hasattr(row, "__len__") for row in labels):
        return []
    sizes = [len(row) for row in labels]
    return sizes if len(set(sizes)) > 1 else []


def _padded(
    labels: Any, scores: Any, sizes: list[int]
) -> tuple[list[list[Any]], list[list[Any]] | None, Array]:
    """Pad rows of different lengths; returns labels, scores and a mask of the documents."""
    import numpy

    width = max(sizes)
    mask = numpy.arange(width) < numpy.array(sizes)[:, None]
    grades = [[*row_values, *[0] * (width - len(row_values))] for row_values in labels]
    if scores is None:
        return grades, None, mask
    if not hasattr(scores, "__len__") or len(scores) != len(sizes):
        size_or_type = len(scores) if hasattr(scores, "__len__") else type(scores).__name__
        raise ArrayError(
            "scores", f"expected {len(sizes)} rows as labels has, found {size_or_type}"
        )
    for row, (size, values) in enumerate(zip(sizes, scores, strict=True)):
        size_or_type = len(values) if hasattr(values, "__len__") else type(values).__name__
        if size_or_type != size:
            raise ArrayError(
                "scores", f"expected {size} columns as labels has, found {size_or_type}", row
            )
    return grades, [[*row_values, *[0] * (width - len(row_values))] for row_values in scores], mask


def _mask(mask: npt.ArrayLike, grades: Array, flat: bool) -> Array:
    """Check the mask of a table of labels."""
    if flat:
        raise ArrayError("mask", "flat labels use query_ids, group_sizes or offsets, not a mask")
    bools = as_rows("mask", mask, 2)
    if bools.dtype.kind != "b" or bools.shape != grades.shape:
        raise ArrayError(
            "mask",
            f"expected bools of the shape of labels {grades.shape},"
            f" found {bools.dtype} {bools.shape}",
        )
    return bools


def _refuse(name: str, reason: str, values: Array, wrong: Array, chosen: Array | None) -> None:
    """Raise ArrayError for the first wrong value at an unmasked position."""
    import numpy

    if chosen is not None:
        wrong = wrong & chosen
    if wrong.any():
        position = [int(i) for i in numpy.unravel_index(int(wrong.argmax()), wrong.shape)]
        raise ArrayError(name, f"{reason} {values[tuple(position)]}", *position)


def _by_query(query_ids: Any, documents: int) -> tuple[Texts, Array, Array | None]:
    """The ids of the queries of a flat array, their offsets, and the order of the documents.

    Queries have the order of their first documents; the order is None where all stand together.
    """
    import numpy

    column = query_ids
    if hasattr(column, "__array__") and not numpy.ma.isMaskedArray(column):
        column = numpy.asarray(column)
    firsts = None
    if getattr(column, "ndim", 0) == 1 and len(column) and column.dtype.kind in "iuSU":
        # Only the first of adjacent documents with the same id is looked at.
        firsts = numpy.concatenate([[0], numpy.flatnonzero(column[1:] != column[:-1]) + 1])
    ids = texts_of_ids("query_ids", column if firsts is None else column[firsts])
    count = len(ids) if firsts is None else len(column)
    if count != documents:
        raise ArrayError(
            "query_ids",
            f"expected {documents}, one per label, found {count}; group_sizes= takes"
            " the number of labels of each query",
        )
    if firsts is None:
        firsts = numpy.arange(documents)
    groups = Groups(ids, memory_of(firsts), documents)
    order = None if groups.order is None else numpy.asarray(groups.order)
    return groups.queries, numpy.asarray(groups.offsets), order


def _bounds(offsets: object, group_sizes: object, documents: int) -> Array:
    """Offsets as int64 that ascend from 0 to the number of documents."""
    import numpy

    name = "group_sizes"
    if group_sizes is None:
        return row_offsets("offsets", offsets, documents, "labels")
    sizes = to_int64(name, check_integers(name, as_rows(name, group_sizes, 1)))
    negative = numpy.flatnonzero(sizes < 0)
    if len(negative):
        query = int(negative[0])
        raise ArrayError(name, f"expected at least 0, found {sizes[query]}", query)
    # Summed as Python's integers, which do not overflow.
    total = sum(sizes.tolist())
    if total != documents:
        raise ArrayError(
            name,
            f"expected a sum of {documents}, one per label, found {total}; query_ids= takes"
            " the query id of each label",
        )
    if len(sizes) == documents > 1:
        raise ArrayError(
            name,
            f"expected the number of labels of each query, found {documents} numbers for as"
            " many labels, which could be ids; query_ids= takes the query id of each label,"
            " offsets= takes sizes of which some are 0",
        )
    return numpy.concatenate([numpy.zeros(1, numpy.int64), numpy.cumsum(sizes)])
