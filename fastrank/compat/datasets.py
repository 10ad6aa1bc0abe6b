"""Evaluate the faiss searches of Hugging Face datasets, or convert them to runs.

`search_batch` of a dataset returns scores and row numbers of the dataset, -1 where nothing was
found. With the default metric, L2, the scores are squared distances: smaller is better.

>>> from fastrank.compat.datasets import evaluate_results, results_to_run
>>> distances, rows = [[0.5, 0.25, 3.4e38]], [[2, 0, -1]]  # dataset.search_batch("vectors", ...)
>>> ids = {"queries": ["q1"], "docs": ["a", "b", "c"]}
>>> evaluate_results({"q1": {"a": 1}}, (distances, rows), "RR", **ids).mean
{'RR': 1.0}
>>> results_to_run((distances, rows), **ids).to_dict()
{'q1': {'c': -0.5, 'a': -0.25}}

Neither datasets nor faiss needs to be installed.
"""

from __future__ import annotations

from collections.abc import Mapping

from fastrank.core.data.texts import gather_texts, memory_of
from fastrank.core.evaluation.arrays import evaluate_arrays
from fastrank.core.evaluation.evaluator import Evaluator
from fastrank.core.formats.run import Run
from fastrank.core.formats.tables.values import (
    as_rows,
    check_integers,
    check_scores,
    first_repeat,
    tag_of,
    texts_of_ids,
)
from fastrank.errors import ArrayError, OptionError
from fastrank.vectors.searching.vectors import SYNONYMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from fastrank.common.arrays import Array
    from fastrank.core.scores.scores import Scores

__all__ = ["evaluate_results", "results_to_run"]

SOURCE = "<search results>"
METRICS = {"l2": False, "ip": True}


def evaluate_results(
    qrels: object,
    results: tuple[object, object],
    measures: str | Iterable[str] = "official",
    *,
    metric: object = "l2",
    queries: Any = None,
    docs: object = None,
    **options: Any,
) -> Scores:
    """Evaluate the result of `search_batch` or `get_nearest_examples_batch` of a dataset.

    qrels: judgments. Without `docs`, documents are row numbers of the dataset, and judgments are as
        `fastrank.index_qrels` takes them; with `docs`, as `fastrank.evaluate` takes them.
    results: (total_scores, total_indices), floats[queries, k] and integers[queries, k]; or
        (total_scores, total_examples), which require `docs`.
    metric: "l2" for distances, the default of datasets; "ip" for inner products; other names of
        these that `fastrank.search` takes; or `dataset.get_index(name)`, from which it is detected.
    queries: the id of each row of the results; by default the row numbers from 0.
    docs: the id of each row of the dataset, such as `dataset["id"]`; for examples, the name of
        their id column.
    options: those of `fastrank.evaluate_arrays`; with `docs` those of `fastrank.evaluate`.

    Of documents with equal scores, the one whose id sorts later comes first. A row that contains
    only -1 is a query without results. Raises ArrayError for results, queries and docs of the wrong
    shape or type, OptionError for another metric, and what the two functions raise.

    >>> from fastrank.compat.datasets import evaluate_results
    >>> products, rows = [[0.9, 0.8], [0.7, 0.6]], [[4, 2], [1, 3]]
    >>> evaluate_results([{4: 1}, {3: 2}], (products, rows), "RR", metric="ip").mean
    {'RR': 0.75}
    """
    if docs is not None:
        run = results_to_run(results, metric=metric, queries=queries, docs=docs)
        return Evaluator(qrels, measures, **options).evaluate(run)
    scores, rows = _pair(results)
    better = _higher_is_better(metric)
    return evaluate_arrays(
        qrels, rows, scores, measures, queries=queries, higher_is_better=better, **options
    )


def results_to_run(
    results: tuple[Any, Any],
    *,
    metric: object = "l2",
    queries: object = None,
    docs: object = None,
    tag: str = "datasets",
) -> Run:
    """Convert the result of such a search of a dataset to a Run; distances are negated.

    The arguments and errors are those of `evaluate_results`. tag: the run's name.

    >>> from fastrank.compat.datasets import results_to_run
    >>> results_to_run(([[0.25, 0.5]], [[7, 3]]), metric="ip", queries=["q1"]).to_dict()
    {'q1': {'7': 0.25, '3': 0.5}}
    """
    import numpy

    if isinstance(docs, str) and all(isinstance(examples, Mapping) for examples in results[1]):
        results, docs = _of_examples(results, docs)
    scores, rows = _pair(results)
    better = _higher_is_better(metric)
    mask = rows >= 0
    names = texts_of_ids("queries", range(len(rows)) if queries is None else queries)
    if len(names) != len(rows):
        raise ArrayError("queries", f"expected {len(rows)}, one per row, found {len(names)}")
    repeat = first_repeat(names)
    if repeat >= 0:
        raise ArrayError("queries", f"{names[repeat].decode()!r} appears twice", repeat)
    _refuse(rows < -1, "total_indices", "expected a row number, or -1 for none", rows)
    _refuse(mask & numpy.isnan(scores), "total_scores", "expected a score", scores)
    if docs is None:
        texts = texts_of_ids("docs", rows[mask])
    else:
        ids = texts_of_ids("docs", docs)
        expected = f"expected a row number below {len(ids)}, the number of docs"
        _refuse(rows >= len(ids), "total_indices", expected, rows)
        texts = gather_texts(ids, rows[mask])
    offsets = numpy.zeros(len(rows) + 1, numpy.int64)
    numpy.cumsum(mask.sum(axis=1), out=offsets[1:])
    kept_scores = scores[mask].astype(numpy.float64)
    return Run(
        queries=names,
        docs=texts.placed(None, "item"),
        tag_bytes=tag_of(tag, SOURCE),
        source=SOURCE,
        score_column=memory_of(kept_scores if better else -kept_scores),
        offset_column=memory_of(offsets),
    )


def _of_examples(results: tuple[Any, Any], column: str) -> tuple[tuple[Array, Array], list[object]]:
    """Scores and row numbers of the examples of each query, and the id of each row."""
    import numpy

    total_scores, total_examples = results
    ids = []
    for row, examples in enumerate(total_examples):
        if column not in examples:
            names = ", ".join(map(str, examples))
            raise ArrayError("total_examples", f"expected a column {column!r}, found {names}", row)
        ids.append(list(examples[column]))
    sizes = numpy.array([len(documents) for documents in ids], numpy.int64)
    for row, row_scores in enumerate(total_scores):
        if len(row_scores) != sizes[row]:
            reason = f"expected {sizes[row]}, one per example, found {len(row_scores)}"
            raise ArrayError("total_scores", reason, row)
    mask = numpy.arange(sizes.max(initial=0)) < sizes[:, None]
    rows = numpy.full(mask.shape, -1, numpy.int64)
    rows[mask] = numpy.arange(sizes.sum())
    scores = numpy.zeros(mask.shape)
    scores[mask] = numpy.concatenate([*total_scores, []])
    return (scores, rows), [document for documents in ids for document in documents]


def _pair(results: tuple[object, object]) -> tuple[Array, Array]:
    """Check that scores and row numbers have the same shape."""
    try:
        given_scores, given_rows = results
    except (TypeError, ValueError):
        kind = type(results).__name__
        reason = f"expected (total_scores, total_indices), found {kind}"
        raise ArrayError("results", reason) from None
    scores = check_scores("total_scores", as_rows("total_scores", given_scores, 2))
    rows = check_integers("total_indices", as_rows("total_indices", given_rows, 2))
    if scores.shape != rows.shape:
        raise ArrayError(
            "total_scores",
            f"expected the shape of total_indices {rows.shape}, found {scores.shape}",
        )
    return scores, rows


def _higher_is_better(metric: object) -> bool:
    """Whether higher scores of a metric are better."""
    index = getattr(metric, "faiss_index", metric)
    number = getattr(index, "metric_type", index)
    if isinstance(number, str):
        number = SYNONYMS.get(number, number)
        if number in METRICS:
            return METRICS[number]
    # The numbers are faiss's: METRIC_INNER_PRODUCT and METRIC_L2.
    if isinstance(number, int) and number in (0, 1):
        return number == 0
    raise OptionError(
        "metric", f"expected 'l2', 'ip' or a faiss index with either, found {metric!r}"
    )


def _refuse(wrong: Array, name: str, expected: str, values: Array) -> None:
    import numpy

    if wrong.any():
        row, column = (int(i) for i in numpy.argwhere(wrong)[0])
        raise ArrayError(name, f"{expected}, found {values[row, column]}", row, column)
